//===- Status.cpp - success, or why not -----------------------------------===//
#include "lacuna/Status.h"

const char *lacuna::toString(StatusCode code) {
  switch (code) { // No default: a new enumerator must break this build.
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::Unsupported:
    return "unsupported";
  case StatusCode::NotFound:
    return "not found";
  case StatusCode::Corrupt:
    return "corrupt";
  case StatusCode::Io:
    return "input or output error";
  case StatusCode::Missing:
    return "missing component";
  case StatusCode::Compile:
    return "compilation failed";
  case StatusCode::Device:
    return "device error";
  }
  return "unknown";
}
