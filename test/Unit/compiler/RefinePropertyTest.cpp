//===- RefinePropertyTest.cpp - choices from coarse to fine ----------------===//
#include "lib/Support/Random.h"
#include "lib/Support/Settings.h"
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::test::Assignments;
using lacuna::test::describe;
using lacuna::test::SpecRunner;

namespace {
/// Attention over the blocks that a search through a tree of pooled keys finds. Results are its
/// output and log-sum-exp, then those of attention to all that the search could find.
struct Search {
  int64_t queryHeads = 2, keyHeads = 1, channels = 16, queryBlock = 16, base = 16, fanout = 2;
  std::string type = "f32";
  /// What each level keeps, the finest level first.
  std::vector<std::string> rules = {"top_k(2)", "top_k(2)"};
  /// Whether only the past is seen, and whether dropped nodes are seen through their means.
  bool isCausal = false, keepsCoarse = false;

  std::string text() const;

private:
  std::string writeLevel(size_t level) const;
  std::string writeColumns(size_t level, int64_t size) const;
};
} // namespace

std::string Search::writeLevel(size_t level) const {
  int64_t size = base;
  for (size_t step = 0; step < level; ++step)
    size *= fanout;
  std::string text =
      fmt::format("  %k{} = select.summarize mean %k block [{}] : !k -> !k\n", level, size);
  std::string sets;
  if (isCausal) {
    text += fmt::format("  %past{0} = sparsity.affine affine_set<(i, j) : (i * {1} + {2} - j * {3} "
                        ">= 0)> from_start\n"
                        "  %own{0} = sparsity.affine affine_set<(i, j) : (i * {1} + {2} - j * {3} "
                        ">= 0, j * {3} + {4} - i * {1} >= 0)> from_start\n",
                        level, queryBlock, queryBlock - 1, size, size - 1);
    sets = fmt::format("%past{0} force %own{0}", level);
  }
  if (level + 1 == rules.size()) {
    text += fmt::format("  %s{0} = select.score dot %qm, %k{0} : !q, !k -> !s\n", level);
    std::string from = fmt::format("%s{}", level);
    if (isCausal) {
      text += fmt::format("  %t{0} = select.restrict %s{0} within {1} : !s\n", level, sets);
      from = fmt::format("%t{}", level);
    }
    text += fmt::format("  %ids{0}, %counts{0} = select.choose {1} {2} : !s -> !i, !c\n", level,
                        rules[level], from);
    if (keepsCoarse)
      text += fmt::format("  %left{0} = select.without {1}, %ids{0}, %counts{0} : !s, !i, !c\n"
                          "  %dropped{0}, %rest{0} = select.choose share(1) %left{0} : !s -> !i, "
                          "!c\n",
                          level, from);
  } else {
    text += fmt::format(
        "  %n{0} = tensor.dim %k{0}, %axis : !k\n"
        "  %below{0}, %many{0} = select.children %ids{1}, %counts{1} by {2} columns(%n{0}) : !i, "
        "!c -> !i, !c\n"
        "  %s{0} = select.score_list dot %qm, %k{0} at %below{0}, %many{0}{3} : !q, !k, !i, !c -> "
        "!s\n"
        "  %at{0}, %counts{0} = select.choose {4} %s{0} : !s -> !i, !c\n"
        "  %ids{0} = select.pick %below{0}, %many{0} at %at{0} : !i, !c, !i -> !i\n",
        level, level + 1, fanout, sets.empty() ? "" : " over " + sets, rules[level]);
    if (keepsCoarse)
      text += fmt::format(
          "  %left{0} = select.without %s{0}, %at{0}, %counts{0} : !s, !i, !c\n"
          "  %others{0}, %rest{0} = select.choose share(1) %left{0} : !s -> !i, !c\n"
          "  %dropped{0} = select.pick %below{0}, %many{0} at %others{0} : !i, !c, !i -> !i\n",
          level);
  }
  return keepsCoarse ? text + writeColumns(level, size) : text;
}

