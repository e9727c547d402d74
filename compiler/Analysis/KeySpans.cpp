//===- KeySpans.cpp - how far the keys of a query tile reach --------------===//
#include "compiler/Analysis/KeySpans.h"

#include "dialects/Sparsity/Sparsity.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace mlir;

/// Query tiles that are looked at, at most: their spans repeat away from the borders.
static constexpr int64_t maxSamples = 512;
/// Beyond this no bound is a number of tokens.
static constexpr int64_t huge = int64_t{1} << 40;

FailureOr<KeySpans> KeySpans::compute(Value set, ArrayRef<int64_t> sizes,
                                      const AssumedNumbers &numbers) {
  KeySpans spans(set.getContext(), sizes.size());
  FailureOr<Formula> formula = buildFormula(set, spans.space);
  if (failed(formula))
    return failure();
  SmallVector<int64_t> ones(sizes.size(), 1);
  spans.footprint = computeFootprint(*formula, spans.space, {ones, ones});
  spans.sizes.assign(sizes.begin(), sizes.end());
  spans.numbers = numbers;
  spans.opaque = formula->hasOpaque() || !spans.footprint.exact;
  spans.product = !spans.opaque && spans.footprint.live.size() == 1 &&
                  lacuna::isProduct(spans.footprint.live.front(), sizes.size());
  return spans;
}

/// The monotone term `symbol` of a query at `coordinate` along the term's axis.
std::optional<int64_t> KeySpans::termAt(unsigned index, int64_t coordinate) {
  auto [entry, isNew] = terms.try_emplace({index, coordinate});
  if (!isNew)
    return entry->second;
  const Symbol &symbol = space.getSymbols()[index];
  Location loc = symbol.op->getLoc();
  // Written once more in a place of its own, where coordinates are known.
  Block scratch;
  OpBuilder builder(space.getContext());
  builder.setInsertionPointToStart(&scratch);
  AssumedNumbers known = numbers;
  auto number = [&](int64_t value) {
    Value argument = scratch.addArgument(builder.getIndexType(), loc);
    known.set(argument, value);
    return argument;
  };
  PairContext pair;
  pair.batch = number(0);
  pair.head = number(0);
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    pair.query.push_back(number(axis == symbol.axis ? coordinate : 0));
    pair.querySizes.push_back(number(size));
    pair.keySizes.push_back(pair.querySizes.back());
  }
  return entry->second = known.evaluate(emitSymbol(builder, loc, symbol, pair));
}

KeySpans::Bounds KeySpans::symbolBounds(unsigned index, ArrayRef<Interval> queries) {
  unsigned position = footprint.symbols[index].symbol;
  const Symbol &symbol = space.getSymbols()[position];
  auto exactly = [](int64_t value) { return Interval{value, value}; };
  switch (symbol.kind) {
  case Symbol::Kind::QuerySize:
  case Symbol::Kind::KeySize:
    return exactly(sizes[symbol.axis]);
  case Symbol::Kind::Scalar:
    return exactly(numbers.assume(symbol.value, AssumedNumbers::typicalReach));
  case Symbol::Kind::PerHead:
    return exactly(AssumedNumbers::typicalReach);
  case Symbol::Kind::Monotone: {
    std::optional<int64_t> first = termAt(position, queries[symbol.axis].lower);
    std::optional<int64_t> last = termAt(position, queries[symbol.axis].upper);
    if (!first || !last)
      return std::nullopt;
    return Interval{*first, *last};
  }
  }
  llvm_unreachable("all kinds are handled");
}

