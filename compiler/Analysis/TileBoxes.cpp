//===- TileBoxes.cpp - polyhedra of key tiles as loop bounds --------------===//
#include "compiler/Analysis/TileBoxes.h"

#include "llvm/ADT/STLExtras.h"

using namespace lacuna;
using namespace mlir;
using llvm::BitVector;

namespace {
/// Rows as affine expressions.
class ExprWriter {
public:
  ExprWriter(const Columns &columns, const TileColumns &roles, MLIRContext *context)
      : columns(columns), context(context) {
    names.resize(columns.size());
    for (auto [index, column] : llvm::enumerate(roles.queryTile))
      names[column] = getAffineDimExpr(index, context);
    for (auto [index, column] : llvm::enumerate(roles.keyTile))
      names[column] = getAffineDimExpr(roles.queryTile.size() + index, context);
    for (auto [index, column] : llvm::enumerate(roles.symbols))
      names[column] = getAffineSymbolExpr(index, context);
  }

  AffineExpr write(const Row &row) {
    AffineExpr result = getAffineConstantExpr(0, context);
    row.forEachColumn(
        [&](unsigned column) { result = result + writeColumn(column) * number(row.at(column)); });
    return result + number(row.constant());
  }

  /// numerator / divisor, rounded up or down; multiples of the divisor leave the division, and the
  /// form with the smaller constant is taken.
  AffineExpr divide(const Row &numerator, const Integer &divisor, bool up) {
    Row down = numerator;
    if (up)
      down.set(0, down.constant() + divisor - 1);
    Row whole, rest;
    for (unsigned column = 0; column < down.size(); ++column) {
      const Integer &value = down.at(column);
      bool divides = column == 0 || value % divisor == 0;
      whole.set(column, divides ? floorDiv(value, divisor) : Integer(0));
      rest.set(column, divides && column != 0 ? Integer(0) : column ? value : mod(value, divisor));
    }
    if (rest.isConstant())
      return write(whole);
    Integer offset = rest.constant();
    if (offset == 0 || offset != divisor - 1)
      return write(whole) + write(rest).floorDiv(number(divisor));
    rest.set(0, Integer(0));
    return write(whole) + write(rest).ceilDiv(number(divisor));
  }

  bool hasOverflowed() const { return overflowed; }

private:
  AffineExpr writeColumn(unsigned column) {
    if (!names[column]) {
      const Columns::Division &division = *columns.getDivision(column);
      names[column] = divide(division.dividend, division.divisor, /*up=*/false);
    }
    return names[column];
  }

  int64_t number(const Integer &value) {
    constexpr int64_t limit = int64_t(1) << 62;
    if (value >= -limit && value <= limit)
      return int64_t(value);
    overflowed = true;
    return 0;
  }

  const Columns &columns;
  MLIRContext *context;
  SmallVector<AffineExpr> names;
  bool overflowed = false;
};
} // namespace

/// More implied rows than this do not shorten an outer loop enough to be worth their evaluation.
static constexpr unsigned maxShadowRows = 24;

/// The rows without `column`, and the shortest of those that pairs of the others imply: an outer
/// loop may run too long, but what is said about it alone must stay.
static SmallVector<Row> shadow(ArrayRef<Row> rows, unsigned column) {
  SmallVector<Row> implied, result;
  for (const Row &lower : rows) {
    if (lower.at(column) == 0)
      result.push_back(lower);
    if (lower.at(column) <= 0)
      continue;
    for (const Row &upper : rows)
      if (upper.at(column) < 0)
        implied.push_back(upper * lower.at(column) + lower * -upper.at(column));
  }
  normalize(implied);
  SmallVector<std::pair<unsigned, unsigned>> order;
  for (auto [index, row] : llvm::enumerate(implied))
    order.push_back({row.countTerms(), index});
  llvm::sort(order);
  for (auto [terms, index] : order)
    if (result.size() < maxShadowRows)
      result.push_back(implied[index]);
  normalize(result);
  return result;
}

static BitVector bitsOf(const Columns &columns, ArrayRef<unsigned> wanted) {
  BitVector result(columns.size());
  for (unsigned column : wanted)
    result.set(column);
  return result;
}

