//===- CanonicalFormsTest.cpp - canonicalization keeps every pair ---------===//
#include "test/Support/SetExpectation.h"

#include <random>

using namespace lacuna::test;

namespace {
/// Writes random expressions over a sequence, small enough that every fold applies often.
class ExpressionWriter {
public:
  explicit ExpressionWriter(unsigned seed) : random(seed) {}

  /// The ops of an expression; the last one is the set.
  std::string write() {
    text = "";
    values = 0;
    emit(3);
    return text;
  }

private:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  std::string number(int low, int high) {
    return draw(0, 4) == 0 ? "%n" : std::to_string(draw(low, high));
  }

  std::string leaf() {
    std::string start = draw(0, 5) == 0 ? " from_start" : "";
    switch (draw(0, 12)) {
    case 0:
      return "sparsity.all";
    case 1:
      return "sparsity.none";
    case 2:
      return "sparsity.causal" + start;
    case 3:
    case 4:
      return "sparsity.window left(" + number(-3, 5) + ") right(" + number(-4, 3) + ")" + start;
    case 5:
      return "sparsity.window left(" + number(-3, 5) + ")" + start;
    case 6:
      return "sparsity.window right(" + number(-3, 5) + ")" + start;
    case 7:
      return "sparsity.prefix " + number(0, 4);
    case 8:
      return "sparsity.suffix " + number(0, 4);
    case 9:
      return "sparsity.slashes [" + std::to_string(draw(-2, 2)) + ", " +
             std::to_string(draw(-2, 2)) + "]" + start;
    case 10:
      return "sparsity.dilated left(" + number(0, 3) + ") right(0) step(" +
             std::to_string(draw(1, 2)) + ")" + start;
    case 11:
      return "sparsity.columns " + number(0, 3);
    default:
      return "sparsity.stride " + std::to_string(draw(1, 3)) + start;
    }
  }

  std::string define(const std::string &op) {
    std::string name = "%v" + std::to_string(values++);
    text += name + " = " + op + "\n";
    return name;
  }

  std::string emit(int depth) {
    if (depth == 0 || draw(0, 5) == 0)
      return define(leaf());
    switch (draw(0, 7)) {
    case 0:
      return define("sparsity.complement " + emit(depth - 1));
    case 1: {
      std::string a = emit(depth - 1), b = emit(depth - 1);
      return define("sparsity.subtract " + a + ", " + b);
    }
    case 2: {
      std::string a = emit(depth - 1), b = emit(depth - 1);
      return define("sparsity.per_head [1, 0] [" + a + ", " + b + "]");
    }
    default: {
      std::string op = draw(0, 1) ? "sparsity.union " : "sparsity.intersect ";
      std::string sets = emit(depth - 1);
      for (int more = draw(0, 2); more > 0; --more)
        sets += ", " + (draw(0, 3) == 0 ? sets.substr(0, sets.find(',')) : emit(depth - 1));
      return define(op + sets);
    }
    }
  }

  std::mt19937 random;
  std::string text;
  int values = 0;
};
} // namespace

TEST(CanonicalForms, keepEveryPair) {
  unsigned seed = 20240229;
  ExpressionWriter writer(seed);
  for (int round = 0; round < 300; ++round) {
    std::string body = writer.write();
    SetEvaluator before("%n: index", body), after("%n: index", body, /*canonicalize=*/true);
    ASSERT_TRUE(before && after) << body;
    for (int64_t n : {-2, 0, 3}) {
      before.with(0, n), after.with(0, n);
      for (auto [queries, keys] : {std::pair(7, 7), {4, 9}, {8, 3}})
        ASSERT_TRUE(agrees(after, {queries}, {keys}, 2,
                           [&](const TestPair &pair) { return before.predicate(pair); }))
            << "seed " << seed << ", n = " << n << "\n"
            << body;
    }
  }
}