/// What was dropped on a level, seen through means that weigh as much as their keys.
std::string Search::writeColumns(size_t level, int64_t size) const {
  return fmt::format(
      "  %v{0} = select.summarize mean %v block [{1}] : !k -> !k\n"
      "  %keys{0} = select.summarize count %k block [{1}] : !k -> !n\n"
      "  %seen{0} = sparsity.blocks %dropped{0}, %rest{0} query [{2}] key [1] : !i, !c\n"
      "  %o{0}, %l{0} = attn.attend %q, %k{0}, %v{0} over %seen{0} score (%x, %b, %h, %i, %j) {{\n"
      "    %m = tensor.extract %keys{0}[%b, %zero, %j, %zero] : !n\n"
      "    %log = math.log %m : f32\n    %y = arith.addf %x, %log : f32\n"
      "    attn.yield %y : f32\n  }} : !q, !k, !k -> !q, !l\n",
      level, size, queryBlock);
}

std::string Search::text() const {
  std::string text =
      fmt::format("!q = tensor<?x{0}x?x{2}x{3}>\n!k = tensor<?x{1}x?x{2}x{3}>\n"
                  "!n = tensor<?x{1}x?x1xf32>\n!s = tensor<?x{0}x?x?xf32>\n"
                  "!i = tensor<?x{0}x?x?xi32>\n!c = tensor<?x{0}x?xi32>\n!l = tensor<?x{0}x?xf32>\n"
                  "func.func @f(%q: !q, %k: !k, %v: !k) -> (!q, !l, !q, !l) {{\n"
                  "  %zero = arith.constant 0 : index\n  %axis = arith.constant 2 : index\n"
                  "  %qm = select.summarize mean %q block [{4}] : !q -> !q\n",
                  queryHeads, keyHeads, channels, type, queryBlock);
  for (size_t level = rules.size(); level-- > 0;)
    text += writeLevel(level);
  text += fmt::format("  %listed = sparsity.blocks %ids0, %counts0 query [{}] key [{}] : !i, !c\n"
                      "  %whole = sparsity.{} from_start\n"
                      "  %set = sparsity.intersect %listed, %whole\n"
                      "  %o, %l = attn.attend %q, %k, %v over %set : !q, !k, !k -> !q, !l\n"
                      "  %e, %m = attn.attend %q, %k, %v over %whole : !q, !k, !k -> !q, !l\n",
                      queryBlock, base, isCausal ? "causal" : "window left(100000)");
  std::string output = "%o", lse = "%l";
  if (keepsCoarse) {
    std::string parts = "(%o, %l)";
    for (size_t level = 0; level < rules.size(); ++level)
      parts += fmt::format(", (%o{0}, %l{0})", level);
    text += fmt::format("  %output, %sum = attn.merge {} : !q, !l\n", parts);
    output = "%output";
    lse = "%sum";
  }
  return text + fmt::format("  return {}, {}, %e, %m : !q, !l, !q, !l\n}}\n", output, lse);
}

/// Searches of every kind; those of the past have blocks of queries inside blocks of keys.
static Search drawSearch(Random &random) {
  Search search;
  search.keyHeads = random.between(1, 2);
  search.queryHeads = search.keyHeads * random.between(1, 2);
  search.channels = random.between(1, 40);
  search.fanout = random.between(2, 4);
  search.queryBlock = 8 << random.below(2);
  search.base = search.queryBlock * random.between(1, 2);
  search.type = random.below(3) == 0 ? "bf16" : random.below(2) == 0 ? "f16" : "f32";
  search.isCausal = random.below(2) == 0;
  search.keepsCoarse = random.below(2) == 0;
  const std::vector<std::string> rules = {"top_k(1)", "top_k(3)", "top_p(0.6)", "share(0.5)",
                                          "near_max(-0.2)"};
  search.rules.clear();
  for (int64_t level = random.between(1, 3); level >= 0; --level)
    search.rules.push_back(rules[static_cast<size_t>(random.below(5))]);
  return search;
}

TEST(RefineProperty, randomSearchesAgreeWithTheOracle) {
  Result<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings) << settings.status().message();
  int64_t cases = settings->propertyCases ? settings->propertyCases : 10;
  uint64_t seed = settings->propertySeed;
  for (int64_t number = 0; number < cases; ++number) {
    Random random(seed, static_cast<uint64_t>(number));
    Search search = drawSearch(random);
    SCOPED_TRACE("LACUNA_PROPERTY_SEED=" + std::to_string(seed) + "\n" + search.text());
    SpecRunner runner(search.text());
    ASSERT_EQ(runner.getMistake(), "");
    for (int64_t length : {int64_t{0}, int64_t{1}, search.base, random.between(2, 300)}) {
      Assignments values = {{"b", "2"}, {"n", std::to_string(length)}};
      ASSERT_EQ(runner.run(values), "") << describe(values);
    }
  }
}

