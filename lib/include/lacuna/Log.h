//===- Log.h - messages of this process, and where they go -----------------===//
#pragma once

#include <functional>
#include <string_view>

namespace lacuna {

/// In rising order of importance.
enum class LogLevel { Debug, Info, Warning, Error, Off };

/// "debug", "info", ...: the words of LACUNA_LOG.
const char *toString(LogLevel level);

/// Messages below `level` are dropped. At first LACUNA_LOG says which, or warnings and errors are
/// shown.
void setLogLevel(LogLevel level);
LogLevel logLevel();

/// Takes a message without its level and without a line end. Calls may come from any thread, and
/// from several at once. A sink's own messages go to stderr.
using LogSink = std::function<void(LogLevel level, std::string_view text)>;

/// Sends messages to `sink` instead of stderr; an empty one restores stderr. Waits for calls of the
/// sink before, which must not call this.
void setLogSink(LogSink sink);

} // namespace lacuna
