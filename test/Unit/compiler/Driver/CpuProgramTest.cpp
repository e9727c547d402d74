//===- CpuProgramTest.cpp - compiled attention against a double loop ------===//
#include "test/Unit/compiler/Driver/CpuProgramFixture.h"

#include <limits>

using namespace lacuna;
using namespace lacuna::test;

namespace {

class CpuProgramTest : public ::testing::Test {
protected:
  CpuProgramTest() : context(lacunaDialects()) {}

  /// Compiles and runs `problem` on `q`, `k`, `v`.
  std::vector<OwnedTensor> run(const Problem &problem, const Tensor &q, const Tensor &k,
                               const Tensor &v, int64_t vectorWidth = 0) {
    std::unique_ptr<CpuProgram> program = compileSpec(context, problem.spec(), vectorWidth);
    if (!program) {
      ADD_FAILURE() << "does not compile:\n" << problem.spec();
      return {};
    }
    Result<std::vector<OwnedTensor>> results = program->run({q, k, v}, pool);
    if (!results) {
      ADD_FAILURE() << results.status().message();
      return {};
    }
    return std::move(*results);
  }
  void check(Problem &problem, int64_t vectorWidth = 0) {
    problem.fill(7);
    std::vector<OwnedTensor> results =
        run(problem, problem.q.view(), problem.k.view(), problem.v.view(), vectorWidth);
    if (results.size() == 2)
      expectAttention(problem, problem.q.view(), problem.k.view(), problem.v.view(),
                      results[0].view(), results[1].view());
  }
  static Problem causal() {
    Problem problem;
    problem.set = "sparsity.causal";
    problem.isLive = [](int64_t i, int64_t j) { return j <= i; };
    return problem;
  }

  mlir::MLIRContext context;
  runtime::ThreadPool pool{3};
};

// One program serves all lengths: no row is left out at the borders of tiles.
TEST_F(CpuProgramTest, lengths) {
  Problem problem = causal();
  std::unique_ptr<CpuProgram> program = compileSpec(context, problem.spec());
  ASSERT_TRUE(program);
  for (int64_t queries : {0, 1, 63, 64, 65, 137})
    for (int64_t keys : {0, 1, 63, 64, 65, 200}) {
      problem.queries = queries;
      problem.keys = keys;
      problem.fill(static_cast<uint64_t>(queries * 1000 + keys));
      auto results = program->run({problem.q.view(), problem.k.view(), problem.v.view()}, pool);
      ASSERT_TRUE(results) << results.status().message();
      expectAttention(problem, problem.q.view(), problem.k.view(), problem.v.view(),
                      (*results)[0].view(), (*results)[1].view());
    }
}

TEST_F(CpuProgramTest, emptyBatch) {
  Problem problem;
  problem.batch = 0;
  check(problem);
}

TEST_F(CpuProgramTest, channels) {
  for (int64_t channels : {1, 7, 31, 40, 72, 120}) {
    Problem problem;
    problem.channels = channels;
    problem.valueChannels = channels == 72 ? 24 : channels == 40 ? 129 : channels;
    problem.keys = 100;
    check(problem);
  }
}

TEST_F(CpuProgramTest, groupedHeads) {
  for (int64_t ratio : {1, 3, 7}) {
    Problem problem = causal();
    problem.keyHeads = 2;
    problem.heads = 2 * ratio;
    check(problem);
  }
}

TEST_F(CpuProgramTest, elementTypes) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    Problem problem = causal();
    problem.type = type;
    problem.keys = 130;
    problem.channels = 40;
    check(problem);
  }
}

TEST_F(CpuProgramTest, vectorWidths) {
  for (int64_t width : {4, 8, 16}) {
    Problem problem = causal();
    problem.queries = 70;
    problem.keys = 90;
    check(problem, width);
  }
}

// Every second row of a larger buffer, reversed keys, one value row for all keys, channels first.
TEST_F(CpuProgramTest, stridedInputs) {
  Problem problem = causal();
  problem.fill(3);
  OwnedTensor wide(ElementType::F32, {1, 2, 128, 16});
  Random random(5);
  fillNormal(wide.view(), random);
  Tensor q = wide.view();
  q.shape[2] = 64;
  q.strides[2] *= 2;
  Tensor k = problem.k.view();
  k.data = static_cast<float *>(k.data) + 63 * k.strides[2];
  k.strides[2] = -k.strides[2];
  Tensor v = problem.v.view();
  v.strides[2] = 0;
  std::vector<OwnedTensor> results = run(problem, q, k, v);
  ASSERT_EQ(results.size(), 2u);
  expectAttention(problem, q, k, v, results[0].view(), results[1].view());

  OwnedTensor turned(ElementType::F32, {1, 2, 16, 64});
  fillNormal(turned.view(), random);
  Tensor channelsFirst = turned.view();
  std::swap(channelsFirst.shape[2], channelsFirst.shape[3]);
  std::swap(channelsFirst.strides[2], channelsFirst.strides[3]);
  results = run(problem, q, channelsFirst, channelsFirst);
  ASSERT_EQ(results.size(), 2u);
  expectAttention(problem, q, channelsFirst, channelsFirst, results[0].view(), results[1].view());
}