// Keys of zeros score nothing, so the sum of the exponentials counts the keys that a row sees.
TEST(RefineProperty, keptSiblingsLeaveEachKeyItsWeight) {
  for (bool isCausal : {false, true})
    for (int64_t fanout : {2, 3}) {
      Search search;
      search.isCausal = isCausal;
      search.fanout = fanout;
      search.keepsCoarse = true;
      search.rules = {"top_k(1)", "top_k(2)", "top_k(1)"};
      SpecRunner runner(search.text());
      ASSERT_EQ(runner.getMistake(), "");
      for (const char *length : {"1", "16", "100", "257"}) {
        ASSERT_EQ(runner.run({{"b", "1"}, {"n", length}},
                             [](BoundSpec &spec) { fill(input(spec, 1), 0); }),
                  "")
            << length;
        int64_t keys = std::stoll(length);
        for (int64_t head = 0; head < 2; ++head)
          for (int64_t row = 0; row < keys; ++row) {
            double seen = std::exp(runner.result(1).at({0, head, row}));
            ASSERT_NEAR(seen, static_cast<double>(isCausal ? row + 1 : keys), 1e-3)
                << "row " << row;
          }
      }
    }
}

// Who keeps every node attends to every key.
TEST(RefineProperty, searchesThatKeepAllAreExact) {
  for (bool isCausal : {false, true})
    for (bool keepsCoarse : {false, true}) {
      Search search;
      search.isCausal = isCausal;
      search.keepsCoarse = keepsCoarse;
      search.rules = {"top_k(100)", "share(1)", "top_p(1)"};
      SpecRunner runner(search.text());
      ASSERT_EQ(runner.getMistake(), "");
      ASSERT_EQ(runner.run({{"b", "1"}, {"n", "150"}}), "");
      std::vector<double> found = elements(runner.result(0)), exact = elements(runner.result(2));
      ASSERT_EQ(found.size(), exact.size());
      for (size_t place = 0; place < found.size(); ++place)
        ASSERT_NEAR(found[place], exact[place], 1e-5);
    }
}

// Lists that a caller made may hold anything; no row outside is read.
TEST(RefineProperty, listsOfAnyNumbers) {
  // Attention makes lists of them, whose entries may be given.
  SpecRunner runner(
      "!q = tensor<1x2x4x9xf32>\n!k = tensor<1x2x?x9xf32>\n!i = tensor<1x2x4x5xi32>\n"
      "!c = tensor<1x2x4xi32>\n!s = tensor<1x2x4x5xf32>\n!d = tensor<1x2x4x15xi32>\n"
      "func.func @f(%q: !q, %k: !k, %ids: !i, %counts: !c, %m: index)\n"
      "    -> (!d, !c, !s, !i, !s, !q) {\n"
      "  %below, %many = select.children %ids, %counts by 3 columns(%m) : !i, !c -> !d, !c\n"
      "  %s = select.score_list dot %q, %k at %ids, %counts : !q, !k, !i, !c -> !s\n"
      "  %p = select.pick %below, %many at %ids : !d, !c, !i -> !i\n"
      "  %w = select.without %s, %ids, %counts : !s, !i, !c\n"
      "  %listed = sparsity.blocks %ids, %counts query [1] key [1] : !i, !c\n"
      "  %others = sparsity.complement %listed\n"
      "  %o = attn.attend %q, %k, %k over %others : !q, !k, !k -> !q\n"
      "  return %below, %many, %s, %p, %w, %o : !d, !c, !s, !i, !s, !q\n}\n");
  ASSERT_EQ(runner.getMistake(), "");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    auto draw = [&](int64_t count) {
      const char *const numbers[] = {"-2147483648", "-1", "2147483647", "0", "1", "2", "5", "9"};
      std::string text;
      for (int64_t entry = 0; entry < count; ++entry)
        text += (entry ? ":" : "") + std::string(numbers[random.below(8)]);
      return text;
    };
    Assignments values = {{"nk", std::to_string(random.below(10))},
                          {"m", std::to_string(random.below(12))},
                          {"ids", draw(40)},
                          {"counts", draw(8)}};
    ASSERT_EQ(runner.run(values), "") << describe(values);
  }
}
