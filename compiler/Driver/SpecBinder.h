//===- SpecBinder.h - values for the arguments of one function ------------===//
#pragma once

#include "compiler/Driver/ListArguments.h"
#include "compiler/Driver/SpecInterface.h"
#include "compiler/Driver/SpecSizes.h"

namespace lacuna {

/// Binds one function; members are shared by the steps.
class Binder {
public:
  Binder(mlir::func::FuncOp function, const BindOptions &options)
      : function(function), options(options), sizes(function, options.given) {}
  mlir::FailureOr<BoundSpec> bind();

private:
  mlir::LogicalResult checkTypes();
  mlir::LogicalResult checkGivenNames();
  mlir::LogicalResult readFiles();
  void readImpliedLength();
  mlir::LogicalResult bindInteger(unsigned index);
  mlir::LogicalResult bindFloat(unsigned index);
  mlir::LogicalResult bindTensor(unsigned index);
  /// Ids or counts that no file gives: values in row-major order, or drawn at random.
  mlir::LogicalResult bindList(unsigned index, ListArgument list);
  /// A bitmap that no file gives: bytes in row-major order, or drawn at random.
  mlir::LogicalResult bindBitmap(unsigned index, sparsity::BitmapOp op);
  /// Number of blocks of one side of `blocks` or `bitmap`.
  template <typename Op> mlir::FailureOr<int64_t> countBlocks(Op op, bool isQuery);
  /// Batch entries, lists and query blocks of what a set of blocks reads.
  template <typename Op>
  mlir::FailureOr<std::vector<int64_t>> rowsOf(Op op, mlir::RankedTensorType type);
  /// The share of blocks that is given or declared for an argument.
  std::optional<double> shareOf(unsigned index);
  /// Entries of a list of `op`, when its ids are not bound yet.
  mlir::FailureOr<int64_t> capacityOf(unsigned index, sparsity::BlocksOp op, int64_t lists,
                                      std::optional<size_t> values);
  /// Shape of a tensor that no file gives.
  mlir::FailureOr<std::vector<int64_t>> shapeOf(unsigned index, mlir::RankedTensorType type);
  /// Elements declared by `lacuna.values` or given as `a:b:c`.
  mlir::FailureOr<std::optional<std::vector<double>>> valuesOf(unsigned index);
  mlir::LogicalResult allocate(unsigned index, ElementType type, std::vector<int64_t> shape,
                               std::optional<std::vector<double>> values);

  const std::string *given(llvm::StringRef name) const {
    const std::string *last = nullptr;
    for (const auto &[key, value] : options.given)
      if (key == name)
        last = &value;
    return last;
  }
  mlir::InFlightDiagnostic error(unsigned index) {
    return mlir::emitError(function.getArgument(index).getLoc());
  }
  llvm::StringRef name(unsigned index) const { return spec.names[index]; }

  mlir::func::FuncOp function;
  const BindOptions &options;
  SpecSizes sizes;
  BoundSpec spec;
  /// Tensors read from files, by argument.
  std::map<unsigned, OwnedTensor> files;
};

} // namespace lacuna
