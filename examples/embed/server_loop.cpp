//===- server_loop.cpp - changing lengths under CUDA graphs ----------------===//
//
//   lacuna compile server_loop.mlir --emit=artifact -o packed.lacuna
//   server_loop packed.lacuna [STEPS]
//
// Requests of different lengths are packed into one row of tokens, and their borders are data: a
// step with other lengths writes other offsets and replays the same graph. One graph per capacity
// serves every mix of lengths below it. No LLVM, and nothing of CUDA to build: the driver's graph
// calls are looked up as an application without the toolkit would do it.
//
//===----------------------------------------------------------------------===//
#include <lacuna/ArtifactFile.h>
#include <lacuna/Runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <random>

using namespace lacuna;

static constexpr int64_t heads = 4, keyHeads = 2, channels = 64, mostRequests = 8;
static constexpr int64_t capacities[] = {128, 512};

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

/// What the loop calls of the CUDA driver, besides what Lacuna does.
struct CudaDriver {
  using Stream = CUstream_st *;
  int (*retain)(void **context, int device);
  int (*push)(void *context);
  int (*createStream)(Stream *, unsigned flags);
  int (*synchronize)(Stream);
  int (*upload)(uint64_t to, const void *from, size_t bytes, Stream);
  int (*begin)(Stream, int mode);
  int (*end)(Stream, void **graph);
  int (*instantiate)(void **exec, void *graph, unsigned long long flags);
  int (*launch)(void *exec, Stream);
  int (*destroyGraph)(void *graph);
  int (*destroyExec)(void *exec);

  bool open() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    auto find = [&](auto &function, const char *name) {
      void *symbol = library ? dlsym(library, name) : nullptr;
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
      return symbol != nullptr;
    };
    return find(retain, "cuDevicePrimaryCtxRetain") && find(push, "cuCtxPushCurrent_v2") &&
           find(createStream, "cuStreamCreate") && find(synchronize, "cuStreamSynchronize") &&
           find(upload, "cuMemcpyHtoDAsync_v2") && find(begin, "cuStreamBeginCapture_v2") &&
           find(end, "cuStreamEndCapture") && find(instantiate, "cuGraphInstantiateWithFlags") &&
           find(launch, "cuGraphLaunch") && find(destroyGraph, "cuGraphDestroy") &&
           find(destroyExec, "cuGraphExecDestroy");
  }
};

static Status check(int code, const char *what) {
  return code == 0 ? Status::ok()
                   : Status::error(StatusCode::Device,
                                   std::string(what) + " failed with " + std::to_string(code));
}

//===----------------------------------------------------------------------===//
// One capacity
//===----------------------------------------------------------------------===//

/// Buffers of one capacity on host and device, and the graph that works on those of the device.
struct Lane {
  int64_t capacity = 0;
  /// Queries, keys, values and offsets.
  OwnedTensor host[4];
  Tensor device[4], output;
  void *graph = nullptr;
};

static Status openLane(Lane &lane, int64_t capacity, const Gpu &gpu, const GpuProgram &program,
                       const CudaDriver &driver, CudaDriver::Stream stream) {
  lane.capacity = capacity;
  for (int i = 0; i < 3; ++i)
    lane.host[i] =
        OwnedTensor(ElementType::BF16, {1, i == 0 ? heads : keyHeads, capacity, channels});
  lane.host[3] = OwnedTensor(ElementType::I32, {mostRequests + 2});
  for (int i = 0; i < 4; ++i) {
    Result<Tensor> copy = gpu.upload(lane.host[i].view());
    if (!copy)
      return copy.status();
    lane.device[i] = *copy;
  }
  Result<Tensor> output = gpu.allocate(ElementType::BF16, {1, heads, capacity, channels}, 0);
  if (!output)
    return output.status();
  lane.output = *output;
  std::vector<Argument> arguments(lane.device, lane.device + 4);
  std::vector<Tensor> results = {lane.output};
  // Once before capturing, so that nothing is remembered for the first time inside of it.
  if (Status status = program.run(stream, arguments, results); !status)
    return status;
  void *graph = nullptr;
  constexpr int onlyThisThread = 1;
  if (Status status = check(driver.begin(stream, onlyThisThread), "capturing"); !status)
    return status;
  Status run = program.run(stream, arguments, results);
  if (Status status = check(driver.end(stream, &graph), "the end of capturing"); !status || !run)
    return run ? status : run;
  Status status = check(driver.instantiate(&lane.graph, graph, 0), "making the graph");
  driver.destroyGraph(graph);
  return status;
}

/// Writes the borders of requests. What is left of the capacity is one more document, of padding.
static void writeOffsets(Tensor &offsets, const std::vector<int64_t> &lengths, int64_t capacity) {
  int64_t border = 0;
  for (int64_t i = 0; i < mostRequests + 2; ++i) {
    offsets.set({i}, static_cast<double>(border));
    auto request = static_cast<size_t>(i);
    border = request < lengths.size() ? border + lengths[request] : capacity;
  }
}

/// Copies a step's inputs to where the graph reads them, and replays it.
static Status step(Lane &lane, const CudaDriver &driver, CudaDriver::Stream stream) {
  for (int i = 0; i < 4; ++i) {
    const Tensor &from = lane.host[i].view();
    size_t bytes = static_cast<size_t>(from.elements()) * byteWidth(from.type);
    auto to = reinterpret_cast<uint64_t>(lane.device[i].data);
    if (Status status = check(driver.upload(to, from.data, bytes, stream), "copying"); !status)
      return status;
  }
  if (Status status = check(driver.launch(lane.graph, stream), "the graph"); !status)
    return status;
  return check(driver.synchronize(stream), "the stream");
}

