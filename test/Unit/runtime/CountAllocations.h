//===- CountAllocations.h - how often a thread asks for memory -------------===//
#pragma once

#include <cstdint>
#include <optional>

namespace lacuna {

/// Calls of operator new by this thread so far; nothing where a sanitizer owns that operator.
std::optional<int64_t> countAllocations();

} // namespace lacuna
