//===- RuntimeTest.cpp - the public interface, on the fake and on a GPU ----===//
#include "lacuna/Runtime.h"

#include "test/Unit/runtime/FakeDriverTest.h"
#include "test/Unit/runtime/Launch/SampleProgram.h"
#include "test/Unit/runtime/TestNvrtc.h"

#include <chrono>
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

/// A kernel that copies boxes of 8 x 64 through shared memory and adds a number; persistent.
static const char *copySource = R"(
struct alignas(64) TensorMap { unsigned long long opaque[16]; };
struct Arguments { int *counter; long long items; double add; float *rows; };
extern "C" __global__ void __launch_bounds__(128)
fwd(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to,
    const __grid_constant__ Arguments args) {
  __shared__ alignas(1024) float stage[8 * 32];
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ int next;
  unsigned bar = __cvta_generic_to_shared(&barrier), at = __cvta_generic_to_shared(stage);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  unsigned phase = 0;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0)
      next = atomicAdd(args.counter, 1);
    __syncthreads();
    int item = next;
    if (item >= args.items)
      break;
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(bar));
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                   "[%0], [%1, {%2, %3}], [%4];" ::"r"(at), "l"(&from), "r"(0), "r"(item * 8),
                   "r"(bar) : "memory");
    }
    unsigned done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; "
                   "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(phase) : "memory");
    phase ^= 1;
    for (int i = threadIdx.x; i < 256; i += 128)
      stage[i] += float(args.add);
    if (threadIdx.x < 8)
      args.rows[item * 8 + threadIdx.x] = item;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::
                   "l"(&to), "r"(0), "r"(item * 8), "r"(at) : "memory");
      asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
}
)";

/// fwd(x: n x 32 of f32, add) -> n x 32 of f32, and rows rounded up to 8 of f32.
static Program copyProgram() {
  using Op = HostInstruction::Op;
  using Kind = ArgumentField::Kind;
  KernelManifest manifest;
  manifest.symbol = "fwd";
  manifest.threads = 128;
  manifest.inputs = 2;
  HostBuilder host{manifest.host};
  unsigned n = host.add(Op::Extent, 0, 0), d = host.add(Op::Extent, 0, 1);
  unsigned eight = host.add(Op::Constant, 8), items = host.add(Op::CeilDiv, n, eight);
  unsigned rows = host.add(Op::Mul, items, eight);
  unsigned from = host.add(Op::Stride, 0, 0), to = host.add(Op::Stride, 2, 0);
  manifest.grid = {items};
  manifest.outputs = {{ElementType::F32, {n, d}}, {ElementType::F32, {rows}}};
  for (auto [tensor, stride] : {std::pair(0u, from), std::pair(2u, to)}) {
    TensorMapRecipe map;
    map.tensor = tensor;
    map.axes = {{d, 0, 32}, {n, stride, 8}};
    map.swizzle = TensorMapRecipe::Swizzle::None;
    manifest.maps.push_back(map);
  }
  manifest.fields = {
      {Kind::WorkCounter, 0}, {Kind::Integer, items}, {Kind::Float, 1}, {Kind::Pointer, 3}};
  Program program;
  program.name = "copy";
  program.architecture = "sm_90a";
  program.arguments = {{"x", ArgumentDeclaration::Kind::Tensor, ElementType::F32, {-1, 32}},
                       {"add", ArgumentDeclaration::Kind::Float, ElementType::F64, {}}};
  program.kernels = {{manifest, copySource, ""}};
  program.launches = {{0, {0, 1}, {-1, -1}}};
  program.results = {2, 3};
  return program;
}

