//===- Context.cpp - settings, counters and devices ------------------------===//
#include "bindings/C/Handles.h"

#include "lacuna/Metrics.h"
#include "lib/Support/Settings.h"
#include "runtime/Cache/BlobStore.h"

#include <fmt/format.h>

using namespace lacuna;
using namespace lacuna::c;

uint32_t lacuna_version(void) { return LACUNA_VERSION_NUMBER; }
const char *lacuna_version_text(void) { return LACUNA_VERSION; }

//===----------------------------------------------------------------------===//
// Context
//===----------------------------------------------------------------------===//

static Result<std::shared_ptr<ContextState>> createContext(const lacuna_context_options *given) {
  lacuna_context_options options = LACUNA_CONTEXT_OPTIONS_INIT;
  if (Status status = readOptions(given, options, "context options"); !status)
    return status;
  if (options.threads < 0)
    return Status::error(
        StatusCode::InvalidArgument,
        fmt::format("context options: expected threads of at least 0, got {}", options.threads));
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return settings.status();
  auto context = std::make_shared<ContextState>();
  context->gpu.nvrtc = settings->nvrtc;
  context->gpu.cudaHome = settings->cudaHome;
  context->gpu.programPath = settings->programPath;
  context->gpu.home = settings->home;
  if (options.driver_library)
    context->gpu.driverLibrary = options.driver_library;
  if (options.nvrtc_library)
    context->gpu.nvrtc = options.nvrtc_library;
  CacheOptions cache = CacheOptions::from(*settings);
  if (options.cache_folder) {
    cache.folder = options.cache_folder;
    cache.folderMissing = false;
  }
  if (options.cache_bytes > 0)
    cache.diskBytes = options.cache_bytes;
  if (options.allocator) {
    lacuna_allocator functions = {};
    if (Status status = readOptions(options.allocator, functions, "allocator"); !status)
      return status;
    if (!functions.allocate || !functions.release)
      return Status::error(StatusCode::InvalidArgument,
                           "allocator: expected functions that allocate and release, got null");
    context->allocator = functions;
  }
  context->gpu.cache = std::make_shared<BlobStore>(cache);
  context->threads = options.threads > 0 ? options.threads : settings->threads;
  return context;
}

lacuna_status lacuna_context_create(const lacuna_context_options *options, lacuna_context **context,
                                    lacuna_error **error) {
  if (Status status = checkPointers({{context, "a place for the context"}}); !status)
    return finish(status, error);
  Result<std::shared_ptr<ContextState>> state = createContext(options);
  *context = state ? new lacuna_context{std::move(*state)} : nullptr;
  return finish(state.status(), error);
}

void lacuna_context_release(lacuna_context *context) { delete context; }

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

namespace {
/// A number and where it comes from.
struct NamedCounter {
  const char *name;
  uint64_t (*read)(const ContextState &context, const Metrics &process);
};
} // namespace

