//===- BuildReferenceTest.cpp - specs as computations of the oracle -------===//
#include "compiler/Driver/BuildReference.h"
#include "compiler/Driver/CheckResults.h"
#include "compiler/Driver/SelectResults.h"
#include "test/Support/RandomSpec.h"
#include "test/Support/SpecText.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::test::Assignments;
using lacuna::test::SpecText;
using reference::RowIndex;
using testing::HasSubstr;

namespace {
/// A spec and its oracle on concrete values.
struct Oracle {
  SpecText text;
  BoundSpec bound;
  std::unique_ptr<ReferenceProgram> program;

  Oracle(const std::string &spec, Assignments given) : text(spec) {
    BindOptions options;
    options.given = std::move(given);
    if (!text.isParsed())
      return;
    mlir::FailureOr<BoundSpec> result = bindSpec(text.getFunction(), options);
    if (mlir::failed(result))
      return;
    bound = std::move(*result);
    program = ReferenceProgram::build(bound);
  }

  double lse(const RowIndex &row) const {
    return program->evaluate(program->getResults()[0].step, {row}, 1)[0].lse;
  }
};
} // namespace

/// A spec with one attend over `%set`; `arguments` stand behind q, k and v.
static std::string attendSpec(const std::string &set, const std::string &arguments = "",
                              const std::string &clauses = " scale 0.5") {
  return "func.func @spec(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>, "
         "%v: tensor<?x2x?x8xf32>" +
         arguments + ") -> tensor<?x2x?x8xf32> {\n  " + set +
         "\n  %o = attn.attend %q, %k, %v over %set" + clauses +
         "\n    : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> "
         "tensor<?x2x?x8xf32>\n  return %o : tensor<?x2x?x8xf32>\n}\n";
}

static std::string mistake(const std::string &spec, Assignments given) {
  Oracle oracle(spec, std::move(given));
  return oracle.program ? "built" : oracle.text.getMessages();
}

static const Assignments small = {{"b", "1"}, {"n", "6"}};

TEST(BuildReference, scoreRegionsAreEvaluated) {
  // Every op of an ALiBi with a soft cap; queries are zero, so that only positions count.
  std::string spec =
      attendSpec("%set = sparsity.causal", "", R"( scale 0.0 score (%s, %b, %h, %i, %j) {
    %d = arith.subi %i, %j : index
    %w = arith.index_cast %d : index to i32
    %f = arith.sitofp %w : i32 to f32
    %slope = arith.constant -0.5 : f32
    %bias = arith.mulf %slope, %f : f32
    %sum = arith.addf %s, %bias : f32
    %cap = math.tanh %sum : f32
    %one = arith.constant 1.0 : f32
    %big = arith.cmpf ogt, %f, %one : f32
    %r = arith.select %big, %cap, %sum : f32
    attn.yield %r : f32
  })");
  Oracle oracle(spec, small);
  ASSERT_TRUE(oracle.program) << oracle.text.getMessages();
  double expected = std::log(1 + std::exp(-0.5) + std::exp(std::tanh(-1.0)));
  EXPECT_NEAR(oracle.lse({0, 1, 2}), expected, 1e-12);
}

TEST(BuildReference, regionsSeeCapturedValues) {
  std::string spec = attendSpec("%set = sparsity.causal",
                                ", %bias: tensor<?xf32> {lacuna.values = [0.0, 1.0]}, "
                                "%shift: index {lacuna.default = -1}",
                                R"( scale 0.0 score (%s, %b, %h, %i, %j) {
    %c2 = arith.constant 2 : index
    %x = affine.apply affine_map<(d0)[s0, s1] -> ((d0 + s0 + 1) mod s1)>(%j)[%shift, %c2]
    %t = tensor.extract %bias[%x] : tensor<?xf32>
    %table = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
    %u = tensor.extract %table[%h] : tensor<2xf32>
    %r = arith.addf %t, %u : f32
    attn.yield %r : f32
  })");
  Oracle oracle(spec, small);
  ASSERT_TRUE(oracle.program) << oracle.text.getMessages();
  EXPECT_NEAR(oracle.lse({0, 1, 1}), std::log(std::exp(0.5) + std::exp(1.5)), 1e-12);
}

