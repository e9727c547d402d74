//===- Projection.cpp - exact elimination of integer unknowns -------------===//
//
// The Omega test with divisions: a pair of bounds with a unit coefficient
// combines exactly; bounds without further unknowns become divisions of
// parameters; what is left splits into its dark shadow and a few equalities.
//
//===----------------------------------------------------------------------===//
#include "compiler/Analysis/Polyhedron.h"

#include "llvm/ADT/STLExtras.h"

using namespace lacuna;
using llvm::ArrayRef;
using llvm::BitVector;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

namespace {

/// When there are more rows than at the beginning, more than this are worth a search for redundant
/// ones between two eliminations.
constexpr size_t rowsWorthPruning = 24;
/// More rows than this and than at the beginning are given up for a superset: the longest go.
constexpr size_t maxRows = 32;
class Projector {
public:
  Projector(Columns &columns, const BitVector &unknowns, size_t rows,
            const ProjectionLimits &limits, SmallVectorImpl<Polyhedron> &result)
      : columns(columns), unknowns(unknowns), limits(limits), result(result), firstRows(rows),
        firstColumns(columns.size()) {}

  void run(Polyhedron polyhedron);
  bool isExact() const { return exact; }

private:
  /// How one unknown would go.
  struct Choice {
    unsigned column;
    bool exact;
    int64_t cost;
  };

  // Divisions created here are of parameters, so an unknown is always a plain column.
  bool isUnknown(unsigned column) const {
    return column < unknowns.size() && unknowns.test(column);
  }
  bool hasUnknown(const Row &row) const {
    bool found = false;
    row.forEachColumn([&](unsigned column) { found |= isUnknown(column); });
    return found;
  }
  bool hasUnknownBeside(const Row &row, unsigned column) const {
    Row rest = row;
    rest.set(column, Integer(0));
    return hasUnknown(rest);
  }
  bool tidy(Polyhedron &polyhedron) const;
  bool solveEquality(Polyhedron &polyhedron);
  bool isExactPair(const Row &lower, const Row &upper, unsigned column) const;
  std::optional<Choice> choose(const Polyhedron &polyhedron) const;
  void combine(const Row &lower, const Row &upper, unsigned column, SmallVectorImpl<Row> &rows);
  bool prune(Polyhedron &polyhedron);
  Polyhedron eliminate(const Polyhedron &polyhedron, unsigned column, bool darkShadow);
  void split(const Polyhedron &polyhedron, unsigned column);

