//===- SetExpressionTest.cpp - sets as pictures ---------------------------===//
#include "lib/Reference/SetExpression.h"

#include <gtest/gtest.h>
#include <string>

using namespace lacuna::reference;

/// One line per query, one letter per key: `#` where the pair is live.
static std::string picture(const Set &set, const Grid &queries, const Grid &keys,
                           int64_t head = 0) {
  std::string text;
  for (int64_t query = 0; query < queries.tokens(); ++query) {
    text += "\n";
    for (int64_t key = 0; key < keys.tokens(); ++key)
      text += set->contains({0, head, query, key, &queries, &keys}) ? '#' : '.';
  }
  return text;
}

static std::string picture(const Set &set, int64_t queries, int64_t keys, int64_t head = 0) {
  return picture(set, Grid{{queries}}, Grid{{keys}}, head);
}

TEST(SetExpression, causalAlignsTheEnds) {
  EXPECT_EQ(picture(causal(false), 3, 5), "\n###..\n####.\n#####");
  EXPECT_EQ(picture(causal(true), 3, 5), "\n#....\n##...\n###..");
  EXPECT_EQ(picture(causal(false), 4, 2), "\n..\n..\n#.\n##");
}

TEST(SetExpression, windowEndsAreInclusive) {
  EXPECT_EQ(picture(window(1, 0, false), 4, 4), "\n#...\n##..\n.##.\n..##");
  EXPECT_EQ(picture(window(0, 0, false), 2, 2), "\n#.\n.#");
  EXPECT_EQ(picture(window(std::nullopt, 1, false), 3, 3), "\n##.\n###\n###");
  EXPECT_EQ(picture(window(-1, std::nullopt, false), 3, 3), "\n.##\n..#\n...");
  EXPECT_EQ(picture(window(-2, -1, false), 3, 3), "\n...\n...\n...");
}

TEST(SetExpression, numbersMayDifferPerHead) {
  Set set = window(Number(std::vector<int64_t>{0, 2}), 0, false);
  EXPECT_EQ(picture(set, 3, 3, 0), "\n#..\n.#.\n..#");
  EXPECT_EQ(picture(set, 3, 3, 1), "\n#..\n##.\n###");
}

TEST(SetExpression, rowsAndColumns) {
  EXPECT_EQ(picture(prefix(1), 2, 3), "\n#..\n#..");
  EXPECT_EQ(picture(suffix(2), 2, 3), "\n.##\n.##");
  EXPECT_EQ(picture(firstRows(3, false), 2, 3), "\n###\n###");
  EXPECT_EQ(picture(firstRows(2, false), 2, 3), "\n###\n...");
  EXPECT_EQ(picture(rowList({2}, false), 2, 3), "\n...\n###");
  EXPECT_EQ(picture(rowList({0}, true), 2, 3), "\n###\n...");
  EXPECT_EQ(picture(columnList({2, 0, 9}), 1, 3), "\n#.#");
  EXPECT_EQ(picture(slashes({0, 2, -1}, false), 3, 3), "\n##.\n.##\n#.#");
}

TEST(SetExpression, stridesAndDilation) {
  EXPECT_EQ(picture(stride(2, false), 3, 4), "\n.#.#\n#.#.\n.#.#");
  EXPECT_EQ(picture(stride(0, false), 1, 2), "\n##");
  EXPECT_EQ(picture(dilated(1, 1, 2, false), 5, 5), "\n#.#..\n.#.#.\n#.#.#\n.#.#.\n..#.#");
  EXPECT_EQ(picture(dilated(std::nullopt, 0, 3, false), 5, 5),
            "\n#....\n.#...\n..#..\n#..#.\n.#..#");
}

TEST(SetExpression, blocksMayBeCutAtTheEnd) {
  EXPECT_EQ(picture(blockDiagonal({2}, false), 3, 3), "\n##.\n##.\n..#");
  EXPECT_EQ(picture(blockDiagonal({0}, false), 2, 2), "\n#.\n.#");
  EXPECT_EQ(picture(blockDiagonal({1, 2}, false), Grid{{2, 2}}, Grid{{2, 2}}),
            "\n##..\n##..\n..##\n..##");
}

TEST(SetExpression, documentsMayBeEmpty) {
  EXPECT_EQ(picture(documents({0, 1, 1, 3}, {0, 2, 2, 4}, false, false), 3, 4),
            "\n##..\n..##\n..##");
  EXPECT_EQ(picture(documents({0, 2, 2, 3}, {0, 0, 3, 4}, false, false), 3, 4),
            "\n....\n....\n...#");
}

