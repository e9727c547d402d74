//===- ProjectPropertyTest.cpp - features of tokens ------------------------===//
#include "lib/Support/Random.h"
#include "lib/Support/Settings.h"
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::test::Assignments;
using lacuna::test::describe;
using lacuna::test::SpecRunner;

namespace {
struct Projection {
  int64_t matrices = 1, headsPerMatrix = 1, channels = 8, features = 8;
  std::string from = "f32", into = "f32";

  std::string text() const {
    std::string x = fmt::format("tensor<?x{}x?x{}x{}>", matrices * headsPerMatrix, channels, from);
    std::string w = fmt::format("tensor<?x{}x{}x{}>", channels, features, from);
    std::string f = fmt::format("tensor<?x{}x?x{}x{}>", matrices * headsPerMatrix, features, into);
    return fmt::format("func.func @f(%x: {0}, %w: {1}) -> {2} {{\n"
                       "  %f = select.project %x, %w : {0}, {1} -> {2}\n"
                       "  return %f : {2}\n}}\n",
                       x, w, f);
  }
};

Projection drawProjection(Random &random) {
  const char *const types[] = {"f32", "f16", "bf16"};
  Projection drawn;
  drawn.matrices = random.between(1, 3);
  drawn.headsPerMatrix = random.between(1, 3);
  drawn.channels = random.below(6) == 0 ? random.between(100, 300) : random.between(1, 40);
  drawn.features = random.below(6) == 0 ? random.between(129, 200) : random.between(1, 40);
  drawn.from = types[random.below(3)];
  drawn.into = types[random.below(3)];
  return drawn;
}

/// The product itself, and the sum of the terms' magnitudes.
std::pair<double, double> multiply(const Tensor &x, const Tensor &w,
                                   const std::vector<int64_t> &at) {
  int64_t matrix = at[1] * w.shape[0] / x.shape[1];
  double sum = 0, magnitude = 0;
  for (int64_t channel = 0; channel < x.shape[3]; ++channel) {
    double term = x.at({at[0], at[1], at[2], channel}) * w.at({matrix, channel, at[3]});
    sum += term;
    magnitude += std::fabs(term);
  }
  return {sum, magnitude};
}
} // namespace

TEST(ProjectProperty, featuresAreProducts) {
  Result<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings) << settings.status().message();
  int64_t cases = settings->propertyCases ? settings->propertyCases : 12;
  uint64_t seed = settings->propertySeed;
  for (int64_t number = 0; number < cases; ++number) {
    Random random(seed, static_cast<uint64_t>(number));
    Projection drawn = drawProjection(random);
    SCOPED_TRACE("LACUNA_PROPERTY_SEED=" + std::to_string(seed) + "\n" + drawn.text());
    SpecRunner runner(drawn.text());
    ASSERT_EQ(runner.getMistake(), "");
    double unit = drawn.into == "f32" ? 0x1p-24 : drawn.into == "f16" ? 0x1p-11 : 0x1p-8;
    for (int64_t length : {int64_t{0}, int64_t{1}, int64_t{128}, random.between(2, 300)}) {
      Assignments values = {
          {"b", "2"},
          {"n", std::to_string(length)},
          {"w", fmt::format("{}x{}x{}", drawn.matrices, drawn.channels, drawn.features)}};
      std::vector<std::pair<double, double>> exact;
      ASSERT_EQ(runner.run(values,
                           [&](BoundSpec &spec) {
                             std::vector<int64_t> shape = input(spec, 0).shape;
                             shape[3] = drawn.features;
                             forEachIndex(shape, [&](const std::vector<int64_t> &at) {
                               exact.push_back(multiply(input(spec, 0), input(spec, 1), at));
                             });
                           }),
                "")
          << describe(values);
      std::vector<double> found = elements(runner.result(0));
      ASSERT_EQ(found.size(), exact.size());
      for (size_t place = 0; place < exact.size(); ++place)
        ASSERT_NEAR(found[place], exact[place].first,
                    unit * std::fabs(exact[place].first) + 0x1p-18 * exact[place].second + 0x1p-24)
            << describe(values) << " at " << place;
    }
  }
}
