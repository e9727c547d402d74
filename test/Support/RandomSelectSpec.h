//===- RandomSelectSpec.h - random specs that choose from data -------------===//
#pragma once

#include "test/Support/RandomSpec.h"

namespace lacuna::test {

/// A spec whose lists come from select ops: summaries of any kind, scores with every clause, sets
/// that restrict and force, every rule and scope, and attention over what was chosen.
class RandomSelectSpec {
public:
  explicit RandomSelectSpec(Random &random, RandomSpec::Scale scale = RandomSpec::Scale::Small);

  const std::string &getText() const { return text; }
  /// Lengths at the borders of blocks are frequent.
  Assignments drawValues() const;

private:
  /// A tensor by its name and type.
  struct Rows {
    std::string name, type;
  };

  Rows writeSummary(const Rows &tokens, int64_t heads, int64_t block, const std::string &kind);
  Rows writeFold(const Rows &tokens, int64_t heads, bool isReversed);
  /// Scores of query blocks with key blocks.
  std::string writeScores();
  std::string writeClauses(const Rows &query, const Rows &key);
  std::string writeFunction();
  std::string writeRestriction(const std::string &scores);
  void writeChoice(const std::string &scores);
  std::string writeNumber(const std::string &scores, bool hasScope, std::string &clauses);
  /// Lists through other formats, which may end as a map of bytes.
  void writeFormats(const std::string &scores);
  void writeAttention();
  std::string define(const std::string &op);
  std::string oneOf(std::vector<std::string> choices) {
    return choices[static_cast<size_t>(random.below(static_cast<int64_t>(choices.size())))];
  }
  bool chance(int64_t count) const { return random.below(count) == 0; }
  std::string tokens(int64_t heads, int64_t width, const std::string &element) const;

  Random &random;
  std::string text, body, type, scoresType, idsType, countsType;
  /// Further arguments and results, each with its leading comma.
  std::string arguments;
  std::vector<Rows> results;
  int64_t queryHeads, keyHeads, group, channels, queryBlock, keyBlock;
  bool isGrid, isForGpu;
  Rows query, key, value, ids, counts;
  /// The map that takes the place of the lists; empty without one.
  std::string mask;
  int next = 0;
};

} // namespace lacuna::test