TEST(BuildReference, mergesAndChainsUseEarlierResults) {
  Oracle oracle(R"(
func.func @spec(%q: tensor<1x1x?x8xf32>) -> (tensor<1x1x?x8xf32>, tensor<1x1x?xf32>,
                                             tensor<1x1x?x8xf32>) {
  %near = sparsity.window left(1) right(0)
  %past = sparsity.causal
  %far = sparsity.subtract %past, %near
  %o0, %l0 = attn.attend %q, %q, %q over %near
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>, tensor<1x1x?xf32>
  %o1, %l1 = attn.attend %q, %q, %q over %far
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>, tensor<1x1x?xf32>
  %m, %lse = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x8xf32>, tensor<1x1x?xf32>
  %p = attn.attend %m, %q, %q over %past
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
  return %m, %lse, %p : tensor<1x1x?x8xf32>, tensor<1x1x?xf32>, tensor<1x1x?x8xf32>
}
)",
                {{"n", "5"}});
  ASSERT_TRUE(oracle.program) << oracle.text.getMessages();
  EXPECT_EQ(resultNames(*oracle.program), (std::vector<std::string>{"m", "m.lse", "p"}));
  EXPECT_EQ(oracle.program->countLivePairs(1000, 1), 9 + 6 + 15);
  EXPECT_EQ(oracle.program->countLivePairs(10, 1), std::nullopt);
  auto merged = oracle.program->evaluate(2, {{0, 0, 4}}, 1)[0];
  EXPECT_EQ(merged.liveKeys, 5);
  Oracle whole(R"(
func.func @spec(%q: tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32> {
  %past = sparsity.causal
  %o = attn.attend %q, %q, %q over %past
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}
)",
               {{"n", "5"}});
  EXPECT_NEAR(merged.lse, whole.lse({0, 0, 4}), 1e-12);
}

TEST(BuildReference, resultsThatDifferAreFound) {
  Oracle oracle(attendSpec("%set = sparsity.all"), small);
  ASSERT_TRUE(oracle.program) << oracle.text.getMessages();
  OwnedTensor output(ElementType::F32, {1, 2, 6, 8});
  for (int64_t head = 0; head < 2; ++head)
    for (int64_t row = 0; row < 6; ++row) {
      auto exact = oracle.program->evaluate(0, {{0, head, row}}, 1)[0];
      for (int64_t channel = 0; channel < 8; ++channel)
        output.view().set({0, head, row, channel}, exact.output[static_cast<size_t>(channel)]);
    }
  EXPECT_EQ(checkResults(*oracle.program, {output.view()}, {}).failures(), "");
  output.view().set({0, 1, 3, 2}, output.view().at({0, 1, 3, 2}) + 0.01);
  EXPECT_THAT(checkResults(*oracle.program, {output.view()}, {}).failures(),
              HasSubstr("o: 1 of 96 values are beyond tolerance, the worst at batch 0 head 1 row 3 "
                        "channel 2"));
  OwnedTensor wrong(ElementType::F32, {1, 2, 6, 9});
  EXPECT_FALSE(checkResults(*oracle.program, {wrong.view()}, {}).passes());
}

