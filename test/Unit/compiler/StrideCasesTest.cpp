//===- StrideCasesTest.cpp - strides and dirty memory, as others met them --===//
//
// Group H of the reported failures; see CasesTest.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/Support/Random.h"
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseSpec.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using namespace lacuna::test;

namespace {
/// A set of the first `used[b]` keys of each batch entry.
const char *const usedKeys = R"(
  %set = sparsity.where (%b, %h, %i, %j) {
    %n = tensor.extract %used[%b] : tensor<?xi32>
    %length = arith.index_cast %n : i32 to index
    %inside = arith.cmpi slt, %j, %length : index
    sparsity.yield %inside : i1
  })";
} // namespace

TEST(Cases, H1_keysThatAreEverySecondRow) {
  Shape shape;
  shape.type = "f16";
  SpecRunner runner(shape.spec(causal));
  OwnedTensor wide(ElementType::F16, {1, 1, 200, 16});
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "100"}},
                       [&](BoundSpec &spec) {
                         Random random(3);
                         fillNormal(wide.view(), random);
                         Tensor &keys = input(spec, 1);
                         keys = wide.view();
                         keys.shape[2] = 100;
                         keys.strides[2] *= 2;
                       }),
            "");
}

TEST(Cases, H2_valuesThatAreATransposedView) {
  SpecRunner runner(Shape().spec(causal));
  OwnedTensor turned(ElementType::F32, {1, 1, 16, 100});
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "100"}},
                       [&](BoundSpec &spec) {
                         Random random(3);
                         fillNormal(turned.view(), random);
                         Tensor &values = input(spec, 2);
                         values = turned.view();
                         std::swap(values.shape[2], values.shape[3]);
                         std::swap(values.strides[2], values.strides[3]);
                       }),
            "");
}

TEST(Cases, H5_whateverLiesBeyondTheUsedLength) {
  Shape shape;
  shape.type = "f16";
  shape.channels = shape.valueChannels = 64;
  shape.arguments = ", %used: tensor<?xi32>";
  SpecRunner runner(shape.spec(usedKeys));
  ASSERT_EQ(runner.run({{"b", "2"}, {"n", "3"}, {"used", "1:3"}},
                       [](BoundSpec &spec) {
                         for (int64_t key = 1; key < 3; ++key)
                           for (int64_t channel = 0; channel < 64; ++channel) {
                             input(spec, 1).set({0, 0, key, channel}, std::nan(""));
                             input(spec, 2).set({0, 0, key, channel}, std::nan(""));
                           }
                       }),
            "");
  EXPECT_THAT(elements(runner.result(0)),
              testing::Each(testing::Truly([](double number) { return std::isfinite(number); })));
}

// Queries that lie as (batch, length, heads, channels), and keys in two parts that are merged.
TEST(Cases, H4_queriesWithHeadsBesideChannels) {
  SpecRunner runner(R"(
func.func @split(%q: tensor<?x4x?x16xf16>, %k: tensor<?x2x?x16xf16>, %v: tensor<?x2x?x16xf16>)
    -> (tensor<?x4x?x16xf16>, tensor<?x4x?xf32>) {
  %first = sparsity.prefix 150
  %rest = sparsity.complement %first
  %a, %la = attn.attend %q, %k, %v over %first : tensor<?x4x?x16xf16>, tensor<?x2x?x16xf16>,
      tensor<?x2x?x16xf16> -> tensor<?x4x?x16xf16>, tensor<?x4x?xf32>
  %b, %lb = attn.attend %q, %k, %v over %rest : tensor<?x4x?x16xf16>, tensor<?x2x?x16xf16>,
      tensor<?x2x?x16xf16> -> tensor<?x4x?x16xf16>, tensor<?x4x?xf32>
  %o, %lse = attn.merge (%a, %la), (%b, %lb) : tensor<?x4x?x16xf16>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x16xf16>, tensor<?x4x?xf32>
})");
  OwnedTensor tokensFirst(ElementType::F16, {2, 3, 4, 16});
  EXPECT_EQ(runner.run({{"b", "2"}, {"nq", "3"}, {"nk", "300"}},
                       [&](BoundSpec &spec) {
                         Random random(3);
                         fillNormal(tokensFirst.view(), random);
                         Tensor &queries = input(spec, 0);
                         queries = tokensFirst.view();
                         std::swap(queries.shape[1], queries.shape[2]);
                         std::swap(queries.strides[1], queries.strides[2]);
                       }),
            "");
}

// Six slots behind the last used token, NaN in the values alone and in the keys alone.
TEST(Cases, H7_valuesBeyondTheUsedLengthAlone) {
  Shape shape;
  shape.queryHeads = 4;
  shape.arguments = ", %used: tensor<?xi32>";
  SpecRunner runner(shape.spec(usedKeys));
  for (size_t poisoned : {2, 1}) {
    ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "1"}, {"nk", "4096"}, {"used", "4090"}},
                         [&](BoundSpec &spec) {
                           for (int64_t key = 4090; key < 4096; ++key)
                             for (int64_t channel = 0; channel < 16; ++channel)
                               input(spec, poisoned).set({0, 0, key, channel}, std::nan(""));
                         }),
              "");
    EXPECT_THAT(elements(runner.result(0)),
                testing::Each(testing::Truly([](double number) { return std::isfinite(number); })));
  }
}

// Five queries per sequence; keys that all sequences share have batch stride 0, queries have not.
TEST(Cases, H8_sequencesThatShareTheirKeys) {
  Shape shape;
  shape.queryHeads = 2;
  shape.arguments = ", %used: tensor<?xi32>";
  SpecRunner runner(shape.spec(usedKeys));
  OwnedTensor keys(ElementType::F32, {1, 1, 70, 16});
  for (bool shared : {false, true}) {
    ASSERT_EQ(runner.run({{"b", "3"}, {"nq", "5"}, {"nk", "70"}, {"used", "70:33:1"}},
                         [&](BoundSpec &spec) {
                           if (!shared)
                             return;
                           Random random(3);
                           fillNormal(keys.view(), random);
                           input(spec, 1) = keys.view();
                           input(spec, 1).shape[0] = 3;
                           input(spec, 1).strides[0] = 0;
                         }),
              "");
    const Tensor &output = runner.result(0);
    EXPECT_NE(output.at({0, 0, 4, 0}), output.at({1, 0, 4, 0}));
    EXPECT_NE(output.at({1, 0, 4, 0}), output.at({2, 0, 4, 0}));
  }
}
