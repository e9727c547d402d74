//===- Log.h - the one place that writes messages to stderr ----------------===//
#pragma once

#include <fmt/format.h>
#include <string_view>

namespace lacuna {

/// In rising order of importance.
enum class LogLevel { Debug, Info, Warning, Error, Off };

/// "debug", "info", ...: the words of LACUNA_LOG.
const char *toString(LogLevel level);

/// Messages below `level` are dropped; warnings and errors are shown at first.
void setLogLevel(LogLevel level);
bool isLogged(LogLevel level);

/// Writes one line to stderr in one call, so that lines of threads do not mix.
void logLine(LogLevel level, std::string_view text);

template <typename... Values>
void log(LogLevel level, fmt::format_string<Values...> format, Values &&...values) {
  if (isLogged(level))
    logLine(level, fmt::format(format, std::forward<Values>(values)...));
}

} // namespace lacuna
