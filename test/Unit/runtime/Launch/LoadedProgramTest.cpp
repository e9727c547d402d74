//===- LoadedProgramTest.cpp - launches as the driver sees them ------------===//
#include "test/Unit/runtime/Launch/LoadedProgramFixture.h"

#include <cstring>
#include <functional>
#include <gmock/gmock.h>

using namespace lacuna;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class LoadedProgramTest : public LoadedProgramFixture {};
} // namespace

TEST_F(LoadedProgramTest, launchesWithMapsAndFields) {
  auto program = load();
  ASSERT_TRUE(program) << program.status().message();
  std::vector<Tensor> results(2);
  Status status = (*program)->run(nullptr, arguments, results);
  ASSERT_TRUE(status) << status.message();

  EXPECT_THAT(results[0].shape, ElementsAre(2, 300, 64));
  EXPECT_THAT(results[0].strides, ElementsAre(300 * 64, 64, 1));
  EXPECT_EQ(results[1].type, ElementType::F32);
  EXPECT_THAT(results[1].shape, ElementsAre(2, 300));

  ASSERT_EQ(state->launches.size(), 1u);
  const fake::Launch &launch = state->launches[0];
  EXPECT_EQ(launch.symbol, "fwd");
  EXPECT_EQ(launch.grid, 6u); // 2 batches of 3 tiles, fewer than 132 multiprocessors
  EXPECT_EQ(launch.threads, 384u);
  EXPECT_EQ(launch.sharedBytes, 200000u);
  EXPECT_EQ(state->maximumDynamicShared, 200000);
  EXPECT_THAT(launch.maps, ElementsAre(0, 1, 2));
  EXPECT_EQ(launch.fields[0], reinterpret_cast<uint64_t>(results[1].data));
  EXPECT_EQ(launch.fields[1], 300u);
  double scale = 0;
  std::memcpy(&scale, &launch.fields[2], sizeof(scale));
  EXPECT_EQ(scale, 0.125);

  ASSERT_EQ(state->maps.size(), 3u);
  const fake::Map &query = state->maps[0];
  EXPECT_EQ(query.type, driver::MapF16);
  EXPECT_EQ(query.swizzle, 3);
  EXPECT_EQ(query.address, 0x7000000000u);
  EXPECT_THAT(query.extents, ElementsAre(64, 300, 2));
  EXPECT_THAT(query.strides, ElementsAre(128, 300 * 128));
  EXPECT_THAT(query.box, ElementsAre(64, 128, 1));
  EXPECT_EQ(state->maps[2].address, reinterpret_cast<uint64_t>(results[0].data));
  for (const Tensor &result : results)
    (*program)->allocator().release(result.data, nullptr);
}

// The counter is zeroed after outputs exist and right before the launch.
TEST_F(LoadedProgramTest, worksInOrder) {
  auto program = load();
  ASSERT_TRUE(program);
  state->calls.clear();
  ASSERT_TRUE(run(**program));
  EXPECT_THAT(state->calls, ElementsAre("allocate 76800", "allocate 2400", "words 0", "launch fwd",
                                        "free", "free"));
}

TEST_F(LoadedProgramTest, persistentGridsFillTheGpu) {
  auto program = load();
  ASSERT_TRUE(program);
  arguments[0] = arguments[1] = tensor(2, 128 * 100);
  ASSERT_TRUE(run(**program));
  EXPECT_EQ(state->launches.back().grid, 132u);
  // One block per item where the kernel is not persistent.
  Program plain = sampleProgram();
  plain.kernels[0].manifest.blocksPerMultiprocessor = 0;
  program = load(plain);
  ASSERT_TRUE(program);
  ASSERT_TRUE(run(**program));
  EXPECT_EQ(state->launches.back().grid, 200u);
}

