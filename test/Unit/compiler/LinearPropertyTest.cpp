//===- LinearPropertyTest.cpp - states of linear attention -----------------===//
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
/// States of blocks, sums of them, a read of each, and a sum of all reads with gates.
struct Linear {
  int64_t queryHeads = 4, stateHeads = 2, channels = 16, valueChannels = 8, block = 16, fanout = 2,
          queryTile = 16;
  std::string feature = "softmax", type = "f32", set = "sparsity.all", clause;

  std::string text() const {
    std::string q = fmt::format("tensor<?x{}x?x{}x{}>", queryHeads, channels, type);
    std::string k = fmt::format("tensor<?x{}x?x{}x{}>", stateHeads, channels, type);
    std::string v = fmt::format("tensor<?x{}x?x{}x{}>", stateHeads, valueChannels, type);
    std::string o = fmt::format("tensor<?x{}x?x{}x{}>", queryHeads, valueChannels, type);
    std::string aliases = fmt::format(
        "!q = {}\n!k = {}\n!v = {}\n!o = {}\n!l = tensor<?x{}x?xf32>\n"
        "!h = tensor<?x{}x?x{}x{}xf32>\n!z = tensor<?x{}x?x{}xf32>\n",
        q, k, v, o, queryHeads, stateHeads, channels, valueChannels, stateHeads, channels);
    return aliases +
           fmt::format("func.func @f(%q: !q, %k: !k, %v: !v, %g: !l, %w: tensor<{0}xf32>)\n"
                       "    -> (!o, !l, !h, !z, !h, !h, !o) {{\n"
                       "  %h, %z = attn.linear_state {1} %k, %v block [{2}] : !k, !v -> !h, !z\n"
                       "  %p, %pz = attn.linear_prefix %h, %z : !h, !z -> !h, !z\n"
                       "  %f, %fz = attn.linear_fold %h, %z by {3} : !h, !z -> !h, !z\n"
                       "  %set = {4}\n",
                       queryHeads, feature, block, fanout, set) +
           fmt::format(
               "  %o, %l = attn.linear_read {0} %q, %h, %z over %set query [{1}]{2} : !q, !h, !z "
               "-> "
               "!o, !l\n"
               "  %own = sparsity.affine affine_set<(i, c) : (i floordiv {3} - c == 0)> "
               "from_start\n"
               "  %op, %lp = attn.linear_read {0} %q, %p, %pz over %own query [{3}] : !q, !h, !z "
               "-> !o, !l\n"
               "  %of, %lf = attn.linear_read {0} %q, %f, %fz over %set : !q, !h, !z -> !o, !l\n"
               "  %m, %ml = attn.merge (%o, %l), (%op, %lp), (%of, %lf) : !o, !l\n"
               "  %gm = attn.gated_merge (%m, %g), (%op, %ml) : !o, !l\n"
               "  %gh = attn.gated_merge (%gm, %w) : !o, tensor<{4}xf32>\n"
               "  return %m, %ml, %h, %z, %p, %f, %gh : !o, !l, !h, !z, !h, !h, !o\n}}\n",
               feature, queryTile, clause, block, queryHeads);
  }
};

Linear drawLinear(Random &random) {
  Linear linear;
  const char *const features[] = {"softmax", "relu", "elu", "exp"};
  const char *const types[] = {"f32", "f16", "bf16"};
  const char *const sets[] = {
      "sparsity.all", "sparsity.affine affine_set<(i, c) : (i floordiv 16 - c >= 0)> from_start",
      "sparsity.prefix 2", "sparsity.none",
      "sparsity.affine affine_set<(i, c) : (i floordiv 16 - c - 1 == 0, c mod 2 == 0)> from_start"};
  linear.feature = features[random.below(4)];
  linear.type = types[random.below(3)];
  linear.set = sets[random.below(5)];
  linear.clause = random.below(3) == 0 ? " undivided" : "";
  linear.stateHeads = random.between(1, 2);
  linear.queryHeads = linear.stateHeads * random.between(1, 3);
  linear.channels = random.between(1, 40);
  linear.valueChannels = random.below(8) == 0 ? random.between(129, 200) : random.between(1, 40);
  linear.block = random.between(1, 50);
  linear.fanout = random.between(1, 4);
  linear.queryTile = random.below(4) == 0 ? random.between(129, 300) : random.between(1, 70);
  return linear;
}
} // namespace