  Columns &columns;
  const BitVector &unknowns;
  const ProjectionLimits &limits;
  SmallVectorImpl<Polyhedron> &result;
  size_t firstRows, firstColumns;
  bool exact = true;
  unsigned pieces = 1;
};

/// Normalises and turns opposite inequalities into equalities; false when obviously empty.
bool Projector::tidy(Polyhedron &polyhedron) const {
  if (!normalize(polyhedron.inequalities))
    return false;
  SmallVectorImpl<Row> &rows = polyhedron.inequalities;
  for (unsigned a = 0; a < rows.size(); ++a) {
    for (unsigned b = a + 1; b < rows.size(); ++b) {
      Row sum = rows[a] + rows[b];
      if (!sum.isConstant())
        continue;
      if (sum.constant() < 0)
        return false;
      if (sum.constant() != 0 || !hasUnknown(rows[a]))
        continue;
      polyhedron.equalities.push_back(rows[a]);
      rows.erase(rows.begin() + b);
      rows.erase(rows.begin() + a);
      --a;
      break;
    }
  }
  for (Row &row : polyhedron.equalities) {
    Integer common = row.gcd();
    if (common == 0 ? row.constant() != 0 : row.constant() % common != 0)
      return false;
    if (common > 1)
      for (unsigned column = 0; column < row.size(); ++column)
        row.set(column, row.at(column) / common);
  }
  llvm::erase_if(polyhedron.equalities, [](const Row &row) { return row.isConstant(); });
  return true;
}

/// Uses up one equality that has an unknown. Returns false when there is none.
bool Projector::solveEquality(Polyhedron &polyhedron) {
  Row *found =
      llvm::find_if(polyhedron.equalities, [&](const Row &row) { return hasUnknown(row); });
  if (found == polyhedron.equalities.end())
    return false;
  Row equality = *found;
  polyhedron.equalities.erase(found);
  auto forAllRows = [&](llvm::function_ref<void(Row &)> change) {
    llvm::for_each(polyhedron.inequalities, change);
    llvm::for_each(polyhedron.equalities, change);
  };
  // Euclid's algorithm on the coefficients: replacing the unknown x of the least coefficient by
  // x - q y is a bijection of integers that shrinks the coefficient of y.
  unsigned pivot = 0;
  while (true) {
    pivot = 0;
    unsigned count = 0;
    equality.forEachColumn([&](unsigned column) {
      if (!isUnknown(column))
        return;
      ++count;
      if (!pivot || abs(equality.at(column)) < abs(equality.at(pivot)))
        pivot = column;
    });
    if (count == 1 || abs(equality.at(pivot)) == 1)
      break;
    equality.forEachColumn([&](unsigned column) {
      if (column == pivot || !isUnknown(column))
        return;
      Integer quotient = floorDiv(equality.at(column), equality.at(pivot));
      auto shear = [&](Row &row) {
        if (row.at(pivot) != 0)
          row.set(column, row.at(column) - quotient * row.at(pivot));
      };
      forAllRows(shear);
      shear(equality);
    });
  }
  Integer coefficient = equality.at(pivot);
  if (coefficient < 0) {
    equality = equality * -1;
    coefficient = -coefficient;
  }
  Row rest = equality;
  rest.set(pivot, Integer(0));
  Row value = rest * -1;
  if (coefficient != 1) {
    // Only parameters are left: the unknown exists where they divide evenly.
    value = columns.floorDivide(value, coefficient);
    polyhedron.inequalities.push_back(value * coefficient + rest);
  }
  forAllRows([&](Row &row) {
    Integer factor = row.at(pivot);
    if (factor == 0)
      return;
    row.set(pivot, Integer(0));
    row += value * factor;
  });
  return true;
}

bool Projector::isExactPair(const Row &lower, const Row &upper, unsigned column) const {
  Integer a = lower.at(column), b = -upper.at(column);
  if (a == 1 || b == 1)
    return true;
  if (!hasUnknownBeside(lower, column) || !hasUnknownBeside(upper, column))
    return true;
  Row shadow = upper * a + lower * b;
  return shadow.isConstant() && shadow.constant() >= (a - 1) * (b - 1);
}

/// The unknown that goes at the least cost, exact ones first.
std::optional<Projector::Choice> Projector::choose(const Polyhedron &polyhedron) const {
  std::optional<Choice> best;
  BitVector present(columns.size());
  for (const Row &row : polyhedron.inequalities)
    row.forEachColumn([&](unsigned column) { present.set(column); });
  for (unsigned column : present.set_bits()) {
    if (!isUnknown(column))
      continue;
    SmallVector<const Row *> lowers, uppers;
    for (const Row &row : polyhedron.inequalities) {
      if (row.at(column) > 0)
        lowers.push_back(&row);
      else if (row.at(column) < 0)
        uppers.push_back(&row);
    }
    Choice choice{column, true,
                  int64_t(lowers.size() * uppers.size()) - int64_t(lowers.size() + uppers.size())};
    for (const Row *lower : lowers)
      for (const Row *upper : uppers)
        choice.exact &= isExactPair(*lower, *upper, column);
    if (!best || std::tuple(!choice.exact, choice.cost) < std::tuple(!best->exact, best->cost))
      best = choice;
  }
  return best;
}

/// What `lower` and `upper` say about the other columns once `column` is gone.
void Projector::combine(const Row &lower, const Row &upper, unsigned column,
                        SmallVectorImpl<Row> &rows) {
  Integer a = lower.at(column), b = -upper.at(column);
  Row shadow = upper * a + lower * b;
  rows.push_back(shadow);
  if (a == 1 || b == 1 || (shadow.isConstant() && shadow.constant() >= (a - 1) * (b - 1)))
    return;
  Row below = lower, above = upper;
  below.set(column, Integer(0));
  above.set(column, Integer(0));
  if (columns.size() > firstColumns + limits.divisions) {
    exact = false;
    return;
  }
  // An integer lies between -below / a and above / b.
  if (!hasUnknown(below))
    rows.push_back(above + columns.floorDivide(below, a) * b);
  else if (!hasUnknown(above))
    rows.push_back(below + columns.floorDivide(above, b) * a);
}

Polyhedron Projector::eliminate(const Polyhedron &polyhedron, unsigned column, bool darkShadow) {
  Polyhedron next;
  next.equalities = polyhedron.equalities;
  for (const Row &row : polyhedron.inequalities)
    if (row.at(column) == 0)
      next.inequalities.push_back(row);
  for (const Row &lower : polyhedron.inequalities) {
    if (lower.at(column) <= 0)
      continue;
    for (const Row &upper : polyhedron.inequalities) {
      if (upper.at(column) >= 0)
        continue;
      if (darkShadow && !isExactPair(lower, upper, column)) {
        Integer a = lower.at(column), b = -upper.at(column);
        Row shadow = upper * a + lower * b;
        shadow.set(0, shadow.constant() - (a - 1) * (b - 1));
        next.inequalities.push_back(shadow);
      } else {
        combine(lower, upper, column, next.inequalities);
      }
    }
  }
  return next;
}

/// No unknown goes exactly: the dark shadow, and the points close to each inexact lower bound.
void Projector::split(const Polyhedron &polyhedron, unsigned column) {
  SmallVector<std::pair<const Row *, int64_t>> splinters;
  Integer total(0);
  for (const Row &lower : polyhedron.inequalities) {
    if (lower.at(column) <= 0)
      continue;
    Integer reach(-1);
    for (const Row &upper : polyhedron.inequalities) {
      if (upper.at(column) >= 0 || isExactPair(lower, upper, column))
        continue;
      Integer a = lower.at(column), b = -upper.at(column);
      reach = std::max(reach, floorDiv(a * b - a - b, b));
    }
    total += reach + 1;
    if (total > limits.pieces)
      break;
    if (reach >= 0)
      splinters.push_back({&lower, int64_t(reach)});
  }
  if (Integer(pieces) + total > limits.pieces) {
    exact = false;
    run(eliminate(polyhedron, column, /*darkShadow=*/false));
    return;
  }
  pieces += int64_t(total);
  run(eliminate(polyhedron, column, /*darkShadow=*/true));
  for (auto [lower, reach] : splinters) {
    for (int64_t distance = 0; distance <= reach; ++distance) {
      Polyhedron near = polyhedron;
      near.equalities.push_back(*lower - distance);
      run(std::move(near));
    }
  }
}

/// Drops what is redundant, and then what is too much; false when nothing is left to cover.
bool Projector::prune(Polyhedron &polyhedron) {
  SmallVectorImpl<Row> &rows = polyhedron.inequalities;
  auto keepShortest = [&](size_t limit) {
    if (rows.size() <= limit)
      return;
    exact = false;
    SmallVector<std::pair<unsigned, unsigned>> order;
    for (auto [index, row] : llvm::enumerate(rows))
      order.push_back({row.countTerms(), index});
    llvm::sort(order);
    SmallVector<Row> kept;
    for (auto [terms, index] : ArrayRef(order).take_front(limit))
      kept.push_back(rows[index]);
    rows.assign(kept.begin(), kept.end());
  };
  // The search takes cubic time.
  keepShortest(4 * std::max(maxRows, firstRows));
  if (isEmpty(columns, rows))
    return false;
  dropRedundant(columns, rows, {}, BitVector(columns.size()));
  keepShortest(std::max(maxRows, firstRows + 4));
  return true;
}

void Projector::run(Polyhedron polyhedron) {
  while (true) {
    if (columns.isExhausted() || !tidy(polyhedron))
      return;
    if (solveEquality(polyhedron))
      continue;
    if (polyhedron.inequalities.size() > std::max(rowsWorthPruning, firstRows) &&
        !prune(polyhedron))
      return;
    std::optional<Choice> choice = choose(polyhedron);
    if (!choice)
      break;
    if (!choice->exact)
      return split(polyhedron, choice->column);
    polyhedron = eliminate(polyhedron, choice->column, /*darkShadow=*/false);
  }
  for (const Row &row : polyhedron.equalities) {
    polyhedron.inequalities.push_back(row);
    polyhedron.inequalities.push_back(row * -1);
  }
  polyhedron.equalities.clear();
  result.push_back(std::move(polyhedron));
}

} // namespace

bool lacuna::projectOut(Columns &columns, const BitVector &unknowns, Polyhedron polyhedron,
                        const ProjectionLimits &limits, SmallVectorImpl<Polyhedron> &result) {
  size_t rows = polyhedron.inequalities.size() + polyhedron.equalities.size();
  Projector projector(columns, unknowns, rows, limits, result);
  projector.run(std::move(polyhedron));
  return projector.isExact();
}