//===----------------------------------------------------------------------===//
// The same on the host
//===----------------------------------------------------------------------===//

/// The largest difference of a row from attention by its definition.
static double difference(const Lane &lane, const Tensor &output, int64_t head, int64_t row,
                         int64_t first) {
  const Tensor &q = lane.host[0].view(), &k = lane.host[1].view(), &v = lane.host[2].view();
  int64_t keyHead = head / (heads / keyHeads);
  std::vector<double> exact(channels);
  double sum = 0;
  for (int64_t key = first; key <= row; ++key) {
    double score = 0;
    for (int64_t channel = 0; channel < channels; ++channel)
      score += q.at({0, head, row, channel}) * k.at({0, keyHead, key, channel});
    double weight = std::exp(score / std::sqrt(double(channels)));
    sum += weight;
    for (int64_t channel = 0; channel < channels; ++channel)
      exact[static_cast<size_t>(channel)] += weight * v.at({0, keyHead, key, channel});
  }
  double largest = 0;
  for (int64_t channel = 0; channel < channels; ++channel)
    largest = std::max(largest, std::fabs(exact[static_cast<size_t>(channel)] / sum -
                                          output.at({0, head, row, channel})));
  return largest;
}

static double difference(const Lane &lane, const Tensor &output,
                         const std::vector<int64_t> &lengths) {
  double largest = 0;
  int64_t first = 0;
  for (int64_t length : lengths) {
    // First, last and middle rows of each request tell one border from another.
    for (int64_t row : {first, first + length / 2, first + length - 1})
      for (int64_t head = 0; head < heads; ++head)
        largest = std::max(largest, difference(lane, output, head, row, first));
    first += length;
  }
  return largest;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

static Result<double> serve(const Gpu &gpu, const GpuProgram &program, int steps, size_t &graphs) {
  CudaDriver driver;
  if (!driver.open())
    return Status::error(StatusCode::Missing, "expected a driver with graphs");
  void *context = nullptr;
  CudaDriver::Stream stream = nullptr;
  if (Status status = check(driver.retain(&context, 0), "the context"); !status)
    return status;
  driver.push(context);
  constexpr unsigned apartFromDefault = 1;
  if (Status status = check(driver.createStream(&stream, apartFromDefault), "a stream"); !status)
    return status;
  std::map<int64_t, Lane> lanes;
  std::minstd_rand random(1);
  std::normal_distribution<double> normal;
  double worst = 0;
  for (int i = 0; i < steps; ++i) {
    std::vector<int64_t> lengths(1 + random() % mostRequests);
    int64_t tokens = 0;
    for (int64_t &length : lengths)
      tokens += length = static_cast<int64_t>(1 + random() % 60);
    int64_t capacity = *std::find_if(std::begin(capacities), std::end(capacities),
                                     [&](int64_t size) { return size >= tokens; });
    auto [place, isNew] = lanes.try_emplace(capacity);
    Lane &lane = place->second;
    if (isNew)
      if (Status status = openLane(lane, capacity, gpu, program, driver, stream); !status)
        return status;
    for (int tensor = 0; tensor < 3; ++tensor)
      for (int64_t head = 0; head < lane.host[tensor].view().shape[1]; ++head)
        for (int64_t token = 0; token < tokens; ++token)
          for (int64_t channel = 0; channel < channels; ++channel)
            lane.host[tensor].view().set({0, head, token, channel}, normal(random));
    writeOffsets(lane.host[3].view(), lengths, capacity);
    if (Status status = step(lane, driver, stream); !status)
      return status;
    Result<OwnedTensor> output = gpu.download(lane.output);
    if (!output)
      return output.status();
    worst = std::max(worst, difference(lane, output->view(), lengths));
  }
  for (auto &[capacity, lane] : lanes) {
    driver.destroyExec(lane.graph);
    for (Tensor &tensor : lane.device)
      gpu.free(tensor);
    gpu.free(lane.output);
  }
  graphs = lanes.size();
  return worst;
}

static int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3)
    return 2;
  int steps = argc == 3 ? std::atoi(argv[2]) : 20;
  Result<Artifact> artifact = loadArtifact(argv[1]);
  if (!artifact)
    return fail(artifact.status());
  Result<GpuOptions> options = GpuOptions::fromEnvironment();
  if (!options)
    return fail(options.status());
  Result<Gpu> gpu = Gpu::open(*options);
  if (!gpu && gpu.status().code() == StatusCode::Missing) {
    std::printf("not run: %s\n", gpu.status().message().c_str());
    return 0;
  }
  if (!gpu)
    return fail(gpu.status());
  Result<GpuProgram> program = gpu->load(std::move(artifact->program));
  if (!program)
    return fail(program.status());
  size_t graphs = 0;
  Result<double> worst = serve(*gpu, *program, steps, graphs);
  if (!worst)
    return fail(worst.status());
  std::printf("%d steps on %zu graphs, largest difference from dense attention %.1e\n", steps,
              graphs, *worst);
  return *worst < 0.03 ? 0 : 1;
}
