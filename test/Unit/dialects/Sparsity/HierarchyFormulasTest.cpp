//===- HierarchyFormulasTest.cpp - dyadic levels and documents ------------===//
#include "test/Support/SetExpectation.h"

using namespace lacuna::test;

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// `order` holds the words that follow the levels.
static std::string levelText(const std::string &options, int64_t first, int64_t last,
                             const std::string &order = "") {
  return "%s = sparsity.dyadic " + options + " only [" + std::to_string(first) + ", " +
         std::to_string(last) + "]" + order;
}

/// Level of the Fenwick node that holds block `key` for a query whose block is `own`: -1 is the own
/// block, -2 none. Walks the digits of `own` from the lowest.
static int64_t fenwickLevel(int64_t own, int64_t key, int64_t fanout) {
  if (key == own)
    return -1;
  int64_t end = own, size = 1;
  for (int64_t level = 0; end > 0; ++level, size *= fanout) {
    int64_t digit = end / size % fanout, begin = end - digit * size;
    if (key >= begin && key < end)
      return level;
    end = begin;
  }
  return -2;
}

TEST(HierarchyFormulas, withoutOnlyItIsTheOrder) {
  SetEvaluator fenwick("", "%s = sparsity.dyadic fenwick base 2");
  EXPECT_TRUE(
      agreesOnSequences(fenwick, 1, [](const TestPair &p) { return p.key[0] <= p.position(); }));
  SetEvaluator distance("", "%s = sparsity.dyadic distance base 2 fanout 4 near(3)");
  EXPECT_TRUE(agreesOnSequences(distance, 1, [](const TestPair &) { return true; }));
}

TEST(HierarchyFormulas, fenwickDigits) {
  for (int64_t fanout : {2, 3})
    for (int64_t level = -1; level < 5; ++level) {
      SetEvaluator set("",
                       levelText("fenwick base 3 fanout " + std::to_string(fanout), level, level));
      for (int64_t n : {1, 40, 100})
        EXPECT_TRUE(agrees(set, {n}, {n}, 1, [&](const TestPair &p) {
          return p.key[0] <= p.query[0] &&
                 fenwickLevel(p.query[0] / 3, p.key[0] / 3, fanout) == level;
        }));
    }
}

TEST(HierarchyFormulas, distanceLevelsByTheirDefinition) {
  for (int64_t fanout : {2, 4})
    for (int64_t level = 0; level < 4; ++level) {
      SetEvaluator set(
          "%near: index",
          levelText("distance base 2 fanout " + std::to_string(fanout) + " near(%near) levels 4",
                    level, level, " causal from_start"));
      set.with(0, 5);
      int64_t size = 2;
      for (int64_t step = 0; step < level; ++step)
        size *= fanout;
      EXPECT_TRUE(agrees(set, {60}, {80}, 1, [&](const TestPair &p) {
        int64_t i = p.query[0], j = p.key[0];
        bool exact = std::abs(j / 2 - i / 2) <= 1 || std::abs(i - j) <= 5;
        int64_t up = size * fanout;
        bool parents = level == 3 || std::abs(j / up - i / up) <= 1;
        return j <= i && !exact && std::abs(j / size - i / size) >= 2 && parents;
      }));
    }
}

// Every pair of the order lies in exactly one part, at every length.
TEST(HierarchyFormulas, partsCoverEachPairOnce) {
  for (const char *options :
       {"fenwick base 4 near(6)", "fenwick base 1 fanout 3 levels 3", "distance base 3 near(10)",
        "distance base 2 fanout 4 levels 2", "distance base 5 levels 7"}) {
    std::string text = options;
    int64_t top = 6;
    if (size_t at = text.find("levels "); at != std::string::npos)
      top = std::stoll(text.substr(at + 7)) - 1;
    std::vector<std::unique_ptr<SetEvaluator>> parts;
    for (int64_t level = -1; level <= top; ++level)
      parts.push_back(std::make_unique<SetEvaluator>("", levelText(text, level, level)));
    SetEvaluator whole("", levelText(text, -1, top)), order("", "%s = sparsity.dyadic " + text);
    // With no top level, these lengths stay inside the highest level named here.
    for (auto [queries, keys] : {std::pair(1, 1), {33, 33}, {5, 40}, {40, 17}, {64, 64}})
      forEachPair({queries}, {keys}, [&](const TestPair &pair) {
        int count = 0;
        for (auto &part : parts)
          count += part->predicate(pair);
        bool live = order.predicate(pair);
        EXPECT_EQ(count, live) << options << ": " << toText(pair);
        EXPECT_EQ(whole.predicate(pair), live) << options << ": " << toText(pair);
      });
  }
}

