//===- Footprint.cpp - which key tiles a query tile must visit ------------===//
#include "compiler/Analysis/TileAnalysis.h"

#include "llvm/ADT/STLExtras.h"

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace mlir;

/// The first attempt, and the second one if that takes too much work.
static constexpr Effort thorough = {64, 32, {12, 32}};
static constexpr Effort coarse = {8, 8, {1, 4}};

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

TileAnalysis::TileAnalysis(const FormulaSpace &space, const TileShape &shape,
                           const FootprintOptions &options, const Effort &effort)
    : space(space), shape(shape), options(options), effort(effort),
      algebra(columns, context, grid, keyColumns) {
  addTiles(space.getQueryRank(), shape.query, roles.queryTile, queries);
  addTiles(space.getKeyRank(), shape.key, roles.keyTile, keys);
  addSymbols();
  keyColumns.resize(columns.size());
  for (unsigned column : roles.keyTile)
    keyColumns.set(column);
  for (unsigned axis = 0; axis < space.getQueryRank(); ++axis) {
    context.push_back(Row::term(roles.queryTile[axis]));
    context.push_back(sizeRow(true, axis) - Row::term(roles.queryTile[axis], shape.query[axis]) -
                      1);
    tokens.push_back(sizeRow(true, axis) - queries[axis] - 1);
  }
  for (unsigned axis = 0; axis < space.getKeyRank(); ++axis) {
    context.push_back(sizeRow(false, axis));
    grid.push_back(Row::term(roles.keyTile[axis]));
    grid.push_back(sizeRow(false, axis) - Row::term(roles.keyTile[axis], shape.key[axis]) - 1);
    tokens.push_back(sizeRow(false, axis) - keys[axis] - 1);
  }
}

/// Columns for the tiles of one side, and for their tokens: `tile * size <= token < (tile + 1) *
/// size`.
void TileAnalysis::addTiles(unsigned rank, ArrayRef<int64_t> sizes,
                            SmallVectorImpl<unsigned> &tiles, SmallVectorImpl<Row> &elements) {
  for (unsigned axis = 0; axis < rank; ++axis) {
    tiles.push_back(columns.add());
    Row first = Row::term(tiles.back(), sizes[axis]);
    if (sizes[axis] == 1) {
      elements.push_back(first);
      continue;
    }
    unsigned column = columns.add();
    unknowns.resize(columns.size());
    unknowns.set(column);
    elements.push_back(Row::term(column));
    tokens.push_back(elements.back() - first);
    tokens.push_back(first - elements.back() + (sizes[axis] - 1));
  }
}

void TileAnalysis::addSymbols() {
  for (auto [index, symbol] : llvm::enumerate(space.getSymbols())) {
    bool spread = isSpread(symbol);
    bool monotone = symbol.kind == Symbol::Kind::Monotone;
    firstColumns.push_back(columns.add());
    roles.symbols.push_back(firstColumns.back());
    result.symbols.push_back(
        {static_cast<unsigned>(index), monotone ? TileSymbol::At::FirstRow : TileSymbol::At::Tile});
    lastColumns.push_back(firstColumns.back());
    if (!spread)
      continue;
    lastColumns.back() = columns.add();
    roles.symbols.push_back(lastColumns.back());
    result.symbols.push_back({static_cast<unsigned>(index), TileSymbol::At::LastRow});
    context.push_back(Row::term(lastColumns.back()) - Row::term(firstColumns.back()));
  }
}

Row TileAnalysis::symbolRow(unsigned symbol, TileSymbol::At at) const {
  return Row::term(at == TileSymbol::At::LastRow ? lastColumns[symbol] : firstColumns[symbol]);
}

//===----------------------------------------------------------------------===//
// Algebra of polyhedra
//===----------------------------------------------------------------------===//

/// Key tiles inside divisions cannot be bounds of a loop: takes out those that can.
void TileAnalysis::lift(Polyhedron &polyhedron) {
  for (Row &row : polyhedron.inequalities)
    row = liftDivision(columns, row, keyColumns);
}

FailureOr<std::vector<TileBox>> TileAnalysis::convert(ArrayRef<TileRegion> regions) {
  std::vector<TileBox> boxes;
  for (const TileRegion &region : regions) {
    FailureOr<TileBox> box = convertToBox(columns, roles, region, context, space.getContext());
    if (failed(box))
      return failure();
    boxes.push_back(std::move(*box));
  }
  return boxes;
}