TEST(LinearProperty, everyOpAgreesWithTheOracle) {
  Result<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings) << settings.status().message();
  int64_t cases = settings->propertyCases ? settings->propertyCases : 8;
  uint64_t seed = settings->propertySeed;
  for (int64_t number = 0; number < cases; ++number) {
    Random random(seed, static_cast<uint64_t>(number));
    Linear linear = drawLinear(random);
    SCOPED_TRACE("LACUNA_PROPERTY_SEED=" + std::to_string(seed) + "\n" + linear.text());
    SpecRunner runner(linear.text());
    ASSERT_EQ(runner.getMistake(), "");
    for (int64_t queries : {int64_t{0}, int64_t{1}, random.between(2, 200)})
      for (int64_t keys : {int64_t{0}, int64_t{1}, linear.block, random.between(2, 200)}) {
        Assignments values = {
            {"b", "2"}, {"nq", std::to_string(queries)}, {"nk", std::to_string(keys)}};
        ASSERT_EQ(runner.run(values), "") << describe(values);
      }
  }
}

/// Tokens between a quarter and one and a quarter.
static void makePositive(BoundSpec &spec) {
  for (size_t index : {0, 1}) {
    Tensor &tensor = input(spec, index);
    forEachIndex(tensor.shape, [&](const std::vector<int64_t> &at) {
      tensor.set(at, 0.25 + std::fabs(std::fmod(tensor.at(at), 1)));
    });
  }
}

// With positive features, attention with the score log(q . k) has the weights of linear attention:
// the own block key by key and what came before as one sum, or as one state for each digit of the
// block's number, are attention over the past.
TEST(LinearProperty, statesTileThePast) {
  std::string text = "!q = tensor<?x2x?x8xf32>\n!k = tensor<?x1x?x8xf32>\n!l = tensor<?x2x?xf32>\n"
                     "!h = tensor<?x1x?x8x8xf32>\n!z = tensor<?x1x?x8xf32>\n"
                     "func.func @f(%q: !q, %k: !k, %v: !k) -> (!q, !l, !q, !l, !q, !l) {\n"
                     "  %past = sparsity.causal\n"
                     "  %own = sparsity.affine affine_set<(i, j) : (j floordiv 16 - i floordiv 16 "
                     "== 0, i - j >= 0)> from_start\n";
  for (const char *name : {"past", "own"})
    text += fmt::format("  %o_{0}, %l_{0} = attn.attend %q, %k, %v over %{0} scale 1.0 "
                        "score (%x, %b, %h, %i, %j) {{\n"
                        "    %y = math.log %x : f32\n    attn.yield %y : f32\n"
                        "  }} : !q, !k, !k -> !q, !l\n",
                        name);
  text += "  %h0, %z0 = attn.linear_state identity %k, %v block [16] : !k, !k -> !h, !z\n"
          "  %p, %pz = attn.linear_prefix %h0, %z0 : !h, !z -> !h, !z\n"
          "  %before = sparsity.affine affine_set<(i, c) : (i floordiv 16 - c == 0)> from_start\n"
          "  %op, %lp = attn.linear_read identity %q, %p, %pz over %before query [16] : !q, !h, !z "
          "-> !q, !l\n"
          "  %m, %ml = attn.merge (%o_own, %l_own), (%op, %lp) : !q, !l\n";
  std::string parts = "(%o_own, %l_own)";
  for (int64_t level = 0, size = 16; level < 4; ++level, size *= 2) {
    if (level > 0)
      text +=
          fmt::format("  %h{0}, %z{0} = attn.linear_fold %h{1}, %z{1} by 2 : !h, !z -> !h, !z\n",
                      level, level - 1);
    const char *which = level < 3 ? "- 1 == 0, c mod 2 == 0" : "- 1 >= 0";
    text += fmt::format("  %s{0} = sparsity.affine affine_set<(i, c) : (i floordiv {1} - c {2})> "
                        "from_start\n"
                        "  %o{0}, %l{0} = attn.linear_read identity %q, %h{0}, %z{0} over %s{0} "
                        "query [16] : !q, !h, !z -> !q, !l\n",
                        level, size, which);
    parts += fmt::format(", (%o{0}, %l{0})", level);
  }
  text += "  %f, %fl = attn.merge " + parts + " : !q, !l\n" +
          "  return %o_past, %l_past, %m, %ml, %f, %fl : !q, !l, !q, !l, !q, !l\n}\n";
  SpecRunner runner(text);
  ASSERT_EQ(runner.getMistake(), "");
  for (const char *length : {"1", "16", "17", "300", "515"}) {
    ASSERT_EQ(runner.run({{"b", "1"}, {"n", length}}, makePositive), "") << length;
    for (unsigned which : {0u, 1u}) {
      std::vector<double> exact = elements(runner.result(which));
      for (unsigned way : {2u, 4u}) {
        std::vector<double> found = elements(runner.result(which + way));
        ASSERT_EQ(found.size(), exact.size());
        for (size_t place = 0; place < exact.size(); ++place)
          ASSERT_NEAR(found[place], exact[place], 1e-4) << length << " at " << place;
      }
    }
  }
}
