//===- StreamsTest.cpp - streams, graphs, GPUs and threads -----------------===//
#include "test/Unit/runtime/Launch/LoadedProgramFixture.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>
#include <thread>

using namespace lacuna;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class StreamsTest : public LoadedProgramFixture {
protected:
  static driver::Stream streamAt(uint64_t address) {
    return reinterpret_cast<driver::Stream>(address);
  }
  /// Where the counter of a launch on `stream` was, after it was checked and used up.
  uint64_t counterOn(const LoadedProgram &program, driver::Stream stream) {
    std::vector<Tensor> results = givenResults(2, 300);
    Status status = program.run(stream, arguments, results);
    EXPECT_TRUE(status) << status.message();
    if (!status)
      return 0;
    uint64_t address = state->launches.back().fields[3];
    EXPECT_EQ(*reinterpret_cast<unsigned *>(address), 0u);
    *reinterpret_cast<unsigned *>(address) = 7; // As a kernel leaves it.
    return address;
  }
  int64_t zeroings() const {
    return std::count(state->calls.begin(), state->calls.end(), "words 0");
  }
};
} // namespace

// Every launch has a counter that was zeroed since it was used last; a captured launch shares it
// with nobody and zeroes it by itself.
TEST_F(StreamsTest, countersAreZero) {
  auto program = load();
  ASSERT_TRUE(program);
  std::set<uint64_t> ofOne, ofTwo, captured;
  for (int launch = 0; launch < 300; ++launch) {
    ofOne.insert(counterOn(**program, streamAt(0x10)));
    ofTwo.insert(counterOn(**program, streamAt(0x20)));
  }
  int64_t before = zeroings();
  EXPECT_LT(before, 10);
  state->capturing = true;
  for (int launch = 0; launch < 50; ++launch)
    captured.insert(counterOn(**program, streamAt(0x10)));
  EXPECT_EQ(captured.size(), 50u);
  EXPECT_EQ(zeroings(), before + 50);
  std::set<uint64_t> all = ofOne;
  all.insert(ofTwo.begin(), ofTwo.end());
  all.insert(captured.begin(), captured.end());
  EXPECT_EQ(all.size(), ofOne.size() + ofTwo.size() + captured.size());
}

// Graphs that are destroyed give their counters back: capturing again and again has no end.
TEST_F(StreamsTest, graphsGiveCountersBack) {
  auto program = load();
  ASSERT_TRUE(program);
  state->capturing = true;
  std::set<uint64_t> first, later;
  for (int launch = 0; launch < 5; ++launch)
    first.insert(counterOn(**program, streamAt(0x10)));
  EXPECT_EQ(state->kept.size(), 5u);
  for (int graph = 0; graph < 100; ++graph) {
    state->destroyGraphs();
    for (int launch = 0; launch < 5; ++launch)
      later.insert(counterOn(**program, streamAt(0x10)));
  }
  EXPECT_EQ(first, later);
}

TEST_F(StreamsTest, graphsHoldOnlySoMany) {
  auto program = load();
  ASSERT_TRUE(program);
  state->capturing = true;
  state->recording = false;
  std::vector<Tensor> results = givenResults(2, 300);
  for (int launch = 0; launch < 65536; ++launch)
    ASSERT_TRUE((*program)->run(streamAt(0x10), arguments, results));
  EXPECT_EQ((*program)->run(streamAt(0x10), arguments, results).message(),
            "kernel 'fwd': expected graphs to hold at most 65536 launches at a time");
  state->destroyGraphs();
  EXPECT_TRUE((*program)->run(streamAt(0x10), arguments, results));
}

// Programs that share counters get different ones on one stream.
TEST_F(StreamsTest, programsShareCounters) {
  auto device = openDevice();
  ASSERT_TRUE(device);
  auto counters = WorkCounters::create(*device);
  ASSERT_TRUE(counters);
  LoadOptions options;
  options.counters = *counters;
  auto one = LoadedProgram::load(*device, sampleProgram(), options);
  auto two = LoadedProgram::load(*device, sampleProgram(), options);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(state->liveAllocations, 1);
  std::set<uint64_t> used;
  for (int launch = 0; launch < 60; ++launch)
    for (const LoadedProgram *program : {one->get(), two->get()})
      used.insert(counterOn(*program, streamAt(0x10)));
  EXPECT_EQ(used.size(), 120u);
  EXPECT_EQ(zeroings(), 1);
}

// A graph may outlive the program, though it cannot run any more.
TEST_F(StreamsTest, graphsOutliveTheProgram) {
  auto program = load();
  ASSERT_TRUE(program);
  state->capturing = true;
  counterOn(**program, streamAt(0x10));
  program->reset();
  state->destroyGraphs();
  EXPECT_TRUE(state->kept.empty());
}

