//===- ScalarPrinter.h - scalar IR as C++ statements ----------------------===//
#pragma once

#include "compiler/Emit/CodeWriter.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

namespace lacuna {

/// Where the printer gets names of values that are not computed in the text.
struct ScalarSources {
  /// Extent of a kernel input along an axis, as an expression of type int.
  std::function<std::string(unsigned input, unsigned axis)> extent;
  /// Value of a scalar input, as an expression of type int or float.
  std::function<std::string(unsigned input)> scalar;
  /// Element of a tensor input; `indices` are expressions of type int. Reads stay inside the
  /// tensor.
  std::function<std::string(unsigned input, llvm::ArrayRef<std::string> indices)> element;
};

/// Prints scalar ops, one statement each. Index values are `int` where interval arithmetic shows
/// that they fit (sizes and scalars are at most `limit` in magnitude, which the launch checks),
/// else i64.
class ScalarPrinter {
public:
  /// Bound on every extent and scalar argument that the printed code relies on.
  static constexpr int64_t limit = int64_t{1} << 28;

  ScalarPrinter(CodeWriter &code, ScalarSources sources)
      : code(code), sources(std::move(sources)) {}

  /// Names a value that the text defines elsewhere: an int within [low, high], or a float.
  void bind(mlir::Value value, std::string name, int64_t low = -limit, int64_t high = limit);
  /// The expression for a value: a literal, a bound name or a printed variable.
  std::string use(mlir::Value value);
  /// Another name for a value that has been printed or bound.
  void rename(mlir::Value value, std::string name) { names[value] = std::move(name); }
  /// The C++ type of a value.
  std::string typeOf(mlir::Value value);
  /// Prints one op with everything inside it.
  mlir::LogicalResult print(mlir::Operation &op);
  /// Prints those ops of `block` (no terminator) that `regions` need, in order. Ops for which
  /// `skip` holds are left out.
  mlir::LogicalResult printNeeded(mlir::Block &block, llvm::ArrayRef<mlir::Value> roots);

  /// Called for ops that are not scalar; returns failure when it does not know them either.
  std::function<mlir::LogicalResult(mlir::Operation &)> fallback;
  /// Prints what `fallback` knows for those lanes of a warp in which `condition` holds; may be
  /// null.
  std::function<mlir::LogicalResult(mlir::Operation &, const std::string &condition)> lanes;
  /// Whether a whole warp runs the text, so that a loop that only tests whether to do something can
  /// test 32 rounds at a time, and one along a list can read 32 entries at a time.
  bool isWarp = false;
  /// Whether loops that only compute and say things say them a round per lane wherever they can,
  /// and read lists far ahead.
  bool isSpread = false;

private:
  /// Far outside every type, but safe to add and multiply once.
  static constexpr int64_t unbounded = int64_t{1} << 62;

  struct Interval {
    int64_t low, high;
  };
  Interval interval(mlir::Value value);
  Interval intervalOf(mlir::Operation *op);
  mlir::LogicalResult define(mlir::Value value, const llvm::Twine &expression);
  std::string bindRound(mlir::scf::ForOp loop);
  mlir::LogicalResult printFor(mlir::Operation &op);
  mlir::LogicalResult printScan(mlir::Operation &op);
  mlir::LogicalResult printLaneWise(mlir::Operation &op);
  mlir::LogicalResult printSpread(mlir::scf::ForOp loop);
  mlir::LogicalResult printList(mlir::Operation &op, mlir::Operation &listed);
  mlir::LogicalResult printIf(mlir::Operation &op);
  mlir::LogicalResult printWhile(mlir::Operation &op);
  mlir::LogicalResult printBlock(mlir::Block &block);
  std::string expression(mlir::Operation *op);
  std::string unsignedExpression(mlir::Operation *op);

  CodeWriter &code;
  ScalarSources sources;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::DenseMap<mlir::Value, Interval> intervals;
  unsigned counter = 0;
};

} // namespace lacuna
