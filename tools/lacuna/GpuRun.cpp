//===- GpuRun.cpp - a spec on a GPU ---------------------------------------===//
#include "tools/lacuna/GpuRun.h"

#include "runtime/Driver/DynamicLibrary.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/MakeProgram.h"
#include "tools/lacuna/StridedTensor.h"
#include "tools/lacuna/Timing.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

using namespace mlir;

namespace lacuna::tool {

/// The exit code of a failure, after its message.
static int report(const Status &status) {
  switch (status.code()) {
  case StatusCode::InvalidArgument:
  case StatusCode::NotFound:
    return fail(status.message());
  default:
    return failEnvironment(status.message());
  }
}

using Clock = std::chrono::steady_clock;

/// Seconds since `start`, which becomes now.
static double lap(Clock::time_point &start) {
  Clock::time_point before = std::exchange(start, Clock::now());
  return std::chrono::duration<double>(start - before).count();
}

int GpuRun::compile(Spec &spec, const PlanOptions &plan) {
  Clock::time_point start = Clock::now();
  Result<GpuOptions> options = GpuOptions::fromEnvironment();
  if (!options)
    return report(options.status());
  options->lineInfo = plan.lineInfo;
  if (!plan.usesCache)
    options->cache = nullptr;
  // The driver takes a fifth of a second to start, which the compilation need not wait for. Whether
  // there is one is known long before.
  std::promise<bool> found;
  std::future<Result<Gpu>> opening = std::async(std::launch::async, [&found, options] {
    Result<DynamicLibrary> library = DynamicLibrary::open(options->driverLibrary);
    found.set_value(library.isOk());
    return Gpu::open(*options);
  });
  Artifact artifact;
  if (int code = makeProgram(spec, plan, options->cache.get(), artifact))
    return code;
  phases.lower = lap(start);
  TimingScope phase = timePhase("NVRTC");
  Status compiled = Status::ok();
  if (found.get_future().get())
    compiled = compileAhead(artifact.program, *options);
  phases.build = lap(start);
  phase = timePhase("open the GPU");
  Result<Gpu> opened = opening.get();
  if (!opened)
    return report(opened.status());
  if (!compiled)
    return report(compiled);
  gpu = std::move(*opened);
  phases.open = lap(start);
  phase = timePhase("load");
  Result<GpuProgram> loaded = gpu->load(std::move(artifact.program));
  if (!loaded)
    return report(loaded.status());
  program = std::move(*loaded);
  phases.build += lap(start);
  return Success;
}

/// The memory of a view, as a tensor of one axis.
static Tensor spanned(const Tensor &tensor) {
  return {tensor.type, {spanOf(tensor)}, {1}, tensor.data};
}

/// Every byte of a NaN in all float types.
static constexpr unsigned char nanByte = 0xff;

Result<Tensor> GpuRun::upload(const Tensor &tensor) {
  Result<Tensor> copy = gpu->upload(spanned(tensor));
  if (!copy)
    return copy;
  return Tensor{tensor.type, tensor.shape, tensor.strides, copy->data};
}

Result<Tensor> GpuRun::poison(const Tensor &output) {
  Tensor like = output;
  if (spread)
    like.strides = spreadStrides(output.shape);
  Result<Tensor> memory = gpu->allocate(output.type, {spanOf(like)}, nanByte);
  if (!memory)
    return memory;
  like.data = memory->data;
  return like;
}

Result<OwnedTensor> GpuRun::download(const Tensor &output) {
  Result<OwnedTensor> memory = gpu->download(spanned(output));
  if (!memory)
    return memory;
  return gather(output, *memory, nanByte);
}

int GpuRun::prepare(const std::vector<Argument> &arguments) {
  // What a run that failed has left.
  release();
  for (const Argument &argument : arguments) {
    const auto *tensor = std::get_if<Tensor>(&argument);
    if (!tensor) {
      inputs.push_back(argument);
      continue;
    }
    Result<Tensor> copy = upload(*tensor);
    if (!copy)
      return report(copy.status());
    inputs.emplace_back(*copy);
  }
  // The first run says how large the results are; later ones start from NaN.
  outputs.resize(program->program().results.size());
  Clock::time_point start = Clock::now();
  if (Status status = program->run(nullptr, inputs, outputs); !status)
    return report(status);
  if (Status status = gpu->synchronize(); !status)
    return report(status);
  if (phases.firstLaunch == 0)
    phases.firstLaunch = lap(start);
  for (Tensor &output : outputs) {
    Result<Tensor> poisoned = poison(output);
    if (!poisoned)
      return report(poisoned.status());
    gpu->free(output);
    output = *poisoned;
  }
  return Success;
}

void GpuRun::release() {
  for (Tensor &output : outputs)
    gpu->free(output);
  for (Argument &argument : inputs)
    if (auto *tensor = std::get_if<Tensor>(&argument))
      gpu->free(*tensor);
  outputs.clear();
  inputs.clear();
}

int GpuRun::execute(const std::vector<Argument> &arguments, int64_t repeats, double &seconds,
                    std::vector<OwnedTensor> &results) {
  if (int code = prepare(arguments))
    return code;
  auto work = [&](CUstream_st *stream) { return program->run(stream, inputs, outputs); };
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    Result<double> time = gpu->time(work);
    if (!time)
      return report(time.status());
    seconds = repeat == 0 ? *time : std::min(seconds, *time);
  }
  for (const Tensor &output : outputs) {
    Result<OwnedTensor> copy = output.isContiguous() ? gpu->download(output) : download(output);
    if (!copy)
      return report(copy.status());
    results.push_back(std::move(*copy));
  }
  release();
  return Success;
}

int GpuRun::measureHost(double seconds) {
  // Fewer than the driver's queue holds, so that the host never waits for the GPU.
  constexpr double most = 200, least = 10;
  auto count = static_cast<int>(std::clamp(0.1 / std::max(seconds, 1e-6), least, most));
  Clock::time_point start = Clock::now();
  for (int i = 0; i < count; ++i)
    if (Status status = program->run(nullptr, inputs, outputs); !status)
      return report(status);
  phases.hostLaunch = lap(start) / count;
  if (Status status = gpu->synchronize(); !status)
    return report(status);
  return Success;
}

int GpuRun::measure(const std::vector<Argument> &arguments, int repeats,
                    std::vector<double> &seconds) {
  if (int code = prepare(arguments))
    return code;
  auto work = [&](CUstream_st *stream) { return program->run(stream, inputs, outputs); };
  // The clocks settle under load: short kernels run more often before they are timed.
  constexpr int leastWarm = 5;
  constexpr double warmSeconds = 0.2;
  double spent = 0;
  for (int i = 0; i < leastWarm || spent < warmSeconds; ++i) {
    Result<double> time = gpu->time(work);
    if (!time)
      return report(time.status());
    // What is too short for the events' clock still ends.
    spent += std::max(*time, 1e-5);
  }
  Result<std::vector<double>> times = gpu->timeCold(repeats, work);
  if (!times)
    return report(times.status());
  seconds = std::move(*times);
  std::sort(seconds.begin(), seconds.end());
  int code = measureHost(seconds[seconds.size() / 2]);
  release();
  return code;
}

} // namespace lacuna::tool
