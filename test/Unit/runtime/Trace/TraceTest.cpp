//===- TraceTest.cpp - counters and ranges ---------------------------------===//
#include "lacuna/Metrics.h"
#include "lib/Support/Log.h"
#include "runtime/Cache/BlobStore.h"
#include "runtime/Trace/Nvtx.h"
#include "test/Unit/runtime/Launch/LoadedProgramFixture.h"
#include "test/Unit/runtime/TestNvrtc.h"

using namespace lacuna;

namespace {
class MetricsTest : public LoadedProgramFixture {};
} // namespace

TEST_F(MetricsTest, countRunsAndMemory) {
  Metrics before = metrics();
  auto program = load();
  ASSERT_TRUE(program);
  EXPECT_EQ(metrics().loadedPrograms, before.loadedPrograms + 1);
  EXPECT_EQ(metrics().loadedKernels, before.loadedKernels + 1);
  ASSERT_TRUE(run(**program));
  ASSERT_TRUE(run(**program));
  arguments[2] = int64_t{-1};
  EXPECT_FALSE(run(**program));
  arguments = {Tensor{ElementType::F16, {2, 0, 64}, {0, 64, 1}, nullptr}, tensor(2, 300),
               int64_t{255}, 0.125};
  ASSERT_TRUE(run(**program)); // No query: nothing to launch.
  Metrics after = metrics();
  EXPECT_EQ(after.runs, before.runs + 3);
  EXPECT_EQ(after.failedRuns, before.failedRuns + 1);
  EXPECT_EQ(after.plannedRuns, before.plannedRuns + 3);
  EXPECT_EQ(after.launches, before.launches + 2);
  EXPECT_EQ(after.allocations, before.allocations + 4);
  EXPECT_EQ(after.allocatedBytes, before.allocatedBytes + 2 * (76800 + 2400));
}

TEST_F(MetricsTest, countCompilations) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  Metrics before = metrics();
  const NvrtcOptions options{.lineInfo = false, .noCache = true, .extra = {}};
  ASSERT_TRUE(nvrtc.compile("extern \"C\" __global__ void k() {}", "k.cu", "sm_90a", options));
  EXPECT_FALSE(nvrtc.compile("neither C nor C++", "k.cu", "sm_90a", options));
  Metrics after = metrics();
  EXPECT_EQ(after.compiles, before.compiles + 1);
  EXPECT_EQ(after.failedCompiles, before.failedCompiles + 1);
  EXPECT_GT(after.compileNanoseconds, before.compileNanoseconds);
}

// What a store did stays when it goes, but for the memory that it held.
TEST(AllStoresTest, sumOverStores) {
  CacheCounters before = metrics().cache;
  CacheKey one{"test", Digest{}};
  auto first = std::make_unique<BlobStore>(CacheOptions());
  BlobStore second{CacheOptions()};
  for (BlobStore *store : {first.get(), &second}) {
    EXPECT_FALSE(store->find(one));
    store->put(one, "12345");
    EXPECT_TRUE(store->find(one));
  }
  CacheCounters both = metrics().cache;
  EXPECT_EQ(both.misses, before.misses + 2);
  EXPECT_EQ(both.memoryHits, before.memoryHits + 2);
  EXPECT_EQ(both.memoryBytes - before.memoryBytes, 2 * second.counters().memoryBytes);
  first.reset();
  CacheCounters after = metrics().cache;
  EXPECT_EQ(after.misses, both.misses);
  EXPECT_EQ(after.memoryBytes - before.memoryBytes, second.counters().memoryBytes);
}

TEST(NvtxTest, toolsAreTold) {
  NvtxCalls calls = loadNvtx(LACUNA_FAKE_PROFILER);
  ASSERT_TRUE(calls.push && calls.pop);
  calls.push("outer");
  calls.push("inner");
  calls.pop();
  calls.pop();
  auto tool = DynamicLibrary::open(LACUNA_FAKE_PROFILER);
  ASSERT_TRUE(tool);
  auto told = reinterpret_cast<const char *(*)()>(tool->find("fakeProfilerTold"));
  EXPECT_STREQ(told(), "(outer(inner))");
}

TEST(NvtxTest, noToolNoRanges) {
  std::string said;
  LogLevel before = logLevel();
  setLogLevel(LogLevel::Info);
  setLogSink([&](LogLevel, std::string_view text) { said += std::string(text) + "\n"; });
  EXPECT_FALSE(loadNvtx("").push);
  EXPECT_FALSE(loadNvtx("/nonexistent/tool.so").push);
  EXPECT_FALSE(loadNvtx(LACUNA_FAKE_DRIVER).push);
  setLogSink({});
  setLogLevel(before);
  EXPECT_EQ(said.find("no NVTX ranges: /nonexistent/tool.so"), 0u) << said;
  EXPECT_NE(said.find("liblacuna-fake-driver.so does not start"), std::string::npos) << said;
}