TEST(BuildReference, gridsGiveTheLength) {
  std::string clauses = " : !sparsity.set<2>";
  std::string set = "%grid = sparsity.grid [%rows, 3]\n"
                    "  %set = sparsity.causal in %grid : !sparsity.domain<2>";
  Oracle oracle(attendSpec(set, ", %rows: index {lacuna.default = 4}", clauses), {{"b", "1"}});
  ASSERT_TRUE(oracle.program) << oracle.text.getMessages();
  EXPECT_EQ(oracle.bound.sizes.at("nq"), 12);
  EXPECT_THAT(
      mistake(attendSpec(set, ", %rows: index", clauses), {{"rows", "4"}, {"b", "1"}, {"n", "11"}}),
      HasSubstr("expected as many queries and keys as the domain has tokens (12), got 11 "
                "and 11"));
  EXPECT_THAT(mistake(attendSpec(set, ", %rows: index", clauses),
                      {{"rows", "-4"}, {"b", "1"}, {"n", "12"}}),
              HasSubstr("expected sizes of at least 0, got -4"));
}

TEST(BuildReference, mistakesAreNamed) {
  EXPECT_THAT(mistake(attendSpec("%g0 = sparsity.grid [2, 3]\n  %g1 = sparsity.grid [3, 2]\n"
                                 "  %d = arith.select %c, %g0, %g1 : !sparsity.domain<2>\n"
                                 "  %set = sparsity.causal in %d : !sparsity.domain<2>",
                                 ", %c: i1 {lacuna.default = 1 : i64}", " : !sparsity.set<2>"),
                      small),
              HasSubstr("expected a domain that is built in this function"));
  EXPECT_THAT(
      mistake(attendSpec("%set = sparsity.all : !sparsity.set<2>", "", " : !sparsity.set<2>"),
              small),
      HasSubstr("expected a set that names its domain, which gives the sizes of the axes"));
  std::string perHead =
      attendSpec("%set = sparsity.prefix %w : tensor<?xi32>", ", %w: tensor<?xi32>");
  EXPECT_THAT(mistake(perHead, {{"b", "1"}, {"n", "6"}, {"w", "1:2:3"}}),
              HasSubstr("expected one number per query head (2), got 3"));
  std::string sinks = attendSpec("%set = sparsity.all", ", %s: tensor<?xf32>",
                                 " sinks %s : tensor<?xf32> scale 0.5");
  EXPECT_THAT(mistake(sinks, {{"b", "1"}, {"n", "6"}, {"s", "1:2:3"}}),
              HasSubstr("expected one sink per query head (2), got 3"));
  EXPECT_THAT(
      mistake(attendSpec("%set = sparsity.all"), {{"b", "1"}, {"n", "6"}, {"v", "1x2x7x8"}}),
      HasSubstr("like the arguments before it, got"));
  EXPECT_THAT(
      mistake("func.func @spec(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {\n"
              "  return %q : tensor<1x2x4x8xf32>\n}\n",
              {}),
      HasSubstr("expected every result to come from attn.attend, attn.merge or a select op"));
}

TEST(BuildReference, extentsThatOnlyMeetAtRunTimeAreCompared) {
  const std::string spec = R"(
func.func @spec(%q: tensor<?x?x?x8xf32>, %k: tensor<?x?x?x8xf32>, %v: tensor<?x?x?x8xf32>,
                %p: tensor<?x?x?x8xf32>, %lp: tensor<?x?x?xf32>) -> tensor<?x?x?x8xf32> {
  %set = sparsity.all
  %o, %l = attn.attend %q, %k, %v over %set
    : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32> -> tensor<?x?x?x8xf32>, tensor<?x?x?xf32>
  %m, %lse = attn.merge (%o, %l), (%p, %lp) : tensor<?x?x?x8xf32>, tensor<?x?x?xf32>
  return %m : tensor<?x?x?x8xf32>
}
)";
  SpecText text(spec);
  ASSERT_TRUE(text.isParsed()) << text.getMessages();
  BindOptions options;
  options.given = {{"b", "1"}, {"n", "6"}, {"hq", "4"}, {"hkv", "2"}};
  mlir::FailureOr<BoundSpec> bound = bindSpec(text.getFunction(), options);
  ASSERT_TRUE(mlir::succeeded(bound)) << text.getMessages();
  ASSERT_TRUE(ReferenceProgram::build(*bound)) << text.getMessages();
  // A caller may pass views that no size describes.
  auto refusal = [&](size_t argument, size_t axis, int64_t extent) {
    BoundSpec changed;
    changed.function = bound->function;
    changed.arguments = bound->arguments;
    std::get<Tensor>(changed.arguments[argument]).shape[axis] = extent;
    return ReferenceProgram::build(changed) ? "built" : text.getMessages();
  };
  EXPECT_THAT(refusal(0, 0, 2), HasSubstr("expected query, key and value to share the batch, got"));
  EXPECT_THAT(refusal(2, 1, 1), HasSubstr("expected key and value to share the heads, got"));
  EXPECT_THAT(refusal(0, 1, 3),
              HasSubstr("expected the query heads to be a multiple of the key heads, got"));
  EXPECT_THAT(refusal(0, 3, 4), HasSubstr("expected query and key to share the channels, got"));
  EXPECT_THAT(refusal(1, 2, 5), HasSubstr("expected key and value to share the length, got"));
  EXPECT_THAT(refusal(3, 2, 5), HasSubstr("expected all parts to have one shape, got"));
  EXPECT_THAT(refusal(4, 2, 5), HasSubstr("expected an lse of shape"));
}

