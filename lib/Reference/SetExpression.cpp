//===- SetExpression.cpp - algebra, affine sets and predicates -------------===//
#include "lib/Reference/SetExpression.h"

#include "lib/Reference/Integers.h"

namespace lacuna::reference {

int64_t Grid::tokens() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// Coordinates of `token`.
static Point pointOf(const Grid &grid, int64_t token) {
  Point point;
  for (size_t axis = grid.axes(); axis-- > 1;) {
    point.at[axis] = modulo(token, grid.sizes[axis]);
    token = floorDivide(token, grid.sizes[axis]);
  }
  point.at[0] = token;
  return point;
}

Point PairIndex::keyPoint() const { return pointOf(*keyGrid, key); }

Point PairIndex::position(bool fromStart) const {
  Point point = pointOf(*queryGrid, query);
  if (!fromStart && queryGrid->axes() == keyGrid->axes())
    for (size_t axis = 0; axis < queryGrid->axes(); ++axis)
      point.at[axis] += keyGrid->sizes[axis] - queryGrid->sizes[axis];
  return point;
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

Set allPairs() {
  return makeSet([](const PairIndex &) { return true; });
}

Set noPairs() {
  return makeSet([](const PairIndex &) { return false; });
}

Set unionOf(std::vector<Set> parts) {
  return makeSet([parts = std::move(parts)](const PairIndex &pair) {
    for (const Set &part : parts)
      if (part->contains(pair))
        return true;
    return false;
  });
}

Set intersectionOf(std::vector<Set> parts) {
  return makeSet([parts = std::move(parts)](const PairIndex &pair) {
    for (const Set &part : parts)
      if (!part->contains(pair))
        return false;
    return true;
  });
}

Set difference(Set minuend, Set subtrahend) {
  return makeSet([minuend, subtrahend](const PairIndex &pair) {
    return minuend->contains(pair) && !subtrahend->contains(pair);
  });
}

Set complementOf(Set set) {
  return makeSet([set](const PairIndex &pair) { return !set->contains(pair); });
}

Set perHead(Number choice, std::vector<Set> sets) {
  return makeSet([choice, sets = std::move(sets)](const PairIndex &pair) {
    int64_t number = choice.at(pair.head);
    return number >= 0 && number < static_cast<int64_t>(sets.size()) &&
           sets[static_cast<size_t>(number)]->contains(pair);
  });
}

/// Finds the segment that `token` falls into and makes `token` count from its start; null when
/// there is none.
static const Grid *enterSegment(const std::vector<Grid> &grids, int64_t &token) {
  for (const Grid &grid : grids) {
    if (token < grid.tokens())
      return &grid;
    token -= grid.tokens();
  }
  return nullptr;
}

Set segments(std::vector<Grid> grids, std::vector<Set> sets) {
  return makeSet([grids = std::move(grids), sets = std::move(sets)](const PairIndex &pair) {
    PairIndex inside = pair;
    inside.queryGrid = enterSegment(grids, inside.query);
    inside.keyGrid = enterSegment(grids, inside.key);
    if (!inside.queryGrid || !inside.keyGrid)
      return false;
    auto row = static_cast<size_t>(inside.queryGrid - grids.data());
    auto column = static_cast<size_t>(inside.keyGrid - grids.data());
    return sets[row * grids.size() + column]->contains(inside);
  });
}

//===----------------------------------------------------------------------===//
// What users write
//===----------------------------------------------------------------------===//

static int64_t evaluate(const AffineTerm &term, const int64_t *variables) {
  if (term.kind == AffineTerm::Kind::Constant)
    return term.value;
  if (term.kind == AffineTerm::Kind::Variable)
    return variables[term.value];
  int64_t left = evaluate(*term.left, variables), right = evaluate(*term.right, variables);
  switch (term.kind) {
  case AffineTerm::Kind::Add:
    return left + right;
  case AffineTerm::Kind::Multiply:
    return left * right;
  case AffineTerm::Kind::FloorDivide:
    return floorDivide(left, right);
  case AffineTerm::Kind::CeilDivide:
    return ceilDivide(left, right);
  case AffineTerm::Kind::Modulo:
    return modulo(left, right);
  case AffineTerm::Kind::Constant:
  case AffineTerm::Kind::Variable:
    break;
  }
  return 0;
}

Set affine(bool fromStart, std::vector<AffineConstraint> constraints,
           std::vector<Number> parameters) {
  return makeSet([=](const PairIndex &pair) {
    Point query = pair.position(fromStart), key = pair.keyPoint();
    std::vector<int64_t> variables(query.at, query.at + pair.queryGrid->axes());
    variables.insert(variables.end(), key.at, key.at + pair.keyGrid->axes());
    for (const Number &parameter : parameters)
      variables.push_back(parameter.at(pair.head));
    for (const AffineConstraint &constraint : constraints) {
      int64_t value = evaluate(*constraint.term, variables.data());
      if (constraint.isEquality ? value != 0 : value < 0)
        return false;
    }
    return true;
  });
}

Set where(bool fromStart, ScalarProgram predicate) {
  return makeSet([=](const PairIndex &pair) {
    Point query = pair.position(fromStart), key = pair.keyPoint();
    Register given[2 + 2 * maxAxes] = {{pair.batch, 0}, {pair.head, 0}};
    size_t count = 2;
    for (size_t axis = 0; axis < pair.queryGrid->axes(); ++axis)
      given[count++] = {query[axis], 0};
    for (size_t axis = 0; axis < pair.keyGrid->axes(); ++axis)
      given[count++] = {key[axis], 0};
    return (predicate.run({given, count}).integer & 1) != 0;
  });
}

} // namespace lacuna::reference
