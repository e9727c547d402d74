//===- CheckManifestTest.cpp - each rule of a manifest, broken once --------===//
#include "lib/Artifact/CheckManifest.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using Op = HostInstruction::Op;
using testing::HasSubstr;

/// One kernel that copies `x`, a matrix of f16, through maps of both.
static Program sample() {
  KernelManifest manifest;
  manifest.symbol = "copy";
  manifest.threads = 128;
  manifest.sharedBytes = 16384;
  manifest.host.code = {{Op::Extent, 0, 0},
                        {Op::Extent, 0, 1},
                        {Op::Stride, 0, 0},
                        {Op::Stride, 2, 0},
                        {Op::Scalar, 1}};
  manifest.grid = {0};
  manifest.inputs = 2;
  manifest.outputs = {{ElementType::F16, {0, 1}}};
  manifest.maps = {{0, {{1, 0, 64}, {0, 2, 64}}}, {2, {{1, 0, 64}, {0, 3, 64}}}};
  manifest.fields = {{ArgumentField::Kind::Pointer, 2}, {ArgumentField::Kind::Integer, 4}};
  Program program;
  program.name = "copy";
  program.architecture = "sm_90a";
  program.arguments = {{"x", ArgumentDeclaration::Kind::Tensor, ElementType::F16, {-1, 64}},
                       {"n", ArgumentDeclaration::Kind::Integer, ElementType::I64, {}}};
  program.kernels = {{manifest, "", ""}};
  program.launches = {{0, {0, 1}, {-1}}};
  program.results = {2};
  return program;
}

TEST(CheckManifest, acceptsTheSample) { EXPECT_EQ(checkProgram(sample()).message(), ""); }

namespace {
struct Broken {
  const char *message;
  std::function<void(Program &, KernelManifest &)> breakIt;
};
} // namespace

