//===- TileAnalysis.h - one analysis of a formula's tiles -----------------===//
#pragma once

#include "compiler/Analysis/Footprint.h"
#include "compiler/Analysis/TileBoxes.h"
#include "compiler/Analysis/TileRegions.h"

namespace lacuna {

/// What an analysis may grow to before its result becomes a superset.
struct Effort {
  /// Conjunctions of the live and of the full side.
  unsigned disjuncts;
  /// Polyhedra of the live side.
  unsigned pieces;
  ProjectionLimits projection;
};

/// An atom of the live formula.
struct Literal {
  mlir::AffineExpr expr;
  bool isZero;
  bool operator==(const Literal &) const = default;
};
using Conjunction = llvm::SmallVector<Literal>;
using RowConjunction = llvm::SmallVector<Row>;

/// What an expression can be over all tokens of a tile: at least each of `lower`, at most each of
/// `upper`.
struct Interval {
  llvm::SmallVector<Row> lower, upper;
};

/// What is known while the tiles of one formula are found. `LiveTiles.cpp` projects the formula on
/// tiles, `FullTiles.cpp` bounds its atoms over tiles, `Footprint.cpp` makes boxes of both.
class TileAnalysis {
public:
  TileAnalysis(const sparsity::FormulaSpace &space, const TileShape &shape,
               const FootprintOptions &options, const Effort &effort);
  /// Fails when it takes too much work or numbers exceed 62 bits.
  mlir::FailureOr<Footprint> run(const sparsity::Formula &formula);
  /// All tiles, none of them full.
  Footprint visitAll();

private:
  // Tokens, tiles and symbols as columns.
  void addTiles(unsigned rank, llvm::ArrayRef<int64_t> tokens,
                llvm::SmallVectorImpl<unsigned> &tiles, llvm::SmallVectorImpl<Row> &elements);
  void addSymbols();
  Row symbolRow(unsigned symbol, TileSymbol::At at) const;
  Row sizeRow(bool query, unsigned axis) const {
    return symbolRow(query ? axis : space.getQueryRank() + axis, TileSymbol::At::Tile);
  }
  bool isSpread(const sparsity::Symbol &symbol) const {
    return symbol.kind == sparsity::Symbol::Kind::Monotone && shape.query[symbol.axis] != 1;
  }

  // The live side.
  llvm::SmallVector<Conjunction> expandLive(const sparsity::Formula &formula);
  int signOf(mlir::AffineExpr expr, unsigned symbol) const;
  std::optional<Row> flatten(mlir::AffineExpr expr, llvm::ArrayRef<TileSymbol::At> places,
                             llvm::SmallVectorImpl<Row> &definitions);
  std::optional<Row> floorDivide(const Row &dividend, int64_t divisor,
                                 llvm::SmallVectorImpl<Row> &definitions);
  void addLiteral(const Literal &literal, Polyhedron &polyhedron);
  std::vector<Polyhedron> findLive(const sparsity::Formula &formula);

  // The full side.
  std::optional<Interval> boundsOf(mlir::AffineExpr expr);
  llvm::SmallVector<RowConjunction> expandFull(const sparsity::Formula &formula);
  std::vector<Polyhedron> findFull(const sparsity::Formula &formula);

  void lift(Polyhedron &polyhedron);
  mlir::FailureOr<std::vector<TileBox>> convert(llvm::ArrayRef<TileRegion> regions);

  const sparsity::FormulaSpace &space;
  const TileShape &shape;
  const FootprintOptions &options;
  const Effort &effort;
  Footprint result;

  Columns columns;
  TileColumns roles;
  llvm::BitVector keyColumns, unknowns;
  /// Tokens of the tiles: an unknown, or the tile's coordinate when a tile has one token.
  llvm::SmallVector<Row> queries, keys;
  /// Column of each symbol of the space at the tile or first row, and at the last row.
  llvm::SmallVector<unsigned> firstColumns, lastColumns;
  /// Divisions of unknowns are unknowns with two inequalities.
  struct UnknownDivision {
    Row dividend;
    int64_t divisor;
    unsigned column;
  };
  llvm::SmallVector<UnknownDivision> divisions;
  /// What holds for every query tile that exists; where the tokens of both tiles lie; which key
  /// tiles exist.
  llvm::SmallVector<Row> context, tokens, grid;
  RegionAlgebra algebra;
};

} // namespace lacuna
