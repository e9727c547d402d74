//===- RefinedRowsTest.cpp - device code of one level of a search ----------===//
#include "lib/Reference/ListFormats.h"
#include "lib/Selection/Selection.h"
#include "lib/Support/Random.h"
#include "test/Unit/lib/Device/Block.h"

#include <gtest/gtest.h>

namespace {
using namespace on_block;
struct Bf16 {};
struct F16 {};
struct alignas(16) uint4 {
  u32 x, y, z, w;
};
/// Rounded to nothing: keys of the test are bf16 already.
template <class Element> u32 packPair(float low, float) { return __float_as_uint(low) >> 16; }
// The only machine instruction of the rows, for f16, which no test asks for.
#define asm(...) value = 0
#include "lib/Device/Rows.cuh"

#include "lib/Device/SelectLists.cuh"

#include "lib/Device/Teams.cuh"

#include "lib/Device/Choices.cuh"

#include "lib/Device/KeptRows.cuh"

#include "lib/Device/RefinedRows.cuh"
#undef asm
} // namespace

using namespace lacuna;

static constexpr int warps = 4, nodes = 30;

namespace {
/// `warps` query rows, each with a list of nodes of one level, and key rows of the next finer one.
template <class Element, int Channels, int By, int Listed> struct Refinement {
  typedef typename Memory<Element>::Type Type;
  static constexpr int most = By * Listed, pitch = Channels + 8, kept = 7;
  /// The last node has a child less.
  static constexpr int columns = By * nodes - 1;

  explicit Refinement(uint64_t seed, int keyRows) : keyRows(keyRows) {
    Random random(seed);
    auto fill = [&](std::vector<Type> &rows, int number) {
      rows.resize(static_cast<size_t>(number * pitch) + 16);
      for (Type &element : rows)
        element = Memory<Element>::store(static_cast<float>(random.between(-64, 64)) * 0.015625f);
    };
    fill(queries, warps);
    fill(keys, keyRows);
    for (int row = 0; row < warps; ++row) {
      counts.view().set({0, 0, row}, static_cast<double>(random.between(0, Listed + 2)));
      for (int entry = 0; entry < Listed; ++entry)
        ids.view().set({0, 0, row, entry}, static_cast<double>(random.between(-1, nodes)));
    }
  }
  static float adjust(int column, float product) {
    return column % 11 == 5 ? INFINITY : column % 7 == 3 ? -INFINITY : 0.5f * product;
  }
  void run() {
    launch(warps, [&] {
      const int row = static_cast<int>(threadIdx.x / 32);
      const GatheredRow<Element, Channels> query(queries.data(), row * pitch, 1);
      const GatheredKeys gathered = {keys.data(), 0, pitch, 1, keyRows};
      auto *listed = static_cast<int *>(ids.view().data) + row * Listed;
      const RefinedRow it = {
          0,    row, {listed, 1, Listed}, static_cast<int *>(counts.view().data)[row], columns,
          most, kept};
      const int found = refineRow<Rule::TopK, By, most, warps, true>(
          it, query, gathered, kept, 0, 0x7fffffff, adjust,
          [&](int entry, int child, float score) {
            children[static_cast<size_t>(row * most + entry)] = child;
            scores[static_cast<size_t>(row * most + entry)] = score;
          },
          [&](int place, int entry, int child) {
            places[static_cast<size_t>(row * kept + place)] = entry;
            picked[static_cast<size_t>(row * kept + place)] = child;
          },
          [&](int number) { chosen[static_cast<size_t>(row)] = number; });
      if (threadIdx.x % 32 == 0)
        childCounts[static_cast<size_t>(row)] = found;
    });
  }
  float product(int row, int key) const {
    double sum = 0;
    for (int channel = 0; channel < Channels; ++channel)
      sum += static_cast<double>(
                 Memory<Element>::load(queries[static_cast<size_t>(row * pitch + channel)])) *
             static_cast<double>(
                 Memory<Element>::load(keys[static_cast<size_t>(key * pitch + channel)]));
    return static_cast<float>(sum);
  }
  void check() {
    reference::Lists known = reference::childrenOf(ids.view(), counts.view(), By, columns);
    for (int row = 0; row < warps; ++row) {
      ASSERT_EQ(childCounts[static_cast<size_t>(row)], known.counts.view().at({0, 0, row}));
      for (int entry = 0; entry < most; ++entry) {
        int child = children[static_cast<size_t>(row * most + entry)];
        ASSERT_EQ(child, known.ids.view().at({0, 0, row, entry}));
        float expected =
            child < 0 || child >= keyRows ? -INFINITY : adjust(child, product(row, child));
        float score = scores[static_cast<size_t>(row * most + entry)];
        ASSERT_TRUE(score == expected || std::fabs(score - expected) < 1e-4f)
            << score << " " << expected;
      }
    }
    std::vector<int> knownPlaces(places.size(), 77), knownCounts(chosen.size(), 77);
    for (int row = 0; row < warps; ++row) {
      selection::ChooseRequest request{};
      request.scores = {scores.data(), {1, 1, warps, most}, {0, 0, most, 1}};
      request.ids = {knownPlaces.data(), {1, 1, warps, kept}, {0, 0, kept, 1}};
      request.counts = {knownCounts.data(), {1, 1, warps}, {0, 0, 1}};
      request.number = kept;
      request.cap = INT32_MAX;
      request.at[2] = row;
      selection::choose(request);
    }
    EXPECT_EQ(places, knownPlaces);
    EXPECT_EQ(chosen, knownCounts);
    for (size_t at = 0; at < places.size(); ++at) {
      size_t entry = at / kept * most + static_cast<size_t>(std::max(places[at], 0));
      EXPECT_EQ(picked[at], places[at] < 0 ? -1 : children[entry]);
    }
  }

  int keyRows;
  std::vector<Type> queries, keys;
  OwnedTensor ids{ElementType::I32, {1, 1, warps, Listed}}, counts{ElementType::I32, {1, 1, warps}};
  std::vector<int> children = std::vector<int>(warps * most, 77),
                   childCounts = std::vector<int>(warps, 77);
  std::vector<float> scores = std::vector<float>(warps * most, 77);
  std::vector<int> places = std::vector<int>(warps * kept, 77), picked = places,
                   chosen = std::vector<int>(warps, 77);
};

template <class Element, int Channels, int By, int Listed> void refine(uint64_t seed, int keyRows) {
  Refinement<Element, Channels, By, Listed> refinement(seed, keyRows);
  refinement.run();
  refinement.check();
}
} // namespace

TEST(RefinedRows, choosesAmongChildren) {
  refine<Bf16, 128, 4, 16>(1, 4 * nodes - 1);
  refine<Bf16, 64, 2, 20>(2, 2 * nodes - 1);
  refine<float, 128, 3, 9>(3, 3 * nodes - 1);
}
TEST(RefinedRows, anyNumberOfChannels) {
  refine<Bf16, 8, 2, 10>(4, 2 * nodes);
  refine<Bf16, 16, 2, 10>(5, 2 * nodes);
  refine<Bf16, 40, 4, 5>(6, 4 * nodes);
  refine<float, 33, 4, 5>(7, 4 * nodes);
  refine<Bf16, 512, 2, 5>(8, 2 * nodes);
}
TEST(RefinedRows, childrenThatAreNoKeys) {
  refine<Bf16, 128, 4, 16>(9, 50);
  refine<Bf16, 128, 4, 16>(10, 0);
}
