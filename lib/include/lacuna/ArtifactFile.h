//===- ArtifactFile.h - programs as files ----------------------------------===//
//
// An artifact is one file with everything that a program needs to run: manifests, CUDA source and,
// where it was compiled ahead of time, machine code. Reading one needs neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/Artifact.h"
#include "lacuna/Status.h"

#include <cstdint>
#include <span>
#include <string>

namespace lacuna {

/// The newest version of the file format, which is also what is written.
inline constexpr uint32_t artifactVersion = 1;

/// What a program was built from. Any text may be empty: unknown.
struct ArtifactOrigin {
  /// SHA-256 in hex of the spec's text, and of its canonical IR.
  std::string specDigest, irDigest;
  /// The spec itself, from which its inputs and its exact results can be told.
  std::string spec;
  /// Options of the compiler, as a command line has them.
  std::string options;
  /// Which build of the compiler wrote the sources.
  std::string compiler;
};

/// A program and where it comes from.
struct Artifact {
  Program program;
  ArtifactOrigin origin;
};

/// The bytes of an artifact. Corrupt when the program breaks a rule that reading would find.
Result<std::string> writeArtifact(const Artifact &artifact);

/// The artifact that `bytes` hold. Any bytes are safe to read: what is not whole, not unchanged,
/// not well formed or newer than this library is an error that says what was found, and no more
/// memory is taken than the bytes account for.
Result<Artifact> readArtifact(std::span<const char> bytes);

/// Whether `bytes` begin as every artifact does; what follows may be damaged.
bool isArtifact(std::span<const char> bytes);

/// Creates or replaces a file. What was there stays whole until the new bytes are.
Status saveArtifact(const std::string &path, const Artifact &artifact);
Result<Artifact> loadArtifact(const std::string &path);

} // namespace lacuna
