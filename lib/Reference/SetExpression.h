//===- SetExpression.h - which pairs are live, pair by pair ----------------===//
//
// The oracle's own description of a set. Each op of the sparsity dialect has
// one function here, written from the meaning in docs/dialects/sparsity.md and
// from nothing else: no formula, no footprint, no tile.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lib/Reference/ScalarProgram.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lacuna::reference {

/// One query and one key of one batch entry and query head. Tokens are counted within the segments
/// that `queries` and `keys` measure.
struct PairIndex {
  int64_t batch = 0, head = 0;
  int64_t query = 0, key = 0;
  int64_t queries = 0, keys = 0;

  /// The query's place on the key axis: ends aligned, or its own number.
  int64_t position(bool fromStart) const { return fromStart ? query : query + keys - queries; }
};

/// An immutable set of pairs.
class SetExpression {
public:
  virtual ~SetExpression() = default;
  virtual bool contains(const PairIndex &pair) const = 0;
};

using Set = std::shared_ptr<const SetExpression>;

/// A set whose membership test is a function of the pair.
template <typename Test> class TestSet final : public SetExpression {
public:
  explicit TestSet(Test test) : test(std::move(test)) {}
  bool contains(const PairIndex &pair) const override { return test(pair); }

private:
  Test test;
};

template <typename Test> Set makeSet(Test test) {
  return std::make_shared<const TestSet<Test>>(std::move(test));
}

/// A number of a set: the same for all heads (one value), or one value per query head.
class Number {
public:
  Number(int64_t value) : values{value} {}
  explicit Number(std::vector<int64_t> values) : values(std::move(values)) {}
  int64_t at(int64_t head) const {
    return values.size() == 1 ? values[0] : values[static_cast<size_t>(head)];
  }

private:
  std::vector<int64_t> values;
};

/// Tokens of a segment as points: row-major over `sizes`; one size for a sequence.
struct Grid {
  std::vector<int64_t> sizes;

  int64_t tokens() const;
  /// Writes the coordinates of `token`, one per axis.
  void coordinates(int64_t token, int64_t *point) const;
};

/// Most axes of a segment.
inline constexpr size_t maxAxes = 4;

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

Set allPairs();
Set noPairs();
Set unionOf(std::vector<Set> parts);
Set intersectionOf(std::vector<Set> parts);
/// Pairs of `minuend` that are not in `subtrahend`.
Set difference(Set minuend, Set subtrahend);
Set complementOf(Set set);
/// Head `h` has the set number `choice.at(h)`; a number without a set stands for no pair.
Set perHead(Number choice, std::vector<Set> sets);
/// Queries and keys each fall into segments of the given token counts, one after the other; the
/// pair of query segment `a` and key segment `b` is in `sets[a * keySizes.size() + b]`, where
/// tokens count from the segment's start. Tokens behind the last segment have no pairs.
Set segments(std::vector<int64_t> querySizes, std::vector<int64_t> keySizes, std::vector<Set> sets);

//===----------------------------------------------------------------------===//
// What users write
//===----------------------------------------------------------------------===//

/// An affine expression: a constant, a variable, or an operation on two others.
struct AffineTerm {
  enum class Kind { Constant, Variable, Add, Multiply, FloorDivide, CeilDivide, Modulo };
  Kind kind;
  /// Constant: the value. Variable: which one.
  int64_t value = 0;
  std::shared_ptr<const AffineTerm> left = {}, right = {};
};
using AffineTree = std::shared_ptr<const AffineTerm>;

/// `term >= 0`, or `term == 0`.
struct AffineConstraint {
  AffineTree term;
  bool isEquality = false;
};

/// Pairs that satisfy all constraints. The variables are the coordinates of the query's position,
/// those of the key, then `parameters`.
Set affine(Grid queryGrid, Grid keyGrid, bool fromStart, std::vector<AffineConstraint> constraints,
           std::vector<Number> parameters);

/// Pairs for which `predicate` gives 1. It gets batch, head, the coordinates of the query's
/// position and those of the key.
Set where(Grid queryGrid, Grid keyGrid, bool fromStart, ScalarProgram predicate);

} // namespace lacuna::reference
