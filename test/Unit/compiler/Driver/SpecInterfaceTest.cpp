//===- SpecInterfaceTest.cpp - values for a spec's arguments --------------===//
#include "compiler/Driver/SpecInterface.h"
#include "lib/Support/Npy.h"
#include "test/Support/SpecText.h"
#include "test/Support/TemporaryFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::test::SpecText;
using testing::HasSubstr;

using Assignments = std::vector<std::pair<std::string, std::string>>;

/// Dynamic in every way, with declared defaults.
static const char *const window = R"mlir(
func.func @window(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x16xf32>,
                  %left: index {lacuna.default = 255}, %right: index,
                  %gain: f32 {lacuna.default = 0.5 : f32})
    -> tensor<?x4x?x16xf32> attributes {lacuna.sizes = {n = 64, b = 1}} {
  %set = sparsity.window left(%left) right(%right)
  %o = attn.attend %q, %k, %v over %set scale 0.5
      : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x16xf32> -> tensor<?x4x?x16xf32>
  return %o : tensor<?x4x?x16xf32>
}
)mlir";

/// Binds `text` and returns the diagnostics, or "" on success.
static std::string bind(const char *text, Assignments given, BoundSpec *bound = nullptr,
                        const std::string &inputs = "") {
  SpecText spec(text);
  if (!spec.isParsed())
    return spec.getMessages();
  BindOptions options;
  options.given = std::move(given);
  options.inputs = inputs;
  mlir::FailureOr<BoundSpec> result = bindSpec(spec.getFunction(), options);
  if (mlir::failed(result))
    return spec.getMessages();
  if (bound) {
    *bound = std::move(*result);
    bound->function = {}; // The module ends with this call.
  }
  return "";
}

static std::string shape(const BoundSpec &spec, size_t index) {
  return shapeText(std::get<Tensor>(spec.arguments[index]).shape);
}

TEST(SpecInterface, declaredDefaultsFillWhatIsNotGiven) {
  BoundSpec spec;
  ASSERT_EQ(bind(window, {{"right", "0"}}, &spec), "");
  EXPECT_EQ(spec.names, (std::vector<std::string>{"q", "k", "v", "left", "right", "gain"}));
  EXPECT_EQ(shape(spec, 0), "1x4x64x8");
  EXPECT_EQ(shape(spec, 2), "1x2x64x16");
  EXPECT_EQ(std::get<int64_t>(spec.arguments[3]), 255);
  EXPECT_EQ(std::get<int64_t>(spec.arguments[4]), 0);
  EXPECT_EQ(std::get<double>(spec.arguments[5]), 0.5);
}

TEST(SpecInterface, givenSizesWinOverDeclaredOnes) {
  BoundSpec spec;
  ASSERT_EQ(bind(window, {{"right", "0"}, {"n", "7"}, {"b", "2"}, {"left", "-3"}}, &spec), "");
  EXPECT_EQ(shape(spec, 0), "2x4x7x8");
  EXPECT_EQ(shape(spec, 1), "2x2x7x8");
  EXPECT_EQ(std::get<int64_t>(spec.arguments[3]), -3);
}

TEST(SpecInterface, queriesAndKeysMayDiffer) {
  BoundSpec spec;
  ASSERT_EQ(bind(window, {{"right", "0"}, {"nq", "3"}, {"n", "9"}}, &spec), "");
  EXPECT_EQ(shape(spec, 0), "1x4x3x8");
  EXPECT_EQ(shape(spec, 1), "1x2x9x8");
  EXPECT_EQ(shape(spec, 2), "1x2x9x16");
}

TEST(SpecInterface, aShapeGivenByNameIsFollowedByTheOthers) {
  BoundSpec spec;
  ASSERT_EQ(bind(window, {{"right", "0"}, {"v", "3x2x11x16"}}, &spec), "");
  EXPECT_EQ(shape(spec, 0), "3x4x64x8");
  EXPECT_EQ(shape(spec, 1), "3x2x11x8");
}

TEST(SpecInterface, sizesMayBeZero) {
  BoundSpec spec;
  ASSERT_EQ(bind(window, {{"right", "0"}, {"b", "0"}, {"nq", "0"}}, &spec), "");
  EXPECT_EQ(shape(spec, 0), "0x4x0x8");
}