TEST(BuildReference, selectOpsAreComparedByWhatARunComputed) {
  const std::string spec = R"(
func.func @spec(%s: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xi32> {
  %ids, %counts = select.choose top_k(1) %s
    : tensor<?x?x?x?xf32> -> tensor<?x?x?x?xi32>, tensor<?x?x?xi32>
  return %ids : tensor<?x?x?x?xi32>
}
)";
  Assignments shape = {{"s", "1x1x1x2"}};
  EXPECT_THAT(mistake(spec, shape),
              HasSubstr("expected to have been run, which select ops are compared by"));
  Oracle oracle(spec, shape);
  OwnedTensor scores(ElementType::F32, {1, 1, 1, 2}), ids(ElementType::I32, {1, 1, 1, 1});
  OwnedTensor counts(ElementType::I32, {1, 1, 1});
  scores.view().set({0, 0, 0, 1}, 5);
  ids.view().set({0, 0, 0, 0}, 1);
  counts.view().set({0, 0, 0}, 1);
  oracle.bound.arguments[0] = scores.view();
  oracle.bound.results = {ids.view()};
  EXPECT_FALSE(ReferenceProgram::build(oracle.bound));
  EXPECT_THAT(oracle.text.getMessages(),
              HasSubstr("expected all results of select ops to be known"));

  exposeSelections(oracle.text.getFunction());
  oracle.bound.results = {ids.view(), counts.view()};
  auto failures = [&] {
    auto program = ReferenceProgram::build(oracle.bound);
    return checkResults(*program, oracle.bound.results, {}).failures();
  };
  EXPECT_EQ(failures(), "");
  EXPECT_EQ(resultNames(*ReferenceProgram::build(oracle.bound)),
            (std::vector<std::string>{"ids", "ids.counts"}));
  ids.view().set({0, 0, 0, 0}, 0);
  EXPECT_THAT(failures(), HasSubstr("ids: 1 of 1 values are beyond tolerance"));
  oracle.bound.results[1].shape = {1, 1, 2};
  EXPECT_THAT(failures(), HasSubstr("ids.counts: 1 of 1 values are beyond tolerance"));
}

