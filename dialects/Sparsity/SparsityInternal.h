//===- SparsityInternal.h - what the files of this dialect share ----------===//
#pragma once

#include "dialects/Sparsity/Sparsity.h"

namespace lacuna::sparsity {

/// Largest magnitude of a constant: sums and small products of such numbers and of lengths fit in
/// 64 bits.
inline constexpr int64_t maxConstant = int64_t{1} << 48;

/// A number of a set: constant, a run-time value for all heads, or a tensor with one per head.
struct Number {
  mlir::Value operand;
  std::optional<int64_t> constant;

  Number(int64_t constant) : constant(constant) {}
  Number(mlir::Value operand, mlir::IntegerAttr attribute) : operand(operand) {
    if (attribute)
      constant = attribute.getInt();
  }

  /// Whether the number was given at all.
  explicit operator bool() const { return operand || constant; }
  /// As a term of a formula.
  mlir::AffineExpr getExpr(FormulaSpace &space) const;
  /// As an index at one pair.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::Location loc, const PairContext &pair) const;
};

/// The numbers of a list, whose constants hold ShapedType::kDynamic in place of operands.
llvm::SmallVector<Number> getNumbers(mlir::OperandRange operands,
                                     llvm::ArrayRef<int64_t> constants);

/// Emits index arithmetic at one place; constants fold.
class IndexEmitter {
public:
  IndexEmitter(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value clamp(mlir::Value x, mlir::Value lower, mlir::Value upper) {
    return min(max(x, lower), upper);
  }
  /// a div b, rounded down, for positive b.
  mlir::Value floorDiv(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Whether `step` divides `a`, for positive `step`.
  mlir::Value isMultiple(mlir::Value a, mlir::Value step);
  /// The query's position on the key axis.
  mlir::Value position(const PairContext &pair, unsigned axis, bool fromStart);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace lacuna::sparsity
