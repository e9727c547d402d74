//===- CaseSpec.h - specs of the reported cases ---------------------------===//
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace lacuna::test {

/// A spec with one attend: everything a case varies.
struct Shape {
  int64_t queryHeads = 1, keyHeads = 1, channels = 16, valueChannels = 16;
  std::string type = "f32";
  /// Arguments behind q, k and v; clauses of attend, with their leading space.
  std::string arguments = "", clauses = "";
  /// Type of the set unless it is a sequence's.
  std::string setType = "";

  std::string spec(const std::string &set) const;
};

/// The spec whose attend is over `%set`, which `set` defines.
inline std::string Shape::spec(const std::string &set) const {
  std::string query = fmt::format("tensor<?x{}x?x{}x{}>", queryHeads, channels, type);
  std::string key = fmt::format("tensor<?x{}x?x{}x{}>", keyHeads, channels, type);
  std::string value = fmt::format("tensor<?x{}x?x{}x{}>", keyHeads, valueChannels, type);
  std::string output = fmt::format("tensor<?x{}x?x{}x{}>", queryHeads, valueChannels, type);
  std::string lse = fmt::format("tensor<?x{}x?xf32>", queryHeads);
  return fmt::format("func.func @spec(%q: {0}, %k: {1}, %v: {2}{3}) -> ({4}, {5}) {{\n{6}\n"
                     "  %o, %lse = attn.attend %q, %k, %v over %set{7}{8}\n"
                     "    : {0}, {1}, {2} -> {4}, {5}\n  return %o, %lse : {4}, {5}\n}}\n",
                     query, key, value, arguments, output, lse, set, setType, clauses);
}

inline constexpr const char *all = "  %set = sparsity.all";
inline constexpr const char *causal = "  %set = sparsity.causal";

} // namespace lacuna::test
