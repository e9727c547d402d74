//===- ProgramCache.cpp - programs by text, by meaning, else compiled ------===//
#include "runtime/Cache/ProgramCache.h"

#include "lacuna/Runtime.h"

#include <fmt/format.h>

namespace lacuna {

namespace {
/// One request.
class Lookup {
public:
  Lookup(BlobStore &cache, const ProgramSteps &steps) : cache(cache), steps(steps) {}

  /// The digest that the text leads to.
  Result<Digest> find();
  /// The bytes of the program; `simplify` is called unless that was done or they are there.
  Result<Blob> program(const Digest &digest);

private:
  Result<Digest> simplify();

  BlobStore &cache;
  const ProgramSteps &steps;
  std::optional<Digest> simplified;
};
} // namespace

Result<Digest> Lookup::simplify() {
  if (simplified)
    return *simplified;
  Result<Digest> digest = steps.simplify();
  if (digest)
    simplified = *digest;
  return digest;
}

Result<Blob> Lookup::program(const Digest &digest) {
  return cache.findOrMake({steps.kind, digest}, steps.label, [&]() -> Result<std::string> {
    Result<Digest> same = simplify();
    return same ? steps.compile() : same.status();
  });
}

Result<Digest> Lookup::find() {
  CacheKey key{"spec", steps.text};
  // The program is made before the text leads to it.
  auto make = [&]() -> Result<std::string> {
    Result<Digest> digest = simplify();
    if (!digest)
      return digest.status();
    Result<Blob> bytes = program(*digest);
    return bytes ? Result<std::string>(digest->hex()) : bytes.status();
  };
  for (bool again : {false, true}) {
    Result<Blob> found = cache.findOrMake(key, steps.label, make);
    if (!found)
      return found.status();
    if (std::optional<Digest> digest = Digest::parse(**found))
      return *digest;
    if (!again)
      cache.discard(key, "expected the digest of a program");
  }
  return Status::error(StatusCode::Corrupt, "expected the digest of a program in the cache");
}

Status findOrCompile(BlobStore &cache, const ProgramSteps &steps) {
  Lookup lookup(cache, steps);
  Result<Digest> digest = lookup.find();
  if (!digest)
    return digest.status();
  for (bool again : {false, true}) {
    Result<Blob> bytes = lookup.program(*digest);
    if (!bytes)
      return bytes.status();
    Status status = steps.read(**bytes);
    // Its checksum was right, so a compiler wrote what this library does not read.
    if (status || again)
      return status;
    cache.discard({steps.kind, *digest}, status.message());
  }
  return Status::error(StatusCode::Corrupt, "expected a program in the cache");
}

static Result<Digest> parseKey(const Result<std::string> &key) {
  if (!key)
    return key.status();
  std::optional<Digest> digest = Digest::parse(*key);
  if (!digest)
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("expected a key of 64 digits, got '{}'", *key));
  return *digest;
}

Result<Artifact> findOrCompile(const std::shared_ptr<BlobStore> &cache,
                               const CompileSteps &compilation) {
  if (!cache || compilation.textKey.empty())
    return compilation.compile();
  Result<Digest> text = parseKey(compilation.textKey);
  if (!text)
    return text.status();
  Result<Artifact> artifact = Status::error(StatusCode::NotFound, "");
  ProgramSteps steps;
  steps.text = *text;
  steps.simplify = [&] { return parseKey(compilation.meaningKey()); };
  steps.compile = [&]() -> Result<std::string> {
    artifact = compilation.compile();
    return artifact ? compilation.write(*artifact) : artifact.status();
  };
  steps.read = [&](const std::string &bytes) {
    // What was compiled just now is there.
    if (!artifact)
      artifact = compilation.read(bytes);
    return artifact.status();
  };
  steps.label = compilation.label;
  steps.kind = compilation.kind;
  if (Status status = findOrCompile(*cache, steps); !status)
    return status;
  return artifact;
}

} // namespace lacuna
