//===- RuntimeOnGpuTest.cpp - the public interface on a real GPU -----------===//
#include "test/Unit/runtime/Launch/CopyProgram.h"

#include <chrono>
#include <iostream>

using namespace lacuna;

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
// it. Says what streams, other addresses and other numbers cost.
TEST(RuntimeOnGpu, launchesQuickly) {
  LACUNA_GPU_OR_SKIP(gpu);
  auto program = gpu.load(copyProgram());
  ASSERT_TRUE(program) << program.status().message();
  std::vector<Tensor> inputs;
  for (int copy = 0; copy < 2; ++copy) {
    auto x = gpu.allocate(ElementType::F32, {64, 32}, 0);
    ASSERT_TRUE(x);
    inputs.push_back(*x);
  }
  std::vector<Argument> arguments = {inputs[0], 0.5};
  std::vector<Tensor> results(2);
  // Nanoseconds of one run; `change` comes before each.
  auto measure = [&](CUstream_st *stream, auto change) {
    constexpr int repeats = 200; // Fewer than the driver's queue holds.
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      auto start = std::chrono::steady_clock::now();
      for (int repeat = 0; repeat < repeats; ++repeat) {
        change(repeat);
        if (!program->run(stream, arguments, results))
          return 1e9;
      }
      std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
      best = std::min(best, spent.count() / repeats);
      EXPECT_TRUE(gpu.synchronize());
    }
    return best;
  };
  auto nothing = [](int) {};
  double same = measure(nullptr, nothing), onStream = 0, moved = 0, numbers = 0;
  ASSERT_TRUE(gpu.time([&](CUstream_st *stream) {
    onStream = measure(stream, nothing);
    moved = measure(
        stream, [&](int repeat) { std::get<Tensor>(arguments[0]).data = inputs[repeat % 2].data; });
    numbers = measure(stream, [&](int repeat) { arguments[1] = 1.0 + repeat % 100; });
    return Status::ok();
  }));
  std::cout << "default stream " << same << " ns, own stream " << onStream
            << " ns, other addresses " << moved << " ns, other numbers " << numbers << " ns\n";
  for (double nanoseconds : {same, onStream, moved, numbers})
    EXPECT_LT(nanoseconds, 50e3);
  for (Tensor *tensor : {&inputs[0], &inputs[1], &results[0], &results[1]})
    gpu.free(*tensor);
}
