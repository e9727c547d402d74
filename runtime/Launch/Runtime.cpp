//===- Runtime.cpp - running compiled programs on a GPU --------------------===//
#include "lacuna/Runtime.h"

#include "lib/Support/Settings.h"
#include "runtime/Cache/KernelCompiler.h"
#include "runtime/Launch/LoadedProgram.h"
#include "runtime/Launch/PoolAllocator.h"

#include <algorithm>
#include <fmt/format.h>

namespace lacuna {

struct Gpu::State {
  std::shared_ptr<const Device> device;
  GpuOptions options;
  /// One pool and one set of counters for all programs.
  std::shared_ptr<DeviceAllocator> allocator;
  std::shared_ptr<WorkCounters> counters;
};

struct GpuProgram::State {
  std::unique_ptr<LoadedProgram> loaded;
};

Result<GpuOptions> GpuOptions::fromEnvironment() {
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return settings.status();
  GpuOptions options;
  options.nvrtc = settings->nvrtc;
  options.cudaHome = settings->cudaHome;
  options.programPath = settings->programPath;
  options.home = settings->home;
  options.cache = std::make_shared<BlobStore>(CacheOptions::from(*settings));
  return options;
}

/// Whether a compiler was asked to lead from the source to the lines of its spec.
static bool namesLines(const std::string &source) {
  return source.find("\n#line ") != std::string::npos;
}

Status compileAhead(Program &program, const GpuOptions &options) {
  // Ahead-of-time programs run on machines without NVRTC.
  if (std::ranges::none_of(program.kernels,
                           [](const KernelCode &kernel) { return kernel.cubin.empty(); }))
    return Status::ok();
  KernelCompiler compiler(
      {options.nvrtc, options.cudaHome, options.programPath, options.home, runningProgramFolder()},
      options.cache);
  return compileKernels(program,
                        [&](const KernelCode &kernel) {
                          NvrtcOptions compile;
                          compile.lineInfo = options.lineInfo || namesLines(kernel.source);
                          return compiler.compile(kernel.source, kernel.manifest.symbol + ".cu",
                                                  program.architecture, compile);
                        })
      .status();
}

Result<Gpu> Gpu::open(const GpuOptions &options) {
  Result<std::shared_ptr<const Driver>> driver = Driver::load(options.driverLibrary);
  if (!driver)
    return driver.status();
  Result<std::shared_ptr<const Device>> device = Device::open(*driver, options.ordinal);
  if (!device)
    return device.status();
  std::shared_ptr<DeviceAllocator> allocator = options.allocator;
  if (!allocator)
    allocator = std::make_shared<PoolAllocator>(*device);
  Result<std::shared_ptr<WorkCounters>> counters = WorkCounters::create(*device);
  if (!counters)
    return counters.status();
  return Gpu(std::make_shared<State>(State{*device, options, std::move(allocator), *counters}));
}

const std::string &Gpu::name() const { return state->device->properties().name; }

std::string Gpu::architecture() const {
  const DeviceProperties &facts = state->device->properties();
  return fmt::format("sm_{}{}", facts.computeMajor, facts.computeMinor);
}

int Gpu::multiprocessors() const { return state->device->properties().multiprocessors; }

int Gpu::cacheBytes() const { return state->device->properties().cacheBytes; }

Result<GpuProgram> Gpu::load(Program program) const {
  // A program of another generation is refused before anything is looked for.
  if (Status status = checkArchitecture(program.architecture, state->device->properties()); !status)
    return status;
  if (Status status = compileAhead(program, state->options); !status)
    return status;
  LoadOptions load;
  load.allocator = state->allocator;
  load.counters = state->counters;
  Result<std::unique_ptr<LoadedProgram>> loaded =
      LoadedProgram::load(state->device, std::move(program), std::move(load));
  if (!loaded)
    return loaded.status();
  return GpuProgram(std::make_shared<GpuProgram::State>(GpuProgram::State{std::move(*loaded)}));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result<Tensor> Gpu::allocate(ElementType type, const std::vector<int64_t> &shape,
                             unsigned char fill) const {
  Tensor tensor{type, shape, contiguousStrides(shape), nullptr};
  auto bytes = static_cast<size_t>(tensor.elements()) * byteWidth(type);
  if (bytes == 0)
    return tensor;
  CurrentDevice current(*state->device);
  if (!current.status())
    return current.status();
  const Driver &api = state->device->driver();
  driver::Address address = 0;
  // From the pool, so that one `free` takes back this and what a run has allocated.
  if (Status status =
          api.check(api.memoryAllocateAsync(&address, bytes, nullptr), "cuMemAllocAsync");
      !status)
    return status;
  tensor.data = reinterpret_cast<void *>(address);
  Status status = api.check(api.setBytes(address, fill, bytes, nullptr), "cuMemsetD8Async");
  if (status)
    status = api.check(api.contextSynchronize(), "cuCtxSynchronize");
  if (!status) {
    free(tensor);
    return status;
  }
  return tensor;
}

Result<Tensor> Gpu::upload(const Tensor &host) const {
  OwnedTensor copy = host.isContiguous() ? OwnedTensor() : OwnedTensor::clone(host);
  const void *from = host.isContiguous() ? host.data : copy.view().data;
  Result<Tensor> device = allocate(host.type, host.shape, 0);
  if (!device || !device->data)
    return device;
  CurrentDevice current(*state->device);
  const Driver &api = state->device->driver();
  auto bytes = static_cast<size_t>(host.elements()) * byteWidth(host.type);
  Status status = current.status();
  if (status)
    status =
        api.check(api.copyToDevice(reinterpret_cast<uint64_t>(device->data), from, bytes, nullptr),
                  "cuMemcpyHtoDAsync");
  if (status)
    status = api.check(api.contextSynchronize(), "cuCtxSynchronize");
  if (!status) {
    free(*device);
    return status;
  }
  return device;
}

Result<OwnedTensor> Gpu::download(const Tensor &device) const {
  if (!device.isContiguous())
    return Status::error(StatusCode::InvalidArgument,
                         "expected a contiguous tensor to download, got another");
  OwnedTensor host(device.type, device.shape);
  auto bytes = static_cast<size_t>(device.elements()) * byteWidth(device.type);
  if (bytes == 0)
    return host;
  CurrentDevice current(*state->device);
  if (!current.status())
    return current.status();
  const Driver &api = state->device->driver();
  if (Status status = api.check(api.contextSynchronize(), "cuCtxSynchronize"); !status)
    return status;
  if (Status status = api.check(
          api.copyToHost(host.view().data, reinterpret_cast<uint64_t>(device.data), bytes, nullptr),
          "cuMemcpyDtoHAsync");
      !status)
    return status;
  if (Status status = api.check(api.streamSynchronize(nullptr), "cuStreamSynchronize"); !status)
    return status;
  return host;
}

void Gpu::free(Tensor &device) const noexcept {
  if (!device.data)
    return;
  CurrentDevice current(*state->device);
  const Driver &api = state->device->driver();
  api.contextSynchronize();
  api.memoryFreeAsync(reinterpret_cast<uint64_t>(device.data), nullptr);
  device.data = nullptr;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

Status Gpu::synchronize() const { return state->device->synchronize(); }

/// Times `work` once, after `before` on the same stream.
static Result<double> timeOnce(const std::shared_ptr<const Device> &device, Stream &stream,
                               const std::function<Status(CUstream_st *)> &before,
                               const std::function<Status(CUstream_st *)> &work) {
  Result<Event> start = Event::create(device), end = Event::create(device);
  for (const Status &status : {start.status(), end.status()})
    if (!status)
      return status;
  if (Status status = before(stream.handle()); !status)
    return status;
  if (Status status = start->record(stream.handle()); !status)
    return status;
  if (Status status = work(stream.handle()); !status)
    return status;
  if (Status status = end->record(stream.handle()); !status)
    return status;
  if (Status status = end->synchronize(); !status)
    return status;
  return end->secondsSince(*start);
}

Result<double> Gpu::time(const std::function<Status(CUstream_st *)> &work) const {
  Result<Stream> stream = Stream::create(state->device);
  if (!stream)
    return stream.status();
  return timeOnce(state->device, *stream, [](CUstream_st *) { return Status::ok(); }, work);
}

Result<std::vector<double>> Gpu::timeCold(int count,
                                          const std::function<Status(CUstream_st *)> &work) const {
  Result<Stream> stream = Stream::create(state->device);
  if (!stream)
    return stream.status();
  // Twice the cache: every line of it is replaced. The fill also hides the time of the launch.
  Result<DeviceBuffer> flush =
      DeviceBuffer::allocate(state->device, 2 * static_cast<size_t>(cacheBytes()));
  if (!flush)
    return flush.status();
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) {
    Result<double> one =
        timeOnce(state->device, *stream, [&](CUstream_st *on) { return flush->fill(0, on); }, work);
    if (!one)
      return one.status();
    seconds.push_back(*one);
  }
  return seconds;
}

//===----------------------------------------------------------------------===//
// GpuProgram
//===----------------------------------------------------------------------===//

Status GpuProgram::run(CUstream_st *stream, std::span<const Argument> arguments,
                       std::span<Tensor> results) const {
  return state->loaded->run(stream, arguments, results);
}

const Program &GpuProgram::program() const { return state->loaded->program(); }

} // namespace lacuna
