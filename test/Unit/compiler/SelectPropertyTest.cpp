//===- SelectPropertyTest.cpp - random choices against the oracle ---------===//
#include "lib/Support/Settings.h"
#include "test/Support/RandomSelectSpec.h"
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using lacuna::test::Assignments;
using lacuna::test::describe;
using lacuna::test::RandomSelectSpec;
using lacuna::test::SpecRunner;

/// Sizes that each spec runs on: compiling is the slow part.
static constexpr int64_t runsPerSpec = 6;

/// Puts what is no number, or no finite one, into a few elements of queries and keys.
static void poison(BoundSpec &spec, Random &random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double numbers[] = {NAN, infinity, -infinity, 0};
  for (size_t argument = 0; argument < 2; ++argument) {
    Tensor &tensor = input(spec, argument);
    for (int64_t count = tensor.elements() ? 2 : 0; count > 0; --count) {
      std::vector<int64_t> at;
      for (int64_t extent : tensor.shape)
        at.push_back(random.below(extent));
      tensor.set(at, numbers[random.below(4)]);
    }
  }
}

TEST(SelectProperty, randomSpecsAgreeWithTheOracle) {
  Result<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings) << settings.status().message();
  int64_t cases = settings->propertyCases ? settings->propertyCases : 120;
  uint64_t seed = settings->propertySeed;
  RecordProperty("seed", static_cast<int>(seed));
  for (int64_t number = 0; number < cases; number += runsPerSpec) {
    Random random(seed, static_cast<uint64_t>(number));
    RandomSelectSpec spec(random);
    SCOPED_TRACE("LACUNA_PROPERTY_SEED=" + std::to_string(seed) + ", case " +
                 std::to_string(number) + "\n" + spec.getText());
    SpecRunner runner(spec.getText());
    ASSERT_EQ(runner.getMistake(), "");
    for (int64_t run = 0; run < runsPerSpec; ++run) {
      Assignments values = spec.drawValues();
      bool isPoisoned = run % 3 == 2;
      auto change = [&](BoundSpec &bound) {
        if (isPoisoned)
          poison(bound, random);
      };
      ASSERT_EQ(runner.run(values, change), "")
          << describe(values) << (isPoisoned ? ", poisoned" : "");
    }
  }
}