FailureOr<TileBox> lacuna::convertToBox(Columns &columns, const TileColumns &roles,
                                        const TileRegion &region, ArrayRef<Row> context,
                                        MLIRContext *mlirContext) {
  BitVector keys = bitsOf(columns, roles.keyTile);
  SmallVector<Row> rows(ArrayRef<Row>(region.polyhedron.inequalities));
  // Conditions do not shorten a loop, but what they imply for the rationals does.
  for (const Row &row : region.polyhedron.inequalities)
    if (columns.dividesBy(row, keys))
      rows.push_back(relaxDivisions(columns, row, keys));
  normalize(rows);
  dropRedundant(columns, rows, context, keys);

  ExprWriter writer(columns, roles, mlirContext);
  TileBox box;
  SmallVector<Row> bounds;
  for (const Row &row : rows) {
    if (columns.dividesBy(row, keys))
      box.conditions.push_back(writer.write(row));
    else if (columns.dependsOn(row, keys))
      bounds.push_back(row);
    else
      box.guards.push_back(writer.write(row));
  }
  box.ranges.resize(roles.keyTile.size());
  for (unsigned axis = roles.keyTile.size(); axis-- > 0;) {
    unsigned column = roles.keyTile[axis];
    AxisRange &range = box.ranges[axis];
    for (const Row &row : bounds) {
      Integer coefficient = row.at(column);
      Row rest = row;
      rest.set(column, Integer(0));
      if (coefficient > 0)
        range.lower.push_back(writer.divide(rest * -1, coefficient, /*up=*/true));
      rest.set(0, rest.constant() - coefficient);
      if (coefficient < 0)
        range.upper.push_back(writer.divide(rest, -coefficient, /*up=*/false));
    }
    if (range.lower.empty() || range.upper.empty())
      return failure();
    bounds = shadow(bounds, column);
    dropRedundant(columns, bounds, context, keys);
  }
  auto writeAll = [&](const Polyhedron &polyhedron) {
    Condition condition;
    for (const Row &row : polyhedron.inequalities)
      condition.push_back(writer.write(row));
    return condition;
  };
  box.anyOf = llvm::map_to_vector(region.covers, writeAll);
  box.noneOf = llvm::map_to_vector(region.holes, writeAll);
  if (writer.hasOverflowed())
    return failure();
  return box;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(binary.getLHS(), dims, symbols);
  int64_t b = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(a, b);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(a, b);
  default:
    return a - b * llvm::divideFloorSigned(a, b);
  }
}

static void enumerateAxis(const TileBox &box, unsigned axis, SmallVectorImpl<int64_t> &dims,
                          unsigned queryRank, ArrayRef<int64_t> symbols,
                          function_ref<void(ArrayRef<int64_t>)> visit) {
  auto holds = [&](AffineExpr expr) { return evaluate(expr, dims, symbols) >= 0; };
  if (axis == box.ranges.size()) {
    auto holdsAll = [&](const Condition &condition) { return llvm::all_of(condition, holds); };
    if (holdsAll(box.conditions) && (box.anyOf.empty() || llvm::any_of(box.anyOf, holdsAll)) &&
        llvm::none_of(box.noneOf, holdsAll))
      visit(ArrayRef<int64_t>(dims).drop_front(queryRank));
    return;
  }
  const AxisRange &range = box.ranges[axis];
  int64_t lower = std::numeric_limits<int64_t>::min(), upper = std::numeric_limits<int64_t>::max();
  for (AffineExpr expr : range.lower)
    lower = std::max(lower, evaluate(expr, dims, symbols));
  for (AffineExpr expr : range.upper)
    upper = std::min(upper, evaluate(expr, dims, symbols));
  for (int64_t tile = lower; tile < upper; ++tile) {
    dims[queryRank + axis] = tile;
    enumerateAxis(box, axis + 1, dims, queryRank, symbols, visit);
  }
}

void lacuna::enumerateTiles(ArrayRef<TileBox> boxes, ArrayRef<int64_t> queryTile,
                            ArrayRef<int64_t> symbols,
                            function_ref<void(ArrayRef<int64_t>)> visit) {
  for (const TileBox &box : boxes) {
    SmallVector<int64_t> dims(queryTile);
    dims.append(box.ranges.size(), 0);
    if (llvm::all_of(box.guards,
                     [&](AffineExpr expr) { return evaluate(expr, dims, symbols) >= 0; }))
      enumerateAxis(box, 0, dims, queryTile.size(), symbols, visit);
  }
}

bool lacuna::isAtMostOne(const AxisRange &range, int64_t step) {
  return llvm::any_of(range.lower, [&](AffineExpr lower) {
    return llvm::any_of(range.upper, [&](AffineExpr upper) {
      auto length = dyn_cast<AffineConstantExpr>(upper - lower);
      return length && length.getValue() <= step;
    });
  });
}