TEST(CheckManifest, refusesEachBrokenRule) {
  using Swizzle = TensorMapRecipe::Swizzle;
  const std::vector<Broken> cases = {
      {"to have a symbol", [](Program &, KernelManifest &m) { m.symbol.clear(); }},
      {"1 to 1024 threads, got 0", [](Program &, KernelManifest &m) { m.threads = 0; }},
      {"1 to 1024 threads, got 1025", [](Program &, KernelManifest &m) { m.threads = 1025; }},
      {"at most 232448 bytes", [](Program &, KernelManifest &m) { m.sharedBytes = 232449; }},
      {"bytes of parameters", [](Program &, KernelManifest &m) { m.fields.resize(5000); }},
      {"earlier values", [](Program &, KernelManifest &m) { m.host.code[0] = {Op::Add, 1, 1}; }},
      {"requirement 'n fits'",
       [](Program &, KernelManifest &m) { m.requirements = {{5, "n fits", {}}}; }},
      {"requirement 'n is {0}'",
       [](Program &, KernelManifest &m) { m.requirements = {{0, "n is {0}", {5}}}; }},
      {"at least one extent", [](Program &, KernelManifest &m) { m.grid.clear(); }},
      {"the grid to use one of 5", [](Program &, KernelManifest &m) { m.grid = {5}; }},
      {"map 0 to be of one of 3 arguments",
       [](Program &, KernelManifest &m) { m.maps[0].tensor = 3; }},
      {"1 to 5 axes, got 0", [](Program &, KernelManifest &m) { m.maps[0].axes.clear(); }},
      {"1 to 5 axes, got 6", [](Program &, KernelManifest &m) { m.maps[0].axes.resize(6); }},
      {"1 to 256 elements along an axis, got 257",
       [](Program &, KernelManifest &m) { m.maps[0].axes[1].box = 257; }},
      {"axis 1 of map 1", [](Program &, KernelManifest &m) { m.maps[1].axes[1].stride = 5; }},
      {"known swizzle",
       [](Program &, KernelManifest &m) { m.maps[1].swizzle = static_cast<Swizzle>(7); }},
      {"multiples of 16 bytes up to 128, got 144",
       [](Program &, KernelManifest &m) { m.maps[0].axes[0].box = 72; }},
      {"multiples of 16 bytes up to 64, got 128",
       [](Program &, KernelManifest &m) { m.maps[0].swizzle = Swizzle::Bytes64; }},
      {"multiples of 16 bytes up to 128, got 24",
       [](Program &, KernelManifest &m) { m.maps[0].axes[0].box = 12; }},
      {"fit into shared memory",
       [](Program &, KernelManifest &m) { m.maps[0].axes.push_back({0, 2, 256}); }},
      {"field 0 to refer to a number below 3",
       [](Program &, KernelManifest &m) { m.fields[0].index = 3; }},
      {"extents of output 0 to be host values",
       [](Program &, KernelManifest &m) { m.outputs[0].extents[0] = 5; }},
      {"depend on inputs only", [](Program &, KernelManifest &m) { m.outputs[0].extents[0] = 3; }},
      {"argument 0 of copy to be an integer",
       [](Program &, KernelManifest &m) { m.host.code[4].a = 0; }},
      {"tensor with an axis 2", [](Program &, KernelManifest &m) { m.host.code[0].b = 2; }},
      {"argument 1 of copy to be a tensor",
       [](Program &, KernelManifest &m) { m.fields[0].index = 1; }},
      {"argument 1 of copy to be a float",
       [](Program &, KernelManifest &m) { m.fields[1] = {ArgumentField::Kind::Float, 1}; }},
      {"map 0 of copy to be of a tensor",
       [](Program &, KernelManifest &m) { m.maps[0].tensor = 1; }},
      {"one of 1 kernels", [](Program &p, KernelManifest &) { p.launches[0].kernel = 1; }},
      {"to have 2 inputs, got 1", [](Program &p, KernelManifest &) { p.launches[0].inputs = {0}; }},
      {"to have 1 outputs, got 0",
       [](Program &p, KernelManifest &) { p.launches[0].into.clear(); }},
      {"to be made before, got buffer 2",
       [](Program &p, KernelManifest &) { p.launches[0].inputs = {2, 1}; }},
      {"overwrite a result of an earlier launch",
       [](Program &p, KernelManifest &) { p.launches[0].into = {0}; }},
      {"names of 1 results, got 2",
       [](Program &p, KernelManifest &) { p.resultNames = {"y", "z"}; }},
      {"results to be tensors", [](Program &p, KernelManifest &) { p.results = {3}; }},
      {"results to be tensors", [](Program &p, KernelManifest &) { p.results = {1}; }},
  };
  for (const Broken &broken : cases) {
    Program program = sample();
    broken.breakIt(program, program.kernels[0].manifest);
    Status status = checkProgram(program);
    EXPECT_EQ(status.code(), StatusCode::Corrupt) << broken.message;
    EXPECT_THAT(status.message(), HasSubstr(broken.message));
  }
}

// A second launch may write into what the first has made, of the same type only.
TEST(CheckManifest, overwritesEarlierResults) {
  Program program = sample();
  program.launches.push_back({0, {0, 1}, {2}});
  EXPECT_EQ(checkProgram(program).message(), "");
  program.kernels.push_back(program.kernels[0]);
  program.kernels[1].manifest.outputs[0].type = ElementType::BF16;
  program.launches[1].kernel = 1;
  EXPECT_THAT(checkProgram(program).message(), HasSubstr("the type and rank of buffer 2"));
}

// What every launch has once is little; what all of them have together may not be.
TEST(CheckManifest, boundsTheWorkOfAllLaunches) {
  Program program = sample();
  std::vector<HostInstruction> &code = program.kernels[0].manifest.host.code;
  code.resize(2000, {Op::Constant, 1});
  program.launches.assign(500, program.launches[0]);
  EXPECT_EQ(checkProgram(program).message(), "");
  program.launches.assign(600, program.launches[0]);
  Status status = checkProgram(program);
  EXPECT_EQ(status.code(), StatusCode::Corrupt);
  EXPECT_EQ(status.message(), "expected launches with at most 1048576 host values together");
}
