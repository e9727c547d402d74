//===- Log.cpp - the one place that writes messages to stderr --------------===//
#include "lib/Support/Log.h"

#include <atomic>
#include <cstdio>

namespace lacuna {

const char *toString(LogLevel level) {
  switch (level) { // No default: a new enumerator must break this build.
  case LogLevel::Debug:
    return "debug";
  case LogLevel::Info:
    return "info";
  case LogLevel::Warning:
    return "warning";
  case LogLevel::Error:
    return "error";
  case LogLevel::Off:
    return "off";
  }
  return "unknown";
}

static std::atomic<LogLevel> threshold{LogLevel::Warning};

void setLogLevel(LogLevel level) { threshold = level; }

bool isLogged(LogLevel level) { return level >= threshold && level != LogLevel::Off; }

void logLine(LogLevel level, std::string_view text) {
  if (!isLogged(level))
    return;
  std::string line = fmt::format("lacuna: {}: {}\n", toString(level), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace lacuna
