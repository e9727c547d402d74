//===- RuntimeTest.cpp - the public interface, on the fake and on a GPU ----===//
#include "lacuna/Runtime.h"

#include "test/Unit/runtime/FakeDriverTest.h"
#include "test/Unit/runtime/Launch/SampleProgram.h"

#include <cstdlib>
#include <gmock/gmock.h>

using namespace lacuna;
using testing::HasSubstr;

namespace {
class RuntimeTest : public FakeDriverTest {
protected:
  static GpuOptions fakeOptions() {
    GpuOptions options;
    options.driverLibrary = LACUNA_FAKE_DRIVER;
    return options;
  }
};
} // namespace

TEST_F(RuntimeTest, runsAndTimes) {
  auto gpu = Gpu::open(fakeOptions());
  ASSERT_TRUE(gpu) << gpu.status().message();
  EXPECT_EQ(gpu->name(), "Fake GPU");
  EXPECT_EQ(gpu->architecture(), "sm_90");
  auto program = gpu->load(sampleProgram());
  ASSERT_TRUE(program) << program.status().message();
  OwnedTensor host(ElementType::F16, {1, 8, 64});
  host.view().set({0, 3, 5}, 1.5);
  auto q = gpu->upload(host.view());
  ASSERT_TRUE(q);
  std::vector<Argument> arguments = {*q, *q, int64_t{3}, 1.0};
  std::vector<Tensor> results(2);
  state->mapCount = 3;
  auto work = [&](CUstream_st *stream) { return program->run(stream, arguments, results); };
  auto seconds = gpu->time(work);
  ASSERT_TRUE(seconds) << seconds.status().message();
  EXPECT_DOUBLE_EQ(*seconds, 2.5e-3);
  auto cold = gpu->timeCold(3, work);
  ASSERT_TRUE(cold);
  EXPECT_EQ(cold->size(), 3u);
  EXPECT_EQ(state->launches.size(), 4u);
  auto back = gpu->download(*q);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->view().at({0, 3, 5}), 1.5);
  for (Tensor *tensor : {&*q, &results[0], &results[1]})
    gpu->free(*tensor);
}

TEST_F(RuntimeTest, failsWithoutDriverOrCompiler) {
  GpuOptions options;
  options.driverLibrary = "libno-such-driver.so.1";
  EXPECT_EQ(Gpu::open(options).status().code(), StatusCode::Missing);
  options = fakeOptions();
  options.nvrtc = "libno-such-nvrtc.so";
  auto gpu = Gpu::open(options);
  ASSERT_TRUE(gpu);
  Program program = sampleProgram();
  program.kernels[0].cubin.clear();
  auto loaded = gpu->load(program);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.status().code(), StatusCode::Missing);
  EXPECT_THAT(loaded.status().message(), HasSubstr("libno-such-nvrtc.so"));
}

namespace {
/// Counts what it hands out.
class CountingAllocator final : public DeviceAllocator {
public:
  Result<void *> allocate(size_t bytes, CUstream_st *) override {
    ++given;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void release(void *memory, CUstream_st *) noexcept override {
    --given;
    std::free(memory);
  }
  int given = 0;
};
} // namespace

// Results and memory between kernels come from the application when it says so.
TEST_F(RuntimeTest, memoryOfTheApplication) {
  auto allocator = std::make_shared<CountingAllocator>();
  GpuOptions options = fakeOptions();
  options.allocator = allocator;
  auto gpu = Gpu::open(options);
  ASSERT_TRUE(gpu);
  Program two = sampleProgram();
  two.kernels.push_back({sampleKernel("rest"), "", "machine code"});
  two.launches.push_back({1, {0, 1, 2, 3}, {4, 5}});
  two.results = {6};
  auto program = gpu->load(two);
  ASSERT_TRUE(program) << program.status().message();
  state->mapCount = 3;
  Tensor q{ElementType::F16, {1, 8, 64}, {512, 64, 1}, reinterpret_cast<void *>(0x1000)};
  std::vector<Argument> arguments = {q, q, int64_t{3}, 1.0};
  std::vector<Tensor> results(1);
  state->calls.clear();
  ASSERT_TRUE(program->run(nullptr, arguments, results));
  EXPECT_EQ(allocator->given, 1);
  EXPECT_THAT(state->calls, testing::Each(testing::Not(testing::StartsWith("allocate"))));
  allocator->release(results[0].data, nullptr);
}
