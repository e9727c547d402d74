//===- EndToEndTest.cpp - random specs on the CPU against the oracle ------===//
#include "lib/Support/Settings.h"
#include "test/Support/SpecRunner.h"

#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::test::Assignments;
using lacuna::test::describe;
using lacuna::test::RandomSpec;
using lacuna::test::SpecRunner;

/// Sizes that each spec runs on: compiling is the slow part.
static constexpr int64_t runsPerSpec = 8;

TEST(EndToEndProperty, randomSpecsAgreeWithTheOracle) {
  Result<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings) << settings.status().message();
  int64_t cases = settings->propertyCases ? settings->propertyCases : 800;
  uint64_t seed = settings->propertySeed;
  RecordProperty("seed", static_cast<int>(seed));
  for (int64_t number = 0; number < cases; number += runsPerSpec) {
    // Each spec has a stream of its own, so that one that fails can be drawn again alone.
    Random random(seed, static_cast<uint64_t>(number));
    RandomSpec spec(random);
    // Grids share the tokens of a tile among their axes, so that they must be a power of two.
    int64_t queryTile = int64_t{8} << random.below(3), keyTile = int64_t{8} << random.below(3);
    // Whether key tiles on several axes start anywhere, as on the GPU.
    bool unaligned = random.below(2);
    SCOPED_TRACE("LACUNA_PROPERTY_SEED=" + std::to_string(seed) + ", case " +
                 std::to_string(number) + ", tiles " + std::to_string(queryTile) + " x " +
                 std::to_string(keyTile) + (unaligned ? ", unaligned\n" : "\n") + spec.getText());
    SpecRunner runner(spec.getText(), queryTile, keyTile, unaligned);
    ASSERT_EQ(runner.getMistake(), "");
    for (int64_t run = 0; run < runsPerSpec; ++run) {
      Assignments values = spec.drawValues(queryTile);
      ASSERT_EQ(runner.run(values), "") << describe(values);
    }
  }
}
