//===- SelectCasesTest.cpp - failures that others met with selectors ------===//
//
// As in CasesTest.cpp each test carries the number of a report, all of group F;
// those without one are bad inputs that no report named.
//
//===----------------------------------------------------------------------===//
#include "lacuna/Compiler.h"
#include "lacuna/Runtime.h"

#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using lacuna::test::SpecRunner;
using testing::Each;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// A spec that chooses among given scores.
static std::string choiceSpec(const std::string &rule, const std::string &clauses = "") {
  return fmt::format("func.func @spec(%s: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xi32>, "
                     "tensor<?x?x?xi32>) {{\n"
                     "  %ids, %counts = select.choose {} %s{}\n"
                     "    : tensor<?x?x?x?xf32> -> tensor<?x?x?x?xi32>, tensor<?x?x?xi32>\n"
                     "  return %ids, %counts : tensor<?x?x?x?xi32>, tensor<?x?x?xi32>\n}}\n",
                     rule, clauses);
}

namespace {
/// Attention over the blocks that mean queries and mean keys choose.
struct Selector {
  int64_t queryHeads = 2, keyHeads = 2, channels = 16, block = 64, keyBlock = 64;
  std::string type = "f32", rule = "top_k(16)", restrict = "";

  std::string text() const;
};
} // namespace

std::string Selector::text() const {
  std::string query = fmt::format("tensor<?x{}x?x{}x{}>", queryHeads, channels, type);
  std::string key = fmt::format("tensor<?x{}x?x{}x{}>", keyHeads, channels, type);
  std::string scores = fmt::format("tensor<?x{}x?x?xf32>", queryHeads);
  std::string ids = fmt::format("tensor<?x{}x?x?xi32>", queryHeads);
  std::string counts = fmt::format("tensor<?x{}x?xi32>", queryHeads);
  std::string lse = fmt::format("tensor<?x{}x?xf32>", queryHeads);
  std::string chosen = restrict.empty() ? "%s" : "%t";
  return fmt::format("func.func @spec(%q: {0}, %k: {1}, %v: {1}) -> ({0}, {2}, {3}, {4}) {{\n"
                     "  %qm = select.summarize mean %q block [{5}] : {0} -> {0}\n"
                     "  %km = select.summarize mean %k block [{6}] : {1} -> {1}\n"
                     "  %s = select.score dot %qm, %km : {0}, {1} -> {7}\n{8}"
                     "  %ids, %counts = select.choose {9} {10} : {7} -> {3}, {4}\n"
                     "  %set = sparsity.blocks %ids, %counts query [{5}] key [{6}] : {3}, {4}\n"
                     "  %o, %lse = attn.attend %q, %k, %v over %set : {0}, {1}, {1} -> {0}, {2}\n"
                     "  return %o, %lse, %ids, %counts : {0}, {2}, {3}, {4}\n}}\n",
                     query, key, lse, ids, counts, block, keyBlock, scores, restrict, rule, chosen);
}

TEST(SelectCases, F1_sixteenBlocksOf100Tokens) {
  SpecRunner runner(Selector().text());
  ASSERT_EQ(runner.getMistake(), "");
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "100"}}), "");
  // Both blocks, and no room for more.
  EXPECT_EQ(runner.result(2).shape, (std::vector<int64_t>{1, 2, 2, 2}));
  EXPECT_THAT(elements(runner.result(3)), Each(2));
  EXPECT_THAT(elements(runner.result(2)), testing::ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(SelectCases, F1_fewerCandidatesThanColumns) {
  Selector selector;
  selector.restrict = "  %past = sparsity.causal\n"
                      "  %t = select.restrict %s within %past : tensor<?x2x?x?xf32>\n";
  SpecRunner runner(selector.text());
  ASSERT_EQ(runner.getMistake(), "");
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}}), "");
  EXPECT_EQ(runner.result(2).shape, (std::vector<int64_t>{1, 2, 4, 4}));
  for (int64_t row = 0; row < 4; ++row) {
    EXPECT_EQ(runner.result(3).at({0, 0, row}), row + 1);
    for (int64_t entry = 0; entry < 4; ++entry)
      EXPECT_EQ(runner.result(2).at({0, 0, row, entry}), entry <= row ? entry : -1);
  }
}

TEST(SelectCases, F2_topKBeyondTheKeys) {
  Selector selector;
  selector.rule = "top_k(2048)";
  selector.block = 16;
  selector.keyBlock = 1;
  SpecRunner runner(selector.text());
  ASSERT_EQ(runner.getMistake(), "");
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "70"}}), "");
  EXPECT_EQ(runner.result(2).shape[3], 70);
  EXPECT_THAT(elements(runner.result(3)), Each(70));
}

