//===- RandomTest.cpp - reproducible and distributed as promised ----------===//
#include "lib/Support/Random.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace lacuna;

TEST(Random, theSequenceOfASeedNeverChanges) {
  Random random(1);
  EXPECT_EQ(random.next(), 17154914556750032435u);
  EXPECT_EQ(random.next(), 15481925071032317162u);
}

TEST(Random, streamsDiffer) { EXPECT_NE(Random(1, 0).next(), Random(1, 1).next()); }

TEST(Random, normalNumbersHaveTheirMoments) {
  Random random(7);
  constexpr int count = 200000;
  double sum = 0, squares = 0;
  for (int draw = 0; draw < count; ++draw) {
    double value = random.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.01);
}

TEST(Random, rangesReachBothEnds) {
  Random random(3);
  bool low = false, high = false;
  for (int draw = 0; draw < 200; ++draw) {
    int64_t value = random.between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    low |= value == -2;
    high |= value == 2;
  }
  EXPECT_TRUE(low && high);
}
