//===- ProgramCache.h - programs by text, by meaning, else compiled --------===//
#pragma once

#include "lacuna/ArtifactFile.h"
#include "runtime/Cache/BlobStore.h"

namespace lacuna {

/// What a compiler offers to a cache that does not know it. Digests hold options and the build of
/// the compiler besides what their names say.
struct ProgramSteps {
  /// Of the spec's text: known without reading it.
  Digest text;
  /// Reads and simplifies the spec; the digest of what that gives. Specs that differ in comments,
  /// or in what simplification removes, have the same.
  std::function<Result<Digest>()> simplify;
  /// Compiles; called after `simplify`.
  std::function<Result<Artifact>()> compile;
  /// For people who list the cache.
  std::string label;
};

/// The program of a spec. The text's entry ("spec") leads to the program's ("program"): neither
/// step is taken when both are there.
Result<Artifact> findOrCompile(BlobStore &cache, const ProgramSteps &steps);

} // namespace lacuna