TEST(SpecInterface, theSameSeedGivesTheSameNumbers) {
  BoundSpec first, second;
  ASSERT_EQ(bind(window, {{"right", "0"}}, &first), "");
  ASSERT_EQ(bind(window, {{"right", "0"}}, &second), "");
  const auto &a = std::get<Tensor>(first.arguments[0]), &b = std::get<Tensor>(second.arguments[0]);
  EXPECT_EQ(a.at({0, 3, 63, 7}), b.at({0, 3, 63, 7}));
  EXPECT_NE(a.at({0, 0, 0, 0}), std::get<Tensor>(first.arguments[1]).at({0, 0, 0, 0}));
}

TEST(SpecInterface, mistakesAreNamed) {
  EXPECT_THAT(bind(window, {}), HasSubstr("expected a value for 'right': give --set right=..."));
  EXPECT_THAT(bind(window, {{"right", "x"}}), HasSubstr("expected an integer for 'right'"));
  EXPECT_THAT(
      bind(window, {{"right", "0"}, {"lft", "1"}}),
      HasSubstr(
          "expected 'lft' to name a size (b, n, nq, nk, hq, hkv, d, dv) or an argument (q, k"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"hq", "8"}}),
              HasSubstr("expected a dynamic extent that takes the size 'hq', but the types of this "
                        "function fix it"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"n", "-1"}}),
              HasSubstr("expected the size 'n' to be a number of at least 0, got '-1'"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"n", "4k"}}), HasSubstr("got '4k'"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"q", "1x5x8x8"}}), HasSubstr("fits"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"q", "1x4x8"}}), HasSubstr("fits"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"q", "1x4x8x8"}, {"k", "2x2x8x8"}}),
              HasSubstr("expected 'k' to have b = 1 like the arguments before it, got 2"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"gain", "loud"}}), HasSubstr("number for 'gain'"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"n", "1000000000000"}}), HasSubstr("memory"));
  EXPECT_THAT(bind(window, {{"right", "0"}, {"n", "4611686018427387904"}}), HasSubstr("memory"));
}

/// Integer tensors are never random.
static const char *const table = R"mlir(
func.func @table(%q: tensor<1x2x?x8xf32>, %w: tensor<?xi32> {lacuna.values = [3, 5]},
                 %u: tensor<2xindex>) -> tensor<1x2x?x8xf32> {
  %set = sparsity.all
  %o = attn.attend %q, %q, %q over %set scale 0.5
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}
)mlir";

TEST(SpecInterface, integerTensorsHaveDeclaredOrGivenValues) {
  BoundSpec spec;
  ASSERT_EQ(bind(table, {{"n", "4"}, {"u", "7:-1"}}, &spec), "");
  EXPECT_EQ(std::get<Tensor>(spec.arguments[1]).at({1}), 5);
  EXPECT_EQ(std::get<Tensor>(spec.arguments[2]).at({1}), -1);
  EXPECT_THAT(bind(table, {{"n", "4"}}), HasSubstr("expected values for 'u'"));
  EXPECT_THAT(bind(table, {{"n", "4"}, {"u", "7"}}), HasSubstr("got 1 values"));
  EXPECT_THAT(bind(table, {{"u", "7:-1"}}), HasSubstr("expected the size 'n'"));
}

TEST(SpecInterface, filesReplaceRandomNumbersAndGiveSizes) {
  test::TemporaryFolder folder;
  OwnedTensor query(ElementType::F32, {1, 2, 3, 8});
  query.view().set({0, 1, 2, 7}, 42);
  ASSERT_TRUE(writeNpy(folder / "q.npy", query.view()));
  BoundSpec spec;
  ASSERT_EQ(bind(table, {{"u", "1:2"}}, &spec, folder / ""), "");
  EXPECT_EQ(std::get<Tensor>(spec.arguments[0]).at({0, 1, 2, 7}), 42);
  EXPECT_EQ(spec.sizes.at("nq"), 3);
}

