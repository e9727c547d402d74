//===- CheckArguments.h - do arguments fit their declarations? -------------===//
#pragma once

#include "lacuna/Artifact.h"
#include "lacuna/Status.h"

#include <span>

namespace lacuna {

/// Refuses arguments of the wrong number, kind, element type, rank or extents, and addresses that
/// are absent or not aligned to an element; messages name the argument.
Status checkArguments(const Program &program, std::span<const Argument> arguments);

} // namespace lacuna
