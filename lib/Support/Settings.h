//===- Settings.h - the only reader of environment variables ---------------===//
#pragma once

#include "lacuna/Log.h"
#include "lacuna/Status.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lacuna {

/// What the environment says; docs/environment.md describes each variable.
struct Settings {
  /// LACUNA_THREADS: threads of a CPU launch; 0 stands for one per core.
  int64_t threads = 0;
  /// LACUNA_LOG: least important level that is shown.
  LogLevel logLevel = LogLevel::Warning;
  /// LACUNA_PROPERTY_CASES: how many cases a property test draws; 0 stands for the test's own
  /// number.
  int64_t propertyCases = 0;
  /// LACUNA_PROPERTY_SEED: where property tests start.
  uint64_t propertySeed = 1;
  /// LACUNA_NVRTC: CUDA's compiler library to use and no other; empty: it is searched.
  std::string nvrtc;
  /// LACUNA_NVDISASM: CUDA's disassembler to use and no other; empty: it is searched.
  std::string nvdisasm;
  /// LACUNA_CACHE_DIR: folder of the cache; empty: XDG_CACHE_HOME or HOME says where it is.
  std::string cacheFolder;
  /// XDG_CACHE_HOME; empty when unset.
  std::string xdgCacheHome;
  /// LACUNA_CACHE_SIZE: most bytes of the cache on disk; 0 keeps everything in memory.
  uint64_t cacheBytes = uint64_t{2} << 30;
  /// CUDA_HOME, PATH and HOME, where that search looks; empty when unset.
  std::string cudaHome, programPath, home;

  /// NVTX_INJECTION64_PATH: the library of a profiler that wants ranges; empty: nobody does.
  std::string nvtxInjection;

  /// Reads all variables; one that is there with a wrong value is an error that names it.
  static Result<Settings> fromEnvironment();
  /// LACUNA_LOG alone.
  static Result<LogLevel> logLevelFromEnvironment();
};

/// A variable that `Settings` reads, for reports.
struct EnvironmentVariable {
  std::string name;
  /// What it is set to; nothing when it is not there.
  std::optional<std::string> value;
};
/// All of them, in the order of docs/environment.md.
std::vector<EnvironmentVariable> listEnvironment();

} // namespace lacuna
