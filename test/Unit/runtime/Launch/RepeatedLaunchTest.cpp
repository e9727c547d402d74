//===- RepeatedLaunchTest.cpp - what a program remembers of launches -------===//
#include "lacuna/Metrics.h"
#include "test/Unit/runtime/CountAllocations.h"
#include "test/Unit/runtime/Launch/LoadedProgramFixture.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <gmock/gmock.h>
#include <iostream>

using namespace lacuna;
using testing::ElementsAre;

namespace {
class RepeatedLaunchTest : public LoadedProgramFixture {
protected:
  /// The map that parameter `index` of the latest launch was.
  const fake::Map &mapOf(size_t index) const {
    return state->maps[state->launches.back().maps[index]];
  }
};
} // namespace

TEST_F(RepeatedLaunchTest, mapsAreRemembered) {
  auto program = load();
  ASSERT_TRUE(program);
  std::vector<Tensor> results = givenResults(2, 300);
  for (int repeat = 0; repeat < 3; ++repeat)
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
  EXPECT_EQ(state->maps.size(), 3u);
  EXPECT_THAT(state->launches[2].maps, ElementsAre(0, 1, 2));
  // Another address moves one map; the remembered ones stay where they are.
  for (uint64_t repeat = 0; repeat < 20; ++repeat) {
    results[0].data = reinterpret_cast<void *>(0x10000 + repeat * 16);
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
    EXPECT_EQ(mapOf(2).address, 0x10000 + repeat * 16);
    EXPECT_EQ(mapOf(0).address, 0x7000000000u);
  }
  EXPECT_EQ(state->maps.size(), 23u);
}

// More shapes than are remembered, each at addresses of its own, in turns.
TEST_F(RepeatedLaunchTest, shapesAndAddressesInTurns) {
  auto program = load();
  ASSERT_TRUE(program);
  for (uint64_t round = 0; round < 3; ++round)
    for (int64_t rows = 1; rows < 40; ++rows) {
      uint64_t address = 0x100000 * static_cast<uint64_t>(rows) + 0x1000 * round;
      arguments = {tensor(2, rows, address), tensor(2, 7 * rows, address + 16), rows, 0.5};
      std::vector<Tensor> results = givenResults(2, rows);
      ASSERT_TRUE((*program)->run(nullptr, arguments, results));
      EXPECT_EQ(mapOf(0).address, address);
      EXPECT_EQ(mapOf(1).address, address + 16);
      EXPECT_THAT(mapOf(0).extents, ElementsAre(64, rows, 2));
      EXPECT_THAT(mapOf(1).extents, ElementsAre(64, 7 * rows, 2));
      EXPECT_EQ(state->launches.back().fields[1], static_cast<uint64_t>(rows));
    }
}

// Numbers are part of what is remembered: another one is another launch, and needs no compiler.
TEST_F(RepeatedLaunchTest, numbersChange) {
  auto program = load();
  ASSERT_TRUE(program);
  std::vector<Tensor> results = givenResults(2, 300);
  for (double scale : {0.5, 0.25, 0.5, -0.0, 0.0}) {
    arguments[3] = scale;
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
    uint64_t bits = 0;
    std::memcpy(&bits, &scale, sizeof(bits));
    EXPECT_EQ(state->launches.back().fields[2], bits);
  }
  for (int64_t left : {0, -1, 5, -1}) {
    arguments[2] = left;
    EXPECT_EQ((*program)->run(nullptr, arguments, results).isOk(), left >= 0) << left;
  }
}

// A length in device memory would have to be read back, or be a key that never fits: it is refused.
// Plain lengths load and compile nothing.
TEST_F(RepeatedLaunchTest, I7_lengthsArePlainValues) {
  auto program = load();
  ASSERT_TRUE(program);
  std::vector<Tensor> results = givenResults(2, 300);
  auto loads = [&] { return std::ranges::count(state->calls, "load"); };
  auto before = loads();
  uint64_t compiles = metrics().compiles + metrics().failedCompiles;
  for (int64_t left = 0; left < 100; ++left) {
    arguments[2] = left;
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
  }
  EXPECT_EQ(loads(), before);
  EXPECT_EQ(metrics().compiles + metrics().failedCompiles, compiles);
  Tensor scalar;
  scalar.type = ElementType::I64;
  scalar.data = reinterpret_cast<void *>(0x7000);
  arguments[2] = scalar;
  EXPECT_EQ((*program)->run(nullptr, arguments, results).message(),
            "argument 'left': expected an integer, got a tensor");
}