TEST_F(LoadedProgramTest, givenResultsAreWrittenInPlace) {
  auto program = load();
  ASSERT_TRUE(program);
  state->calls.clear();
  // Rows of 80 elements: the map follows the caller's strides.
  std::vector<Tensor> results = {
      {ElementType::F16, {2, 300, 64}, {300 * 80, 80, 1}, reinterpret_cast<void *>(0x8000)},
      {ElementType::F32, {2, 300}, {300, 1}, reinterpret_cast<void *>(0x9000)}};
  Status status = (*program)->run(nullptr, arguments, results);
  ASSERT_TRUE(status) << status.message();
  EXPECT_THAT(state->calls, ElementsAre("words 0", "launch fwd"));
  EXPECT_EQ(state->maps[2].address, 0x8000u);
  EXPECT_THAT(state->maps[2].strides, ElementsAre(160, 300 * 160));
  EXPECT_EQ(state->launches[0].fields[0], 0x9000u);

  results[1].shape = {2, 299};
  status = (*program)->run(nullptr, arguments, results);
  EXPECT_EQ(status.message(), "result 1: expected f32 of shape 2x300, got f32 of shape 2x299");
  results[1].shape = {2, 300};
  results[0].data = reinterpret_cast<void *>(0x8002);
  status = (*program)->run(nullptr, arguments, results);
  EXPECT_EQ(status.message(),
            "result 0: expected an address that is a multiple of 16 bytes, got 0x8002");
  EXPECT_EQ(state->launches.size(), 1u);
}

// Loading is asked for once; other sizes and numbers only launch.
TEST_F(LoadedProgramTest, otherSizesNeitherLoadNorAllocate) {
  auto program = load();
  ASSERT_TRUE(program);
  EXPECT_THAT(state->calls, testing::Contains("load").Times(1));
  state->calls.clear();
  for (auto [batch, rows, left] : {std::tuple<int64_t, int64_t, int64_t>{1, 5, 3},
                                   {2, 300, 255},
                                   {3, 128 * 900, 7},
                                   {1, 1, 0}}) {
    arguments = {tensor(batch, rows), tensor(batch, rows), left, 0.5};
    std::vector<Tensor> results = {
        tensor(batch, rows),
        {ElementType::F32, {batch, rows}, {rows, 1}, reinterpret_cast<void *>(0x9000)}};
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
  }
  // The counters of many launches are zeroed at once.
  EXPECT_THAT(state->calls,
              ElementsAre("words 0", "launch fwd", "launch fwd", "launch fwd", "launch fwd"));
}

// No query: nothing to launch. No key: the kernel writes rows without a key, and the map of k shows
// memory that exists.
TEST_F(LoadedProgramTest, emptyTensors) {
  auto program = load();
  ASSERT_TRUE(program);
  state->calls.clear();
  arguments[0] = Tensor{ElementType::F16, {2, 0, 64}, {0, 64, 1}, nullptr};
  ASSERT_TRUE(run(**program));
  EXPECT_TRUE(state->calls.empty());
  arguments[0] = tensor(2, 300);
  arguments[1] = Tensor{ElementType::F16, {2, 0, 64}, {0, 64, 1}, nullptr};
  ASSERT_TRUE(run(**program));
  ASSERT_EQ(state->launches.size(), 1u);
  const fake::Map &map = state->maps[state->launches[0].maps[1]];
  EXPECT_NE(map.address, 0u);
  EXPECT_EQ(map.address % 16, 0u);
  EXPECT_THAT(map.extents, ElementsAre(1, 1, 1));
}

// A stride between one neighbour and nothing may be anything.
TEST_F(LoadedProgramTest, stridesOfSingleElementsDoNotMatter) {
  auto program = load();
  ASSERT_TRUE(program);
  Tensor single = tensor(1, 300);
  single.strides[0] = 7;
  arguments[0] = arguments[1] = single;
  Status status = run(**program);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(state->maps[0].strides[1] % 16, 0u);
}

namespace {
struct BadArgument {
  const char *message;
  std::function<void(std::vector<Argument> &)> spoil;
};
Tensor &tensorOf(Argument &argument) { return std::get<Tensor>(argument); }
} // namespace

