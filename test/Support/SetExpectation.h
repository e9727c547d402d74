//===- SetExpectation.h - a set against a definition written by hand -------===//
#pragma once

#include "test/Support/SetEvaluator.h"

namespace lacuna::test {

inline std::string toText(const std::vector<int64_t> &numbers) {
  std::string text = "[";
  for (int64_t number : numbers)
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

inline std::string toText(const TestPair &pair) {
  return "query " + toText(pair.query) + " of " + toText(pair.querySizes) + ", key " +
         toText(pair.key) + " of " + toText(pair.keySizes) + ", head " + std::to_string(pair.head);
}

/// Whether both readings of the set agree with `expected` at every pair of these sizes, the hull
/// contains it and the core lies inside.
inline testing::AssertionResult agrees(SetEvaluator &set, std::vector<int64_t> querySizes,
                                       std::vector<int64_t> keySizes, int64_t heads,
                                       llvm::function_ref<bool(const TestPair &)> expected) {
  if (!set)
    return testing::AssertionFailure() << "no set";
  std::string wrong;
  sparsity::Formula hull = set.getFormula().withoutOpaque(true);
  sparsity::Formula core = set.getFormula().withoutOpaque(false);
  for (int64_t head = 0; head < heads; ++head)
    forEachPair(querySizes, keySizes, [&](TestPair pair) {
      pair.head = head;
      if (!wrong.empty())
        return;
      bool right = expected(pair);
      if (set.predicate(pair) != right)
        wrong = "the predicate is " + std::to_string(!right);
      else if (set.holds(set.getFormula(), pair) != right)
        wrong = "the formula is " + std::to_string(!right);
      else if (right && !set.holds(hull, pair))
        wrong = "the hull leaves it out";
      else if (!right && set.holds(core, pair))
        wrong = "the core holds it";
      if (!wrong.empty())
        wrong += " at " + toText(pair);
    });
  return wrong.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << wrong;
}

/// The same for a sequence at lengths that meet every border.
inline testing::AssertionResult
agreesOnSequences(SetEvaluator &set, int64_t heads,
                  llvm::function_ref<bool(const TestPair &)> expected) {
  for (int64_t queries : {0, 1, 2, 7, 13})
    for (int64_t keys : {0, 1, 2, 8, 13, 20})
      if (testing::AssertionResult result = agrees(set, {queries}, {keys}, heads, expected);
          !result)
        return result;
  return testing::AssertionSuccess();
}

/// The same for a grid whose queries and keys share the sizes.
inline testing::AssertionResult agreesOnGrid(SetEvaluator &set, std::vector<int64_t> sizes,
                                             int64_t heads,
                                             llvm::function_ref<bool(const TestPair &)> expected) {
  return agrees(set, sizes, sizes, heads, expected);
}

/// Whether no monotone symbol decreases along its axis, at these sizes.
inline testing::AssertionResult neverDecreases(SetEvaluator &set, std::vector<int64_t> querySizes,
                                               std::vector<int64_t> keySizes, int64_t heads) {
  std::string wrong;
  llvm::ArrayRef<sparsity::Symbol> symbols = set.getSpace().getSymbols();
  for (unsigned index = 0; index < symbols.size(); ++index) {
    if (symbols[index].kind != sparsity::Symbol::Kind::Monotone)
      continue;
    unsigned axis = symbols[index].axis;
    for (int64_t head = 0; head < heads; ++head) {
      TestPair pair{std::vector<int64_t>(querySizes.size(), 0),
                    std::vector<int64_t>(keySizes.size(), 0),
                    querySizes,
                    keySizes,
                    0,
                    head};
      int64_t last = std::numeric_limits<int64_t>::min();
      for (; pair.query[axis] < querySizes[axis]; ++pair.query[axis]) {
        set.predicate(pair);
        if (set.symbol(index) < last)
          wrong = "a term falls to " + std::to_string(set.symbol(index)) + " at " + toText(pair);
        last = set.symbol(index);
      }
    }
  }
  return wrong.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << wrong;
}

} // namespace lacuna::test
