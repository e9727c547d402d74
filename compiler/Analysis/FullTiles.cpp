//===- FullTiles.cpp - key tiles with live pairs only ---------------------===//
#include "compiler/Analysis/TileAnalysis.h"

#include "llvm/ADT/STLExtras.h"

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace mlir;

/// Alternatives kept for one bound of an expression over a tile.
static constexpr unsigned maxAlternatives = 4;

static SmallVector<Row> sums(ArrayRef<Row> a, ArrayRef<Row> b) {
  SmallVector<Row> result;
  for (const Row &x : a)
    for (const Row &y : b)
      if (result.size() < maxAlternatives)
        result.push_back(x + y);
  return result;
}

static SmallVector<Row> mapped(ArrayRef<Row> rows, function_ref<Row(const Row &)> map) {
  return llvm::map_to_vector(rows, map);
}

/// Bounds of `expr` over the tokens of both tiles, each term at its own worst corner.
std::optional<Interval> TileAnalysis::boundsOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Interval{{Row(constant.getValue())}, {Row(constant.getValue())}};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    unsigned axis = dim.getPosition();
    bool isQuery = axis < queries.size();
    axis -= isQuery ? 0 : queries.size();
    int64_t size = isQuery ? shape.query[axis] : shape.key[axis];
    Row first = Row::term(isQuery ? roles.queryTile[axis] : roles.keyTile[axis], size);
    return Interval{{first}, {first + (size - 1)}};
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return Interval{{symbolRow(symbol.getPosition(), TileSymbol::At::FirstRow)},
                    {symbolRow(symbol.getPosition(), TileSymbol::At::LastRow)}};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Interval> a = boundsOf(binary.getLHS());
  if (!a)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<Interval> b = boundsOf(binary.getRHS());
    if (!b)
      return std::nullopt;
    return Interval{sums(a->lower, b->lower), sums(a->upper, b->upper)};
  }
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return std::nullopt;
  int64_t value = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul) {
    auto scale = [&](const Row &row) { return row * value; };
    Interval scaled{mapped(a->lower, scale), mapped(a->upper, scale)};
    if (value < 0)
      std::swap(scaled.lower, scaled.upper);
    return scaled;
  }
  if (value <= 0)
    return std::nullopt;
  auto floor = [&](const Row &row) { return columns.floorDivide(row, Integer(value)); };
  auto ceil = [&](const Row &row) { return floor(row + (value - 1)); };
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Interval{mapped(a->lower, floor), mapped(a->upper, floor)};
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return Interval{mapped(a->lower, ceil), mapped(a->upper, ceil)};
  // x mod n is x - n floor(x / n): its bounds are those of one period while x stays in it.
  const Row &low = a->lower.front(), &high = a->upper.front();
  if (low == high)
    return Interval{{low - floor(low) * value}, {low - floor(low) * value}};
  return Interval{{Row(0), low - floor(high) * value}, {Row(value - 1), high - floor(low) * value}};
}

/// Conjunctions of which each makes a whole tile live.
SmallVector<RowConjunction> TileAnalysis::expandFull(const Formula &formula) {
  switch (formula.getKind()) {
  case Formula::Kind::True:
    return {RowConjunction()};
  case Formula::Kind::False:
  case Formula::Kind::Opaque:
    return {};
  case Formula::Kind::NonNegative: {
    SmallVector<RowConjunction> alternatives;
    if (std::optional<Interval> bounds = boundsOf(formula.getExpr()))
      for (const Row &row : bounds->lower)
        alternatives.push_back({row});
    return alternatives;
  }
  case Formula::Kind::Zero: {
    SmallVector<RowConjunction> alternatives;
    if (std::optional<Interval> bounds = boundsOf(formula.getExpr()))
      for (const Row &low : bounds->lower)
        for (const Row &high : bounds->upper)
          alternatives.push_back({low, high * -1});
    return alternatives;
  }
  case Formula::Kind::Or: {
    SmallVector<RowConjunction> all;
    for (const Formula &part : formula.getParts())
      for (RowConjunction &conjunction : expandFull(part))
        if (all.size() < effort.disjuncts)
          all.push_back(std::move(conjunction));
    return all;
  }
  case Formula::Kind::And: {
    SmallVector<RowConjunction> product = {RowConjunction()};
    for (const Formula &part : formula.getParts()) {
      SmallVector<RowConjunction> next, factors = expandFull(part);
      for (const RowConjunction &a : product) {
        for (const RowConjunction &b : factors) {
          if (next.size() == effort.disjuncts)
            break;
          next.push_back(a);
          next.back().append(b);
        }
      }
      product = std::move(next);
    }
    return product;
  }
  }
  llvm_unreachable("all kinds are handled");
}

std::vector<Polyhedron> TileAnalysis::findFull(const Formula &formula) {
  SmallVector<Polyhedron> pieces;
  for (RowConjunction &conjunction : expandFull(formula)) {
    Polyhedron piece;
    piece.inequalities.assign(conjunction.begin(), conjunction.end());
    for (unsigned axis = 0; axis < space.getKeyRank(); ++axis) {
      Row tile = Row::term(roles.keyTile[axis]);
      piece.inequalities.push_back(tile);
      if (space.isWithinKeys())
        continue;
      piece.inequalities.push_back(sizeRow(false, axis) - (tile + 1) * shape.key[axis]);
    }
    lift(piece);
    pieces.push_back(std::move(piece));
  }
  std::vector<Polyhedron> full = algebra.simplify(pieces);
  if (full.size() > options.maxFullBoxes)
    full.resize(options.maxFullBoxes);
  return full;
}
