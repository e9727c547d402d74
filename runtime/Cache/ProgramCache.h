//===- ProgramCache.h - programs by text, by meaning, else compiled --------===//
#pragma once

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
  /// Compiles, to the bytes that are kept; called after `simplify`.
  std::function<Result<std::string>()> compile;
  /// Makes of the bytes what the caller wants. A failure says why they are of no use: they are made
  /// again, once.
  std::function<Status(const std::string &)> read;
  /// For people who list the cache.
  std::string label;
  /// Of the program's entry: "program", or "native" for machine code of a CPU.
  std::string kind = "program";
};

/// The program of a spec. The text's entry ("spec") leads to the program's: neither step is taken
/// when both are there.
Status findOrCompile(BlobStore &cache, const ProgramSteps &steps);

} // namespace lacuna
