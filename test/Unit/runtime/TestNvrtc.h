//===- TestNvrtc.h - NVRTC for tests, or a reason to skip ------------------===//
#pragma once

#include "lib/Support/Settings.h"
#include "runtime/Jit/Nvrtc.h"

#include <gtest/gtest.h>

namespace lacuna {

/// What the environment says about NVRTC.
inline NvrtcSearch environmentSearch() {
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return {};
  return {settings->nvrtc, settings->cudaHome, settings->programPath, settings->home,
          runningProgramFolder()};
}

} // namespace lacuna

/// Declares `nvrtc`, or skips the test with the reason.
#define LACUNA_NVRTC_OR_SKIP(nvrtc)                                                                \
  auto nvrtc##Result = lacuna::Nvrtc::load(lacuna::environmentSearch());                           \
  if (!nvrtc##Result)                                                                              \
    GTEST_SKIP() << nvrtc##Result.status().message();                                              \
  [[maybe_unused]] const lacuna::Nvrtc &nvrtc = **nvrtc##Result
