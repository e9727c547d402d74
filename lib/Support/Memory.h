//===- Memory.h - how much memory there is ---------------------------------===//
#pragma once

#include <cstdint>

namespace lacuna {

/// Bytes of physical memory of this machine.
int64_t availableMemory();

} // namespace lacuna
