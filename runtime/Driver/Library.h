//===- Library.h - machine code on a GPU -----------------------------------===//
#pragma once

#include "runtime/Driver/Device.h"

namespace lacuna {

/// A loaded cubin.
class Library {
public:
  static Result<Library> load(std::shared_ptr<const Device> device, const std::string &cubin);
  Library(Library &&other) noexcept;
  Library &operator=(Library &&other) noexcept;
  ~Library();

  /// The function to launch, with room for `sharedBytes` of dynamic shared memory.
  Result<driver::Function> kernel(const std::string &symbol, unsigned sharedBytes) const;

private:
  Library(std::shared_ptr<const Device> device, driver::Library library)
      : device(std::move(device)), library(library) {}
  std::shared_ptr<const Device> device;
  driver::Library library = nullptr;
};

} // namespace lacuna
