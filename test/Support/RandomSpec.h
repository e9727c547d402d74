//===- RandomSpec.h - random specs as text, and sizes to run them with -----===//
#pragma once

#include "lib/Support/Random.h"

#include <string>
#include <utility>
#include <vector>

namespace lacuna::test {

/// Values for `--set`, by name.
using Assignments = std::vector<std::pair<std::string, std::string>>;

/// "--set n=4,left=2", for messages.
std::string describe(const Assignments &values);

/// A spec with one attend over a random set: over a sequence, a grid or a concatenation, with
/// constant and run-time numbers. The text is that of a user; sizes are drawn separately, since one
/// compilation serves them all.
class RandomSpec {
public:
  /// How large specs get.
  enum class Scale {
    /// For tiles of 8 to 32 tokens on the CPU, with any type and number of channels.
    Small,
    /// For the tiles of a GPU: longer windows and grids, 16-bit floats, channels that it supports.
    Gpu,
  };
  explicit RandomSpec(Random &random, Scale scale = Scale::Small);

  const std::string &getText() const { return text; }
  /// Concrete sizes and values. Lengths at the borders of `tile` are frequent.
  Assignments drawValues(int64_t tile) const;

private:
  /// A run-time number of the spec.
  struct Parameter {
    enum class Kind { Scalar, PerHead, Size };
    std::string name;
    Kind kind;
    int64_t low, high;
  };
  /// A segment of the domain: how sets name it, and its axes.
  struct Segment {
    std::string domain;
    int64_t axes;
  };

  void writeDomain();
  void writeFunction(const std::string &set);
  /// Clauses of attend behind the set: sinks, scale, a score region.
  std::string writeClauses();
  /// Each writes one op and returns the name of its set.
  std::string writeSet(const Segment &queries, const Segment &keys, int depth);
  std::string writeLeaf(const Segment &queries, const Segment &keys);
  std::string writeSequenceLeaf();
  std::string writeGridLeaf(const Segment &segment);
  std::string writeMixedLeaf(const Segment &queries, const Segment &keys);
  std::string writeAlgebra(const Segment &queries, const Segment &keys, int depth);
  std::string writeAffine(const Segment &queries, const Segment &keys);
  std::string writeWhere(const Segment &queries, const Segment &keys);
  std::string writeDyadic();
  std::string writeDocuments();
  std::string writeRadius(const Segment &segment);
  std::string writeSegments();
  std::string define(const std::string &op);

  /// A constant or a run-time number; `typed` spells the type of one per head.
  std::string number(int64_t low, int64_t high);
  std::string parameter(Parameter::Kind kind, int64_t low, int64_t high);
  std::string list(int64_t count, int64_t low, int64_t high);
  std::string fromStart() { return chance(5) ? " from_start" : ""; }
  /// True once in `count`.
  bool chance(int64_t count) const { return random.below(count) == 0; }
  int64_t drawChannels();
  /// " : !sparsity.set<...>", or nothing for a sequence.
  static std::string typeText(const Segment &queries, const Segment &keys);
  static std::string inDomain(const Segment &segment);

  Random &random;
  const Scale scale;
  std::string text, body;
  std::vector<Parameter> parameters;
  std::vector<Segment> segments;
  bool hasDocuments = false;
  int64_t queryHeads, keyHeads, channels, valueChannels;
  std::string type;
  bool hasSinks = false;
  int nextName = 0;
};

} // namespace lacuna::test
