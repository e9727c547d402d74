//===- ResultShapesTest.cpp - shapes as arithmetic on arguments -------------===//
#include "lacuna/ResultShapes.h"

#include "test/Unit/lib/Artifact/SampleArtifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using Op = HostInstruction::Op;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
/// The sample with another host program, whose last value is the first extent of each result.
Program withCode(std::vector<HostInstruction> code) {
  Program program = sampleArtifact().program;
  for (KernelCode &kernel : program.kernels) {
    kernel.manifest.host.code = code;
    kernel.manifest.outputs[0].extents = {static_cast<unsigned>(code.size()) - 1, 0};
  }
  return program;
}

std::vector<Argument> arguments(int64_t rows, int64_t number) {
  Tensor x;
  x.type = ElementType::F16;
  x.shape = {rows, 64};
  x.strides = {64, 1};
  return {x, number, 0.5};
}
} // namespace

// The second launch reads what the first made, the third goes into what the second made.
TEST(ResultShapes, followsBuffersThroughLaunches) {
  Program program = withCode({{Op::Extent, 0, 0}, {Op::Scalar, 1}, {Op::Add, 0, 1}});
  Result<ResultShapes> shapes = ResultShapes::of(program);
  ASSERT_TRUE(shapes.isOk()) << shapes.status().message();
  EXPECT_THAT(shapes->results[0].name, "y");
  Result<std::vector<Tensor>> tensors = shapes->infer(arguments(10, 7));
  ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
  // y = x + n + n rows, from the launch on the buffer that the first one made; z = x + n.
  EXPECT_THAT((*tensors)[0].shape, ElementsAre(24, 17));
  EXPECT_THAT((*tensors)[1].shape, ElementsAre(17, 10));
}

// What no result needs is not computed: it might have no value.
TEST(ResultShapes, keepsOnlyWhatResultsNeed) {
  Program program = withCode({{Op::Extent, 0, 0},
                              {Op::Stride, 0, 0},
                              {Op::Constant, 0},
                              {Op::FloorDiv, 0, 2},
                              {Op::Mul, 1, 1},
                              {Op::Constant, 5},
                              {Op::Max, 0, 5}});
  Result<ResultShapes> shapes = ResultShapes::of(program);
  ASSERT_TRUE(shapes.isOk()) << shapes.status().message();
  EXPECT_EQ(shapes->code.code.size(), 4U);
  Result<std::vector<Tensor>> tensors = shapes->infer(arguments(2, 0));
  ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
  EXPECT_THAT((*tensors)[1].shape, ElementsAre(5, 2));
}

TEST(ResultShapes, stridesAreNoShapes) {
  Result<ResultShapes> shapes =
      ResultShapes::of(withCode({{Op::Extent, 0, 0}, {Op::Stride, 0, 0}, {Op::Add, 0, 1}}));
  EXPECT_EQ(shapes.status().code(), StatusCode::Unsupported);
  EXPECT_THAT(shapes.status().message(), HasSubstr("extents and numbers only"));
}

// Each value is twice the one before: as a tree that is 2^400 leaves, and 100,000 levels are more
// than a stack has room for.
TEST(ResultShapes, sharedValuesAreVisitedOnce) {
  for (size_t levels : {400, 100000}) {
    std::vector<HostInstruction> code = {{Op::Extent, 0, 0}};
    for (size_t i = 0; i < levels; ++i)
      code.push_back({Op::Max, static_cast<int64_t>(i), static_cast<int64_t>(i)});
    Result<ResultShapes> shapes = ResultShapes::of(withCode(std::move(code)));
    ASSERT_TRUE(shapes.isOk()) << shapes.status().message();
    Result<std::vector<Tensor>> tensors = shapes->infer(arguments(3, 1));
    ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
    EXPECT_THAT((*tensors)[1].shape, ElementsAre(3, 3));
  }
}
