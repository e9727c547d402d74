//===- Settings.cpp - the only reader of environment variables -------------===//
#include "lib/Support/Settings.h"

#include "lib/Support/Text.h"

#include <cstdlib>
#include <fmt/format.h>

namespace lacuna {

/// Reads `name` into `value` when it is set; the least allowed value is 0.
static Status readCount(const char *name, int64_t &value) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return Status::ok();
  std::optional<int64_t> number = parseInteger(text);
  if (!number || *number < 0)
    return Status::error(
        StatusCode::InvalidArgument,
        fmt::format("expected {} to be a number of at least 0, got '{}'", name, text));
  value = *number;
  return Status::ok();
}

static Status readLevel(const char *name, LogLevel &value) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return Status::ok();
  for (LogLevel level :
       {LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error, LogLevel::Off})
    if (std::string_view(text) == toString(level)) {
      value = level;
      return Status::ok();
    }
  return Status::error(
      StatusCode::InvalidArgument,
      fmt::format("expected {} to be debug, info, warning, error or off, got '{}'", name, text));
}

/// Reads a number of bytes, perhaps with K, M, G or T behind it (2^10 and so on).
static Status readBytes(const char *name, uint64_t &value) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return Status::ok();
  std::optional<uint64_t> bytes = parseBytes(text);
  if (!bytes)
    return Status::error(
        StatusCode::InvalidArgument,
        fmt::format("expected {} to be a number of bytes such as 512M or 2G, got '{}'", name,
                    text));
  value = *bytes;
  return Status::ok();
}

/// Reads a path that means the same wherever the program is started.
static Status readAbsolutePath(const char *name, std::string &value) {
  const char *text = std::getenv(name);
  if (text && *text && *text != '/')
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("expected {} to be an absolute path, got '{}'", name, text));
  value = text ? text : "";
  return Status::ok();
}

/// The value of `name`, or nothing.
static std::string readText(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

Result<Settings> Settings::fromEnvironment() {
  Settings settings;
  auto seed = static_cast<int64_t>(settings.propertySeed);
  for (const Status &status :
       {readCount("LACUNA_THREADS", settings.threads),
        readCount("LACUNA_PROPERTY_CASES", settings.propertyCases),
        readCount("LACUNA_PROPERTY_SEED", seed), readLevel("LACUNA_LOG", settings.logLevel),
        readAbsolutePath("LACUNA_CACHE_DIR", settings.cacheFolder),
        readBytes("LACUNA_CACHE_SIZE", settings.cacheBytes)})
    if (!status)
      return status;
  settings.propertySeed = static_cast<uint64_t>(seed);
  settings.nvrtc = readText("LACUNA_NVRTC");
  settings.nvdisasm = readText("LACUNA_NVDISASM");
  settings.cudaHome = readText("CUDA_HOME");
  settings.programPath = readText("PATH");
  settings.home = readText("HOME");
  settings.xdgCacheHome = readText("XDG_CACHE_HOME");
  settings.nvtxInjection = readText("NVTX_INJECTION64_PATH");
  return settings;
}

Result<LogLevel> Settings::logLevelFromEnvironment() {
  LogLevel level = LogLevel::Warning;
  if (Status status = readLevel("LACUNA_LOG", level); !status)
    return status;
  return level;
}

std::vector<EnvironmentVariable> listEnvironment() {
  std::vector<EnvironmentVariable> variables;
  for (const char *name :
       {"LACUNA_THREADS", "LACUNA_LOG", "LACUNA_CACHE_DIR", "LACUNA_CACHE_SIZE", "LACUNA_NVRTC",
        "LACUNA_NVDISASM", "LACUNA_PROPERTY_CASES", "LACUNA_PROPERTY_SEED", "CUDA_HOME", "PATH",
        "HOME", "XDG_CACHE_HOME", "NVTX_INJECTION64_PATH"}) {
    const char *text = std::getenv(name);
    variables.push_back({name, text ? std::optional<std::string>(text) : std::nullopt});
  }
  return variables;
}

} // namespace lacuna