TEST_F(LoadedProgramTest, refusesBadArgumentsByName) {
  auto program = load();
  ASSERT_TRUE(program);
  const std::vector<BadArgument> cases = {
      {"expected 4 arguments of sample, got 3", [](auto &a) { a.pop_back(); }},
      {"argument 'left': expected an integer, got a float", [](auto &a) { a[2] = 1.5; }},
      // A width in device memory would have to be read back: it is refused.
      {"argument 'left': expected an integer, got a tensor", [](auto &a) { a[2] = a[0]; }},
      {"argument 'scale': expected a float, got an integer", [](auto &a) { a[3] = int64_t{1}; }},
      {"argument 'q': expected a tensor, got an integer", [](auto &a) { a[0] = int64_t{1}; }},
      {"argument 'k': expected elements of type f16, got bf16",
       [](auto &a) { tensorOf(a[1]).type = ElementType::BF16; }},
      {"argument 'q': expected 3 axes, got 2", [](auto &a) { tensorOf(a[0]).shape.pop_back(); }},
      {"argument 'q': expected one stride for each of 3 axes, got 2",
       [](auto &a) { tensorOf(a[0]).strides.pop_back(); }},
      {"argument 'k': expected shape ?x?x64, got 2x300x63",
       [](auto &a) { tensorOf(a[1]).shape[2] = 63; }},
      {"argument 'k': expected shape ?x?x64, got 2x-1x64",
       [](auto &a) { tensorOf(a[1]).shape[1] = -1; }},
      {"argument 'q': expected an address in device memory, got null",
       [](auto &a) { tensorOf(a[0]).data = nullptr; }},
      {"argument 'q': expected an address that is a multiple of 2 bytes, got 0x7001",
       [](auto &a) { tensorOf(a[0]).data = reinterpret_cast<void *>(0x7001); }},
      {"argument 'k': expected an address that is a multiple of 16 bytes, got 0x7008",
       [](auto &a) { tensorOf(a[1]).data = reinterpret_cast<void *>(0x7008); }},
      {"argument 'k': expected elements of the last axis side by side, got stride 2",
       [](auto &a) { tensorOf(a[1]).strides[2] = 2; }},
      {"argument 'k': expected strides that are multiples of 8 elements (16 bytes), got 65",
       [](auto &a) { tensorOf(a[1]).strides[1] = 65; }},
      {"argument 'q': expected strides of 0 to 2^40 bytes, got -64 elements",
       [](auto &a) { tensorOf(a[0]).strides[1] = -64; }},
      {"expected left of at least 0, got -1", [](auto &a) { a[2] = int64_t{-1}; }},
  };
  // What was accepted once is remembered; nothing that differs is.
  ASSERT_TRUE(run(**program));
  state->launches.clear();
  for (const BadArgument &bad : cases) {
    std::vector<Argument> good = arguments;
    bad.spoil(arguments);
    Status status = run(**program);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << bad.message;
    EXPECT_EQ(status.message(), bad.message);
    arguments = good;
  }
  EXPECT_TRUE(state->launches.empty());
  // Nothing that a refused run allocated is left; one buffer is the program's own.
  EXPECT_EQ(state->liveAllocations, 1);
}

TEST_F(LoadedProgramTest, refusesOtherGpus) {
  state->major = 8;
  auto program = load();
  ASSERT_FALSE(program);
  EXPECT_EQ(program.status().code(), StatusCode::Unsupported);
  EXPECT_EQ(program.status().message(), "expected a GPU of compute capability 9.0 (sm_90a), got "
                                        "Fake GPU of compute capability 8.0");
  DeviceProperties later{.name = "later", .computeMajor = 9, .computeMinor = 1};
  EXPECT_FALSE(checkArchitecture("sm_90a", later));
  EXPECT_TRUE(checkArchitecture("sm_90", later));
  EXPECT_FALSE(checkArchitecture("sm_92", later));
  EXPECT_TRUE(checkArchitecture("sm_90f", later));
  EXPECT_EQ(checkArchitecture("hopper", later).code(), StatusCode::Corrupt);
}

TEST_F(LoadedProgramTest, needsNvrtcForSources) {
  Program source = sampleProgram();
  source.kernels[0].cubin.clear();
  auto program = load(source);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.status().code(), StatusCode::Missing);
  EXPECT_THAT(program.status().message(), HasSubstr("kernel 'fwd' has no machine code"));
}

