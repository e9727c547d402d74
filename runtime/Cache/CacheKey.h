//===- CacheKey.h - what an entry of the cache is an answer to -------------===//
#pragma once

#include "lib/Support/Sha256.h"

#include <string>
#include <string_view>

namespace lacuna {

/// Names an entry. Keys are made of plain values: two keys are equal when all inputs are.
struct CacheKey {
  /// "spec", "program", "native" or "cubin": lower-case letters, for people who list the cache.
  std::string kind;
  /// Of every input; `FieldDigest` makes one.
  Digest digest;

  /// "cubin-0123...": the name of the entry's file.
  std::string fileName() const { return kind + '-' + digest.hex(); }
  /// The key whose file is called `name`, or nothing.
  static std::optional<CacheKey> parse(std::string_view name);
  friend auto operator<=>(const CacheKey &, const CacheKey &) = default;
};

} // namespace lacuna
