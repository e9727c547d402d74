//===- TranslateScalar.h - scalar IR to the oracle's programs --------------===//
#pragma once

#include "lacuna/Tensor.h"
#include "lib/Reference/ScalarProgram.h"

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>

namespace lacuna {

/// Reads scalar IR (arith, math, affine.apply, tensor.extract, tensor.dim, ...) into programs that
/// the oracle runs. Values from outside a region are function arguments with known values, or are
/// computed from such.
class ScalarTranslator {
public:
  /// `values` has one entry per argument of the block that `arguments` belong to.
  ScalarTranslator(mlir::Block::BlockArgListType arguments, llvm::ArrayRef<Argument> values);

  /// Makes the value of something known that is no argument.
  void bind(mlir::Value value, Argument argument) { known[value] = std::move(argument); }
  bool isBound(mlir::Value value) const { return known.contains(value); }

  /// The program of a one-block region: its arguments are the block's, its result is the
  /// terminator's only operand. An op that is not known is refused with a diagnostic.
  mlir::FailureOr<reference::ScalarProgram> translateRegion(mlir::Region &region);

  /// An index or integer that depends on function arguments only.
  mlir::FailureOr<int64_t> evaluateInteger(mlir::Value value);
  mlir::FailureOr<double> evaluateFloat(mlir::Value value);
  /// A tensor that is a function argument or a constant.
  mlir::FailureOr<Tensor> evaluateTensor(mlir::Value value);
  /// All elements of an integer tensor, row-major.
  mlir::FailureOr<std::vector<int64_t>> evaluateIntegers(mlir::Value value);

private:
  struct Builder;

  llvm::DenseMap<mlir::Value, Argument> known;
  /// Constants as tensors; a deque keeps addresses.
  std::deque<OwnedTensor> constants;
  llvm::DenseMap<mlir::Value, Tensor> constantViews;
};

} // namespace lacuna
