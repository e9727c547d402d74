//===- ProgramCoder.h - programs as bytes ----------------------------------===//
#pragma once

#include "lacuna/ArtifactFile.h"

namespace lacuna {

/// Everything of a program but the kernels' code. Their order of members and enumerators is part of
/// the file format.
std::string writeProgram(const Program &program);
/// Corrupt, with the byte, when the bytes are no program. Its rules are not checked.
Result<Program> readProgram(std::string_view bytes);

std::string writeOrigin(const ArtifactOrigin &origin);
Result<ArtifactOrigin> readOrigin(std::string_view bytes);

} // namespace lacuna
