//===- Error.cpp - failures as handles -------------------------------------===//
#include "bindings/C/Handles.h"

#include <fmt/format.h>

namespace lacuna::c {

lacuna_status toC(StatusCode code) {
  switch (code) { // No default: a new enumerator must break this build.
  case StatusCode::Ok:
    return LACUNA_OK;
  case StatusCode::InvalidArgument:
    return LACUNA_INVALID_ARGUMENT;
  case StatusCode::Unsupported:
    return LACUNA_UNSUPPORTED;
  case StatusCode::NotFound:
    return LACUNA_NOT_FOUND;
  case StatusCode::Corrupt:
    return LACUNA_CORRUPT;
  case StatusCode::Io:
    return LACUNA_IO;
  case StatusCode::Missing:
    return LACUNA_MISSING;
  case StatusCode::Compile:
    return LACUNA_COMPILE;
  case StatusCode::Device:
    return LACUNA_DEVICE;
  }
  return LACUNA_INVALID_ARGUMENT;
}

lacuna_status finish(const Status &status, lacuna_error **error) {
  if (error)
    *error = status ? nullptr : new lacuna_error{status};
  return toC(status.code());
}

Status checkPointers(std::initializer_list<Required> pointers) {
  for (const Required &required : pointers)
    if (!required.pointer)
      return Status::error(StatusCode::InvalidArgument,
                           fmt::format("expected {}, got null", required.what));
  return Status::ok();
}

Status checkStructSize(size_t given, size_t known, const void *bytes, const char *what) {
  if (given < sizeof(uint32_t))
    return Status::error(
        StatusCode::InvalidArgument,
        fmt::format("{}: expected struct_size to be the size of the struct, got {}", what, given));
  const auto *text = static_cast<const char *>(bytes);
  for (size_t i = known; i < given; ++i)
    if (text[i] != 0)
      return Status::error(StatusCode::Unsupported,
                           fmt::format("{}: expected members that version {} knows, got {} bytes, "
                                       "of which byte {} is not 0",
                                       what, lacuna_version_text(), given, i));
  return Status::ok();
}

} // namespace lacuna::c

lacuna_status lacuna_error_status(const lacuna_error *error) {
  return error ? lacuna::c::toC(error->status.code()) : LACUNA_OK;
}

const char *lacuna_error_message(const lacuna_error *error) {
  return error ? error->status.message().c_str() : "";
}

void lacuna_error_release(lacuna_error *error) { delete error; }
