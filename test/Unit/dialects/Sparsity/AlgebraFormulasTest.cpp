//===- AlgebraFormulasTest.cpp - unions, differences, mixtures ------------===//
#include "test/Support/SetExpectation.h"

using namespace lacuna::test;

static bool inWindow(const TestPair &p, int64_t left) {
  int64_t d = p.position() - p.key[0];
  return 0 <= d && d <= left;
}

TEST(AlgebraFormulas, unionIntersectSubtractComplement) {
  std::string leaves = "%a = sparsity.window left(3) right(0)\n%b = sparsity.prefix 4\n"
                       "%c = sparsity.stride 2\n";
  SetEvaluator either("", leaves + "%s = sparsity.union %a, %b");
  EXPECT_TRUE(agreesOnSequences(either, 1,
                                [](const TestPair &p) { return inWindow(p, 3) || p.key[0] < 4; }));
  SetEvaluator both("", leaves + "%s = sparsity.intersect %a, %b, %c");
  EXPECT_TRUE(agreesOnSequences(both, 1, [](const TestPair &p) {
    return inWindow(p, 3) && p.key[0] < 4 && (p.position() - p.key[0]) % 2 == 0;
  }));
  SetEvaluator without("", leaves + "%s = sparsity.subtract %a, %c");
  EXPECT_TRUE(agreesOnSequences(without, 1, [](const TestPair &p) {
    return inWindow(p, 3) && (p.position() - p.key[0]) % 2 != 0;
  }));
  SetEvaluator outside("", leaves + "%u = sparsity.union %a, %b\n%s = sparsity.complement %u");
  EXPECT_TRUE(agreesOnSequences(
      outside, 1, [](const TestPair &p) { return !inWindow(p, 3) && p.key[0] >= 4; }));
}

// The complement of a predicate is exact, and its bounds swap.
TEST(AlgebraFormulas, complementOfOpaqueSets) {
  SetEvaluator set("%n: index", "%a = sparsity.stride %n\n%b = sparsity.causal\n"
                                "%s = sparsity.subtract %b, %a");
  EXPECT_TRUE(agreesOnSequences(set.with(0, 3), 1, [](const TestPair &p) {
    int64_t d = p.position() - p.key[0];
    return d >= 0 && d % 3 != 0;
  }));
}

TEST(AlgebraFormulas, perHead) {
  std::string leaves = "%a = sparsity.window left(3) right(0)\n%b = sparsity.prefix 4\n";
  auto expected = [](const TestPair &p) {
    std::vector<int64_t> classes = {1, 0, 0, 7};
    int64_t chosen = p.head < 4 ? classes[p.head] : -1;
    return chosen == 0 ? inWindow(p, 3) : chosen == 1 && p.key[0] < 4;
  };
  SetEvaluator variable("%c: tensor<?xi32>",
                        leaves + "%s = sparsity.per_head %c : tensor<?xi32> [%a, %b]");
  EXPECT_TRUE(agreesOnSequences(variable.with(0, {1, 0, 0, 7}), 4, expected));
  SetEvaluator constant("", leaves + "%s = sparsity.per_head [1, 0, 0] [%a, %b]");
  EXPECT_TRUE(agreesOnSequences(constant, 4, expected));
}
