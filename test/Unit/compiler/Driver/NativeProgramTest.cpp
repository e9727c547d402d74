//===- NativeProgramTest.cpp - machine code that outlives its process ------===//
#include "lacuna/Compiler.h"
#include "lacuna/Runtime.h"

#include "compiler/Cpu/HostMachine.h"
#include "compiler/Driver/ProgramKeys.h"
#include "runtime/Cache/BlobStore.h"
#include "test/Unit/compiler/Driver/CpuProgramFixture.h"

#include <filesystem>
#include <gmock/gmock.h>

using namespace lacuna;
using namespace lacuna::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class NativeProgramTest : public ::testing::Test {
protected:
  void SetUp() override {
    problem.set = "sparsity.causal";
    problem.isLive = [](int64_t i, int64_t j) { return j <= i; };
    problem.fill(3);
    CompileOptions options;
    options.target = Target::Cpu;
    Result<Artifact> artifact = Compilation(problem.spec(), options).compile();
    ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
    Result<std::string> written = writeNative(*artifact);
    ASSERT_TRUE(written.isOk()) << written.status().message();
    bytes = std::move(*written);
  }
  static std::string refusal(std::string_view bytes) {
    Result<Artifact> read = readNative(bytes);
    EXPECT_EQ(read.status().code(), StatusCode::Corrupt);
    return read.status().message();
  }

  Problem problem;
  std::string bytes;
};
} // namespace

// All that a program knows is in its bytes: names, shapes of results, launches and code.
TEST_F(NativeProgramTest, runsAfterReading) {
  Result<Artifact> read = readNative(bytes);
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_EQ(read->origin.spec, problem.spec());
  EXPECT_EQ(read->origin.compiler, compilerBuild());
  EXPECT_THAT(read->program.resultNames, ElementsAre("o", "o.lse"));
  EXPECT_EQ(read->program.architecture, "cpu");
  Result<std::shared_ptr<const Executable>> loaded = Cpu::open({2}).load(std::move(read->program));
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  std::vector<Argument> arguments = {problem.q.view(), problem.k.view(), problem.v.view()};
  std::vector<Tensor> results(2);
  Status status = (*loaded)->run(nullptr, arguments, results);
  ASSERT_TRUE(status.isOk()) << status.message();
  expectAttention(problem, problem.q.view(), problem.k.view(), problem.v.view(), results[0],
                  results[1]);
  arguments.pop_back();
  EXPECT_EQ((*loaded)->run(nullptr, arguments, results).message(), "expected 3 arguments, got 2");
  for (Tensor &result : results)
    Cpu::free(result);
}

TEST_F(NativeProgramTest, writesTheSameAgain) {
  Result<Artifact> read = readNative(bytes);
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_EQ(*writeNative(*read), bytes);
}

// A cache folder that two kinds of machine share: what the other one wrote is made again.
TEST_F(NativeProgramTest, codeForAnotherCpuIsRefused) {
  size_t at = bytes.find(HostMachine::identity());
  ASSERT_NE(at, std::string::npos);
  std::string other = bytes;
  other[at + HostMachine::identity().size() - 1] ^= 1;
  EXPECT_EQ(refusal(other), "expected machine code of this compiler for this CPU, got other bytes");
  at = bytes.find(compilerBuild());
  ASSERT_NE(at, std::string::npos);
  other = bytes;
  other[at] ^= 1;
  EXPECT_THAT(refusal(other), HasSubstr("of this compiler"));
}

TEST_F(NativeProgramTest, bytesThatWereCutAreRefused) {
  for (size_t size = 0; size < bytes.size(); size += size < 2000 ? 1 : 97)
    EXPECT_FALSE(readNative(std::string_view(bytes).substr(0, size)).isOk()) << size;
  EXPECT_THAT(refusal(bytes + "x"), HasSubstr("expected the end, got 1 more bytes"));
}

TEST_F(NativeProgramTest, programsForTheGpuHaveNoCodeOfThisProcess) {
  Artifact artifact;
  artifact.program.name = "f";
  artifact.program.architecture = "sm_90a";
  EXPECT_EQ(writeNative(artifact).status().message(),
            "expected a program that was compiled for this CPU");
}

TEST_F(NativeProgramTest, keysHoldTheMachine) {
  SpecToHopperOptions cpu, gpu;
  cpu.target = "cpu";
  EXPECT_NE(digestOfText("x", "", cpu, false), digestOfText("x", "", gpu, false));
  EXPECT_THAT(HostMachine::identity(), HasSubstr("-"));
  EXPECT_EQ(HostMachine::identity(), HostMachine::identity());
}

// A C++ application: the second process links or reads what the first one compiled.
TEST_F(NativeProgramTest, applicationsKeepPrograms) {
  std::string folder = testing::TempDir() + "/lacuna-steps-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  CacheOptions cacheOptions;
  cacheOptions.folder = folder;
  int compiled = 0;
  auto find = [&](const std::shared_ptr<BlobStore> &cache, Target target) {
    CompileOptions options;
    options.target = target;
    std::string text = problem.spec();
    if (target == Target::Cuda)
      for (size_t at = 0; (at = text.find("16xf32", at)) != std::string::npos;)
        text.replace(at, 6, "64xbf16");
    Compilation compilation(text, options);
    CompileSteps steps = compilation.steps();
    EXPECT_EQ(steps.label, "f");
    steps.compile = [&] {
      ++compiled;
      return compilation.compile();
    };
    Result<Artifact> artifact = findOrCompile(cache, steps);
    EXPECT_TRUE(artifact.isOk()) << artifact.status().message();
    EXPECT_EQ(artifact->program.native != nullptr, target == Target::Cpu);
    EXPECT_THAT(artifact->program.resultNames, ElementsAre("o", "o.lse"));
  };
  for (int process = 0; process < 2; ++process) {
    auto cache = std::make_shared<BlobStore>(cacheOptions);
    for (Target target : {Target::Cpu, Target::Cuda, Target::Cpu})
      find(cache, target);
    EXPECT_EQ(compiled, 2);
  }
  find(nullptr, Target::Cpu);
  EXPECT_EQ(compiled, 3) << "without a cache";
  std::filesystem::remove_all(folder);
}