TEST(SelectCases, F16_oneQueryAmong512Keys) {
  Selector selector;
  selector.queryHeads = selector.keyHeads = 4;
  selector.channels = 128;
  selector.rule = "above(1000000)";
  SpecRunner runner(selector.text());
  ASSERT_EQ(runner.getMistake(), "");
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "1"}, {"nk", "512"}}), "");
  EXPECT_THAT(elements(runner.result(2)), Each(-1));
  EXPECT_THAT(elements(runner.result(3)), Each(0));
  EXPECT_THAT(elements(runner.result(0)), Each(0));
  EXPECT_THAT(elements(runner.result(1)), Each(-infinity));
}

TEST(SelectCases, F17_fewerThanKScoresAboveTheLeastHalf) {
  SpecRunner runner(choiceSpec("top_k(40)"));
  ASSERT_EQ(runner.getMistake(), "");
  // 77 columns end inside a tile; most lie at or below what half precision has.
  ASSERT_EQ(runner.run({{"s", "1x1x3x77"}},
                       [](BoundSpec &spec) {
                         fill(input(spec, 0), -65504);
                         for (int64_t column = 40; column < 77; ++column)
                           input(spec, 0).set({0, 0, 1, column}, -1e30);
                         for (int64_t column = 5; column < 77; ++column)
                           input(spec, 0).set({0, 0, 2, column}, -infinity);
                       }),
            "");
  EXPECT_EQ(runner.result(1).at({0, 0, 0}), 40);
  EXPECT_EQ(runner.result(1).at({0, 0, 1}), 40);
  EXPECT_EQ(runner.result(1).at({0, 0, 2}), 5);
  for (double id : elements(runner.result(0)))
    EXPECT_TRUE(id >= -1 && id < 77) << id;
}

TEST(SelectCases, F19_nanAndInfiniteScores) {
  for (std::string rule :
       {"top_k(4)", "share(0.2)", "top_p(0.5)", "above(0)", "near_max(-1)", "deviation(1)"}) {
    SpecRunner runner(choiceSpec(rule, " floor 3"));
    ASSERT_EQ(runner.getMistake(), "") << rule;
    ASSERT_EQ(runner.run({{"s", "1x1x5x20"}},
                         [](BoundSpec &spec) {
                           Tensor &scores = input(spec, 0);
                           for (int64_t column = 0; column < 20; ++column) {
                             scores.set({0, 0, 0, column}, NAN);
                             scores.set({0, 0, 1, column}, infinity);
                             scores.set({0, 0, 2, column}, -infinity);
                             scores.set({0, 0, 3, column}, column % 2 ? NAN : infinity);
                           }
                           scores.set({0, 0, 4, 7}, NAN);
                         }),
              "")
        << rule;
    for (double id : elements(runner.result(0)))
      EXPECT_TRUE(id >= -1 && id < 20) << rule;
    // All NaN: the first ones, for NaN comes last but is a candidate. All -inf: none.
    EXPECT_EQ(runner.result(0).at({0, 0, 0, 0}), 0) << rule;
    EXPECT_EQ(runner.result(1).at({0, 0, 2}), 0) << rule;
  }
}

TEST(SelectCases, F20_topTwentyOfHalfAMillion) {
  SpecRunner runner(choiceSpec("top_k(20)"));
  ASSERT_EQ(runner.run({{"s", "1x10x1x500000"}}), "");
  for (double id : elements(runner.result(0)))
    EXPECT_TRUE(id >= 0 && id < 500000) << id;
}

// Lists are walked in the order of their ids, a static set full tiles first: both agree with the
// oracle, and each is the same in every run.
TEST(SelectCases, F22_theSameCausalSetAsListAndAsFormula) {
  Selector selector;
  selector.restrict = "  %past = sparsity.causal\n"
                      "  %t = select.restrict %s within %past : tensor<?x2x?x?xf32>\n";
  std::string text = selector.text();
  std::string from = "  %o, %lse = attn.attend %q, %k, %v over %set";
  text.replace(text.find(from), from.size(),
               "  %below = sparsity.intersect %set, %past\n"
               "  %o, %lse = attn.attend %q, %k, %v over %below");
  SpecRunner runner(text);
  ASSERT_EQ(runner.getMistake(), "");
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "300"}}), "");
  std::vector<double> first = elements(runner.result(0));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "300"}}), "");
  EXPECT_EQ(elements(runner.result(0)), first);
}

//===----------------------------------------------------------------------===//
// Without a report
//===----------------------------------------------------------------------===//