// A second kernel writes part of what the first has made: same memory, one allocation.
TEST_F(LoadedProgramTest, laterLaunchesOverwriteInPart) {
  Program two = sampleProgram();
  two.kernels.push_back({sampleKernel("rest"), "", "machine code"});
  two.launches.push_back({1, {0, 1, 2, 3}, {4, 5}});
  two.results = {6};
  auto program = load(two);
  ASSERT_TRUE(program) << program.status().message();
  state->calls.clear();
  std::vector<Tensor> results(1);
  Status status = (*program)->run(nullptr, arguments, results);
  ASSERT_TRUE(status) << status.message();
  // The second output is no result: it goes back after the last launch.
  EXPECT_THAT(state->calls, ElementsAre("allocate 76800", "allocate 2400", "words 0", "launch fwd",
                                        "launch rest", "free"));
  EXPECT_EQ(state->launches[0].fields[0], state->launches[1].fields[0]);
  (*program)->allocator().release(results[0].data, nullptr);
}

TEST_F(LoadedProgramTest, refusesResultsThatAreNotComputed) {
  Program program = sampleProgram();
  program.results = {0};
  EXPECT_EQ(load(program).status().message(),
            "expected result 0 of sample to be computed, got argument 'q'");
  program.results = {4, 4};
  EXPECT_THAT(load(program).status().message(), HasSubstr("in the same memory"));
}

// After a failed launch nothing is left allocated, and the message has the kernel and the call.
TEST_F(LoadedProgramTest, failuresOfTheDriverLeaveNothing) {
  auto program = load();
  ASSERT_TRUE(program);
  // The maps come first: later runs may find the ones of an address that is used again.
  // So do counters, whose ring is zeroed once per round.
  for (const char *call : {"cuTensorMapEncodeTiled", "cuMemsetD32Async", "cuLaunchKernelEx",
                           "cuMemAllocFromPoolAsync"}) {
    state->failingCall = call;
    std::vector<Tensor> results(2);
    Status status = (*program)->run(nullptr, arguments, results);
    EXPECT_EQ(status.code(), StatusCode::Device);
    EXPECT_THAT(status.message(), HasSubstr(std::string(call) + " failed"));
    EXPECT_EQ(state->liveAllocations, 1);
    EXPECT_EQ(results[0].data, nullptr);
  }
}

// What does not fit is refused before anything is allocated.
TEST_F(LoadedProgramTest, refusesSizesBeyondTheMachine) {
  Program program = sampleProgram();
  program.kernels[0].manifest.blocksPerMultiprocessor = 0;
  auto loaded = load(program);
  ASSERT_TRUE(loaded);
  arguments[0] = arguments[1] = tensor(int64_t{1} << 32, 1);
  std::vector<Tensor> results = {
      tensor(int64_t{1} << 32, 1),
      {ElementType::F32, {int64_t{1} << 32, 1}, {1, 1}, reinterpret_cast<void *>(0x9000)}};
  EXPECT_THAT((*loaded)->run(nullptr, arguments, results).message(),
              HasSubstr("expected at most 2^31 - 1 blocks, got 4294967296"));
  // One row that all batches share: legal strides, too many results.
  Tensor shared = tensor(1, 1);
  shared.shape[0] = int64_t{1} << 60;
  shared.strides[0] = 0;
  arguments[0] = arguments[1] = shared;
  std::vector<Tensor> fresh(2);
  EXPECT_THAT((*loaded)->run(nullptr, arguments, fresh).message(),
              HasSubstr("expected fewer than 2^63 bytes"));
  EXPECT_TRUE(state->launches.empty());
}

// Memory comes from a pool that keeps some; it is made when it is needed first, and no failure
// leaves half of it.
TEST_F(LoadedProgramTest, poolOfItsOwn) {
  auto program = load();
  ASSERT_TRUE(program);
  EXPECT_EQ(state->pools, 0);
  for (const char *call : {"cuMemPoolCreate", "cuMemPoolSetAttribute"}) {
    state->failingCall = call;
    EXPECT_THAT(run(**program).message(), HasSubstr(std::string(call) + " failed"));
    EXPECT_EQ(state->pools, 0);
  }
  state->failingCall.clear();
  ASSERT_TRUE(run(**program));
  ASSERT_TRUE(run(**program));
  EXPECT_EQ(state->pools, 1);
  EXPECT_EQ(state->keptBytes, uint64_t{256} << 20);
  program->reset();
  EXPECT_EQ(state->pools, 0);
}
