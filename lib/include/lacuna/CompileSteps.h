//===- CompileSteps.h - a compilation, as a cache takes it -----------------===//
//
// What a compiler gives and a cache takes, which do not know each other: `Compilation::steps` of
// <lacuna/Compiler.h> and `findOrCompile` of <lacuna/Runtime.h>.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/ArtifactFile.h"

#include <functional>

namespace lacuna {

/// Keys are SHA-256 in hex over everything that decides about the program. Steps are taken one
/// after the other, each as far as the one before was not enough.
struct CompileSteps {
  /// Of the text, which is not read. Empty: nothing may be kept.
  std::string textKey;
  /// Of what the text says; reads it.
  std::function<Result<std::string>()> meaningKey;
  std::function<Result<Artifact>()> compile;
  /// The bytes of a compiled program, and the program of bytes that were written before.
  std::function<Result<std::string>(const Artifact &)> write;
  std::function<Result<Artifact>(std::string_view)> read;
  /// "program", or "native" for machine code of a CPU.
  std::string kind;
  /// The function's name, for people who list the cache.
  std::string label;
};

} // namespace lacuna