TEST(SetExpression, causalDocumentsAlignTheirEnds) {
  EXPECT_EQ(picture(documents({0, 2}, {0, 3}, true, false), 2, 3), "\n##.\n###");
  EXPECT_EQ(picture(documents({0, 2}, {0, 3}, true, true), 2, 3), "\n#..\n##.");
}

TEST(SetExpression, tokensOutsideTheOffsetsBelongToNoDocument) {
  EXPECT_EQ(picture(documents({1, 2}, {0, 2}, false, false), 3, 3), "\n...\n##.\n...");
}

/// A radius on `axes` axes with neither causal axes, dilation nor unit.
static Radius plain(std::vector<Number> radii, size_t axes) {
  Radius radius;
  radius.radii = std::move(radii);
  radius.causal.assign(axes, false);
  radius.dilation.assign(axes, 1);
  radius.unit.assign(axes, 1);
  return radius;
}

TEST(SetExpression, clippedNeighbourhoodsHaveFewerKeysAtTheBorder) {
  EXPECT_EQ(picture(radius(plain({1}, 1)), 4, 4), "\n##..\n###.\n.###\n..##");
  EXPECT_EQ(picture(radius(plain({-1}, 1)), 2, 2), "\n..\n..");
}

TEST(SetExpression, shiftedNeighbourhoodsKeepTheirSize) {
  Radius radius = plain({1}, 1);
  radius.shift = true;
  EXPECT_EQ(picture(lacuna::reference::radius(radius), 4, 4), "\n###.\n###.\n.###\n.###");
  EXPECT_EQ(picture(lacuna::reference::radius(radius), 2, 2), "\n##\n##");
  radius.causal = {true};
  EXPECT_EQ(picture(lacuna::reference::radius(radius), 4, 4), "\n#...\n##..\n###.\n.###");
  radius.causal = {false};
  radius.dilation = {2};
  EXPECT_EQ(picture(lacuna::reference::radius(radius), 7, 7),
            "\n#.#.#..\n.#.#.#.\n#.#.#..\n.#.#.#.\n..#.#.#\n.#.#.#.\n..#.#.#");
}

TEST(SetExpression, unitsMoveWholeTiles) {
  Radius radius = plain({0}, 1);
  radius.unit = {2};
  EXPECT_EQ(picture(lacuna::reference::radius(radius), 3, 3), "\n##.\n##.\n..#");
}

TEST(SetExpression, normsOnAGrid) {
  Grid grid{{3, 3}};
  auto row = [&](Radius::Norm norm, int64_t r, int64_t query) {
    Radius radius = plain({r, r}, 2);
    radius.norm = norm;
    Set set = lacuna::reference::radius(radius);
    std::string text;
    for (int64_t key = 0; key < 9; ++key)
      text += set->contains({0, 0, query, key, &grid, &grid}) ? '#' : '.';
    return text;
  };
  EXPECT_EQ(row(Radius::Norm::Box, 1, 4), "#########");
  EXPECT_EQ(row(Radius::Norm::L1, 1, 4), ".#.###.#.");
  EXPECT_EQ(row(Radius::Norm::L2, 1, 0), "##.#.....");
  EXPECT_EQ(row(Radius::Norm::L2, 2, 0), "#####.#..");
  EXPECT_EQ(row(Radius::Norm::L1, -1, 4), ".........");
}

TEST(SetExpression, bandsHalveWhenTheDistanceDoubles) {
  // Five frames of four tokens; from the first token of the first frame.
  Grid grid{{5, 4}};
  Set set = bands(3, 3, 1, false);
  std::string text;
  for (int64_t key = 0; key < 20; ++key)
    text += set->contains({0, 0, 0, key, &grid, &grid}) ? '#' : '.';
  EXPECT_EQ(text, "####"
                  "####"
                  "##.."
                  "##.."
                  "#...");
}

