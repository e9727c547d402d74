//===- Polyhedron.cpp - linear constraints over shared columns ------------===//
#include "compiler/Analysis/Polyhedron.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/STLExtras.h"

using namespace lacuna;
using llvm::ArrayRef;
using llvm::BitVector;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Row Row::term(unsigned column, int64_t coefficient) {
  Row row;
  row.set(column, Integer(coefficient));
  return row;
}

const Integer &Row::at(unsigned column) const {
  static const Integer zero(0);
  return column < values.size() ? values[column] : zero;
}

void Row::set(unsigned column, const Integer &value) {
  if (column >= values.size())
    values.resize(column + 1, Integer(0));
  values[column] = value;
}

Row &Row::operator+=(const Row &other) {
  if (other.values.size() > values.size())
    values.resize(other.values.size(), Integer(0));
  for (auto [value, addend] : llvm::zip(values, other.values))
    value += addend;
  return *this;
}

Row Row::operator*(const Integer &factor) const {
  Row result = *this;
  for (Integer &value : result.values)
    value *= factor;
  return result;
}

bool Row::operator==(const Row &other) const {
  return constant() == other.constant() && sameCoefficients(other);
}

Integer Row::gcd() const {
  Integer result(0);
  for (const Integer &value : llvm::drop_begin(values, values.empty() ? 0 : 1))
    result = llvm::gcd(result, abs(value));
  return result;
}

bool Row::sameCoefficients(const Row &other) const {
  for (unsigned column = 1, end = std::max(size(), other.size()); column < end; ++column)
    if (at(column) != other.at(column))
      return false;
  return true;
}

unsigned Row::countTerms() const {
  unsigned count = 0;
  forEachColumn([&](unsigned) { ++count; });
  return count;
}