TEST_F(StreamsTest, failuresWhileCapturing) {
  auto program = load();
  ASSERT_TRUE(program);
  state->capturing = true;
  uint64_t counter = counterOn(**program, streamAt(0x10));
  state->destroyGraphs();
  for (const char *call :
       {"cuStreamGetCaptureInfo", "cuUserObjectCreate", "cuGraphRetainUserObject"}) {
    state->failingCall = call;
    std::vector<Tensor> results = givenResults(2, 300);
    EXPECT_THAT((*program)->run(streamAt(0x10), arguments, results).message(),
                HasSubstr(std::string(call) + " failed"));
  }
  state->failingCall.clear();
  // No failure has lost the counter.
  EXPECT_EQ(counterOn(**program, streamAt(0x10)), counter);
}

// A replayed graph has the addresses that it was captured with; another capture has others.
TEST_F(StreamsTest, capturesHaveTheirAddresses) {
  auto program = load();
  ASSERT_TRUE(program);
  state->capturing = true;
  std::vector<Tensor> results = givenResults(2, 300);
  state->calls.clear();
  for (uint64_t address : {0x100000u, 0x200000u}) {
    arguments[0] = tensor(2, 300, address);
    ASSERT_TRUE((*program)->run(streamAt(0x10), arguments, results));
    EXPECT_EQ(state->maps[state->launches.back().maps[0]].address, address);
  }
  EXPECT_THAT(state->calls, Not(testing::Contains(testing::StartsWith("allocate "))));
}

// More streams than there are rings: each launch of the others allocates its counter.
TEST_F(StreamsTest, anyNumberOfStreams) {
  auto program = load();
  ASSERT_TRUE(program);
  for (uint64_t stream = 1; stream <= 1024; ++stream)
    counterOn(**program, streamAt(stream * 16));
  EXPECT_EQ(state->liveAllocations, 1);
  state->calls.clear();
  std::vector<Tensor> results = givenResults(2, 300);
  ASSERT_TRUE((*program)->run(streamAt(0x99990), arguments, results));
  EXPECT_THAT(state->calls, ElementsAre("allocate 4", "words 0", "launch fwd", "free"));
  for (const char *call : {"cuMemAllocAsync", "cuMemsetD32Async", "cuLaunchKernelEx"}) {
    state->failingCall = call;
    EXPECT_FALSE((*program)->run(streamAt(0x99990), arguments, results));
    EXPECT_EQ(state->liveAllocations, 1);
  }
}

// Each program launches on its own GPU, whatever is current, and leaves that as it was.
TEST_F(StreamsTest, severalGpus) {
  state->devices = 2;
  std::vector<std::unique_ptr<LoadedProgram>> programs;
  std::vector<std::shared_ptr<const Device>> devices;
  for (int ordinal : {0, 1}) {
    auto device = openDevice(ordinal);
    ASSERT_TRUE(device) << device.status().message();
    devices.push_back(*device);
    auto program = LoadedProgram::load(*device, sampleProgram(), {});
    ASSERT_TRUE(program) << program.status().message();
    programs.push_back(std::move(*program));
  }
  state->places = {{0x100000, 0}, {0x200000000, 1}};
  const driver::Context contexts[] = {nullptr, devices[0]->context(), devices[1]->context()};
  const Driver &api = devices[0]->driver();
  for (driver::Context outer : contexts) {
    if (outer)
      ASSERT_EQ(api.contextPush(outer), driver::success);
    for (int ordinal : {0, 1}) {
      uint64_t address = ordinal ? 0x200000000 : 0x100000;
      std::vector<Argument> mine = {tensor(2, 300, address), tensor(2, 300, address), int64_t{0},
                                    0.5};
      std::vector<Tensor> results = {tensor(2, 300, address), givenResults(2, 300)[1]};
      results[1].data = results[0].data;
      Status status = programs[static_cast<size_t>(ordinal)]->run(nullptr, mine, results);
      ASSERT_TRUE(status) << status.message();
      EXPECT_EQ(state->launches.back().device, ordinal);
      driver::Context now = nullptr;
      ASSERT_EQ(api.contextCurrent(&now), driver::success);
      EXPECT_EQ(now, outer);
    }
    driver::Context popped = nullptr;
    if (outer)
      ASSERT_EQ(api.contextPop(&popped), driver::success);
  }
}

