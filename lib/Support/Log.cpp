//===- Log.cpp - the one place that writes messages to stderr --------------===//
#include "lib/Support/Log.h"

#include "lib/Support/Settings.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <shared_mutex>

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

/// The level, or this before anybody asked for it.
static constexpr int notRead = -1;
static std::atomic<int> threshold{notRead};

void setLogLevel(LogLevel level) { threshold = static_cast<int>(level); }

LogLevel logLevel() {
  int level = threshold.load(std::memory_order_relaxed);
  if (level != notRead)
    return static_cast<LogLevel>(level);
  // A wrong value is reported by whoever reads all settings.
  Result<LogLevel> wanted = Settings::logLevelFromEnvironment();
  int fresh = static_cast<int>(wanted ? *wanted : LogLevel::Warning);
  return static_cast<LogLevel>(threshold.compare_exchange_strong(level, fresh) ? fresh : level);
}

namespace {
struct Sink {
  std::shared_mutex mutex;
  LogSink write;
};
} // namespace

/// Never destroyed: messages may come from destructors at the end of the process.
static Sink &sink() {
  static Sink &only = *new Sink;
  return only;
}

/// Whether this thread is in a sink.
static thread_local bool inSink = false;

void setLogSink(LogSink write) {
  std::unique_lock lock(sink().mutex);
  sink().write = std::move(write);
}

static void writeToStderr(LogLevel level, std::string_view text) {
  std::string line = fmt::format("lacuna: {}: {}\n", toString(level), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void logLine(LogLevel level, std::string_view text) {
  if (!isLogged(level))
    return;
  if (inSink) {
    writeToStderr(level, text);
    return;
  }
  std::shared_lock lock(sink().mutex);
  if (!sink().write) {
    writeToStderr(level, text);
    return;
  }
  inSink = true;
  sink().write(level, text);
  inSink = false;
}

} // namespace lacuna
