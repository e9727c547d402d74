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

void Grid::coordinates(int64_t token, int64_t *point) const {
  // A sequence has no borders to wrap at, so that positions before its first token stay negative.
  for (size_t axis = sizes.size(); axis-- > 1;) {
    point[axis] = modulo(token, sizes[axis]);
    token = floorDivide(token, sizes[axis]);
  }
  point[0] = token;
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

/// Finds the segment that `token` falls into and makes `token` count from its start; the number of
/// segments when there is none.
static size_t enterSegment(const std::vector<int64_t> &sizes, int64_t &token) {
  for (size_t segment = 0; segment < sizes.size(); ++segment) {
    if (token < sizes[segment])
      return segment;
    token -= sizes[segment];
  }
  return sizes.size();
}

Set segments(std::vector<int64_t> querySizes, std::vector<int64_t> keySizes,
             std::vector<Set> sets) {
  return makeSet([=](const PairIndex &pair) {
    PairIndex inside = pair;
    size_t a = enterSegment(querySizes, inside.query), b = enterSegment(keySizes, inside.key);
    if (a == querySizes.size() || b == keySizes.size())
      return false;
    inside.queries = querySizes[a];
    inside.keys = keySizes[b];
    return sets[a * keySizes.size() + b]->contains(inside);
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

Set affine(Grid queryGrid, Grid keyGrid, bool fromStart, std::vector<AffineConstraint> constraints,
           std::vector<Number> parameters) {
  return makeSet([=](const PairIndex &pair) {
    std::vector<int64_t> variables(queryGrid.sizes.size() + keyGrid.sizes.size());
    queryGrid.coordinates(pair.position(fromStart), variables.data());
    keyGrid.coordinates(pair.key, variables.data() + queryGrid.sizes.size());
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

Set where(Grid queryGrid, Grid keyGrid, bool fromStart, ScalarProgram predicate) {
  return makeSet([=](const PairIndex &pair) {
    size_t queryAxes = queryGrid.sizes.size(), keyAxes = keyGrid.sizes.size();
    int64_t points[2 * maxAxes];
    queryGrid.coordinates(pair.position(fromStart), points);
    keyGrid.coordinates(pair.key, points + queryAxes);
    Register given[2 + 2 * maxAxes] = {{pair.batch, 0}, {pair.head, 0}};
    for (size_t axis = 0; axis < queryAxes + keyAxes; ++axis)
      given[2 + axis] = {points[axis], 0};
    return (predicate.run({given, 2 + queryAxes + keyAxes}).integer & 1) != 0;
  });
}

} // namespace lacuna::reference
