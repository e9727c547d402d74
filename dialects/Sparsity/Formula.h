//===- Formula.h - a set of pairs as a formula ----------------------------===//
//
// The one representation that tiling, masks and explanations share. A formula
// is a tree of "and" and "or" over affine inequalities in query and key
// coordinates; negation is pushed to the leaves, so it needs no node.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace mlir {
class OpBuilder;
}

namespace lacuna::sparsity {

/// What a symbol of a formula stands for. All symbols are integers.
struct Symbol {
  enum class Kind {
    /// Number of queries along `axis`.
    QuerySize,
    /// Number of keys along `axis`.
    KeySize,
    /// `value`, of type index; the same for every pair.
    Scalar,
    /// Element `head` of `value`, a tensor<?x(index|integer)>, where head is the query head.
    PerHead,
    /// Term `term` of `op`: an integer that depends on the query coordinate along `axis` only (and
    /// on the batch and head) and never decreases as that coordinate grows.
    Monotone,
  };
  Kind kind;
  unsigned axis = 0;
  mlir::Value value = {};
  mlir::Operation *op = nullptr;
  unsigned term = 0;

  bool operator==(const Symbol &other) const = default;
};

/// The variables of a formula. Dimensions are the query's local coordinates (0 at the first query,
/// whatever the alignment), then the key's; symbols are listed in `symbols`.
class FormulaSpace {
public:
  FormulaSpace(mlir::MLIRContext *context, unsigned queryRank, unsigned keyRank);

  mlir::MLIRContext *getContext() const { return context; }
  unsigned getQueryRank() const { return queryRank; }
  unsigned getKeyRank() const { return keyRank; }
  llvm::ArrayRef<Symbol> getSymbols() const { return symbols; }

  /// Local coordinate of the query along `axis`: 0 .. querySize(axis) - 1.
  mlir::AffineExpr query(unsigned axis);
  /// Coordinate of the key along `axis`: 0 .. keySize(axis) - 1.
  mlir::AffineExpr key(unsigned axis);
  mlir::AffineExpr querySize(unsigned axis);
  mlir::AffineExpr keySize(unsigned axis);
  /// The query's position on the key axis: the local coordinate itself when `alignStart`, else
  /// query + keySize - querySize, so that the last query stands at the last key.
  mlir::AffineExpr position(unsigned axis, bool alignStart);
  /// An index value; an `arith.constant` becomes a number.
  mlir::AffineExpr scalar(mlir::Value value);
  mlir::AffineExpr constant(int64_t value);
  /// Element `head` of a tensor<?x(index|integer)>.
  mlir::AffineExpr perHead(mlir::Value tensor);
  /// A monotone term of `op`; see Symbol::Kind::Monotone.
  mlir::AffineExpr monotone(mlir::Operation *op, unsigned term, unsigned queryAxis);

  /// Whether the formula is known to hold for no pair beyond the last key.
  bool isWithinKeys() const { return withinKeys; }
  void setWithinKeys(bool value) { withinKeys = value; }

private:
  mlir::AffineExpr symbol(const Symbol &symbol);

  mlir::MLIRContext *context;
  unsigned queryRank, keyRank;
  llvm::SmallVector<Symbol> symbols;
  bool withinKeys = false;
};

/// An immutable formula; copies share the tree.
class Formula {
public:
  enum class Kind { True, False, NonNegative, Zero, Opaque, And, Or };

  static Formula always();
  static Formula never();
  static Formula constant(bool value) { return value ? always() : never(); }
  /// expr >= 0. Constants fold.
  static Formula nonNegative(mlir::AffineExpr expr);
  /// expr == 0. Constants fold.
  static Formula zero(mlir::AffineExpr expr);
  static Formula lessEqual(mlir::AffineExpr a, mlir::AffineExpr b) { return nonNegative(b - a); }
  static Formula less(mlir::AffineExpr a, mlir::AffineExpr b) { return nonNegative(b - a - 1); }
  static Formula equal(mlir::AffineExpr a, mlir::AffineExpr b) { return zero(a - b); }
  /// lower <= x <= upper.
  static Formula between(mlir::AffineExpr lower, mlir::AffineExpr x, mlir::AffineExpr upper);
  /// A predicate that only `op` can evaluate, pair by pair.
  static Formula opaque(mlir::Operation *op, unsigned term, bool negated = false);
  static Formula all(llvm::ArrayRef<Formula> parts);
  static Formula any(llvm::ArrayRef<Formula> parts);

  Formula operator&(const Formula &other) const { return all({*this, other}); }
  Formula operator|(const Formula &other) const { return any({*this, other}); }
  Formula operator!() const;

  Kind getKind() const;
  bool isAlways() const { return getKind() == Kind::True; }
  bool isNever() const { return getKind() == Kind::False; }
  /// NonNegative, Zero: the expression.
  mlir::AffineExpr getExpr() const;
  /// And, Or: the parts, at least two, none of the same kind as this.
  llvm::ArrayRef<Formula> getParts() const;
  /// Opaque: who evaluates it, which term, and whether the result is negated.
  mlir::Operation *getOp() const;
  unsigned getTerm() const;
  bool isNegated() const;

  bool hasOpaque() const;
  /// The same formula with every opaque atom replaced by `value`.
  Formula withoutOpaque(bool value) const;

  bool operator==(const Formula &other) const;

private:
  struct Node;
  explicit Formula(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  static Formula combine(Kind kind, llvm::ArrayRef<Formula> parts);

  std::shared_ptr<const Node> node;
};

/// The IR values that stand for one pair while a predicate is emitted, all of type index.
struct PairContext {
  mlir::Value batch, head;
  /// Local query coordinates and key coordinates, one per axis.
  llvm::SmallVector<mlir::Value> query, key;
  /// Sizes per axis.
  llvm::SmallVector<mlir::Value> querySizes, keySizes;
};

/// Formula of the set `set`, or failure when it has no single formula (it was not produced by an op
/// with SetOpInterface); the reason is emitted at `set`'s location.
mlir::FailureOr<Formula> buildFormula(mlir::Value set, FormulaSpace &space);

/// The value of `symbol` at a pair, as an index.
mlir::Value emitSymbol(mlir::OpBuilder &builder, mlir::Location loc, const Symbol &symbol,
                       const PairContext &pair);

/// The exact element predicate as an i1.
mlir::Value emitPredicate(mlir::OpBuilder &builder, mlir::Location loc, const Formula &formula,
                          const FormulaSpace &space, const PairContext &pair);

} // namespace lacuna::sparsity