TEST(SetExpression, hierarchiesCoverEachKeyOnce) {
  for (bool fenwick : {true, false})
    for (bool isCausal : {true, false})
      for (int64_t fanout : {2, 3, 4})
        for (int64_t keys : {1, 2, 7, 16, 33, 65}) {
          Grid grid{{keys}};
          Dyadic whole;
          whole.fenwick = fenwick;
          whole.causal = isCausal;
          whole.base = 2;
          whole.fanout = fanout;
          std::vector<Set> levels;
          for (int64_t level = -1; level < 8; ++level) {
            Dyadic only = whole;
            only.only = {level, level};
            levels.push_back(dyadic(only));
          }
          Set all = dyadic(whole);
          for (int64_t query = 0; query < keys; ++query)
            for (int64_t key = 0; key < keys; ++key) {
              PairIndex pair{0, 0, query, key, &grid, &grid};
              int count = 0;
              for (const Set &level : levels)
                count += level->contains(pair);
              bool expected = !(fenwick || isCausal) || key <= query;
              ASSERT_EQ(count, expected) << query << " " << key << " of " << keys;
              ASSERT_EQ(all->contains(pair), expected);
            }
        }
}

TEST(SetExpression, fenwickLevelsNameTheDigitsOfTheBlockNumber) {
  // Query 13 of base 1 has the digits 1101: blocks of 8, 4 and 1 keys before it.
  Grid grid{{16}};
  std::string text;
  for (int64_t key = 0; key < 14; ++key)
    for (int64_t level = -1; level < 4; ++level) {
      Dyadic only;
      only.fenwick = true;
      only.only = {level, level};
      if (dyadic(only)->contains({0, 0, 13, key, &grid, &grid}))
        text += level < 0 ? "x" : std::to_string(level);
    }
  EXPECT_EQ(text, "333333332222"
                  "0x");
}

TEST(SetExpression, algebra) {
  Set a = prefix(2), b = columnList({1, 2});
  EXPECT_EQ(picture(unionOf({a, b}), 1, 4), "\n###.");
  EXPECT_EQ(picture(intersectionOf({a, b}), 1, 4), "\n.#..");
  EXPECT_EQ(picture(difference(a, b), 1, 4), "\n#...");
  EXPECT_EQ(picture(complementOf(a), 1, 4), "\n..##");
  EXPECT_EQ(picture(unionOf({}), 1, 2), "\n..");
  EXPECT_EQ(picture(intersectionOf({}), 1, 2), "\n##");
}

TEST(SetExpression, headsWithoutASetHaveNoPairs) {
  Set set = perHead(Number(std::vector<int64_t>{1, 0, 2, -1}), {allPairs(), prefix(1)});
  EXPECT_EQ(picture(set, 1, 2, 0), "\n#.");
  EXPECT_EQ(picture(set, 1, 2, 1), "\n##");
  EXPECT_EQ(picture(set, 1, 2, 2), "\n..");
  EXPECT_EQ(picture(set, 1, 2, 3), "\n..");
}

TEST(SetExpression, segmentsCountFromTheirStart) {
  Set set = segments({Grid{{2}}, Grid{{2, 2}}},
                     {causal(false), noPairs(), allPairs(), blockDiagonal({1, 2}, false)});
  EXPECT_EQ(picture(set, 6, 6), "\n#.....\n##....\n####..\n####..\n##..##\n##..##");
}

TEST(SetExpression, affineSetsSeePositionsKeysAndParameters) {
  auto variable = [](int64_t index) {
    return std::make_shared<AffineTerm>(AffineTerm{AffineTerm::Kind::Variable, index});
  };
  auto minusOne = std::make_shared<AffineTerm>(AffineTerm{AffineTerm::Kind::Constant, -1});
  auto negated = std::make_shared<AffineTerm>(
      AffineTerm{AffineTerm::Kind::Multiply, 0, variable(1), minusOne});
  auto distance =
      std::make_shared<AffineTerm>(AffineTerm{AffineTerm::Kind::Add, 0, variable(0), negated});
  // (p - j) mod w == 0 and p - j >= 0.
  auto residue =
      std::make_shared<AffineTerm>(AffineTerm{AffineTerm::Kind::Modulo, 0, distance, variable(2)});
  Set set =
      affine(false, {{residue, true}, {distance, false}}, {Number(std::vector<int64_t>{2, 3})});
  EXPECT_EQ(picture(set, 4, 4, 0), "\n#...\n.#..\n#.#.\n.#.#");
  EXPECT_EQ(picture(set, 4, 4, 1), "\n#...\n.#..\n..#.\n#..#");
}

TEST(SetExpression, predicatesSeeCoordinates) {
  // Key column equals query column on a grid: arguments are batch, head, i0, i1, j0, j1.
  ScalarProgram program(6);
  program.setResult(program.append({Opcode::Equal, {3, 5}, 1, 64}));
  EXPECT_EQ(picture(where(false, program), Grid{{2, 2}}, Grid{{2, 2}}), "\n#.#.\n.#.#\n#.#.\n.#.#");
}
