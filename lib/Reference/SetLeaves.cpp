//===- SetLeaves.cpp - each set op's meaning, pair by pair -----------------===//
#include "lib/Reference/Integers.h"
#include "lib/Reference/SetExpression.h"

#include <algorithm>
#include <cstdlib>

namespace lacuna::reference {

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Set causal(bool fromStart) {
  return makeSet([=](const PairIndex &pair) {
    Point position = pair.position(fromStart), key = pair.keyPoint();
    for (size_t axis = 0; axis < pair.keyGrid->axes(); ++axis)
      if (key[axis] != position[axis])
        return key[axis] < position[axis];
    return true;
  });
}

Set window(std::optional<Number> left, std::optional<Number> right, bool fromStart) {
  return makeSet([=](const PairIndex &pair) {
    int64_t distance = pair.position(fromStart)[0] - pair.key;
    return (!left || distance <= left->at(pair.head)) &&
           (!right || distance >= -right->at(pair.head));
  });
}

Set prefix(Number count) {
  return makeSet([=](const PairIndex &pair) { return pair.key < count.at(pair.head); });
}

Set suffix(Number count) {
  return makeSet([=](const PairIndex &pair) {
    return pair.key >= pair.keyGrid->tokens() - count.at(pair.head);
  });
}

static bool isIn(const std::vector<int64_t> &list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

Set firstRows(Number count, bool fromStart) {
  return makeSet(
      [=](const PairIndex &pair) { return pair.position(fromStart)[0] < count.at(pair.head); });
}

Set rowList(std::vector<int64_t> list, bool fromStart) {
  return makeSet([=](const PairIndex &pair) { return isIn(list, pair.position(fromStart)[0]); });
}

Set columnList(std::vector<int64_t> list) {
  return makeSet([=](const PairIndex &pair) { return isIn(list, pair.key); });
}

Set slashes(std::vector<int64_t> list, bool fromStart) {
  return makeSet(
      [=](const PairIndex &pair) { return isIn(list, pair.position(fromStart)[0] - pair.key); });
}

Set stride(Number step, bool fromStart) {
  return makeSet([=](const PairIndex &pair) {
    int64_t distance = pair.position(fromStart)[0] - pair.key;
    return distance % std::max<int64_t>(step.at(pair.head), 1) == 0;
  });
}

Set dilated(std::optional<Number> left, std::optional<Number> right, Number step, bool fromStart) {
  return makeSet([=](const PairIndex &pair) {
    int64_t distance = pair.position(fromStart)[0] - pair.key;
    int64_t unit = std::max<int64_t>(step.at(pair.head), 1);
    if (distance % unit != 0)
      return false;
    int64_t steps = distance / unit;
    return (!left || steps <= left->at(pair.head)) && (!right || steps >= -right->at(pair.head));
  });
}

Set documents(std::vector<int64_t> queryOffsets, std::vector<int64_t> keyOffsets, bool causal,
              bool fromStart) {
  return makeSet([=](const PairIndex &pair) {
    for (size_t d = 0; d + 1 < queryOffsets.size() && d + 1 < keyOffsets.size(); ++d) {
      int64_t query = pair.query - queryOffsets[d], queries = queryOffsets[d + 1] - queryOffsets[d];
      int64_t key = pair.key - keyOffsets[d], keys = keyOffsets[d + 1] - keyOffsets[d];
      if (query < 0 || query >= queries || key < 0 || key >= keys)
        continue;
      return !causal || key <= query + (fromStart ? 0 : keys - queries);
    }
    return false;
  });
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// Row-major number, among the blocks of a grid, of the block that holds token `token`.
static int64_t blockOf(int64_t token, const Grid &grid, const std::vector<int64_t> &block) {
  int64_t number = 0, factor = 1;
  for (size_t axis = grid.axes(); axis-- > 0;) {
    int64_t size = grid.sizes[axis];
    number += factor * (token % size / block[axis]);
    factor *= (size + block[axis] - 1) / block[axis];
    token /= size;
  }
  return number;
}

/// Row-major number of the query's row in memory of batch entries, lists and query blocks.
template <typename Memory> static int64_t rowOf(const Memory &memory, const PairIndex &pair) {
  int64_t row = memory.isBatchShared ? 0 : pair.batch;
  row = row * memory.shape[1] + (memory.isHeadShared ? 0 : pair.head / memory.group);
  return row * memory.shape[2] + blockOf(pair.query, *pair.queryGrid, memory.queryBlock);
}

Set bitmap(BlockMap given) {
  auto map = std::make_shared<const BlockMap>(std::move(given));
  return makeSet([map](const PairIndex &pair) {
    int64_t column = blockOf(pair.key, *pair.keyGrid, map->keyBlock);
    return map->bytes[static_cast<size_t>(rowOf(*map, pair) * map->shape[3] + column)] != 0;
  });
}

Set blocks(BlockLists given) {
  auto lists = std::make_shared<const BlockLists>(std::move(given));
  return makeSet([lists](const PairIndex &pair) {
    const std::vector<int64_t> &shape = lists->shape;
    int64_t row = rowOf(*lists, pair);
    int64_t wanted = blockOf(pair.key, *pair.keyGrid, lists->keyBlock);
    int64_t count = std::clamp<int64_t>(lists->counts[static_cast<size_t>(row)], 0, shape[3]);
    auto first = lists->ids.begin() + row * shape[3];
    return std::find(first, first + count, wanted) != first + count;
  });
}

//===----------------------------------------------------------------------===//
// Hierarchies
//===----------------------------------------------------------------------===//

/// Whether level `level` of a query at `p` names key `j`; `size` is the level's node size.
static bool isOnLevel(const Dyadic &dyadic, int64_t level, int64_t size, int64_t p, int64_t j) {
  bool isTop = dyadic.levels && level == *dyadic.levels - 1;
  int64_t parent = size * dyadic.fanout;
  if (dyadic.fenwick)
    return j < size * floorDivide(p, size) && (isTop || j >= parent * floorDivide(p, parent));
  return std::abs(floorDivide(j, size) - floorDivide(p, size)) >= 2 &&
         (isTop || std::abs(floorDivide(j, parent) - floorDivide(p, parent)) <= 1);
}

Set dyadic(Dyadic parameters) {
  return makeSet([=](const PairIndex &pair) {
    int64_t p = pair.position(parameters.fromStart)[0], j = pair.key;
    if ((parameters.fenwick || parameters.causal) && j > p)
      return false;
    int64_t blocks = std::abs(floorDivide(j, parameters.base) - floorDivide(p, parameters.base));
    bool exact = blocks <= (parameters.fenwick ? 0 : 1) ||
                 (parameters.near && std::abs(p - j) <= parameters.near->at(pair.head));
    auto [first, last] = parameters.only.value_or(std::pair(int64_t{-1}, INT64_MAX));
    if (exact)
      return first <= -1 && last >= -1;
    // Nodes beyond this size hold the whole sequence, and no level beyond them names a key.
    constexpr int64_t largest = int64_t{1} << 40;
    int64_t size = parameters.base;
    for (int64_t level = 0; size < largest; ++level, size *= parameters.fanout) {
      if (parameters.levels && level >= *parameters.levels)
        return false;
      if (isOnLevel(parameters, level, size, p, j))
        return level >= first && level <= last;
    }
    return false;
  });
}

Columns dyadicColumns(Dyadic parameters, int64_t columns) {
  return [=](const PairIndex &pair) -> std::optional<ColumnIndex> {
    int64_t p = pair.position(parameters.fromStart)[0], j = pair.key, base = parameters.base;
    // The near window reaches into so many blocks beside the own one, and all of these are exact.
    int64_t least = parameters.fenwick ? 0 : 1, reach = least;
    if (parameters.near)
      reach = std::max(
          reach, ceilDivide(std::min(parameters.near->at(pair.head), int64_t{1} << 40), base));
    int64_t own = floorDivide(p, base), block = floorDivide(j, base);
    if (std::abs(block - own) <= reach)
      return std::nullopt;
    // Around the exact part, far nodes lie as around a query without a window.
    p += (block < own ? least - reach : reach - least) * base;
    int64_t size = base, most = parameters.levels.value_or(40);
    for (int64_t level = 0; level < most; ++level, size *= parameters.fanout) {
      if (isOnLevel(parameters, level, size, p, j))
        return ColumnIndex{level, floorDivide(j, size / columns)};
      // Nodes of this size hold every sequence.
      if (size > (int64_t{1} << 40))
        break;
    }
    return std::nullopt;
  };
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

Set blockDiagonal(std::vector<Number> sizes, bool fromStart) {
  return makeSet([=](const PairIndex &pair) {
    Point position = pair.position(fromStart), key = pair.keyPoint();
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      int64_t size = std::max<int64_t>(sizes[axis].at(pair.head), 1);
      if (floorDivide(position[axis], size) != floorDivide(key[axis], size))
        return false;
    }
    return true;
  });
}

/// Whether unit `y` is among the 2r+1 around `x` on an axis of `units` units, border `shift`.
static bool isInShiftedWindow(int64_t x, int64_t y, int64_t r, int64_t dilation, bool causal,
                              int64_t units) {
  int64_t residue = modulo(x, dilation);
  if (modulo(y, dilation) != residue)
    return false;
  // Count the units of this residue: the query's is number a, the key's b, the last allowed one
  // n-1.
  int64_t a = floorDivide(x, dilation), b = floorDivide(y, dilation);
  int64_t n = causal ? a + 1 : floorDivide(units - 1 - residue, dilation) + 1;
  int64_t first = std::max<int64_t>(std::min(a - r, n - (2 * r + 1)), 0);
  return b >= first && b <= first + 2 * r && b < n;
}

static bool isInBox(const Radius &radius, size_t axis, int64_t r, int64_t x, int64_t y,
                    int64_t units) {
  int64_t dilation = radius.dilation[axis];
  if (r < 0)
    return false;
  if (radius.shift)
    return isInShiftedWindow(x, y, r, dilation, radius.causal[axis], units);
  return (x - y) % dilation == 0 && std::abs(x - y) <= r * dilation &&
         (!radius.causal[axis] || y <= x);
}

Set radius(Radius parameters) {
  return makeSet([=](const PairIndex &pair) {
    Point position = pair.position(parameters.fromStart), key = pair.keyPoint();
    int64_t sum = 0, squares = 0;
    for (size_t axis = 0; axis < pair.keyGrid->axes(); ++axis) {
      int64_t unit = parameters.unit[axis];
      int64_t x = floorDivide(position[axis], unit), y = floorDivide(key[axis], unit);
      sum += std::abs(x - y);
      squares += (x - y) * (x - y);
      if (parameters.norm == Radius::Norm::Box) {
        int64_t units = ceilDivide(pair.keyGrid->sizes[axis], unit);
        if (!isInBox(parameters, axis, parameters.radii[axis].at(pair.head), x, y, units))
          return false;
      } else if (parameters.causal[axis] && y > x) {
        return false;
      }
    }
    if (parameters.norm == Radius::Norm::Box)
      return true;
    // Beyond any grid; keeps the square small.
    int64_t r = std::min(parameters.radii[0].at(pair.head), int64_t{1} << 30);
    return parameters.norm == Radius::Norm::L1 ? sum <= r : r >= 0 && squares <= r * r;
  });
}

Set bands(Number width, int64_t levels, int64_t near, bool fromStart) {
  return makeSet([=](const PairIndex &pair) {
    Point position = pair.position(fromStart), key = pair.keyPoint();
    int64_t frames = std::abs(position[0] - key[0]), tokens = std::abs(position[1] - key[1]);
    int64_t wide = width.at(pair.head);
    // Once the width is used up only its sign is left, so that few levels differ.
    for (int64_t level = 0; level < std::min<int64_t>(levels, 62); ++level) {
      if (frames >> (level + 1) < near && tokens <= wide)
        return true;
      wide = floorDivide(wide, 2);
    }
    return false;
  });
}

} // namespace lacuna::reference
