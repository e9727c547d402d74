//===- RandomFormula.cpp - random sets for property tests -----------------===//
#include "RandomFormula.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace lacuna::sparsity;
using namespace lacuna::test;
using namespace mlir;

RandomFormula::RandomFormula(MLIRContext &context, uint64_t seed, unsigned rank)
    : SetValues(context, rank), random(seed), rank(rank), alignStart(false),
      location(UnknownLoc::get(&context)), context(context) {
  alignStart = draw(0, 2) == 0;
}

int64_t RandomFormula::draw(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

/// A constant, or a run-time scalar with a value in the range.
AffineExpr RandomFormula::number(int64_t low, int64_t high) {
  if (draw(0, 1))
    return space.constant(draw(low, high));
  scalarRanges.push_back({low, high});
  return space.scalar(scalars.addArgument(IndexType::get(&context), location));
}

Formula RandomFormula::window() {
  unsigned axis = draw(0, rank - 1);
  AffineExpr distance = position(axis) - space.key(axis);
  Formula left = Formula::lessEqual(distance, number(-3, 14));
  Formula right = Formula::lessEqual(-number(-3, 14), distance);
  switch (draw(0, 3)) {
  case 0:
    return left;
  case 1:
    return right;
  default:
    return left & right;
  }
}

/// Sets that relate several axes.
Formula RandomFormula::gridLeaf() {
  switch (draw(0, 2)) {
  case 0: { // Causal in row-major order.
    Formula result = Formula::never(), equal = Formula::always();
    for (unsigned axis = 0; axis < rank; ++axis) {
      result = result | (equal & Formula::less(space.key(axis), position(axis)));
      equal = equal & Formula::equal(space.key(axis), position(axis));
    }
    return draw(0, 1) ? result | equal : result;
  }
  case 1: { // A ball of the l1 norm.
    AffineExpr radius = number(0, 6);
    Formula result = Formula::always();
    for (unsigned signs = 0; signs < (1u << rank); ++signs) {
      AffineExpr sum = space.constant(0);
      for (unsigned axis = 0; axis < rank; ++axis) {
        AffineExpr distance = position(axis) - space.key(axis);
        sum = signs >> axis & 1 ? sum + distance : sum - distance;
      }
      result = result & Formula::lessEqual(sum, radius);
    }
    return result;
  }
  default: { // A box.
    Formula result = Formula::always();
    for (unsigned axis = 0; axis < rank; ++axis) {
      AffineExpr distance = position(axis) - space.key(axis), radius = number(0, 4);
      result = result & Formula::between(-radius, distance, radius);
    }
    return result;
  }
  }
}

Formula RandomFormula::leaf() {
  unsigned axis = draw(0, rank - 1);
  AffineExpr query = space.query(axis), key = space.key(axis);
  AffineExpr distance = position(axis) - key;
  switch (draw(0, 15)) {
  case 0:
  case 1:
  case 2:
    return window();
  case 3:
    return Formula::less(key, number(0, 9));
  case 4:
    return Formula::lessEqual(space.keySize(axis) - number(0, 9), key);
  case 5:
    return draw(0, 1) ? Formula::less(query, number(0, 9))
                      : Formula::lessEqual(space.querySize(axis) - number(0, 9), query);
  case 6:
    return draw(0, 1) ? Formula::equal(key, number(0, 12))
                      : Formula::equal(distance, number(-3, 9));
  case 7:
    return Formula::zero(distance % draw(1, 7));
  case 8:
    return Formula::zero(distance % draw(1, 5)) &
           Formula::between(space.constant(0), distance, number(0, 16));
  case 9: {
    int64_t block = draw(1, 9);
    return Formula::equal(position(axis).floorDiv(block), key.floorDiv(block));
  }
  case 10: { // Neighbouring blocks, as sliding tiles have them.
    int64_t block = draw(1, 6);
    AffineExpr blocks = position(axis).floorDiv(block) - key.floorDiv(block), radius = number(0, 2);
    return Formula::between(-radius, blocks, radius);
  }
  case 11: { // A monotone start, and a width from there on.
    hasMonotone = true;
    AffineExpr start = space.monotone(nullptr, draw(0, 1), axis);
    return Formula::lessEqual(start, key) & Formula::less(key, start + number(0, 9));
  }
  case 12: { // What a user may write.
    AffineExpr sum = number(-9, 20);
    for (unsigned other = 0; other < rank; ++other)
      sum = sum + space.query(other) * draw(-2, 2) + space.key(other) * draw(-3, 3);
    return draw(0, 4) ? Formula::nonNegative(sum) : Formula::zero(sum);
  }
  case 13: { // The same with a remainder or a quotient.
    AffineExpr sum = query * draw(-2, 2) + key * draw(1, 3);
    int64_t divisor = draw(2, 5);
    return draw(0, 1) ? Formula::lessEqual(sum % divisor, space.constant(draw(0, divisor - 1)))
                      : Formula::lessEqual(sum.floorDiv(divisor), number(0, 9));
  }
  case 14:
    return draw(0, 2) ? gridLeaf() : Formula::opaque(nullptr, draw(0, 1), draw(0, 1));
  default:
    return draw(0, 3) ? gridLeaf() : Formula::constant(draw(0, 1));
  }
}

Formula RandomFormula::tree(unsigned depth) {
  if (depth == 0 || draw(0, 3) == 0)
    return leaf();
  switch (draw(0, 4)) {
  case 0:
    return !tree(depth - 1);
  case 1:
  case 2:
    return tree(depth - 1) & tree(depth - 1);
  default:
    return tree(depth - 1) | tree(depth - 1);
  }
}

void RandomFormula::drawValues(ArrayRef<int64_t> queries, ArrayRef<int64_t> keys) {
  unsigned nextScalar = 0;
  auto scalar = [&](const Symbol &) {
    auto [low, high] = scalarRanges[nextScalar++];
    return draw(low, high);
  };
  auto monotone = [&](int64_t count) {
    std::vector<int64_t> rows;
    int64_t value = draw(-4, 4);
    for (int64_t row = 0; row < count; ++row)
      rows.push_back(value += draw(0, 2) ? 0 : draw(0, 5));
    return rows;
  };
  setSizes(queries, keys, scalar, monotone);
}

void SetValues::setSizes(ArrayRef<int64_t> queries, ArrayRef<int64_t> keys,
                         llvm::function_ref<int64_t(const Symbol &)> scalar,
                         llvm::function_ref<std::vector<int64_t>(int64_t)> monotone) {
  querySizes = queries;
  keySizes = keys;
  values.clear();
  for (const Symbol &symbol : space.getSymbols()) {
    if (symbol.kind == Symbol::Kind::QuerySize)
      values.push_back({queries[symbol.axis]});
    else if (symbol.kind == Symbol::Kind::KeySize)
      values.push_back({keys[symbol.axis]});
    else if (symbol.kind == Symbol::Kind::Monotone)
      values.push_back(monotone(queries[symbol.axis]));
    else
      values.push_back({scalar(symbol)});
  }
}

int64_t SetValues::valueOf(unsigned symbol, ArrayRef<int64_t> query) const {
  const Symbol &what = space.getSymbols()[symbol];
  if (what.kind != Symbol::Kind::Monotone)
    return values[symbol].front();
  int64_t last = static_cast<int64_t>(values[symbol].size()) - 1;
  return values[symbol][std::min(query[what.axis], last)];
}

int64_t SetValues::evaluate(AffineExpr expr, ArrayRef<int64_t> dims,
                            ArrayRef<int64_t> symbols) const {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(binary.getLHS(), dims, symbols),
          b = evaluate(binary.getRHS(), dims, symbols);
  int64_t floor = 0;
  if (expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::Mul)
    floor = a >= 0 ? a / b : -((-a + b - 1) / b);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return floor;
  case AffineExprKind::CeilDiv:
    return floor + (floor * b != a);
  default:
    return a - floor * b;
  }
}

