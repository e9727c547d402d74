//===- ToleranceTest.cpp - what passes and what does not ------------------===//
#include "lib/Reference/Tolerance.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using namespace lacuna::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// One row with one channel.
static RowResult rowOf(double output, double lse) {
  RowResult row;
  row.output = {output};
  row.magnitude = {std::fabs(output)};
  row.lse = lse;
  row.scoreMagnitude = 4;
  row.liveKeys = 100;
  return row;
}

static Comparison compare(ElementType type, double got, double exact) {
  OwnedTensor output(type, {1, 1, 1, 1});
  output.view().set({0, 0, 0, 0}, got);
  return compareOutput(output.view(), {{0, 0, 0}}, {rowOf(exact, 0)}, 64);
}

TEST(Tolerance, roundingToTheElementTypePasses) {
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32})
    EXPECT_TRUE(compare(type, 1.0 / 3, 1.0 / 3).passes()) << toString(type);
}

TEST(Tolerance, oneWrongKeyInAThousandFails) {
  EXPECT_FALSE(compare(ElementType::F32, 1.001, 1.0).passes());
  EXPECT_FALSE(compare(ElementType::F16, 1.01, 1.0).passes());
  EXPECT_FALSE(compare(ElementType::BF16, 1.05, 1.0).passes());
}

TEST(Tolerance, infinitiesAndNansMeetTheirLike) {
  double nan = std::nan("");
  EXPECT_TRUE(compare(ElementType::F32, nan, nan).passes());
  EXPECT_FALSE(compare(ElementType::F32, nan, 0).passes());
  EXPECT_FALSE(compare(ElementType::F32, 0, nan).passes());
  EXPECT_FALSE(compare(ElementType::F32, infinity, 1).passes());
  OwnedTensor lse(ElementType::F32, {1, 1, 1});
  lse.view().set({0, 0, 0}, -infinity);
  EXPECT_TRUE(compareLse(lse.view(), {{0, 0, 0}}, {rowOf(0, -infinity)}, 64).passes());
  EXPECT_FALSE(compareLse(lse.view(), {{0, 0, 0}}, {rowOf(0, infinity)}, 64).passes());
  EXPECT_FALSE(compareLse(lse.view(), {{0, 0, 0}}, {rowOf(0, 0)}, 64).passes());
  lse.view().set({0, 0, 0}, -60000);
  EXPECT_FALSE(compareLse(lse.view(), {{0, 0, 0}}, {rowOf(0, -infinity)}, 64).passes());
}

TEST(Tolerance, theWorstValueIsNamed) {
  OwnedTensor output(ElementType::F32, {1, 1, 2, 1});
  output.view().set({0, 0, 0, 0}, 1);
  output.view().set({0, 0, 1, 0}, 3);
  Comparison found =
      compareOutput(output.view(), {{0, 0, 0}, {0, 0, 1}}, {rowOf(1, 0), rowOf(2, 0)}, 64);
  EXPECT_EQ(found.where, (std::vector<int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(found.maxAbsolute, 1);
  EXPECT_EQ(found.maxRelative, 0.5);
  EXPECT_EQ(found.beyond, 1);
  EXPECT_NEAR(found.relativeL2, std::sqrt(1.0 / 5), 1e-12);
}
