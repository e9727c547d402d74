//===- Library.cpp - machine code on a GPU ---------------------------------===//
#include "runtime/Driver/Library.h"

#include <fmt/format.h>

namespace lacuna {

Result<Library> Library::load(std::shared_ptr<const Device> device, const std::string &cubin) {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  driver::Library library = nullptr;
  const Driver &api = device->driver();
  if (Status status = api.check(
          api.libraryLoad(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cuLibraryLoadData");
      !status)
    return status;
  return Library(std::move(device), library);
}

Library::Library(Library &&other) noexcept
    : device(std::move(other.device)), library(std::exchange(other.library, nullptr)) {}

Library &Library::operator=(Library &&other) noexcept {
  std::swap(device, other.device);
  std::swap(library, other.library);
  return *this;
}

Library::~Library() {
  if (!library)
    return;
  CurrentDevice current(*device);
  device->driver().libraryUnload(library);
}

Result<driver::Function> Library::kernel(const std::string &symbol, unsigned sharedBytes) const {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  const Driver &api = device->driver();
  int limit = device->properties().sharedBytes;
  if (sharedBytes > static_cast<unsigned>(limit))
    return Status::error(
        StatusCode::Unsupported,
        fmt::format(
            "expected {} to need at most {} bytes of shared memory, the limit of {}, got {}",
            symbol, limit, device->properties().name, sharedBytes));
  driver::Kernel kernel = nullptr;
  if (Status status =
          api.check(api.libraryKernel(&kernel, library, symbol.c_str()), "cuLibraryGetKernel");
      !status)
    return Status::error(status.code(), fmt::format("kernel '{}': {}", symbol, status.message()));
  // Loads the code now: a first launch has no time for it, and a capture may not do it.
  driver::Function function = nullptr;
  if (Status status = api.check(api.kernelFunction(&function, kernel), "cuKernelGetFunction");
      !status)
    return status;
  if (Status status =
          api.check(api.kernelSet(driver::DynamicSharedBytes, static_cast<int>(sharedBytes), kernel,
                                  device->number()),
                    "cuKernelSetAttribute");
      !status)
    return status;
  return function;
}

} // namespace lacuna
