//===- KernelPrinter.h - one kernel as source and manifest ----------------===//
#pragma once

#include "compiler/Emit/CudaPrinter.h"
#include "compiler/Emit/HostProgramBuilder.h"
#include "compiler/Emit/ScalarPrinter.h"

namespace lacuna {

/// The type in memory of elements of `type`; an index is 64 bits wide.
ElementType elementType(mlir::Type type);

/// The argument number of a block argument.
inline unsigned inputOf(mlir::Value value) {
  return mlir::cast<mlir::BlockArgument>(value).getArgNumber();
}

/// Prints one kernel. The manifest's part is in KernelManifest.cpp, the text's in CudaPrinter.cpp.
class KernelPrinter {
public:
  explicit KernelPrinter(tile::KernelOp kernel) : kernel(kernel), host(code.manifest.host) {}
  mlir::FailureOr<KernelCode> print();

private:
  mlir::LogicalResult findAttend();
  mlir::LogicalResult buildPlan();
  mlir::LogicalResult buildMaps();
  mlir::LogicalResult addMap(mlir::StringRef name, mlir::Value tensor, mlir::ValueRange sizes,
                             mlir::ArrayRef<int64_t> box);
  std::string field(mlir::StringRef name, ArgumentField field);
  std::string hostField(mlir::StringRef name, unsigned value) {
    return field(name, {ArgumentField::Kind::Integer, value});
  }
  ScalarSources sources();
  std::string readElement(unsigned input, mlir::ArrayRef<std::string> indices);
  void bindGrid(ScalarPrinter &printer);

  void addLimits();
  void writePreamble(CodeWriter &out, mlir::StringRef item);
  void writeItem(CodeWriter &out);
  mlir::LogicalResult writeProducer(CodeWriter &out);
  mlir::LogicalResult writeConsumer(CodeWriter &out);
  mlir::LogicalResult writeElements(CodeWriter &out, ScalarPrinter &scalars);
  mlir::LogicalResult writeFinish(CodeWriter &out, ScalarPrinter &scalars);

  tile::KernelOp kernel;
  hopper::AttendOp attend;
  hopper::TileOp firstTile;
  KernelCode code;
  HostProgramBuilder host;
  mlir::SmallVector<std::pair<std::string, ArgumentField>> fields;
  mlir::SmallVector<std::string> mapNames;
};

} // namespace lacuna
