//===- CacheKey.cpp - what an entry of the cache is an answer to -----------===//
#include "runtime/Cache/CacheKey.h"

#include <algorithm>

namespace lacuna {

std::optional<CacheKey> CacheKey::parse(std::string_view name) {
  size_t dash = name.find('-');
  if (dash == 0 || dash == name.npos)
    return std::nullopt;
  std::string_view kind = name.substr(0, dash);
  if (!std::ranges::all_of(kind, [](char letter) { return letter >= 'a' && letter <= 'z'; }))
    return std::nullopt;
  std::optional<Digest> digest = Digest::parse(name.substr(dash + 1));
  if (!digest)
    return std::nullopt;
  return CacheKey{std::string(kind), *digest};
}

} // namespace lacuna
