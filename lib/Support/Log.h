//===- Log.h - writing messages --------------------------------------------===//
#pragma once

#include "lacuna/Log.h"

#include <fmt/format.h>

namespace lacuna {

inline bool isLogged(LogLevel level) { return level != LogLevel::Off && level >= logLevel(); }

/// Gives one line to the sink; to stderr in one call, so that lines of threads do not mix.
void logLine(LogLevel level, std::string_view text);

template <typename... Values>
void log(LogLevel level, fmt::format_string<Values...> format, Values &&...values) {
  if (isLogged(level))
    logLine(level, fmt::format(format, std::forward<Values>(values)...));
}

} // namespace lacuna
