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
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace lacuna::reference {

/// Most axes of a segment.
inline constexpr size_t maxAxes = 4;

/// Tokens of a segment as points: row-major over `sizes`; one size for a sequence.
struct Grid {
  std::vector<int64_t> sizes;

  size_t axes() const { return sizes.size(); }
  int64_t tokens() const;
};

/// Coordinates, one per axis.
struct Point {
  int64_t at[maxAxes] = {};
  int64_t operator[](size_t axis) const { return at[axis]; }
};

/// One query and one key of one batch entry and query head. Tokens are counted within the segments
/// that the grids measure.
struct PairIndex {
  int64_t batch = 0, head = 0;
  int64_t query = 0, key = 0;
  const Grid *queryGrid = nullptr, *keyGrid = nullptr;

  /// Coordinates of the key.
  Point keyPoint() const;
  /// Coordinates of the query's place among the keys: its own, moved on every axis so that the last
  /// query stands at the last key. `fromStart` leaves them alone, and so do different numbers of
  /// axes.
  Point position(bool fromStart) const;
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
  explicit Number(std::vector<int64_t> values) : values(std::move(values)), isPerHead(true) {}
  int64_t at(int64_t head) const {
    return isPerHead ? values[static_cast<size_t>(head)] : values[0];
  }

private:
  std::vector<int64_t> values;
  bool isPerHead = false;
};

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
/// Queries and keys each fall into the given segments, one after the other; the pair of query
/// segment `a` and key segment `b` is in `sets[a * grids.size() + b]`, where tokens count from the
/// segment's start. Tokens behind the last segment have no pairs.
Set segments(std::vector<Grid> grids, std::vector<Set> sets);

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
Set affine(bool fromStart, std::vector<AffineConstraint> constraints,
           std::vector<Number> parameters);

/// Pairs for which `predicate` gives 1. It gets batch, head, the coordinates of the query's
/// position and those of the key.
Set where(bool fromStart, ScalarProgram predicate);

//===----------------------------------------------------------------------===//
// Sequences. In the comments p is the query's position and j the key.
//===----------------------------------------------------------------------===//

/// j does not come after p in row-major order.
Set causal(bool fromStart);
/// -right <= p - j <= left; a side that is not there is unbounded.
Set window(std::optional<Number> left, std::optional<Number> right, bool fromStart);
/// j < count.
Set prefix(Number count);
/// j >= keys - count.
Set suffix(Number count);
/// p < count, or p in a list.
Set firstRows(Number count, bool fromStart);
Set rowList(std::vector<int64_t> list, bool fromStart);
/// j in a list.
Set columnList(std::vector<int64_t> list);
/// p - j in a list.
Set slashes(std::vector<int64_t> list, bool fromStart);
/// (p - j) mod step == 0; a step below 1 counts as 1.
Set stride(Number step, bool fromStart);
/// p - j == step * c with -right <= c <= left.
Set dilated(std::optional<Number> left, std::optional<Number> right, Number step, bool fromStart);
/// Query and key lie in [offsets[d], offsets[d+1]) for one d; if `causal`, the key's number in the
/// document does not exceed the query's, counted from the document's ends or, if `fromStart`, from
/// its start.
Set documents(std::vector<int64_t> queryOffsets, std::vector<int64_t> keyOffsets, bool causal,
              bool fromStart);

/// A hierarchy of nodes, as docs/dialects/sparsity.md describes it.
struct Dyadic {
  bool fenwick = false, causal = false, fromStart = false;
  int64_t base = 1, fanout = 2;
  std::optional<Number> near;
  /// Number of levels; unbounded if not there.
  std::optional<int64_t> levels;
  /// First and last level kept; -1 is the exact part.
  std::optional<std::pair<int64_t, int64_t>> only;
};
Set dyadic(Dyadic parameters);

/// One column of a hierarchy: a run of keys of one level.
struct ColumnIndex {
  int64_t level = 0, column = 0;
  bool operator==(const ColumnIndex &other) const = default;
};
/// The column through which a query of the hierarchy sees a key; nothing for exact pairs.
using Columns = std::function<std::optional<ColumnIndex>(const PairIndex &)>;
/// Columns of nodes that have `columns` each. A near window is rounded up to whole blocks of keys.
Columns dyadicColumns(Dyadic parameters, int64_t columns);

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// Key blocks that a list names for each query block.
struct BlockLists {
  /// Extents of a block, one per axis.
  std::vector<int64_t> queryBlock, keyBlock;
  /// Query heads that share a list.
  int64_t group = 1;
  /// Batch entries, lists, query blocks, entries of a list; the first two are 1 when all share
  /// them.
  std::vector<int64_t> shape;
  bool isBatchShared = false, isHeadShared = false;
  /// Row-major.
  std::vector<int64_t> ids, counts;
};
/// The key's block is among the first entries of the query block's list.
Set blocks(BlockLists lists);

/// Bytes that mark key blocks for each query block.
struct BlockMap {
  /// As those of lists; the last extent of the shape is the number of key blocks.
  std::vector<int64_t> queryBlock, keyBlock;
  int64_t group = 1;
  std::vector<int64_t> shape;
  bool isBatchShared = false, isHeadShared = false;
  /// Row-major.
  std::vector<int64_t> bytes;
};
/// The byte of the pair's blocks is not 0.
Set bitmap(BlockMap map);

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// p and j lie in the same block of `sizes` on every axis; a size below 1 counts as 1.
Set blockDiagonal(std::vector<Number> sizes, bool fromStart);

/// A neighbourhood on a grid, as docs/dialects/sparsity.md describes it.
struct Radius {
  enum class Norm { Box, L1, L2 };
  Norm norm = Norm::Box;
  bool shift = false, fromStart = false;
  /// One per axis for Box, else one.
  std::vector<Number> radii;
  /// One per axis.
  std::vector<bool> causal;
  std::vector<int64_t> dilation, unit;
};
Set radius(Radius parameters);

/// With f frames and s tokens between p and j: for some l below `levels`, f < near * 2^(l+1) and
/// s <= width floordiv 2^l.
Set bands(Number width, int64_t levels, int64_t near, bool fromStart);

} // namespace lacuna::reference
