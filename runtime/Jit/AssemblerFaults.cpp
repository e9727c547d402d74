//===- AssemblerFaults.cpp - code that some assemblers get wrong -----------===//
#include "runtime/Jit/AssemblerFaults.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace lacuna {

bool losesNegations(int major, int minor) {
  std::pair<int, int> version(major, minor);
  return version >= std::pair(12, 6) && version < std::pair(13, 4);
}

/// The words of an instruction: its name, then its operands.
static std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view between = " \t,;\r";
  while (true) {
    size_t start = line.find_first_not_of(between);
    if (start == line.npos)
      return words;
    size_t end = std::min(line.find_first_of(between, start), line.size());
    words.push_back(line.substr(start, end - start));
    line.remove_prefix(end);
  }
}

std::optional<std::string> findLostNegation(std::string_view ptx) {
  std::unordered_set<std::string_view> negated;
  /// Results of a minimum or maximum with a negated operand, and which of both it was.
  std::unordered_map<std::string_view, std::string_view> inner;
  while (!ptx.empty()) {
    std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(line.size() + 1, ptx.size()));
    // Registers of another function are others.
    if (line.find(".entry") != line.npos || line.find(".func") != line.npos) {
      negated.clear();
      inner.clear();
      continue;
    }
    if (line.find(".s32") == line.npos)
      continue;
    std::vector<std::string_view> words = wordsOf(line);
    if (words.size() >= 2 && words[0].front() == '@')
      words.erase(words.begin());
    if (words.size() < 3)
      continue;
    std::string_view name = words[0];
    if (name == "neg.s32" || (words.size() == 4 && ((name == "sub.s32" && words[2] == "0") ||
                                                    (name == "mul.lo.s32" && words[3] == "-1")))) {
      negated.insert(words[1]);
    } else if (words.size() == 4 && (name == "min.s32" || name == "max.s32")) {
      for (std::string_view operand : {words[2], words[3]})
        if (auto found = inner.find(operand); found != inner.end() && found->second == name)
          return std::string(name) + " " + std::string(words[1]) + ", " + std::string(words[2]) +
                 ", " + std::string(words[3]);
      if (negated.count(words[2]) || negated.count(words[3]))
        inner[words[1]] = name;
    }
  }
  return std::nullopt;
}

} // namespace lacuna
