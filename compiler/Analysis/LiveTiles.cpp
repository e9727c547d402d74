//===- LiveTiles.cpp - key tiles with at least one live pair --------------===//
#include "compiler/Analysis/TileAnalysis.h"

#include "llvm/ADT/STLExtras.h"

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace mlir;

SmallVector<Conjunction> TileAnalysis::expandLive(const Formula &formula) {
  switch (formula.getKind()) {
  case Formula::Kind::True:
    return {Conjunction()};
  case Formula::Kind::False:
    return {};
  case Formula::Kind::Opaque:
    result.exact = false;
    return {Conjunction()};
  case Formula::Kind::NonNegative:
    return {Conjunction{{formula.getExpr(), false}}};
  case Formula::Kind::Zero:
    return {Conjunction{{formula.getExpr(), true}}};
  case Formula::Kind::Or: {
    SmallVector<Conjunction> all;
    for (const Formula &part : formula.getParts())
      llvm::append_range(all, expandLive(part));
    if (all.size() <= effort.disjuncts)
      return all;
    result.exact = false;
    return {Conjunction()};
  }
  case Formula::Kind::And: {
    SmallVector<Conjunction> product = {Conjunction()};
    for (const Formula &part : formula.getParts()) {
      SmallVector<Conjunction> factors = expandLive(part);
      if (product.size() * factors.size() > effort.disjuncts) {
        // Without one factor the set is larger, which costs visits and misses nothing.
        result.exact = false;
        continue;
      }
      SmallVector<Conjunction> next;
      for (const Conjunction &a : product) {
        for (const Conjunction &b : factors) {
          next.push_back(a);
          for (const Literal &literal : b)
            if (!llvm::is_contained(a, literal))
              next.back().push_back(literal);
        }
      }
      product = std::move(next);
    }
    return product;
  }
  }
  llvm_unreachable("all kinds are handled");
}

/// How `expr` moves with `symbol`: 1 grows, -1 falls, 0 not at all, 2 unknown.
int TileAnalysis::signOf(AffineExpr expr, unsigned symbol) const {
  if (!expr.isFunctionOfSymbol(symbol))
    return 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  int a = signOf(binary.getLHS(), symbol);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    int b = signOf(binary.getRHS(), symbol);
    return a == b || b == 0 ? a : a == 0 ? b : 2;
  }
  case AffineExprKind::Mul:
    if (!constant || a == 2)
      return 2;
    return constant.getValue() < 0 ? -a : a;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return constant && constant.getValue() > 0 ? a : 2;
  default:
    return 2;
  }
}

std::optional<Row> TileAnalysis::floorDivide(const Row &dividend, int64_t divisor,
                                             SmallVectorImpl<Row> &definitions) {
  bool hasUnknown = false;
  dividend.forEachColumn(
      [&](unsigned column) { hasUnknown |= column < unknowns.size() && unknowns.test(column); });
  if (!hasUnknown)
    return columns.floorDivide(dividend, Integer(divisor));
  auto *found = llvm::find_if(divisions, [&](const UnknownDivision &division) {
    return division.divisor == divisor && division.dividend == dividend;
  });
  if (found == divisions.end()) {
    unsigned column = columns.add();
    unknowns.resize(columns.size());
    unknowns.set(column);
    divisions.push_back({dividend, divisor, column});
    found = &divisions.back();
  }
  Row remainder = dividend - Row::term(found->column, divisor);
  definitions.push_back(remainder);
  definitions.push_back(Row(divisor - 1) - remainder);
  return Row::term(found->column);
}

/// `expr` as a row, with monotone symbols taken at `places`; nothing when it is not linear.
std::optional<Row> TileAnalysis::flatten(AffineExpr expr, ArrayRef<TileSymbol::At> places,
                                         SmallVectorImpl<Row> &definitions) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Row(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    unsigned position = dim.getPosition();
    return position < queries.size() ? queries[position] : keys[position - queries.size()];
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbolRow(symbol.getPosition(), places[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Row> a = flatten(binary.getLHS(), places, definitions);
  std::optional<Row> b = flatten(binary.getRHS(), places, definitions);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *a + *b;
  if (expr.getKind() == AffineExprKind::Mul && a->isConstant())
    std::swap(a, b);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul)
    return b->isConstant() ? std::optional(*a * b->constant()) : std::nullopt;
  if (!constant || constant.getValue() <= 0)
    return std::nullopt;
  int64_t divisor = constant.getValue();
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return floorDivide(*a + (divisor - 1), divisor, definitions);
  std::optional<Row> quotient = floorDivide(*a, divisor, definitions);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return quotient;
  return *a - *quotient * divisor;
}

/// Adds what `literal` says about single rows. A monotone symbol stands for the row of the tile
/// that allows most, so that two of them may speak of different rows.
void TileAnalysis::addLiteral(const Literal &literal, Polyhedron &polyhedron) {
  SmallVector<TileSymbol::At> low(space.getSymbols().size(), TileSymbol::At::Tile), high = low;
  bool spreads = false;
  for (auto [index, symbol] : llvm::enumerate(space.getSymbols())) {
    if (!isSpread(symbol) || !literal.expr.isFunctionOfSymbol(index))
      continue;
    result.exact = false;
    spreads = true;
    int sign = signOf(literal.expr, index);
    if (sign == 2)
      return;
    high[index] = sign > 0 ? TileSymbol::At::LastRow : TileSymbol::At::FirstRow;
    low[index] = sign > 0 ? TileSymbol::At::FirstRow : TileSymbol::At::LastRow;
  }
  SmallVector<Row> definitions;
  std::optional<Row> greatest = flatten(literal.expr, high, definitions);
  if (!greatest) {
    result.exact = false;
    return;
  }
  polyhedron.inequalities.append(definitions);
  if (!literal.isZero) {
    polyhedron.inequalities.push_back(*greatest);
  } else if (!spreads) {
    polyhedron.equalities.push_back(*greatest);
  } else {
    definitions.clear();
    Row least = *flatten(literal.expr, low, definitions);
    polyhedron.inequalities.append(definitions);
    polyhedron.inequalities.push_back(*greatest);
    polyhedron.inequalities.push_back(least * -1);
  }
}

std::vector<Polyhedron> TileAnalysis::findLive(const Formula &formula) {
  SmallVector<Polyhedron> pieces;
  for (const Conjunction &conjunction : expandLive(formula)) {
    if (columns.isExhausted())
      break;
    Polyhedron polyhedron;
    polyhedron.inequalities.assign(tokens.begin(), tokens.end());
    polyhedron.inequalities.append(grid);
    polyhedron.inequalities.append(context);
    for (const Literal &literal : conjunction)
      addLiteral(literal, polyhedron);
    // Most products of "and" over "or" contradict themselves.
    SmallVector<Row> rows(ArrayRef<Row>(polyhedron.inequalities));
    for (const Row &row : polyhedron.equalities)
      rows.append({row, row * -1});
    if (!normalize(rows) || isEmpty(columns, rows))
      continue;
    result.exact &= projectOut(columns, unknowns, std::move(polyhedron), effort.projection, pieces);
  }
  for (Polyhedron &piece : pieces) {
    lift(piece);
    piece.inequalities.append(grid);
  }
  std::vector<Polyhedron> live = algebra.simplify(pieces);
  if (live.size() <= effort.pieces)
    return live;
  result.exact = false;
  return {algebra.cover(live).polyhedron};
}
