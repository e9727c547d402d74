//===- Callbacks.cpp - functions of the caller that the library calls ------===//
#include "bindings/C/Handles.h"

#include "lacuna/Log.h"

#include <fmt/format.h>
#include <mutex>

using namespace lacuna;

namespace {
/// Memory that the caller's functions give.
class CallerAllocator final : public DeviceAllocator {
public:
  CallerAllocator(const lacuna_allocator &functions, int device)
      : functions(functions), device(device) {}
  Result<void *> allocate(size_t bytes, CUstream_st *stream) override {
    void *memory = functions.allocate(functions.user, device, bytes, stream);
    if (!memory)
      return Status::error(
          StatusCode::Device,
          fmt::format("expected {} bytes of the application's allocator, got null", bytes));
    return memory;
  }
  void release(void *memory, CUstream_st *stream) noexcept override {
    functions.release(functions.user, device, memory, stream);
  }

private:
  lacuna_allocator functions;
  int device;
};
} // namespace

std::shared_ptr<DeviceAllocator> c::makeAllocator(const lacuna_allocator &functions, int device) {
  return std::make_shared<CallerAllocator>(functions, device);
}

void lacuna_set_log_callback(lacuna_log_callback callback, void *user, int32_t level) {
  bool known = level >= LACUNA_LOG_DEBUG && level <= LACUNA_LOG_ERROR;
  setLogLevel(known ? static_cast<LogLevel>(level) : LogLevel::Off);
  if (!callback)
    return setLogSink({});
  // One call at a time, as the header promises.
  auto turn = std::make_shared<std::mutex>();
  setLogSink([=](LogLevel of, std::string_view text) {
    std::string line(text);
    std::lock_guard guard(*turn);
    callback(static_cast<int32_t>(of), line.c_str(), user);
  });
}