bool SetValues::isLive(const Formula &formula, ArrayRef<int64_t> query,
                       ArrayRef<int64_t> key) const {
  switch (formula.getKind()) {
  case Formula::Kind::True:
    return true;
  case Formula::Kind::False:
    return false;
  case Formula::Kind::And:
    return llvm::all_of(formula.getParts(),
                        [&](const Formula &part) { return isLive(part, query, key); });
  case Formula::Kind::Or:
    return llvm::any_of(formula.getParts(),
                        [&](const Formula &part) { return isLive(part, query, key); });
  case Formula::Kind::Opaque: {
    uint64_t hash = formula.getTerm() + 1;
    for (int64_t coordinate : query)
      hash = hash * 6364136223846793005u + static_cast<uint64_t>(coordinate);
    for (int64_t coordinate : key)
      hash = hash * 6364136223846793005u + static_cast<uint64_t>(coordinate);
    return ((hash * 0x9E3779B97F4A7C15u) >> 60) < 3 != formula.isNegated();
  }
  default: {
    SmallVector<int64_t> dims(query), symbols;
    dims.append(key.begin(), key.end());
    for (unsigned symbol = 0; symbol < space.getSymbols().size(); ++symbol)
      symbols.push_back(valueOf(symbol, query));
    int64_t value = evaluate(formula.getExpr(), dims, symbols);
    return formula.getKind() == Formula::Kind::Zero ? value == 0 : value >= 0;
  }
  }
}

std::string lacuna::test::describe(const Formula &formula) {
  std::string text;
  llvm::raw_string_ostream out(text);
  switch (formula.getKind()) {
  case Formula::Kind::True:
    return "true";
  case Formula::Kind::False:
    return "false";
  case Formula::Kind::Opaque:
    return formula.isNegated() ? "not opaque" : "opaque";
  case Formula::Kind::NonNegative:
    out << formula.getExpr() << " >= 0";
    return text;
  case Formula::Kind::Zero:
    out << formula.getExpr() << " == 0";
    return text;
  default:
    for (const Formula &part : formula.getParts())
      out << (text.empty()                              ? "("
              : formula.getKind() == Formula::Kind::And ? " and "
                                                        : " or ")
          << describe(part);
    return text + ")";
  }
}