/// Opens the machine's own Hopper GPU, or skips.
#define LACUNA_GPU_OR_SKIP(gpu)                                                                    \
  auto gpu##Options = GpuOptions::fromEnvironment();                                               \
  ASSERT_TRUE(gpu##Options);                                                                       \
  auto gpu##Result = Gpu::open(*gpu##Options);                                                     \
  if (!gpu##Result)                                                                                \
    GTEST_SKIP() << gpu##Result.status().message();                                                \
  const Gpu &gpu = *gpu##Result;                                                                   \
  if (gpu.architecture() != "sm_90")                                                               \
  GTEST_SKIP() << "this GPU is of another generation: " << gpu.architecture()

TEST(RuntimeOnGpu, sourceOfTheTestCompiles) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  auto output = nvrtc.compile(copySource, "fwd.cu", "sm_90a",
                              {.lineInfo = false, .noCache = true, .extra = {}});
  ASSERT_TRUE(output) << output.status().message();
  EXPECT_FALSE(output->report.spills());
}

// Rows that end inside a box, a strided input, another length without another compilation.
TEST(RuntimeOnGpu, copiesThroughTensorMaps) {
  LACUNA_GPU_OR_SKIP(gpu);
  auto program = gpu.load(copyProgram());
  ASSERT_TRUE(program) << program.status().message();
  for (int64_t n : {1, 7, 8, 9, 4099}) {
    OwnedTensor host(ElementType::F32, {n, 32});
    for (int64_t row = 0; row < n; ++row)
      host.view().set({row, row % 32}, static_cast<double>(row + 1));
    auto x = gpu.upload(host.view());
    ASSERT_TRUE(x) << x.status().message();
    std::vector<Argument> arguments = {*x, 0.5};
    std::vector<Tensor> results(2);
    for (int repeat = 0; repeat < 2; ++repeat) {
      Status status = program->run(nullptr, arguments, results);
      ASSERT_TRUE(status) << status.message();
    }
    auto copy = gpu.download(results[0]), rows = gpu.download(results[1]);
    ASSERT_TRUE(copy) << copy.status().message();
    ASSERT_TRUE(rows) << rows.status().message();
    for (int64_t row = 0; row < n; ++row) {
      EXPECT_EQ(copy->view().at({row, row % 32}), static_cast<double>(row + 1) + 0.5);
      EXPECT_EQ(copy->view().at({row, (row + 1) % 32}), 0.5);
      EXPECT_EQ(rows->view().at({row}), static_cast<double>(row / 8));
    }
    gpu.free(*x);
    gpu.free(results[0]);
    gpu.free(results[1]);
  }
}

// The second launch of a shape takes the maps of the first and moves them to its own addresses.
TEST(RuntimeOnGpu, otherAddressesOfTheSameShape) {
  LACUNA_GPU_OR_SKIP(gpu);
  auto program = gpu.load(copyProgram());
  ASSERT_TRUE(program) << program.status().message();
  constexpr int64_t n = 100;
  std::vector<Tensor> inputs;
  std::vector<std::vector<Tensor>> results(4, std::vector<Tensor>(2));
  for (size_t number = 0; number < results.size(); ++number) {
    OwnedTensor host(ElementType::F32, {n, 32});
    for (int64_t row = 0; row < n; ++row)
      host.view().set({row, 5}, static_cast<double>(row + 1000 * number));
    auto x = gpu.upload(host.view());
    ASSERT_TRUE(x) << x.status().message();
    inputs.push_back(*x);
    std::vector<Argument> arguments = {*x, 0.0};
    Status status = program->run(nullptr, arguments, results[number]);
    ASSERT_TRUE(status) << status.message();
  }
  for (size_t number = 0; number < results.size(); ++number) {
    auto copy = gpu.download(results[number][0]);
    ASSERT_TRUE(copy) << copy.status().message();
    for (int64_t row = 0; row < n; ++row)
      EXPECT_EQ(copy->view().at({row, 5}), static_cast<double>(row + 1000 * number));
    for (Tensor *tensor : {&inputs[number], &results[number][0], &results[number][1]})
      gpu.free(*tensor);
  }
}

// A kernel that makes its own zero-length decision runs with a map of nothing.
TEST(RuntimeOnGpu, emptyInputsLaunchNothing) {
  LACUNA_GPU_OR_SKIP(gpu);
  auto program = gpu.load(copyProgram());
  ASSERT_TRUE(program) << program.status().message();
  std::vector<Argument> arguments = {Tensor{ElementType::F32, {0, 32}, {32, 1}, nullptr}, 0.5};
  std::vector<Tensor> results(2);
  Status status = program->run(nullptr, arguments, results);
  EXPECT_TRUE(status) << status.message();
  EXPECT_EQ(results[0].data, nullptr);
  EXPECT_TRUE(gpu.synchronize());
}

// The budget of a launch on the host; the machine may be busy, so that the test allows ten times
// it.
TEST(RuntimeOnGpu, launchesQuickly) {
  LACUNA_GPU_OR_SKIP(gpu);
  auto program = gpu.load(copyProgram());
  ASSERT_TRUE(program) << program.status().message();
  auto x = gpu.allocate(ElementType::F32, {64, 32}, 0);
  ASSERT_TRUE(x);
  std::vector<Argument> arguments = {*x, 0.5};
  std::vector<Tensor> results(2);
  for (int repeat = 0; repeat < 50; ++repeat)
    ASSERT_TRUE(program->run(nullptr, arguments, results));
  ASSERT_TRUE(gpu.synchronize());
  constexpr int repeats = 200; // Fewer than the driver's queue holds.
  auto start = std::chrono::steady_clock::now();
  for (int repeat = 0; repeat < repeats; ++repeat)
    ASSERT_TRUE(program->run(nullptr, arguments, results));
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(gpu.synchronize());
  RecordProperty("nanoseconds", static_cast<int>(spent.count() / repeats * 1e9));
  EXPECT_LT(spent.count() / repeats, 50e-6);
  for (Tensor *tensor : {&*x, &results[0], &results[1]})
    gpu.free(*tensor);
}