template <Counter counter> static uint64_t ofContext(const ContextState &context, const Metrics &) {
  return context.counters[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
}

template <uint64_t Metrics::*member>
static uint64_t ofProcess(const ContextState &, const Metrics &process) {
  return process.*member;
}

template <uint64_t CacheCounters::*member>
static uint64_t ofCaches(const ContextState &, const Metrics &process) {
  return process.cache.*member;
}

/// New ones go to the end: callers may keep numbers.
static constexpr NamedCounter namedCounters[] = {
    {"compiles", ofContext<Counter::Compiles>},
    {"compile_errors", ofContext<Counter::CompileErrors>},
    {"artifacts_read", ofContext<Counter::ArtifactsRead>},
    {"loads", ofContext<Counter::Loads>},
    {"runs", ofContext<Counter::Runs>},
    {"run_errors", ofContext<Counter::RunErrors>},
    {"bytes_allocated", ofContext<Counter::BytesAllocated>},
    {"gpu_planned_runs", ofProcess<&Metrics::plannedRuns>},
    {"gpu_launches", ofProcess<&Metrics::launches>},
    {"gpu_loaded_kernels", ofProcess<&Metrics::loadedKernels>},
    {"gpu_allocations", ofProcess<&Metrics::allocations>},
    {"gpu_allocated_bytes", ofProcess<&Metrics::allocatedBytes>},
    {"kernel_compiles", ofProcess<&Metrics::compiles>},
    {"kernel_compile_errors", ofProcess<&Metrics::failedCompiles>},
    {"kernel_compile_nanoseconds", ofProcess<&Metrics::compileNanoseconds>},
    {"cache_memory_hits", ofCaches<&CacheCounters::memoryHits>},
    {"cache_disk_hits", ofCaches<&CacheCounters::diskHits>},
    {"cache_shared_hits", ofCaches<&CacheCounters::sharedHits>},
    {"cache_misses", ofCaches<&CacheCounters::misses>},
    {"cache_made", ofCaches<&CacheCounters::made>},
    {"cache_failed", ofCaches<&CacheCounters::failed>},
    {"cache_damaged", ofCaches<&CacheCounters::damaged>},
    {"cache_memory_evictions", ofCaches<&CacheCounters::memoryEvictions>},
    {"cache_disk_evictions", ofCaches<&CacheCounters::diskEvictions>},
    {"cache_failed_writes", ofCaches<&CacheCounters::failedWrites>},
    {"cache_lock_timeouts", ofCaches<&CacheCounters::lockTimeouts>},
    {"cache_bytes_read", ofCaches<&CacheCounters::bytesRead>},
    {"cache_bytes_written", ofCaches<&CacheCounters::bytesWritten>},
    {"cache_memory_bytes", ofCaches<&CacheCounters::memoryBytes>},
};

size_t lacuna_counter_count(void) { return std::size(namedCounters); }

const char *lacuna_counter_name(size_t counter) {
  return counter < std::size(namedCounters) ? namedCounters[counter].name : nullptr;
}

uint64_t lacuna_counter_value(const lacuna_context *context, size_t counter) {
  if (!context || counter >= std::size(namedCounters))
    return 0;
  return namedCounters[counter].read(*context->state, metrics());
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

static Result<std::shared_ptr<const DeviceState>> openDevice(std::shared_ptr<ContextState> context,
                                                             DLDevice which) {
  auto state = std::make_shared<DeviceState>();
  state->which = which;
  if (which.device_type == kDLCPU && which.device_id == 0) {
    state->cpu = Cpu::open({context->threads});
    state->name = state->architecture = "cpu";
  } else if (which.device_type == kDLCUDA) {
    GpuOptions options = context->gpu;
    options.ordinal = which.device_id;
    if (context->allocator)
      options.allocator = state->allocator = makeAllocator(*context->allocator, which.device_id);
    Result<Gpu> gpu = Gpu::open(options);
    if (!gpu)
      return gpu.status();
    state->name = gpu->name();
    state->architecture = gpu->architecture();
    state->gpu = std::move(*gpu);
  } else {
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("expected device cuda:N or cpu, got {}", toText(which)));
  }
  state->context = std::move(context);
  return std::shared_ptr<const DeviceState>(std::move(state));
}

lacuna_status lacuna_device_open(lacuna_context *context, DLDevice which, lacuna_device **device,
                                 lacuna_error **error) {
  if (Status status = checkPointers({{device, "a place for the device"}}); !status)
    return finish(status, error);
  *device = nullptr;
  if (Status status = checkPointers({{context, "a context"}}); !status)
    return finish(status, error);
  Result<std::shared_ptr<const DeviceState>> state = openDevice(context->state, which);
  if (state)
    *device = new lacuna_device{std::move(*state)};
  return finish(state.status(), error);
}

void lacuna_device_release(lacuna_device *device) { delete device; }

const char *lacuna_device_name(const lacuna_device *device) {
  return device ? device->state->name.c_str() : nullptr;
}

const char *lacuna_device_architecture(const lacuna_device *device) {
  return device ? device->state->architecture.c_str() : nullptr;
}
