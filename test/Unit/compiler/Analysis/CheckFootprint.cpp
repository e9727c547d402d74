//===- CheckFootprint.cpp - boxes of key tiles against brute force --------===//
#include "CheckFootprint.h"

#include "gtest/gtest.h"

#include <map>

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace lacuna::test;
using llvm::ArrayRef;

using Tile = std::vector<int64_t>;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// All points of a box, last coordinate fastest.
static std::vector<Tile> pointsOf(ArrayRef<int64_t> first, ArrayRef<int64_t> extents) {
  std::vector<Tile> points = {{}};
  for (auto [start, extent] : llvm::zip_equal(first, extents)) {
    std::vector<Tile> next;
    for (const Tile &point : points) {
      for (int64_t offset = 0; offset < extent; ++offset) {
        next.push_back(point);
        next.back().push_back(start + offset);
      }
    }
    points = std::move(next);
  }
  return points;
}

namespace {

class Checker {
public:
  Checker(const Footprint &footprint, const SetValues &values, const Formula &formula,
          const TileShape &shape, Counts &counts)
      : footprint(footprint), values(values), formula(formula), shape(shape), counts(counts),
        rank(shape.query.size()) {}

  void checkQueryTile(const Tile &queryTile);

private:
  std::map<Tile, int> visits(ArrayRef<TileBox> boxes, const Tile &queryTile,
                             ArrayRef<int64_t> symbols) const {
    std::map<Tile, int> result;
    enumerateTiles(boxes, queryTile, symbols,
                   [&](ArrayRef<int64_t> tile) { ++result[Tile(tile.begin(), tile.end())]; });
    return result;
  }
  void checkLists();
  void checkKeyTile(const Tile &keyTile);

  const Footprint &footprint;
  const SetValues &values;
  const Formula &formula;
  const TileShape &shape;
  Counts &counts;
  size_t rank;
  /// Of the query tile: its first and last row, and the rows that exist.
  std::vector<int64_t> first, last, rows;
  std::map<Tile, int> live, full, partial;
};

} // namespace

void Checker::checkLists() {
  for (const auto &[tile, count] : live)
    EXPECT_EQ(count, 1) << "a live tile is visited more than once";
  for (const auto &[tile, count] : full)
    EXPECT_TRUE(count == 1 && live.count(tile)) << "full tiles are not disjoint or not live";
  std::map<Tile, int> rest = live;
  for (const auto &[tile, count] : full)
    rest.erase(tile);
  EXPECT_EQ(partial, rest) << "partial is not live without full";
}

void Checker::checkKeyTile(const Tile &keyTile) {
  std::vector<int64_t> firstKey, keys;
  bool inside = true;
  for (size_t axis = 0; axis < rank; ++axis) {
    firstKey.push_back(keyTile[axis] * shape.key[axis]);
    keys.push_back(std::min(shape.key[axis], values.keySizes[axis] - firstKey.back()));
    inside &= keys.back() == shape.key[axis];
  }
  std::vector<Tile> keyPoints = pointsOf(firstKey, keys);
  bool some = false, all = true;
  for (const Tile &query : pointsOf(first, rows)) {
    for (const Tile &key : keyPoints) {
      bool pair = values.isLive(formula, query, key);
      some |= pair;
      all &= pair;
    }
  }
  bool isLive = live.erase(keyTile), isFull = full.count(keyTile);
  counts.liveTiles += isLive;
  counts.fullTiles += isFull;
  counts.extraTiles += isLive && !some;
  if (some)
    EXPECT_TRUE(isLive) << "a live tile is missed";
  if (footprint.exact)
    EXPECT_EQ(isLive, some) << "a tile without live pairs is visited";
  if (isFull)
    EXPECT_TRUE(all && inside) << "a tile with dead pairs or absent keys counts as full";
  if (!all || !inside || isFull)
    return;
  // Rows past the end may count as if they were there.
  for (const Tile &query : pointsOf(first, shape.query))
    for (const Tile &key : keyPoints)
      all = all && values.isLive(formula, query, key);
  counts.lostTiles += all;
}

void Checker::checkQueryTile(const Tile &queryTile) {
  first.clear();
  last.clear();
  rows.clear();
  std::vector<int64_t> keyTiles;
  for (size_t axis = 0; axis < rank; ++axis) {
    first.push_back(queryTile[axis] * shape.query[axis]);
    last.push_back(std::min(first.back() + shape.query[axis], values.querySizes[axis]) - 1);
    rows.push_back(last.back() - first.back() + 1);
    keyTiles.push_back(ceilDiv(values.keySizes[axis], shape.key[axis]));
  }
  std::vector<int64_t> symbols;
  for (const TileSymbol &symbol : footprint.symbols)
    symbols.push_back(
        values.valueOf(symbol.symbol, symbol.at == TileSymbol::At::LastRow ? last : first));
  live = visits(footprint.live, queryTile, symbols);
  full = visits(footprint.full, queryTile, symbols);
  partial = visits(footprint.partial, queryTile, symbols);
  checkLists();
  for (const Tile &keyTile : pointsOf(std::vector<int64_t>(rank, 0), keyTiles))
    checkKeyTile(keyTile);
  EXPECT_TRUE(live.empty()) << "a tile outside the grid is visited";
}

void lacuna::test::checkFootprint(const Footprint &footprint, const SetValues &values,
                                  const Formula &formula, const TileShape &shape, Counts &counts) {
  Checker checker(footprint, values, formula, shape, counts);
  std::vector<int64_t> tiles;
  for (size_t axis = 0; axis < shape.query.size(); ++axis)
    tiles.push_back(ceilDiv(values.querySizes[axis], shape.query[axis]));
  for (const Tile &queryTile : pointsOf(std::vector<int64_t>(tiles.size(), 0), tiles))
    checker.checkQueryTile(queryTile);
}
