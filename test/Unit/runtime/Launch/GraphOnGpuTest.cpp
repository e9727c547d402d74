//===- GraphOnGpuTest.cpp - runs that are captured, on a real GPU ----------===//
#include "runtime/Driver/Device.h"
#include "test/Unit/runtime/Launch/CopyProgram.h"

using namespace lacuna;

namespace {
struct UpdateInfo {
  int result = 0;
  void *node = nullptr, *from = nullptr;
};
using Exec = struct CUgraphExec_st *;

/// What an application calls, but Lacuna does not.
struct GraphCalls {
  driver::Code (*begin)(driver::Stream, int mode);
  driver::Code (*end)(driver::Stream, driver::Graph *);
  driver::Code (*instantiate)(Exec *, driver::Graph, unsigned long long flags);
  driver::Code (*launch)(Exec, driver::Stream);
  driver::Code (*update)(Exec, driver::Graph, UpdateInfo *);
  driver::Code (*destroyExec)(Exec);
  driver::Code (*destroyGraph)(driver::Graph);
};

class GraphOnGpu : public testing::Test {
protected:
  /// The driver's symbol, or null.
  template <typename Function> void find(Function &function, const char *symbol) {
    function = reinterpret_cast<Function>(library->find(symbol));
    ASSERT_TRUE(function) << symbol;
  }

  void openCalls() {
    auto opened = DynamicLibrary::open("libcuda.so.1");
    ASSERT_TRUE(opened);
    library.emplace(std::move(*opened));
    find(calls.begin, "cuStreamBeginCapture_v2");
    find(calls.end, "cuStreamEndCapture");
    find(calls.instantiate, "cuGraphInstantiateWithFlags");
    find(calls.launch, "cuGraphLaunch");
    find(calls.update, "cuGraphExecUpdate_v2");
    find(calls.destroyExec, "cuGraphExecDestroy");
    find(calls.destroyGraph, "cuGraphDestroy");
    auto driver = Driver::load();
    ASSERT_TRUE(driver);
    auto opening = Device::open(*driver);
    ASSERT_TRUE(opening);
    device = *opening;
    auto made = Stream::create(device);
    ASSERT_TRUE(made);
    stream.emplace(std::move(*made));
  }

  /// The graph of one run.
  driver::Graph capture(const GpuProgram &program, std::span<const Argument> arguments,
                        std::span<Tensor> results) {
    EXPECT_EQ(calls.begin(stream->handle(), 0), 0);
    Status status = program.run(stream->handle(), arguments, results);
    EXPECT_TRUE(status) << status.message();
    driver::Graph graph = nullptr;
    EXPECT_EQ(calls.end(stream->handle(), &graph), 0);
    return graph;
  }

  std::optional<DynamicLibrary> library;
  GraphCalls calls{};
  std::shared_ptr<const Device> device;
  std::optional<Stream> stream;
};

/// n x 32 numbers, all `value`.
OwnedTensor filled(int64_t n, double value) {
  OwnedTensor tensor(ElementType::F32, {n, 32});
  for (int64_t row = 0; row < n; ++row)
    for (int64_t column = 0; column < 32; ++column)
      tensor.view().set({row, column}, value);
  return tensor;
}
} // namespace

// Replays compute again from what lies at the captured addresses; an updated graph has others.
TEST_F(GraphOnGpu, replaysAndUpdates) {
  LACUNA_GPU_OR_SKIP(gpu);
  openCalls();
  if (HasFatalFailure())
    return;
  CurrentDevice current(*device);
  auto program = gpu.load(copyProgram());
  ASSERT_TRUE(program) << program.status().message();
  constexpr int64_t n = 4099;
  OwnedTensor one = filled(n, 1), two = filled(n, 2);
  auto x = gpu.upload(one.view()), y = gpu.upload(two.view());
  ASSERT_TRUE(x && y);
  std::vector<Argument> arguments = {*x, 0.5};
  std::vector<Tensor> results(2);
  ASSERT_TRUE(program->run(stream->handle(), arguments, results));

  driver::Graph graph = capture(*program, arguments, results);
  Exec exec = nullptr;
  ASSERT_EQ(calls.instantiate(&exec, graph, 0), 0);
  ASSERT_EQ(calls.destroyGraph(graph), 0);
  auto expectAll = [&](double value) {
    for (const Tensor &result : results)
      ASSERT_EQ(device->driver().setBytes(reinterpret_cast<uint64_t>(result.data), 0xff,
                                          static_cast<size_t>(result.elements()) * 4,
                                          stream->handle()),
                0);
    ASSERT_EQ(calls.launch(exec, stream->handle()), 0);
    auto copy = gpu.download(results[0]), rows = gpu.download(results[1]);
    ASSERT_TRUE(copy && rows);
    for (int64_t row = 0; row < n; ++row) {
      ASSERT_EQ(copy->view().at({row, 7}), value);
      ASSERT_EQ(rows->view().at({row}), static_cast<double>(row / 8));
    }
  };
  for (int replay = 0; replay < 3; ++replay)
    expectAll(1.5);
  // Other numbers at the same address.
  ASSERT_EQ(device->driver().copyToDevice(reinterpret_cast<uint64_t>(x->data), two.view().data,
                                          n * 32 * 4, stream->handle()),
            0);
  expectAll(2.5);
  // Another address and another number, into the same executable graph.
  for (double add : {1.0, 2.0, 3.0}) {
    arguments = {*y, add};
    graph = capture(*program, arguments, results);
    UpdateInfo info;
    ASSERT_EQ(calls.update(exec, graph, &info), 0) << info.result;
    ASSERT_EQ(calls.destroyGraph(graph), 0);
    expectAll(2 + add);
  }
  ASSERT_EQ(calls.destroyExec(exec), 0);
  for (Tensor *tensor : {&*x, &*y, &results[0], &results[1]})
    gpu.free(*tensor);
}

// More captures than there are counters: destroyed graphs give theirs back.
TEST_F(GraphOnGpu, capturesHaveNoEnd) {
  LACUNA_GPU_OR_SKIP(gpu);
  openCalls();
  if (HasFatalFailure())
    return;
  CurrentDevice current(*device);
  auto program = gpu.load(copyProgram());
  ASSERT_TRUE(program) << program.status().message();
  auto x = gpu.allocate(ElementType::F32, {64, 32}, 0);
  ASSERT_TRUE(x);
  std::vector<Argument> arguments = {*x, 0.5};
  std::vector<Tensor> results(2);
  ASSERT_TRUE(program->run(stream->handle(), arguments, results));
  for (int round = 0; round < 70000; ++round) {
    driver::Graph graph = capture(*program, arguments, results);
    ASSERT_EQ(calls.destroyGraph(graph), 0);
    ASSERT_FALSE(HasFailure()) << round;
  }
  for (Tensor *tensor : {&*x, &results[0], &results[1]})
    gpu.free(*tensor);
}
