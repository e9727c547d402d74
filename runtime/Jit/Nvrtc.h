//===- Nvrtc.h - CUDA's compiler library, opened at run time ---------------===//
#pragma once

#include "runtime/Driver/DynamicLibrary.h"
#include "runtime/Jit/CompileReport.h"
#include "runtime/Jit/NvrtcSearch.h"

#include <memory>

namespace lacuna {

/// How to compile.
struct NvrtcOptions {
  /// Keeps the lines of the source for profilers; triples the size.
  bool lineInfo = false;
  /// Turns the library's own cache off: for measurements of time, and where the report must be
  /// complete.
  bool noCache = false;
  /// Further options, as NVRTC spells them.
  std::vector<std::string> extra;
};

/// What compiling gives.
struct NvrtcOutput {
  std::string cubin, ptx;
  /// Everything that the compiler and the assembler said.
  std::string log;
  CompileReport report;
  double seconds = 0;
};

namespace driver {
using NvrtcProgram = struct _nvrtcProgram *;
/// One member per entry point.
struct NvrtcSymbols {
#define LACUNA_NVRTC(member, symbol, parameters) int(*member) parameters = nullptr;
#include "runtime/Jit/NvrtcSymbols.def"
};
} // namespace driver

/// The words that `options` are to NVRTC.
std::vector<std::string> nvrtcWords(const std::string &architecture, const NvrtcOptions &options);

/// The library; needs no GPU. Threads may compile at the same time.
class Nvrtc {
public:
  /// Opens the first candidate that loads. Missing, with the places that were tried, when there is
  /// none.
  static Result<std::shared_ptr<const Nvrtc>> load(const NvrtcSearch &search);

  /// Compiles `source` for `architecture` ("sm_90a"). `name` stands for the file in messages. When
  /// the source is wrong, the status has code Compile, the first error and the whole log.
  Result<NvrtcOutput> compile(const std::string &source, const std::string &name,
                              const std::string &architecture,
                              const NvrtcOptions &options = {}) const;
  /// "13.0".
  std::string version() const;
  const std::string &libraryName() const { return library.name(); }
  /// Where the loader found it; empty when it does not say.
  std::string path() const;
  /// Tells builds of the library apart, also those of one version: `buildIdOfFile` of its path, or
  /// path and version when it has none.
  std::string identity() const;

private:
  explicit Nvrtc(DynamicLibrary library) : library(std::move(library)) {}
  Status resolve();
  Result<NvrtcOutput> compileUncounted(const std::string &source, const std::string &name,
                                       const std::string &architecture,
                                       const NvrtcOptions &options) const;

  DynamicLibrary library;
  driver::NvrtcSymbols api;
  int major = 0, minor = 0;
};

} // namespace lacuna