// Whatever bits masked keys and values hold, and those behind the last key.
TEST_F(CpuProgramTest, poisonInMaskedKeys) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (double poison : {nan, infinity, -infinity})
    for (bool inKeys : {false, true}) {
      Problem problem = causal();
      problem.queries = problem.keys = 100;
      problem.heads = problem.keyHeads = 1;
      problem.fill(11);
      Tensor &target = inKeys ? problem.k.view() : problem.v.view();
      for (int64_t j = 50; j < 100; ++j)
        for (int64_t c = 0; c < 16; ++c)
          target.set({0, 0, j, c}, poison);
      std::vector<OwnedTensor> results =
          run(problem, problem.q.view(), problem.k.view(), problem.v.view());
      ASSERT_EQ(results.size(), 2u);
      // Rows before the poison are those of the shorter problem; every later one attends to it.
      Problem clean = causal();
      clean.queries = clean.keys = 50;
      clean.heads = clean.keyHeads = 1;
      expectAttention(clean, problem.q.view(), problem.k.view(), problem.v.view(),
                      results[0].view(), results[1].view());
      bool seen = !inKeys || std::isnan(poison);
      for (int64_t i = 50; seen && i < 100; ++i)
        EXPECT_FALSE(std::isfinite(results[0].view().at({0, 0, i, 3}))) << i;
    }
}

// Case A7: a score of half a million must not drown what is left.
TEST_F(CpuProgramTest, hugeScores) {
  Problem problem;
  problem.heads = problem.keyHeads = 1;
  problem.queries = 1;
  problem.keys = 2;
  problem.channels = problem.valueChannels = 128;
  problem.fill(0);
  for (int64_t c = 0; c < 128; ++c) {
    problem.q.view().set({0, 0, 0, c}, 64);
    for (int64_t j = 0; j < 2; ++j) {
      problem.k.view().set({0, 0, j, c}, -64);
      problem.v.view().set({0, 0, j, c}, 1);
    }
  }
  std::vector<OwnedTensor> results =
      run(problem, problem.q.view(), problem.k.view(), problem.v.view());
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].view().at({0, 0, 0, 5}), 1);
  EXPECT_NEAR(results[1].view().at({0, 0, 0}), -46340.26, 0.02);
}

// Each grid point is computed alone, so that the split over threads cannot show.
TEST_F(CpuProgramTest, sameBitsOnAnyThreads) {
  Problem problem = causal();
  problem.queries = problem.keys = 300;
  problem.fill(1);
  std::unique_ptr<CpuProgram> program = compileSpec(context, problem.spec());
  ASSERT_TRUE(program);
  std::vector<Argument> arguments = {problem.q.view(), problem.k.view(), problem.v.view()};
  runtime::ThreadPool alone(1);
  auto first = program->run(arguments, alone), second = program->run(arguments, pool);
  ASSERT_TRUE(first && second);
  const Tensor &a = (*first)[0].view(), &b = (*second)[0].view();
  EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.elements()) * 4), 0);
}

TEST_F(CpuProgramTest, wrongArguments) {
  Problem problem;
  problem.fill(1);
  std::unique_ptr<CpuProgram> program = compileSpec(context, problem.spec());
  ASSERT_TRUE(program);
  auto message = [&](std::vector<Argument> arguments) {
    auto results = program->run(arguments, pool);
    return results ? std::string() : results.status().message();
  };
  Tensor q = problem.q.view(), k = problem.k.view(), v = problem.v.view();
  EXPECT_EQ(message({q, k}), "expected 3 arguments, got 2");
  EXPECT_EQ(message({q, int64_t(1), v}), "expected argument 'k' to be a tensor, got an integer");
  Tensor half = k;
  half.type = ElementType::F16;
  EXPECT_EQ(message({q, half, v}), "expected argument 'k' to have elements of type f32, got f16");
  Tensor flat = k;
  flat.shape.pop_back();
  flat.strides.pop_back();
  EXPECT_EQ(message({q, flat, v}), "expected argument 'k' to have 4 axes, got 1x2x64");
  Tensor heads = k;
  heads.shape[1] = 1;
  EXPECT_EQ(message({q, heads, v}), "expected argument 'k' to have extent 2 along axis 1, got 1");
  Tensor nowhere = k;
  nowhere.data = nullptr;
  EXPECT_EQ(message({q, nowhere, v}), "expected argument 'k' to have memory, got none");
  Tensor shorter = v;
  shorter.shape[2] = 63;
  EXPECT_EQ(message({q, k, shorter}),
            "expected key and value to have the same length, got 64 and 63");
}

} // namespace