/// What `expr` can be while its dimensions lie in `dims`; null when it is unknown or huge.
KeySpans::Bounds KeySpans::boundsOf(AffineExpr expr, ArrayRef<Interval> dims,
                                    ArrayRef<Interval> queries) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Interval{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbolBounds(symbol.getPosition(), queries);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Bounds a = boundsOf(binary.getLHS(), dims, queries), b = boundsOf(binary.getRHS(), dims, queries);
  if (!a || !b)
    return std::nullopt;
  Interval result;
  int64_t divisor = b->lower;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    result = {a->lower + b->lower, a->upper + b->upper};
    break;
  case AffineExprKind::Mul:
    result = divisor >= 0 ? Interval{a->lower * divisor, a->upper * divisor}
                          : Interval{a->upper * divisor, a->lower * divisor};
    break;
  case AffineExprKind::FloorDiv:
    if (divisor < 1)
      return std::nullopt;
    result = {llvm::divideFloorSigned(a->lower, divisor),
              llvm::divideFloorSigned(a->upper, divisor)};
    break;
  case AffineExprKind::CeilDiv:
    if (divisor < 1)
      return std::nullopt;
    result = {llvm::divideCeilSigned(a->lower, divisor), llvm::divideCeilSigned(a->upper, divisor)};
    break;
  default:
    if (divisor < 1)
      return std::nullopt;
    result = {0, divisor - 1};
    break;
  }
  if (std::abs(result.lower) > huge || std::abs(result.upper) > huge)
    return std::nullopt;
  return result;
}

/// Where the keys of one nest of loops lie for the queries of a tile; null when there are none.
std::optional<KeySpan> KeySpans::spanOf(const TileBox &box, ArrayRef<Interval> queries) {
  SmallVector<Interval> dims(queries);
  for (AffineExpr guard : box.guards)
    if (Bounds bounds = boundsOf(guard, dims, queries); bounds && bounds->upper < 0)
      return std::nullopt;
  bool isBox = !opaque && box.conditions.empty() && box.anyOf.empty() && box.noneOf.empty();
  KeySpan span;
  for (auto [axis, range] : llvm::enumerate(box.ranges)) {
    // The first key is the least of what the lower bound can be; full keys start at the greatest.
    Interval lower = {0, 0}, upper = {sizes[axis], sizes[axis]};
    for (AffineExpr expr : range.lower)
      if (Bounds bounds = boundsOf(expr, dims, queries))
        lower = {std::max(lower.lower, bounds->lower), std::max(lower.upper, bounds->upper)};
    for (AffineExpr expr : range.upper)
      if (Bounds bounds = boundsOf(expr, dims, queries))
        upper = {std::min(upper.lower, bounds->lower), std::min(upper.upper, bounds->upper)};
    int64_t length = upper.upper - lower.lower;
    if (length <= 0)
      return std::nullopt;
    AxisSpan &keys = span.emplace_back(AxisSpan{length, 0, 0});
    if (isBox && lower.upper < upper.lower)
      keys = {length, lower.upper - lower.lower, upper.lower - lower.lower};
    dims.push_back({lower.lower, upper.upper - 1});
  }
  return span;
}

namespace {
/// Tiles of one axis that are looked at, and how many tiles each stands for.
struct AxisSamples {
  SmallVector<std::pair<int64_t, double>> tiles;

  AxisSamples(int64_t count, int64_t most) {
    int64_t samples = std::min(count, std::max<int64_t>(most, 2));
    for (int64_t i = 0; i < samples; ++i)
      tiles.emplace_back(samples == 1 ? 0 : i * (count - 1) / (samples - 1), 1.0);
    // The ends stand for themselves, what lies between for the rest.
    if (samples > 2)
      for (auto &[tile, weight] : MutableArrayRef(tiles).drop_front().drop_back())
        weight = static_cast<double>(count - 2) / static_cast<double>(samples - 2);
  }
};
} // namespace

SpanCounts KeySpans::count(ArrayRef<int64_t> box) {
  SpanCounts counts;
  int64_t most = std::llround(std::pow(maxSamples, 1.0 / static_cast<double>(sizes.size())));
  SmallVector<AxisSamples> axes;
  for (auto [size, extent] : llvm::zip_equal(sizes, box))
    axes.emplace_back(llvm::divideCeil(size, extent), most);
  SmallVector<Interval> queries(sizes.size());
  auto visit = [&](auto &&self, size_t axis, double weight) -> void {
    if (axis == sizes.size()) {
      for (const TileBox &nest : footprint.live)
        if (std::optional<KeySpan> span = spanOf(nest, queries))
          counts[*span] += weight;
      return;
    }
    for (auto [tile, share] : axes[axis].tiles) {
      int64_t first = tile * box[axis];
      queries[axis] = {first, std::min(first + box[axis], sizes[axis]) - 1};
      self(self, axis + 1, weight * share);
    }
  };
  visit(visit, 0, 1.0);
  return counts;
}
