//===- Driver.cpp - the CUDA driver, opened at run time --------------------===//
#include "runtime/Driver/Driver.h"

#include <fmt/format.h>

namespace lacuna {

using namespace driver;

/// The interface whose versions of symbols are asked for: 12.0, the first with libraries and tensor
/// maps.
static constexpr int interfaceVersion = 12000;

Status Driver::failure(StatusCode status, Code code, const char *call) const {
  const char *name = nullptr, *text = nullptr;
  if (errorName(code, &name) != success || !name)
    name = "unknown error";
  if (errorText(code, &text) != success || !text)
    text = "no description";
  return Status::error(status, fmt::format("{} failed with {} ({}): {}", call, name, code, text));
}

Status Driver::resolve() {
  using Lookup =
      Code (*)(const char *symbol, void **address, int version, uint64_t flags, int *found);
  auto lookup = reinterpret_cast<Lookup>(library.find("cuGetProcAddress_v2"));
  if (!lookup)
    return Status::error(StatusCode::Missing,
                         fmt::format("expected a CUDA driver of version 12.0 or newer, but {} has "
                                     "no cuGetProcAddress_v2",
                                     library.name()));
  auto find = [&](const char *symbol, void **address) {
    int found = 0;
    if (lookup(symbol, address, interfaceVersion, 0, &found) == success && *address)
      return Status::ok();
    return Status::error(StatusCode::Missing,
                         fmt::format("expected a CUDA driver of version 12.0 or newer, but {} has "
                                     "no {}",
                                     library.name(), symbol));
  };
#define LACUNA_CUDA(member, symbol, parameters)                                                    \
  if (Status status = find(symbol, reinterpret_cast<void **>(&member)); !status)                   \
    return status;
#include "runtime/Driver/DriverSymbols.def"
  return Status::ok();
}

Status Driver::start() {
  // Whatever the driver says here, the machine lacks something: a GPU, a kernel module, a right.
  if (Code code = initialize(0); code != success)
    return failure(StatusCode::Missing, code, "cuInit");
  if (Code code = deviceCount(&deviceTotal); code != success)
    return failure(StatusCode::Missing, code, "cuDeviceGetCount");
  if (deviceTotal == 0)
    return Status::error(StatusCode::Missing, "the CUDA driver finds no GPU on this machine");
  return Status::ok();
}

Result<std::shared_ptr<const Driver>> Driver::load(const std::string &library) {
  Result<DynamicLibrary> opened = DynamicLibrary::open(library);
  if (!opened)
    return Status::error(StatusCode::Missing, fmt::format("this machine has no CUDA driver: {}",
                                                          opened.status().message()));
  std::shared_ptr<Driver> result(new Driver(std::move(*opened)));
  if (Status status = result->resolve(); !status)
    return status;
  if (Status status = result->start(); !status)
    return status;
  return std::shared_ptr<const Driver>(std::move(result));
}

} // namespace lacuna