TEST(BuildReference, blocksThatAreSkippedAreThoseOfARun) {
  const std::string spec = R"(
func.func @spec(%q: tensor<?x1x?x8xf32>, %t: tensor<?x1x?xf32>) -> tensor<?x1x?x8xf32> {
  %set = sparsity.all
  %o = attn.attend %q, %q, %q over %set skip query [64] key [64] below %t : tensor<?x1x?xf32>
    : tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32> -> tensor<?x1x?x8xf32>
  return %o : tensor<?x1x?x8xf32>
}
)";
  Assignments sizes = {{"b", "1"}, {"n", "100"}};
  EXPECT_THAT(mistake(spec, sizes),
              HasSubstr("expected to have been run, with marks of the blocks that it took"));
  Oracle oracle(spec, sizes);
  exposeSelections(oracle.text.getFunction());
  OwnedTensor output(ElementType::F32, {1, 1, 100, 8}), marks(ElementType::I8, {1, 1, 2, 3});
  oracle.bound.results = {output.view(), marks.view()};
  EXPECT_FALSE(ReferenceProgram::build(oracle.bound));
  EXPECT_THAT(oracle.text.getMessages(), HasSubstr("expected marks of shape 1x1x2x2, got 1x1x2x3"));
  marks = OwnedTensor(ElementType::I8, {1, 1, 2, 2});
  oracle.bound.results[1] = marks.view();
  auto program = ReferenceProgram::build(oracle.bound);
  ASSERT_TRUE(program);
  EXPECT_EQ(resultNames(*program), (std::vector<std::string>{"o", "o.taken"}));
  EXPECT_THAT(checkResults(*program, oracle.bound.results, {}).failures(),
              HasSubstr("o.taken: 4 of 4 values are beyond tolerance, the worst at batch 0 head 0 "
                        "query block 0 key block 0: got 0, exact 1"));
  std::get<Tensor>(oracle.bound.arguments[1]).shape[2] = 99;
  EXPECT_FALSE(ReferenceProgram::build(oracle.bound));
  EXPECT_THAT(oracle.text.getMessages(),
              HasSubstr("expected a limit per row of the query, of shape 1x1x100, got 1x1x99"));
}

TEST(BuildReference, resultsThatAreTooLargeToComputeInFullAreRefused) {
  const std::string spec = R"(
func.func @spec(%q: tensor<?x1x?x8xf32>) -> tensor<?x1x?x8xf32> {
  %set = sparsity.all
  %o = attn.attend %q, %q, %q over %set
    : tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32> -> tensor<?x1x?x8xf32>
  %p = attn.attend %o, %q, %q over %set
    : tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32> -> tensor<?x1x?x8xf32>
  return %p : tensor<?x1x?x8xf32>
}
)";
  EXPECT_THAT(mistake(spec, {{"b", "1"}, {"n", "100000"}}),
              HasSubstr("expected a result that another attend reads to be small enough for the "
                        "oracle, got"));
}

TEST(BuildReference, whatTheOracleCannotEvaluateIsRefused) {
  auto where = [](const std::string &body) {
    return attendSpec("%set = sparsity.where (%b, %h, %i, %j) {\n" + body +
                          "    sparsity.yield %t : i1\n  }",
                      ", %table: tensor<4xi32>");
  };
  const Assignments given = {{"b", "1"}, {"n", "6"}, {"table", "1:0:1:0"}};
  EXPECT_EQ(mistake(where("    %x = tensor.extract %table[%j] : tensor<4xi32>\n"
                          "    %t = arith.trunci %x : i32 to i1\n"),
                    given),
            "built");
  EXPECT_THAT(mistake(where("    %x = math.ctpop %j : index\n"
                            "    %t = arith.cmpi eq, %x, %i : index\n"),
                      given),
              HasSubstr("expected a scalar op that the oracle knows, got 'math.ctpop'"));
  EXPECT_THAT(mistake(where("    %c9 = arith.constant 9 : index\n"
                            "    %x = tensor.dim %table, %c9 : tensor<4xi32>\n"
                            "    %t = arith.cmpi eq, %x, %i : index\n"),
                      given),
              HasSubstr("expected an axis below"));
  EXPECT_THAT(mistake(where("    %e = tensor.empty() : tensor<4xi32>\n"
                            "    %x = tensor.extract %e[%j] : tensor<4xi32>\n"
                            "    %t = arith.trunci %x : i32 to i1\n"),
                      given),
              HasSubstr("expected a tensor that is a function argument or a constant"));
}
