//===- DynamicLibrary.cpp - a shared library opened at run time ------------===//
#include "runtime/Driver/DynamicLibrary.h"

#include <dlfcn.h>

namespace lacuna {

Result<DynamicLibrary> DynamicLibrary::open(const std::string &name) {
  // The code stays mapped after the last close: these libraries start threads of their own, which
  // would go on running in nothing.
  void *handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle)
    return DynamicLibrary(handle, name);
  const char *reason = ::dlerror();
  return Status::error(StatusCode::Missing, reason ? reason : "cannot open " + name);
}

DynamicLibrary::DynamicLibrary(DynamicLibrary &&other) noexcept
    : handle(std::exchange(other.handle, nullptr)), libraryName(std::move(other.libraryName)) {}

DynamicLibrary &DynamicLibrary::operator=(DynamicLibrary &&other) noexcept {
  std::swap(handle, other.handle);
  std::swap(libraryName, other.libraryName);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle)
    ::dlclose(handle);
}

void *DynamicLibrary::find(const char *symbol) const { return ::dlsym(handle, symbol); }

} // namespace lacuna