/// Document of a token, by looking at each; -1 is none.
static int64_t documentOf(const std::vector<int64_t> &offsets, int64_t token) {
  for (size_t document = 0; document + 1 < offsets.size(); ++document)
    if (offsets[document] <= token && token < offsets[document + 1])
      return document;
  return -1;
}

static const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> packings = {
    {{0, 4, 9, 12}, {0, 4, 9, 12}},
    {{0, 0, 3, 3, 12}, {0, 5, 5, 6, 15}},
    {{0, 7, 7, 14}, {0, 1, 8, 10}},
    {{2, 5, 8}, {3, 3, 9}},
    {{0, 1, 1, 1, 13}, {0, 0, 2, 2, 20}},
    {{0}, {0}},
    {{}, {}},
    {{0, 12}, {0, 12}},
};

TEST(HierarchyFormulas, documentsByLookingAtEach) {
  for (const char *options : {"", " causal", " causal from_start"}) {
    SetEvaluator set("%q: tensor<?xi32>, %k: tensor<?xindex>",
                     std::string("%s = sparsity.documents %q, %k") + options +
                         " : tensor<?xi32>, tensor<?xindex>");
    ASSERT_TRUE(bool(set));
    std::string mode = options;
    for (const auto &[queries, keys] : packings) {
      set.with(0, queries).with(1, keys);
      for (auto [n, m] : {std::pair(12, 12), {14, 20}, {1, 15}, {0, 3}, {3, 0}}) {
        EXPECT_TRUE(agrees(set, {n}, {m}, 1,
                           [&](const TestPair &p) {
                             int64_t i = p.query[0], j = p.key[0], d = documentOf(queries, i);
                             if (d < 0 || documentOf(keys, j) != d)
                               return false;
                             int64_t shift = mode == " causal" ? (keys[d + 1] - keys[d]) -
                                                                     (queries[d + 1] - queries[d])
                                                               : 0;
                             return mode.empty() || j - keys[d] <= i - queries[d] + shift;
                           }))
            << toText(queries) << toText(keys) << mode;
        EXPECT_TRUE(neverDecreases(set, {n}, {m}, 1)) << toText(queries) << toText(keys) << mode;
      }
    }
  }
}

// Offsets that break the promise: any result, but no read outside (the interpreter would fail).
TEST(HierarchyFormulas, documentsWithBrokenOffsetsStayInside) {
  SetEvaluator set("%q: tensor<?xi32>, %k: tensor<?xindex>",
                   "%s = sparsity.documents %q, %k causal : tensor<?xi32>, tensor<?xindex>");
  ASSERT_TRUE(bool(set));
  for (const auto &[queries, keys] :
       {std::pair<std::vector<int64_t>, std::vector<int64_t>>{{9, -4, 3}, {100, -7, 2}},
        {{0, 5, 10}, {0}},
        {{0}, {0, 5, 10}},
        {{}, {1, 2}},
        {{1 << 30, -(1 << 30)}, {5, 5}}}) {
    set.with(0, queries).with(1, keys);
    forEachPair({12}, {9}, [&](const TestPair &pair) { set.predicate(pair); });
  }
  SUCCEED();
}

TEST(HierarchyFormulas, negativePositionsHaveNoBlockOfTheirOwn) {
  SetEvaluator set("", levelText("fenwick base 4", -1, -1));
  EXPECT_TRUE(agreesOnSequences(set, 1, [](const TestPair &p) {
    return floorDiv(p.position(), 4) == p.key[0] / 4 && p.key[0] <= p.position();
  }));
}