TEST(SelectCases, nothingToChooseFrom) {
  for (std::string rule :
       {"top_k(4)", "share(0.5)", "top_p(0.5)", "above(0)", "near_max(-1)", "deviation(1)"})
    for (std::string scope : {"", " scope head", " scope batch"}) {
      if (!scope.empty() && rule.find("top_k") && rule.find("share"))
        continue;
      SpecRunner runner(choiceSpec(rule, scope));
      ASSERT_EQ(runner.getMistake(), "") << rule << scope;
      for (std::string shape : {"0x2x3x4", "1x0x3x4", "1x2x0x4", "1x2x3x0"})
        EXPECT_EQ(runner.run({{"s", shape}}), "") << rule << scope << ' ' << shape;
    }
}

TEST(SelectCases, noTokensNoKeysNoBatch) {
  SpecRunner runner(Selector().text());
  for (test::Assignments sizes : {test::Assignments{{"b", "0"}, {"n", "100"}},
                                  {{"b", "1"}, {"nq", "0"}, {"nk", "100"}},
                                  {{"b", "1"}, {"nq", "100"}, {"nk", "0"}},
                                  {{"b", "1"}, {"n", "0"}}})
    EXPECT_EQ(runner.run(sizes), "") << test::describe(sizes);
}

TEST(SelectCases, numbersThatNoRowCanHave) {
  std::string text = choiceSpec("top_k(%n)");
  text.replace(text.find(") -> (tensor"), 1, ", %n: index)");
  SpecRunner runner(text);
  ASSERT_EQ(runner.getMistake(), "");
  ASSERT_EQ(runner.run({{"s", "1x1x2x5"}, {"n", "9000000000"}}), "");
  EXPECT_THAT(elements(runner.result(1)), Each(5));
  ASSERT_EQ(runner.run({{"s", "1x1x2x5"}, {"n", "0"}}), "");
  EXPECT_THAT(elements(runner.result(1)), Each(0));
  // A number below 0 is refused or counts as none; it never is an extent.
  std::string negative = runner.run({{"s", "1x1x2x5"}, {"n", "-3"}});
  if (negative.empty())
    EXPECT_THAT(elements(runner.result(1)), Each(0));
  else
    EXPECT_THAT(negative, testing::HasSubstr("expected"));
}

TEST(SelectCases, tensorsWithAnyStrides) {
  SpecRunner runner(Selector().text());
  std::vector<OwnedTensor> memory;
  ASSERT_EQ(
      runner.run({{"b", "2"}, {"n", "150"}},
                 [&](BoundSpec &spec) {
                   // Channels before tokens, with NaN in between.
                   for (size_t index = 0; index < 3; ++index) {
                     Tensor &old = input(spec, index);
                     OwnedTensor &larger =
                         memory.emplace_back(ElementType::F32, std::vector<int64_t>{2, 2, 16, 301});
                     fill(larger.view(), NAN);
                     Tensor spread{
                         old.type, old.shape, {2 * 16 * 301, 16 * 301, 2, 301}, larger.view().data};
                     copyElements(old, spread);
                     old = spread;
                   }
                 }),
      "");
}

TEST(SelectCases, poisonStaysInItsBlock) {
  Selector selector;
  selector.rule = "top_k(2)";
  SpecRunner runner(selector.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "256"}},
                       [](BoundSpec &spec) { input(spec, 1).set({0, 0, 70, 3}, NAN); }),
            "");
  // The second block of keys has a score of NaN: others come first.
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t entry = 0; entry < 2; ++entry)
      EXPECT_NE(runner.result(2).at({0, 0, row, entry}), 1);
}

// Padding tokens of zeros have no direction, and a similarity of them is no NaN.
TEST(SelectCases, similarityOfZeros) {
  SpecRunner runner("func.func @spec(%k: tensor<?x1x?x16xf32>) -> tensor<?x1x?x1xf32> {\n"
                    "  %s = select.summarize similarity %k block [8]\n"
                    "    : tensor<?x1x?x16xf32> -> tensor<?x1x?x1xf32>\n"
                    "  return %s : tensor<?x1x?x1xf32>\n}\n");
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "20"}},
                       [](BoundSpec &spec) {
                         fill(input(spec, 0), 0);
                         input(spec, 0).set({0, 0, 9, 3}, 2);
                       }),
            "");
  EXPECT_THAT(elements(runner.result(0)), testing::ElementsAre(0, 1.0 / 64, 0));
}

