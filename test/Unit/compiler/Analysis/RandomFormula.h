//===- RandomFormula.h - random sets for property tests -------------------===//
//
// Draws formulas the way set ops build them, and evaluates them pair by pair
// without any of the code under test.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Sparsity/Formula.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/MLIRContext.h"

#include <random>
#include <vector>

namespace lacuna::test {

/// A space of formulas with a value for every symbol, and formulas evaluated there.
class SetValues {
public:
  SetValues(mlir::MLIRContext &context, unsigned rank) : space(&context, rank, rank) {}

  /// Whether a pair is live. Queries past the end are evaluated like others.
  bool isLive(const sparsity::Formula &formula, llvm::ArrayRef<int64_t> query,
              llvm::ArrayRef<int64_t> key) const;
  /// The value of a symbol for the rows of `query`.
  int64_t valueOf(unsigned symbol, llvm::ArrayRef<int64_t> query) const;
  /// Fixes the sizes; `scalar` says what any other symbol but a monotone one is, `monotone` the
  /// values of a monotone one by row.
  void setSizes(llvm::ArrayRef<int64_t> queries, llvm::ArrayRef<int64_t> keys,
                llvm::function_ref<int64_t(const sparsity::Symbol &)> scalar,
                llvm::function_ref<std::vector<int64_t>(int64_t rows)> monotone);

  sparsity::FormulaSpace space;
  std::vector<int64_t> querySizes, keySizes;

private:
  int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<int64_t> symbols) const;

  /// Per symbol: its value, or its value per row.
  std::vector<std::vector<int64_t>> values;
};

/// A random set.
class RandomFormula : public SetValues {
public:
  RandomFormula(mlir::MLIRContext &context, uint64_t seed, unsigned rank);

  /// A random integer in [low, high].
  int64_t draw(int64_t low, int64_t high);
  /// A tree of at most `depth` levels over random leaves.
  sparsity::Formula tree(unsigned depth);
  /// |position - key| windows on one axis: what must lose no full tile.
  sparsity::Formula window();
  /// Fixes sizes and draws values for all symbols; called once the tree is built.
  void drawValues(llvm::ArrayRef<int64_t> queries, llvm::ArrayRef<int64_t> keys);

  bool hasMonotone = false;

private:
  sparsity::Formula leaf();
  sparsity::Formula gridLeaf();
  mlir::AffineExpr number(int64_t low, int64_t high);
  mlir::AffineExpr position(unsigned axis) { return space.position(axis, alignStart); }

  std::mt19937_64 random;
  unsigned rank;
  bool alignStart;
  mlir::Block scalars;
  mlir::Location location;
  mlir::MLIRContext &context;
  std::vector<std::pair<int64_t, int64_t>> scalarRanges;
};

/// The formula as text, for failure messages.
std::string describe(const sparsity::Formula &formula);

} // namespace lacuna::test
