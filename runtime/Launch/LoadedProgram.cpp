//===- LoadedProgram.cpp - a program on a GPU, ready to launch -------------===//
#include "runtime/Launch/LoadedProgram.h"

#include "lib/Artifact/CheckManifest.h"
#include "lib/Support/Log.h"
#include "lib/Support/Text.h"
#include "runtime/Launch/PoolAllocator.h"
#include "runtime/Trace/Counters.h"
#include "runtime/Trace/Nvtx.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace lacuna {

Status checkArchitecture(const std::string &architecture, const DeviceProperties &device) {
  std::string_view number = architecture;
  char suffix = 0;
  if (number.starts_with("sm_"))
    number.remove_prefix(3);
  if (!number.empty() && (number.back() == 'a' || number.back() == 'f')) {
    suffix = number.back();
    number.remove_suffix(1);
  }
  std::optional<int64_t> version = parseInteger(number);
  if (!version || !architecture.starts_with("sm_"))
    return Status::error(
        StatusCode::Corrupt,
        fmt::format("expected an architecture such as sm_90a, got '{}'", architecture));
  int64_t major = *version / 10, minor = *version % 10;
  // Machine code runs on later members of its generation, unless it uses what only one of them has.
  bool runs = major == device.computeMajor &&
              (suffix == 'a' ? minor == device.computeMinor : minor <= device.computeMinor);
  if (runs)
    return Status::ok();
  return Status::error(StatusCode::Unsupported,
                       fmt::format("expected a GPU of compute capability {}.{} ({}), got {} of "
                                   "compute capability {}.{}",
                                   major, minor, architecture, device.name, device.computeMajor,
                                   device.computeMinor));
}

Result<std::vector<NvrtcOutput>> compileKernels(Program &program, const CompileKernel &compile) {
  std::vector<NvrtcOutput> outputs(program.kernels.size());
  std::vector<size_t> todo;
  for (size_t i = 0; i < program.kernels.size(); ++i)
    if (program.kernels[i].cubin.empty())
      todo.push_back(i);
  if (!todo.empty() && !compile)
    return Status::error(StatusCode::Missing,
                         fmt::format("kernel '{}' has no machine code and there is no NVRTC to "
                                     "compile it",
                                     program.kernels[todo.front()].manifest.symbol));
  std::vector<Status> statuses(todo.size(), Status::ok());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < todo.size(); i = next++) {
      KernelCode &kernel = program.kernels[todo[i]];
      Result<NvrtcOutput> output = compile(kernel);
      statuses[i] = output.status();
      if (!output)
        continue;
      kernel.cubin = output->cubin;
      outputs[todo[i]] = std::move(*output);
    }
  };
  std::vector<std::thread> threads;
  size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 1; i < std::min(cores, todo.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    if (!status)
      return status;
  return outputs;
}

LoadedProgram::~LoadedProgram() = default;

/// Decides which buffers share memory, and which of it belongs to results.
Status LoadedProgram::planBuffers() {
  bufferCount = static_cast<unsigned>(source.arguments.size());
  for (unsigned i = 0; i < bufferCount; ++i)
    root.push_back(i);
  for (const Launch &launch : source.launches)
    for (int64_t into : launch.into) {
      root.push_back(into < 0 ? bufferCount : root[static_cast<size_t>(into)]);
      ++bufferCount;
    }
  resultOf.assign(bufferCount, -1);
  for (size_t i = 0; i < source.results.size(); ++i) {
    unsigned of = root[source.results[i]];
    if (of < source.arguments.size())
      return Status::error(StatusCode::Unsupported,
                           fmt::format("expected result {} of {} to be computed, got argument '{}'",
                                       i, source.name, source.arguments[of].name));
    if (resultOf[of] >= 0)
      return Status::error(StatusCode::Unsupported,
                           fmt::format("expected results of {} to be different, got {} and {} in "
                                       "the same memory",
                                       source.name, resultOf[of], i));
    resultOf[of] = static_cast<int>(i);
  }
  return Status::ok();
}

std::string LoadedProgram::bufferName(unsigned buffer) const {
  if (buffer < source.arguments.size())
    return fmt::format("argument '{}'", source.arguments[buffer].name);
  if (int result = resultOf[root[buffer]]; result >= 0)
    return fmt::format("result {}", result);
  return fmt::format("buffer {}", buffer);
}

Status LoadedProgram::loadKernels() {
  for (const KernelCode &code : source.kernels) {
    Result<Library> library = Library::load(device, code.cubin);
    if (!library)
      return Status::error(
          library.status().code(),
          fmt::format("kernel '{}': {}", code.manifest.symbol, library.status().message()));
    Result<driver::Function> function =
        library->kernel(code.manifest.symbol, code.manifest.sharedBytes);
    if (!function)
      return function.status();
    kernels.push_back({std::move(*library), *function,
                       scheduleHostProgram(code.manifest.host, code.manifest.inputs)});
  }
  return Status::ok();
}

Result<std::unique_ptr<LoadedProgram>> LoadedProgram::load(std::shared_ptr<const Device> device,
                                                           Program program, LoadOptions options) {
  if (Status status = checkProgram(program); !status)
    return status;
  // Before compiling: a kernel that cannot run here is not worth half a second.
  if (Status status = checkArchitecture(program.architecture, device->properties()); !status)
    return status;
  std::unique_ptr<LoadedProgram> result(new LoadedProgram(device, std::move(program)));
  if (Status status = result->planBuffers(); !status)
    return status;
  CompileKernel compile;
  if (options.nvrtc)
    compile = [&](const KernelCode &kernel) {
      return options.nvrtc->compile(kernel.source, kernel.manifest.symbol + ".cu",
                                    result->source.architecture, options.compile);
    };
  Result<std::vector<NvrtcOutput>> outputs = compileKernels(result->source, compile);
  if (!outputs)
    return outputs.status();
  result->outputs = std::move(*outputs);
  result->memory = options.allocator ? options.allocator : std::make_shared<PoolAllocator>(device);
  result->counters = options.counters;
  if (!result->counters) {
    Result<std::shared_ptr<WorkCounters>> counters = WorkCounters::create(device);
    if (!counters)
      return counters.status();
    result->counters = std::move(*counters);
  }
  NvtxRange range("lacuna load");
  if (Status status = result->loadKernels(); !status)
    return status;
  count(&Counters::loadedPrograms);
  count(&Counters::loadedKernels, result->kernels.size());
  log(LogLevel::Info, "{} is on GPU {}: {} kernels", result->source.name, result->device->number(),
      result->kernels.size());
  return result;
}

} // namespace lacuna