void Row::forEachColumn(llvm::function_ref<void(unsigned)> visit) const {
  for (unsigned column = 1; column < size(); ++column)
    if (values[column] != 0)
      visit(column);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

unsigned Columns::add() {
  columns.push_back({});
  return columns.size() - 1;
}

unsigned Columns::addDivision(const Row &dividend, const Integer &divisor) {
  for (unsigned column = 1; column < size(); ++column)
    if (columns[column] && columns[column]->divisor == divisor &&
        columns[column]->dividend == dividend)
      return column;
  columns.push_back(Division{dividend, divisor});
  return columns.size() - 1;
}

Row Columns::floorDivide(const Row &dividend, const Integer &divisor) {
  Integer common = llvm::gcd(dividend.gcd(), divisor);
  Integer small = divisor / common;
  Row whole, rest;
  for (unsigned column = 0; column < dividend.size(); ++column) {
    // floor((c x + k) / (c d)) = floor((x + floor(k / c)) / d).
    Integer value = floorDiv(dividend.at(column), common);
    if (column == 0 || value % small == 0) {
      whole.set(column, floorDiv(value, small));
      rest.set(column, mod(value, small));
    } else {
      rest.set(column, value);
    }
  }
  if (rest.isConstant())
    return whole;
  // floor(-x / d) = -floor((x + d - 1) / d): one form for both, so that they are seen to be equal.
  unsigned first = 1;
  while (rest.at(first) == 0)
    ++first;
  if (rest.at(first) > 0)
    return whole + Row::term(addDivision(rest, small));
  Row opposite = rest * -1;
  opposite.set(0, opposite.constant() + small - 1);
  return whole - Row::term(addDivision(opposite, small));
}

const Columns::Division *Columns::getDivision(unsigned column) const {
  return columns[column] ? &*columns[column] : nullptr;
}

void Columns::collect(const Row &row, BitVector &reached) const {
  row.forEachColumn([&](unsigned column) {
    if (reached.test(column))
      return;
    reached.set(column);
    if (const Division *division = getDivision(column))
      collect(division->dividend, reached);
  });
}

bool Columns::dependsOn(const Row &row, const BitVector &wanted) const {
  BitVector reached(size());
  collect(row, reached);
  return reached.anyCommon(wanted);
}

bool Columns::dividesBy(const Row &row, const BitVector &wanted) const {
  bool result = false;
  row.forEachColumn([&](unsigned column) {
    if (const Division *division = getDivision(column))
      result |= dependsOn(division->dividend, wanted);
  });
  return result;
}

std::pair<Row, Row> Columns::getDefinition(unsigned column) const {
  const Division *division = getDivision(column);
  Row quotient;
  quotient.set(column, division->divisor);
  Row remainder = division->dividend - quotient;
  Row bound = remainder * -1;
  bound.set(0, bound.constant() + division->divisor - 1);
  return {remainder, bound};
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// `row` with its coefficients divided by their divisor, which rounds the constant down.
static Row tighten(Row row) {
  Integer common = row.gcd();
  if (common > 1)
    for (unsigned column = 0; column < row.size(); ++column)
      row.set(column, floorDiv(row.at(column), common));
  return row;
}

LinearSystem::LinearSystem(const Columns &columns, ArrayRef<ArrayRef<Row>> groups)
    : columns(columns) {
  BitVector reached(columns.size());
  for (ArrayRef<Row> rows : groups)
    for (const Row &row : rows)
      columns.collect(row, reached);
  for (unsigned column : reached.set_bits())
    used.push_back(column);
  simplex = std::make_unique<mlir::presburger::Simplex>(used.size());
  for (unsigned column : used) {
    if (!columns.getDivision(column))
      continue;
    auto [lower, upper] = columns.getDefinition(column);
    add({lower, upper});
  }
}

LinearSystem::LinearSystem(LinearSystem &&other) = default;
LinearSystem::~LinearSystem() = default;

SmallVector<Integer> LinearSystem::convert(const Row &row) const {
  SmallVector<Integer> result;
  for (unsigned column : used)
    result.push_back(row.at(column));
  result.push_back(row.constant());
  return result;
}

void LinearSystem::add(ArrayRef<Row> rows) {
  for (const Row &row : rows)
    if (!isEmpty())
      simplex->addInequality(convert(tighten(row)));
  columns.addWork(rows.size() * simplex->getNumConstraints() * used.size());
}

bool LinearSystem::isEmpty() const { return simplex->isEmpty(); }

bool LinearSystem::isEmptyWith(const Row &row) {
  if (isEmpty())
    return true;
  unsigned snapshot = simplex->getSnapshot();
  add(row);
  bool empty = isEmpty();
  simplex->rollback(snapshot);
  return empty;
}

SmallVector<Row> LinearSystem::addIrredundant(ArrayRef<Row> rows) {
  unsigned snapshot = simplex->getSnapshot(), offset = simplex->getNumConstraints();
  add(rows);
  // The rows of an empty system say different things about why it is empty.
  if (isEmpty())
    return SmallVector<Row>(rows);
  simplex->detectRedundant(offset, rows.size());
  // Each row is optimised, which takes a few pivots.
  columns.addWork(4 * rows.size() * simplex->getNumConstraints() * used.size());
  SmallVector<Row> kept;
  for (auto [index, row] : llvm::enumerate(rows))
    if (!simplex->isMarkedRedundant(offset + index))
      kept.push_back(row);
  simplex->rollback(snapshot);
  add(kept);
  return kept;
}

bool lacuna::isEmpty(const Columns &columns, ArrayRef<Row> inequalities) {
  LinearSystem system(columns, {inequalities});
  system.add(inequalities);
  return system.isEmpty();
}

bool lacuna::normalize(SmallVectorImpl<Row> &inequalities) {
  SmallVector<Row> kept;
  for (const Row &inequality : inequalities) {
    Row row = tighten(inequality);
    if (row.isConstant()) {
      if (row.constant() < 0)
        return false;
      continue;
    }
    Row *parallel =
        llvm::find_if(kept, [&](const Row &other) { return other.sameCoefficients(row); });
    if (parallel == kept.end())
      kept.push_back(row);
    else if (row.constant() < parallel->constant())
      *parallel = row;
  }
  inequalities.assign(kept.begin(), kept.end());
  return true;
}

void lacuna::dropRedundant(const Columns &columns, SmallVectorImpl<Row> &inequalities,
                           ArrayRef<Row> context, const BitVector &guarded) {
  LinearSystem system(columns, {inequalities, context});
  system.add(context);
  // Long rows are looked at first, so that what stays is short.
  SmallVector<std::pair<unsigned, unsigned>> order;
  SmallVector<Row> bounds, conditions;
  for (auto [index, row] : llvm::enumerate(inequalities))
    order.push_back({~row.countTerms(), index});
  llvm::sort(order);
  for (auto [terms, index] : order)
    (columns.dividesBy(inequalities[index], guarded) ? conditions : bounds)
        .push_back(inequalities[index]);
  bounds = system.addIrredundant(bounds);
  conditions = system.addIrredundant(conditions);
  inequalities.assign(bounds.begin(), bounds.end());
  inequalities.append(conditions.begin(), conditions.end());
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

/// The first column of `row` that is a division of a guarded column; 0 when there is none.
static unsigned findDivision(const Columns &columns, const Row &row, const BitVector &guarded) {
  unsigned result = 0;
  row.forEachColumn([&](unsigned column) {
    const Columns::Division *division = columns.getDivision(column);
    if (!result && division && columns.dependsOn(division->dividend, guarded))
      result = column;
  });
  return result;
}

Row lacuna::liftDivision(Columns &columns, Row row, const BitVector &guarded) {
  while (unsigned column = findDivision(columns, row, guarded)) {
    Row rest = row;
    rest.set(column, Integer(0));
    if (columns.dependsOn(rest, guarded))
      break;
    Integer coefficient = row.at(column);
    const Columns::Division division = *columns.getDivision(column);
    if (coefficient > 0) {
      // q >= ceil(-rest / c) = -floor(rest / c).
      Row least = columns.floorDivide(rest, coefficient) * -1;
      row = division.dividend - least * division.divisor;
    } else {
      Row greatest = columns.floorDivide(rest, -coefficient);
      row = greatest * division.divisor - division.dividend;
      row.set(0, row.constant() + division.divisor - 1);
    }
  }
  return row;
}

Row lacuna::relaxDivisions(const Columns &columns, Row row, const BitVector &guarded) {
  while (unsigned column = findDivision(columns, row, guarded)) {
    Integer coefficient = row.at(column);
    const Columns::Division &division = *columns.getDivision(column);
    row.set(column, Integer(0));
    row = row * division.divisor + division.dividend * coefficient;
    if (coefficient < 0)
      row.set(0, row.constant() - coefficient * (division.divisor - 1));
  }
  return row;
}