// Memory of another GPU and of the host is refused by name, whether or not the shape was seen
// before; the driver is asked once for each granule of two megabytes.
TEST_F(StreamsTest, memoryOfOtherPlaces) {
  auto program = load();
  ASSERT_TRUE(program);
  constexpr uint64_t other = 0x100000000, host = 0x200000000, managed = 0x300000000,
                     pinned = 0x400000000;
  state->places = {{other, 1},
                   {host, fake::State::unknown},
                   {managed, fake::State::managed},
                   {pinned, fake::State::pinned}};
  auto runAt = [&](uint64_t query, uint64_t result) {
    arguments = {tensor(2, 300, query), tensor(2, 300, 0x1000), int64_t{0}, 0.5};
    std::vector<Tensor> results = {tensor(2, 300, result), givenResults(2, 300)[1]};
    return (*program)->run(streamAt(0x10), arguments, results).message();
  };
  EXPECT_EQ(runAt(other, 0x1000), "argument 'q': expected memory of GPU 0, got memory of GPU 1");
  EXPECT_EQ(runAt(0x1000, 0x1000), "");
  EXPECT_EQ(runAt(other, 0x1000), "argument 'q': expected memory of GPU 0, got memory of GPU 1");
  EXPECT_EQ(runAt(0x1000, other), "result 0: expected memory of GPU 0, got memory of GPU 1");
  EXPECT_EQ(runAt(host, 0x1000), "argument 'q': expected memory of GPU 0, got 0x200000000, which "
                                 "the driver does not know");
  EXPECT_EQ(runAt(managed, 0x1000), "");
  EXPECT_EQ(runAt(pinned, managed), "");
  EXPECT_EQ(state->launches.size(), 3u);
  int64_t before = state->questions;
  for (uint64_t offset = 0; offset < 0x200000; offset += 0x1000)
    EXPECT_EQ(runAt(managed + offset, pinned), "");
  EXPECT_EQ(state->questions, before);
  // What has no element has no place.
  arguments[0] = Tensor{ElementType::F16, {2, 0, 64}, {0, 64, 1}, reinterpret_cast<void *>(host)};
  EXPECT_TRUE(run(**program));
}

// Threads launch one program on streams of their own and on one that they share, with other shapes
// and addresses: each launch is worked out as if it were alone.
TEST_F(StreamsTest, manyThreads) {
  auto program = load();
  ASSERT_TRUE(program);
  constexpr int threads = 8, launches = 200;
  std::vector<std::thread> running;
  std::atomic<int> failures = 0;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      for (int launch = 0; launch < launches; ++launch) {
        int64_t rows = 1 + (thread + launch) % 24;
        auto address =
            0x100000 * static_cast<uint64_t>(rows) + 0x1000 * static_cast<uint64_t>(thread);
        std::vector<Argument> mine = {tensor(2, rows, address), tensor(2, rows, address), rows,
                                      0.5};
        std::vector<Tensor> results = givenResults(2, rows);
        driver::Stream stream =
            streamAt(launch % 2 ? 0x10 : 0x100u * static_cast<unsigned>(thread + 1));
        failures += !(*program)->run(stream, mine, results);
      }
    });
  for (std::thread &thread : running)
    thread.join();
  EXPECT_EQ(failures, 0);
  ASSERT_EQ(state->launches.size(), size_t{threads * launches});
  std::map<driver::Stream, std::vector<uint64_t>> counters;
  for (const fake::Launch &launch : state->launches) {
    uint64_t rows = launch.fields[1];
    const fake::Map &map = state->maps[launch.maps[0]];
    EXPECT_EQ(map.extents[1], rows);
    EXPECT_EQ(map.address / 0x100000, rows);
    EXPECT_EQ(map.address, state->maps[launch.maps[1]].address);
    counters[launch.stream].push_back(launch.fields[3]);
  }
  // In the order of a stream, no counter is used twice between two zeroings of its ring.
  for (const auto &[stream, used] : counters)
    for (size_t start = 0; start < used.size(); start += 128) {
      auto end = used.begin() + static_cast<ptrdiff_t>(std::min(start + 128, used.size()));
      std::set<uint64_t> round(used.begin() + static_cast<ptrdiff_t>(start), end);
      EXPECT_EQ(round.size(), std::min<size_t>(128, used.size() - start));
    }
}

// The same with a driver that takes no lock, which would order what threads do: the thread
// sanitizer sees whether the program's own locks suffice.
TEST_F(StreamsTest, manyThreadsInNoOrder) {
  auto program = load();
  ASSERT_TRUE(program);
  state->recording = false;
  std::vector<std::thread> running;
  std::atomic<int> failures = 0;
  for (unsigned thread = 0; thread < 4; ++thread)
    running.emplace_back([&, thread] {
      for (int launch = 0; launch < 2000; ++launch) {
        int64_t rows = 1 + launch / 16 % 20;
        std::vector<Argument> mine = {tensor(2, rows), tensor(2, rows), rows, 0.5};
        std::vector<Tensor> results = givenResults(2, rows);
        failures += !(*program)->run(streamAt(launch % 4 ? 0x100 * thread : 0x10), mine, results);
      }
    });
  for (std::thread &thread : running)
    thread.join();
  EXPECT_EQ(failures, 0);
}