/// Renumbers the symbols so that only those that some box uses are left.
static void keepUsedSymbols(Footprint &footprint, MLIRContext *context) {
  SmallVector<AffineExpr *> exprs;
  for (std::vector<TileBox> *boxes : {&footprint.live, &footprint.full, &footprint.partial}) {
    for (TileBox &box : *boxes) {
      for (AffineExpr &expr : llvm::concat<AffineExpr>(box.guards, box.conditions))
        exprs.push_back(&expr);
      for (auto &conjunction : llvm::concat<Condition>(box.anyOf, box.noneOf))
        for (AffineExpr &expr : conjunction)
          exprs.push_back(&expr);
      for (AxisRange &range : box.ranges)
        for (AffineExpr &expr : llvm::concat<AffineExpr>(range.lower, range.upper))
          exprs.push_back(&expr);
    }
  }
  SmallVector<AffineExpr> renamed;
  SmallVector<TileSymbol> kept;
  for (auto [index, symbol] : llvm::enumerate(footprint.symbols)) {
    bool used =
        llvm::any_of(exprs, [&](AffineExpr *expr) { return expr->isFunctionOfSymbol(index); });
    renamed.push_back(getAffineSymbolExpr(kept.size(), context));
    if (used)
      kept.push_back(symbol);
  }
  for (AffineExpr *expr : exprs)
    *expr = expr->replaceSymbols(renamed);
  footprint.symbols = std::move(kept);
}

FailureOr<Footprint> TileAnalysis::run(const Formula &formula) {
  std::vector<Polyhedron> livePieces = findLive(formula), fullPieces = findFull(formula);
  std::vector<TileRegion> live = algebra.makeDisjoint(livePieces, options.maxBoxes);
  std::vector<TileRegion> full = algebra.makeDisjoint(fullPieces, options.maxBoxes);
  std::vector<TileRegion> partial = algebra.without(live, fullPieces);
  if (partial.size() > options.maxBoxes)
    partial = algebra.without(algebra.cover(livePieces), fullPieces);
  FailureOr<std::vector<TileBox>> boxes[] = {convert(live), convert(full), convert(partial)};
  if (columns.isExhausted() || llvm::any_of(boxes, [](auto &list) { return failed(list); }))
    return failure();
  result.live = std::move(*boxes[0]);
  result.full = std::move(*boxes[1]);
  result.partial = std::move(*boxes[2]);
  keepUsedSymbols(result, space.getContext());
  return std::move(result);
}

Footprint TileAnalysis::visitAll() {
  TileRegion everything;
  everything.polyhedron.inequalities.assign(grid.begin(), grid.end());
  result.exact = false;
  result.live = result.partial = *convert(everything);
  keepUsedSymbols(result, space.getContext());
  return std::move(result);
}

Footprint lacuna::computeFootprint(const Formula &formula, const FormulaSpace &space,
                                   const TileShape &shape, const FootprintOptions &options) {
  for (const Effort &effort : {thorough, coarse}) {
    FailureOr<Footprint> result = TileAnalysis(space, shape, options, effort).run(formula);
    if (succeeded(result))
      return std::move(*result);
  }
  return TileAnalysis(space, shape, options, coarse).visitAll();
}

bool lacuna::isProduct(const TileBox &box, unsigned queryRank) {
  if (!box.conditions.empty() || !box.anyOf.empty() || !box.noneOf.empty())
    return false;
  auto usesKey = [&](AffineExpr expr) {
    for (unsigned axis = 0; axis < box.ranges.size(); ++axis)
      if (expr.isFunctionOfDim(queryRank + axis))
        return true;
    return false;
  };
  return llvm::none_of(box.ranges, [&](const AxisRange &range) {
    return llvm::any_of(range.lower, usesKey) || llvm::any_of(range.upper, usesKey);
  });
}

std::optional<Footprint> lacuna::computeKeyFootprint(const Formula &formula,
                                                     const FormulaSpace &space,
                                                     const TileShape &shape) {
  TileShape single{shape.query, SmallVector<int64_t>(shape.key.size(), 1)};
  Footprint keys = computeFootprint(formula, space, single);
  if (keys.live.size() != 1 || !isProduct(keys.live.front(), shape.query.size()))
    return std::nullopt;
  if (keys.full.size() != 1 || !isProduct(keys.full.front(), shape.query.size()))
    keys.full.clear();
  return keys;
}
