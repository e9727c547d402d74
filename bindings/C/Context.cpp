//===- Context.cpp - settings, counters and devices ------------------------===//
#include "bindings/C/Handles.h"

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
  if (options.cache_folder)
    cache.folder = options.cache_folder;
  if (options.cache_bytes > 0)
    cache.diskBytes = options.cache_bytes;
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

static const char *const counterNames[] = {"compiles", "compile_errors", "artifacts_read", "loads",
                                           "runs",     "run_errors",     "bytes_allocated"};
static_assert(std::size(counterNames) == static_cast<size_t>(Counter::Count));

size_t lacuna_counter_count(void) { return std::size(counterNames); }

const char *lacuna_counter_name(size_t counter) {
  return counter < std::size(counterNames) ? counterNames[counter] : nullptr;
}

uint64_t lacuna_counter_value(const lacuna_context *context, size_t counter) {
  return context && counter < std::size(counterNames) ? context->state->counters[counter].load()
                                                      : 0;
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
