//===- SetExpression.h - which pairs are live, pair by pair ----------------===//
//
// The oracle's own description of a set. Each op of the sparsity dialect has
// one function here, written from the meaning in docs/dialects/sparsity.md and
// from nothing else: no formula, no footprint, no tile.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <memory>
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

} // namespace lacuna::reference
