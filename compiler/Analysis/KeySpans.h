//===- KeySpans.h - how far the keys of a query tile reach ----------------===//
#pragma once

#include "compiler/Analysis/AssumedNumbers.h"
#include "compiler/Analysis/Footprint.h"

#include "mlir/IR/OpDefinition.h"

#include <map>

namespace lacuna {

/// The live keys of a query tile along one axis: `length` of them, and from the first one counted,
/// those from `fullFirst` up to `fullEnd` are live for every row of the tile.
struct AxisSpan {
  int64_t length, fullFirst, fullEnd;
  auto operator<=>(const AxisSpan &) const = default;
};

/// A box that holds all live keys of a query tile, one span per axis.
using KeySpan = llvm::SmallVector<AxisSpan, 3>;

/// Boxes of live keys, and how many query tiles have each.
using SpanCounts = std::map<KeySpan, double>;

/// Key boxes of a set on a grid, for any shape of query tile, from a single analysis of single
/// tokens. Run-time numbers have their assumed values; what cannot be known reaches everything.
class KeySpans {
public:
  /// `sizes` are the extents of the grid.
  static mlir::FailureOr<KeySpans> compute(mlir::Value set, llvm::ArrayRef<int64_t> sizes,
                                           const AssumedNumbers &numbers);

  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  /// Whether the live keys of each query are one box: a product of ranges.
  bool isProduct() const { return product; }
  /// Query tiles of `box` that a grid has; one box counts for each list of live keys of a tile.
  SpanCounts count(llvm::ArrayRef<int64_t> box);

private:
  struct Interval {
    int64_t lower, upper;
  };
  using Bounds = std::optional<Interval>;

  KeySpans(mlir::MLIRContext *context, unsigned rank) : space(context, rank, rank) {}
  Bounds boundsOf(mlir::AffineExpr expr, llvm::ArrayRef<Interval> dims,
                  llvm::ArrayRef<Interval> queries);
  Bounds symbolBounds(unsigned symbol, llvm::ArrayRef<Interval> queries);
  std::optional<int64_t> termAt(unsigned symbol, int64_t coordinate);
  std::optional<KeySpan> spanOf(const TileBox &box, llvm::ArrayRef<Interval> queries);

  sparsity::FormulaSpace space;
  Footprint footprint;
  llvm::SmallVector<int64_t> sizes;
  AssumedNumbers numbers;
  bool opaque = false, product = false;
  /// Per symbol and coordinate, what a monotone term is.
  std::map<std::pair<unsigned, int64_t>, std::optional<int64_t>> terms;
};

} // namespace lacuna
