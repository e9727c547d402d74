//===- DynamicLibrary.h - a shared library opened at run time --------------===//
#pragma once

#include "lacuna/Status.h"

namespace lacuna {

/// Owns the handle of a library; closes it at the end.
class DynamicLibrary {
public:
  /// Opens a path, or a name that the loader looks up. Missing with the loader's words when there
  /// is none.
  static Result<DynamicLibrary> open(const std::string &name);
  DynamicLibrary(DynamicLibrary &&other) noexcept;
  DynamicLibrary &operator=(DynamicLibrary &&other) noexcept;
  DynamicLibrary(const DynamicLibrary &) = delete;
  DynamicLibrary &operator=(const DynamicLibrary &) = delete;
  ~DynamicLibrary();

  /// Address of a symbol, or null.
  void *find(const char *symbol) const;
  /// What `open` was given.
  const std::string &name() const { return libraryName; }

private:
  DynamicLibrary(void *handle, std::string name) : handle(handle), libraryName(std::move(name)) {}

  void *handle = nullptr;
  std::string libraryName;
};

} // namespace lacuna
