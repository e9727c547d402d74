//===- Footprint.cpp - which key tiles a query tile must visit ------------===//
#include "compiler/Analysis/Footprint.h"
#include "compiler/Analysis/TileBoxes.h"
#include "compiler/Analysis/TileRegions.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace mlir;
using llvm::BitVector;

namespace {

/// What an analysis may grow to before its result becomes a superset.
struct Effort {
  /// Conjunctions of the live and of the full side.
  unsigned disjuncts;
  /// Polyhedra of the live side.
  unsigned pieces;
  ProjectionLimits projection;
};
constexpr Effort thorough = {64, 32, {12, 32}};
constexpr Effort coarse = {8, 8, {1, 4}};

/// Alternatives kept for one bound of an expression over a tile.
constexpr unsigned maxAlternatives = 4;

/// An atom of the live formula.
struct Literal {
  AffineExpr expr;
  bool isZero;
  bool operator==(const Literal &) const = default;
};
using Conjunction = SmallVector<Literal>;
using RowConjunction = SmallVector<Row>;

/// What an expression can be over all tokens of a tile: at least each of `lower`, at most each of
/// `upper`.
struct Interval {
  SmallVector<Row> lower, upper;
};

class Analysis {
public:
  Analysis(const FormulaSpace &space, const TileShape &shape, const FootprintOptions &options,
           const Effort &effort);
  /// Fails when it takes too much work or numbers exceed 62 bits.
  FailureOr<Footprint> run(const Formula &formula);
  /// All tiles, none of them full.
  Footprint visitAll();

private:
  // Tokens, tiles and symbols as columns.
  void addTiles(unsigned rank, ArrayRef<int64_t> tokens, SmallVectorImpl<unsigned> &tiles,
                SmallVectorImpl<Row> &elements);
  void addSymbols();
  Row symbolRow(unsigned symbol, TileSymbol::At at) const;
  Row sizeRow(bool query, unsigned axis) const {
    return symbolRow(query ? axis : space.getQueryRank() + axis, TileSymbol::At::Tile);
  }
  bool isSpread(const Symbol &symbol) const {
    return symbol.kind == Symbol::Kind::Monotone && shape.query[symbol.axis] != 1;
  }

  // The live side.
  SmallVector<Conjunction> expandLive(const Formula &formula);
  int signOf(AffineExpr expr, unsigned symbol) const;
  std::optional<Row> flatten(AffineExpr expr, ArrayRef<TileSymbol::At> places,
                             SmallVectorImpl<Row> &definitions);
  std::optional<Row> floorDivide(const Row &dividend, int64_t divisor,
                                 SmallVectorImpl<Row> &definitions);
  void addLiteral(const Literal &literal, Polyhedron &polyhedron);
  std::vector<Polyhedron> findLive(const Formula &formula);

  // The full side.
  std::optional<Interval> boundsOf(AffineExpr expr);
  SmallVector<RowConjunction> expandFull(const Formula &formula);
  std::vector<Polyhedron> findFull(const Formula &formula);

  void lift(Polyhedron &polyhedron);
  FailureOr<std::vector<TileBox>> convert(ArrayRef<TileRegion> regions);

  const FormulaSpace &space;
  const TileShape &shape;
  const FootprintOptions &options;
  const Effort &effort;
  Footprint result;

  Columns columns;
  TileColumns roles;
  BitVector keyColumns, unknowns;
  /// Tokens of the tiles: an unknown, or the tile's coordinate when a tile has one token.
  SmallVector<Row> queries, keys;
  /// Column of each symbol of the space at the tile or first row, and at the last row.
  SmallVector<unsigned> firstColumns, lastColumns;
  /// Divisions of unknowns are unknowns with two inequalities.
  struct UnknownDivision {
    Row dividend;
    int64_t divisor;
    unsigned column;
  };
  SmallVector<UnknownDivision> divisions;
  /// What holds for every query tile that exists; where the tokens of both tiles lie; which key
  /// tiles exist.
  SmallVector<Row> context, tokens, grid;
  RegionAlgebra algebra;
};

} // namespace

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

Analysis::Analysis(const FormulaSpace &space, const TileShape &shape,
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
void Analysis::addTiles(unsigned rank, ArrayRef<int64_t> sizes, SmallVectorImpl<unsigned> &tiles,
                        SmallVectorImpl<Row> &elements) {
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

void Analysis::addSymbols() {
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

Row Analysis::symbolRow(unsigned symbol, TileSymbol::At at) const {
  return Row::term(at == TileSymbol::At::LastRow ? lastColumns[symbol] : firstColumns[symbol]);
}

//===----------------------------------------------------------------------===//
// Live tiles
//===----------------------------------------------------------------------===//

SmallVector<Conjunction> Analysis::expandLive(const Formula &formula) {
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
int Analysis::signOf(AffineExpr expr, unsigned symbol) const {
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

std::optional<Row> Analysis::floorDivide(const Row &dividend, int64_t divisor,
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
std::optional<Row> Analysis::flatten(AffineExpr expr, ArrayRef<TileSymbol::At> places,
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
void Analysis::addLiteral(const Literal &literal, Polyhedron &polyhedron) {
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

std::vector<Polyhedron> Analysis::findLive(const Formula &formula) {
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

//===----------------------------------------------------------------------===//
// Full tiles
//===----------------------------------------------------------------------===//

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
std::optional<Interval> Analysis::boundsOf(AffineExpr expr) {
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
SmallVector<RowConjunction> Analysis::expandFull(const Formula &formula) {
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

std::vector<Polyhedron> Analysis::findFull(const Formula &formula) {
  SmallVector<Polyhedron> pieces;
  for (RowConjunction &conjunction : expandFull(formula)) {
    Polyhedron piece;
    piece.inequalities.assign(conjunction.begin(), conjunction.end());
    for (unsigned axis = 0; axis < space.getKeyRank(); ++axis) {
      Row tile = Row::term(roles.keyTile[axis]);
      piece.inequalities.push_back(tile);
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

//===----------------------------------------------------------------------===//
// Algebra of polyhedra
//===----------------------------------------------------------------------===//

/// Key tiles inside divisions cannot be bounds of a loop: takes out those that can.
void Analysis::lift(Polyhedron &polyhedron) {
  for (Row &row : polyhedron.inequalities)
    row = liftDivision(columns, row, keyColumns);
}

FailureOr<std::vector<TileBox>> Analysis::convert(ArrayRef<TileRegion> regions) {
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

FailureOr<Footprint> Analysis::run(const Formula &formula) {
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

Footprint Analysis::visitAll() {
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
    FailureOr<Footprint> result = Analysis(space, shape, options, effort).run(formula);
    if (succeeded(result))
      return std::move(*result);
  }
  return Analysis(space, shape, options, coarse).visitAll();
}