// An earlier attention may score for a later one: what it computed is compared, and then taken.
TEST(SelectCases, sharesOfAnAnchor) {
  SpecRunner runner(R"(
func.func @spec(%q: tensor<?x4x?x16xbf16>, %k: tensor<?x2x?x16xbf16>, %v: tensor<?x2x?x16xbf16>)
    -> tensor<?x4x?x16xbf16> {
  %past = sparsity.causal
  %a, %lse = attn.attend %q, %k, %v over %past
    : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16>, tensor<?x2x?x16xbf16> -> tensor<?x4x?x16xbf16>, tensor<?x4x?xf32>
  %mass = select.score dot %q, %k over %past lse %lse : tensor<?x4x?xf32> rows 32 by mean columns 16 by sum group 2
    : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16> -> tensor<?x2x?x?xf32>
  %ids, %counts = select.choose share(0.3) %mass
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [32] key [16] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %a, %k, %v over %set
    : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16>, tensor<?x2x?x16xbf16> -> tensor<?x4x?x16xbf16>
  return %o : tensor<?x4x?x16xbf16>
}
)");
  ASSERT_EQ(runner.getMistake(), "");
  for (const char *n : {"1", "100", "257"})
    EXPECT_EQ(runner.run({{"b", "2"}, {"n", n}}), "") << n;
}

// Summaries are keys and values like others.
TEST(SelectCases, attentionOverMeans) {
  SpecRunner runner(R"(
func.func @spec(%q: tensor<?x2x?x16xf32>, %k: tensor<?x2x?x16xf32>, %v: tensor<?x2x?x16xf32>)
    -> tensor<?x2x?x16xf32> {
  %km = select.summarize mean %k block [8] : tensor<?x2x?x16xf32> -> tensor<?x2x?x16xf32>
  %vm = select.summarize mean %v block [8] : tensor<?x2x?x16xf32> -> tensor<?x2x?x16xf32>
  %past = sparsity.causal
  %o = attn.attend %q, %km, %vm over %past
    : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32> -> tensor<?x2x?x16xf32>
  return %o : tensor<?x2x?x16xf32>
}
)");
  ASSERT_EQ(runner.getMistake(), "");
  EXPECT_EQ(runner.run({{"b", "1"}, {"nq", "20"}, {"nk", "100"}}), "");
}

// Code that was kept calls the library of the process that reads it.
TEST(SelectCases, programsThatWereKeptChoose) {
  CompileOptions options;
  options.target = Target::Cpu;
  Result<Artifact> artifact = Compilation(choiceSpec("top_k(2)"), options).compile();
  ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
  Result<std::string> bytes = writeNative(*artifact);
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  Result<Artifact> read = readNative(*bytes);
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_THAT(read->program.resultNames, testing::ElementsAre("ids", "ids.counts"));
  auto loaded = Cpu::open({1}).load(std::move(read->program));
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  OwnedTensor scores(ElementType::F32, {1, 1, 1, 4});
  for (int64_t column = 0; column < 4; ++column)
    scores.view().set({0, 0, 0, column}, static_cast<double>(column % 3));
  std::vector<Argument> arguments = {scores.view()};
  std::vector<Tensor> results(2);
  Status status = (*loaded)->run(nullptr, arguments, results);
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_THAT(elements(results[0]), testing::ElementsAre(1, 2));
  EXPECT_THAT(elements(results[1]), testing::ElementsAre(2));
  for (Tensor &result : results)
    Cpu::free(result);
}

TEST(SelectCases, summariesOfSomeChannelsInOtherTypes) {
  for (std::string kind :
       {"mean", "sum", "min", "max", "variance", "first", "radius", "norm", "similarity", "count"})
    for (auto [from, to] : {std::pair("f16", "f32"), {"f32", "bf16"}, {"bf16", "f16"}}) {
      bool isOne = kind == "radius" || kind == "norm" || kind == "similarity" || kind == "count";
      std::string result = fmt::format("tensor<?x2x?x{}x{}>", isOne ? 1 : 21, to);
      std::string tokens = fmt::format("tensor<?x2x?x37x{}>", from);
      std::string text =
          fmt::format("func.func @spec(%k: {0}, %w: index) -> ({1}, {1}) {{\n"
                      "  %three = arith.constant 3 : index\n"
                      "  %grid = sparsity.grid [%three, %w]\n"
                      "  %a = select.summarize {2} %k block [20] channels [11, 32] : {0} -> {1}\n"
                      "  %b = select.summarize {2} %k block [2, 8] channels [16, 37] in %grid\n"
                      "    : {0}, !sparsity.domain<2> -> {1}\n"
                      "  return %a, %b : {1}, {1}\n}}\n",
                      tokens, result, kind);
      SpecRunner runner(text);
      ASSERT_EQ(runner.getMistake(), "") << text;
      for (int64_t width : {0, 1, 9, 40})
        EXPECT_EQ(runner.run({{"b", "2"},
                              {"k", fmt::format("2x2x{}x37", 3 * width)},
                              {"w", std::to_string(width)}}),
                  "")
            << text << width;
    }
}
