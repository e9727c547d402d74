//===- Footprint.h - which key tiles a query tile must visit --------------===//
//
// From a formula and a tile shape to boxes of key tiles with closed-form
// bounds, parametric in the query tile, the lengths and every run-time number.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Sparsity/Formula.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace lacuna {

/// Tokens per tile along each axis.
struct TileShape {
  llvm::SmallVector<int64_t> query, key;
};

/// A symbol of a footprint: one of the formula's, at one place of the query tile.
struct TileSymbol {
  enum class At {
    /// The same for all rows of the tile.
    Tile,
    /// A monotone symbol at the tile's first row along its axis.
    FirstRow,
    /// A monotone symbol at the tile's last row that exists along its axis.
    LastRow,
  };
  /// Index into FormulaSpace::getSymbols().
  unsigned symbol;
  At at;
  bool operator==(const TileSymbol &) const = default;
};

/// The loop over one key axis: tiles from the greatest of `lower` to the least of `upper`,
/// exclusive.
struct AxisRange {
  llvm::SmallVector<mlir::AffineExpr> lower, upper;
};

/// Holds where each expression is >= 0.
using Condition = llvm::SmallVector<mlir::AffineExpr>;

/// A nest of loops over key tiles, outermost axis first. Expressions have as dimensions the query
/// tile's coordinates (in tiles, one per query axis), then those of the key tile (one per key axis;
/// the range of an axis uses earlier key axes only). Symbols are Footprint::symbols.
struct TileBox {
  /// Each must be >= 0 for the box to have any tile; no key dimension occurs.
  Condition guards;
  llvm::SmallVector<AxisRange> ranges;
  /// What bounds cannot say (a residue, say): each must be >= 0 for a tile to be visited.
  Condition conditions;
  /// At least one must hold for a tile to be visited, if there are any.
  llvm::SmallVector<Condition> anyOf;
  /// None may hold for a tile to be visited: tiles that other loops visit.
  llvm::SmallVector<Condition> noneOf;
};

/// Which key tiles hold live pairs with a query tile. Boxes of one list are disjoint; `full` and
/// `partial` are disjoint and together cover exactly the tiles of `live`.
struct Footprint {
  llvm::SmallVector<TileSymbol> symbols;
  std::vector<TileBox> live, full, partial;
  /// Whether `live` holds no tile without a live pair, for all values of all symbols.
  bool exact = true;
};

/// Limits that keep the generated loops small.
struct FootprintOptions {
  /// More boxes than this on the full side are given up: their tiles count as partial, which costs
  /// a mask and never a wrong result.
  unsigned maxFullBoxes = 8;
  /// A list that would have more boxes than this becomes one box with `anyOf` conditions.
  unsigned maxBoxes = 16;
};

/// Footprint of `formula` for tiles of `shape`. Never fails: what cannot be bounded is visited.
Footprint computeFootprint(const sparsity::Formula &formula, const sparsity::FormulaSpace &space,
                           const TileShape &shape, const FootprintOptions &options = {});

/// Whether loops over single keys of `box` may take steps of whole key boxes: the ranges of the
/// axes do not depend on each other and say everything.
bool isProduct(const TileBox &box, unsigned queryRank);

/// Whether a loop over `range` in steps of `step` has no second round, whatever the numbers are.
bool isAtMostOne(const AxisRange &range, int64_t step);

/// The footprint of single keys for query tiles of `shape`, if its live keys are one product of
/// ranges; `full` then is one as well, or empty.
std::optional<Footprint> computeKeyFootprint(const sparsity::Formula &formula,
                                             const sparsity::FormulaSpace &space,
                                             const TileShape &shape);

/// Calls `visit` with the coordinates of every key tile of `boxes` for one query tile, in loop
/// order. `symbols` holds the value of each Footprint symbol.
void enumerateTiles(llvm::ArrayRef<TileBox> boxes, llvm::ArrayRef<int64_t> queryTile,
                    llvm::ArrayRef<int64_t> symbols,
                    llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

} // namespace lacuna