// A result that the caller gave once is allocated when he gives none.
TEST_F(RepeatedLaunchTest, resultsGivenAndNot) {
  auto program = load();
  ASSERT_TRUE(program);
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> results = givenResults(2, 300);
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
    EXPECT_EQ(state->launches.back().fields[0], 0x9000u);
    results[1] = Tensor();
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
    EXPECT_EQ(results[0].data, reinterpret_cast<void *>(0x8000));
    EXPECT_THAT(results[1].shape, ElementsAre(2, 300));
    EXPECT_EQ(state->launches.back().fields[0], reinterpret_cast<uint64_t>(results[1].data));
    (*program)->allocator().release(results[1].data, nullptr);
  }
}

// Arguments that are too many to remember are checked anew each time.
TEST_F(RepeatedLaunchTest, manyArguments) {
  Program many = sampleProgram();
  for (int extra = 0; extra < 100; ++extra)
    many.arguments.push_back({"x" + std::to_string(extra),
                              ArgumentDeclaration::Kind::Tensor,
                              ElementType::F16,
                              {-1, -1, 64}});
  many.launches[0].into = {-1, -1};
  many.results = {104, 105};
  auto program = load(many);
  ASSERT_TRUE(program) << program.status().message();
  for (int extra = 0; extra < 100; ++extra)
    arguments.emplace_back(tensor(1, extra));
  std::vector<Tensor> results = givenResults(2, 300);
  for (int repeat = 0; repeat < 3; ++repeat)
    ASSERT_TRUE((*program)->run(nullptr, arguments, results));
  EXPECT_EQ(state->maps.size(), 9u);
  std::get<Tensor>(arguments.back()).shape[2] = 63;
  EXPECT_EQ((*program)->run(nullptr, arguments, results).message(),
            "argument 'x99': expected shape ?x?x64, got 1x99x63");
}

namespace {
/// Hands out one address.
class FixedAllocator final : public DeviceAllocator {
public:
  explicit FixedAllocator(uint64_t address) : address(address) {}
  Result<void *> allocate(size_t, CUstream_st *) override {
    return reinterpret_cast<void *>(address);
  }
  void release(void *, CUstream_st *) noexcept override { ++released; }
  uint64_t address;
  int released = 0;
};
} // namespace

TEST_F(RepeatedLaunchTest, allocatorsMustAlign) {
  auto allocator = std::make_shared<FixedAllocator>(0x10010);
  LoadOptions options;
  options.allocator = allocator;
  auto program = load(sampleProgram(), options);
  ASSERT_TRUE(program);
  std::vector<Tensor> results(2);
  EXPECT_EQ((*program)->run(nullptr, arguments, results).message(),
            "expected the allocator to align memory to 256 bytes, got 0x10010");
  EXPECT_EQ(allocator->released, 1);
  EXPECT_TRUE(state->launches.empty());
}

// A million launches neither allocate nor grow. Five microseconds are the budget of one on a GPU,
// of which the driver needs two to three.
TEST_F(RepeatedLaunchTest, aMillionLaunches) {
  auto program = load();
  ASSERT_TRUE(program);
  std::vector<Tensor> results = givenResults(2, 300);
  auto *stream = reinterpret_cast<driver::Stream>(0x10);
  ASSERT_TRUE((*program)->run(stream, arguments, results));
  state->recording = false;
  constexpr int repeats = 1000000;
  int64_t before = countAllocations().value_or(0);
  auto start = std::chrono::steady_clock::now();
  bool good = true;
  for (int repeat = 0; repeat < repeats; ++repeat)
    good &= (*program)->run(stream, arguments, results).isOk();
  std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(good);
  EXPECT_EQ(countAllocations().value_or(0), before);
  std::cout << "sample: " << spent.count() / repeats << " ns\n";
  // Under a sanitizer, which counts no allocations, the time says nothing.
  if (countAllocations())
    EXPECT_LT(spent.count() / repeats, 10e3);
}
