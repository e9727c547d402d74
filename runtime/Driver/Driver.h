//===- Driver.h - the CUDA driver, opened at run time ----------------------===//
#pragma once

#include "lacuna/Status.h"
#include "runtime/Driver/DriverTypes.h"
#include "runtime/Driver/DynamicLibrary.h"

#include <memory>

namespace lacuna {

namespace driver {
/// One member per entry point.
struct Symbols {
#define LACUNA_CUDA(member, symbol, parameters) Code(*member) parameters = nullptr;
#include "runtime/Driver/DriverSymbols.def"
};
} // namespace driver

/// An initialised driver. Shared by everything that calls it, so that the library stays open.
class Driver : public driver::Symbols {
public:
  /// Opens and initialises the driver. Missing when there is no library, a symbol of it is absent,
  /// or it finds no GPU.
  static Result<std::shared_ptr<const Driver>> load(const std::string &library = "libcuda.so.1");

  /// Turns a driver's code into a status that names the failed call.
  Status check(driver::Code code, const char *call) const {
    return code == driver::success ? Status::ok() : failure(StatusCode::Device, code, call);
  }
  /// Number of GPUs, at least 1.
  int devices() const { return deviceTotal; }

private:
  explicit Driver(DynamicLibrary library) : library(std::move(library)) {}
  Status resolve();
  Status start();
  Status failure(StatusCode status, driver::Code code, const char *call) const;

  DynamicLibrary library;
  int deviceTotal = 0;
};

} // namespace lacuna