TEST(SpecInterface, filesThatDoNotFitAreRefused) {
  test::TemporaryFolder folder;
  ASSERT_TRUE(writeNpy(folder / "q.npy", OwnedTensor(ElementType::F16, {1, 2, 3, 8}).view()));
  EXPECT_THAT(bind(table, {{"u", "1:2"}}, nullptr, folder / ""), HasSubstr("type f32"));
  ASSERT_TRUE(writeNpy(folder / "q.npy", OwnedTensor(ElementType::F32, {1, 3, 3, 8}).view()));
  EXPECT_THAT(bind(table, {{"u", "1:2"}}, nullptr, folder / ""), HasSubstr("1x3x3x8"));
  EXPECT_THAT(bind(table, {{"u", "1:2"}}, nullptr, folder / "none"),
              HasSubstr("expected a folder of .npy files at '"));
}

TEST(SpecInterface, assignmentsAreReadWholeOrNotAtAll) {
  Assignments pairs;
  EXPECT_TRUE(parseAssignments("n=4096,left=255", pairs));
  EXPECT_EQ(pairs, (Assignments{{"n", "4096"}, {"left", "255"}}));
  for (const char *wrong : {"n", "n=", "=4", "n=4,", "n=4,,b=1"})
    EXPECT_FALSE(parseAssignments(wrong, pairs)) << wrong;
}

TEST(SpecInterface, declarationsThatDoNotFitAreRefused) {
  auto spec = [](const std::string &argument, const std::string &attributes) {
    return "func.func @s(%q: tensor<1x1x?x8xf32>, " + argument +
           ") -> tensor<1x1x?x8xf32> attributes {" + attributes +
           "} {\n  %set = sparsity.all\n  %o = attn.attend %q, %q, %q over %set scale 1.0 : "
           "tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> "
           "tensor<1x1x?x8xf32>\n  return %o : tensor<1x1x?x8xf32>\n}\n";
  };
  auto refusal = [&](const std::string &argument, const std::string &attributes) {
    return bind(spec(argument, attributes).c_str(), {});
  };
  EXPECT_THAT(refusal("%x: index {lacuna.default = 1}", "lacuna.sizes = 4"),
              HasSubstr("expected lacuna.sizes to be a dictionary such as {n = 4096, b = 1}, got"));
  for (const char *sizes : {"{m = 4}", "{n = -4}", "{n = 4.0}"})
    EXPECT_THAT(refusal("%x: index {lacuna.default = 1}", std::string("lacuna.sizes = ") + sizes),
                HasSubstr("expected lacuna.sizes to map sizes (b, n, nq, nk, hq, hkv, d, dv) to "
                          "numbers of at least 0, got '"));
  EXPECT_THAT(refusal("%x: index {lacuna.default = 1.0}", "lacuna.sizes = {n = 4}"),
              HasSubstr("expected lacuna.default of 'x' to be an integer, got"));
  EXPECT_THAT(refusal("%x: f32 {lacuna.default = 1}", "lacuna.sizes = {n = 4}"),
              HasSubstr("expected lacuna.default of 'x' to be a float, got"));
  EXPECT_THAT(refusal("%x: i8 {lacuna.default = 300}", "lacuna.sizes = {n = 4}"),
              HasSubstr("to fit 'i8', got 300"));
  EXPECT_THAT(refusal("%x: tensor<?xf32> {lacuna.shape = [4, 4]}", "lacuna.sizes = {n = 4}"),
              HasSubstr("expected lacuna.shape of 'x"));
  EXPECT_THAT(refusal("%x: tensor<?xf32> {lacuna.values = 4}", "lacuna.sizes = {n = 4}"),
              HasSubstr("expected lacuna.values of 'x' to be a list of numbers, got"));
  EXPECT_THAT(refusal("%x: tensor<?xf32>", "lacuna.sizes = {n = 4}"),
              HasSubstr("expected a shape for 'x': give --set x=... or declare lacuna.shape"));
  EXPECT_THAT(refusal("%x: index {lacuna.default = 1}", ""),
              HasSubstr("give --set n=... or declare lacuna.sizes"));
  EXPECT_THAT(refusal("%x: complex<f32>", "lacuna.sizes = {n = 4}"),
              HasSubstr("expected argument 'x' to be an index, an integer, a float or a ranked "
                        "tensor"));
}
