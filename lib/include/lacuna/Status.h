//===- Status.h - success, or why not -------------------------------------===//
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace lacuna {

/// Why an operation failed. A caller branches on the code and prints the text.
enum class StatusCode {
  Ok,
  /// The caller passed something that no version would accept.
  InvalidArgument,
  /// The request is meaningful, but this version or this machine cannot do it.
  Unsupported,
  /// A named file, entry or symbol is not there.
  NotFound,
  /// Bytes that should be ours are damaged.
  Corrupt,
  /// The operating system refused a read, write or rename.
  Io,
  /// A component that the request needs is missing on this machine.
  Missing,
  /// The code generator failed on input that it had accepted.
  Compile,
  /// A GPU or its driver refused a call.
  Device,
};

/// The code as lower-case words.
const char *toString(StatusCode code);

/// A code and one sentence in lower case; the sentence is empty on success.
class [[nodiscard]] Status {
public:
  static Status ok() { return Status(StatusCode::Ok, {}); }
  static Status error(StatusCode code, std::string message) {
    return Status(code, std::move(message));
  }

  bool isOk() const { return statusCode == StatusCode::Ok; }
  explicit operator bool() const { return isOk(); }
  StatusCode code() const { return statusCode; }
  const std::string &message() const { return text; }

private:
  Status(StatusCode code, std::string message) : statusCode(code), text(std::move(message)) {}

  StatusCode statusCode;
  std::string text;
};

/// A value, or the status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : contents(std::move(value)), failure(Status::ok()) {}
  Result(Status status) : failure(std::move(status)) {}

  bool isOk() const { return contents.has_value(); }
  explicit operator bool() const { return isOk(); }
  const Status &status() const { return failure; }
  T &operator*() { return *contents; }
  const T &operator*() const { return *contents; }
  T *operator->() { return &*contents; }
  const T *operator->() const { return &*contents; }

private:
  std::optional<T> contents;
  Status failure;
};

} // namespace lacuna
