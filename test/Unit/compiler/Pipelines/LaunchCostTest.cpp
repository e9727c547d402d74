//===- LaunchCostTest.cpp - what a launch costs its thread -----------------===//
//
// Everything but the driver: launches of the fake do nothing here. A launch on a GPU has five
// microseconds, of which its driver takes two to three (docs/performance.md).
//
//===----------------------------------------------------------------------===//
#include "test/Unit/compiler/Pipelines/LaunchFixture.h"
#include "test/Unit/runtime/CountAllocations.h"

#include <algorithm>
#include <chrono>
#include <iostream>

using namespace lacuna;

namespace {
struct LaunchCase {
  const char *name, *arguments, *set, *setType, *values;
};

class LaunchCostTest : public LaunchFixture, public testing::WithParamInterface<LaunchCase> {
protected:
  /// Nanoseconds of one launch, the best of several rounds, and allocations of all of them. With a
  /// `changing` argument no two launches have the same.
  std::pair<double, int64_t> measure(driver::Stream stream, int64_t *changing = nullptr) {
    constexpr int rounds = 20, launches = 5000;
    double best = 1e9;
    int64_t before = countAllocations().value_or(0);
    for (int round = 0; round < rounds; ++round) {
      auto start = std::chrono::steady_clock::now();
      for (int launch = 0; launch < launches; ++launch) {
        if (changing)
          *changing = 1 + (*changing + 1) % 1000;
        if (!program->run(stream, bound.arguments, results))
          return {1e9, 0};
      }
      std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
      best = std::min(best, spent.count() / launches);
    }
    return {best, countAllocations().value_or(0) - before};
  }

  std::vector<Tensor> results;
};
} // namespace

TEST_P(LaunchCostTest, repeatedLaunchesAreCheap) {
  const LaunchCase &of = GetParam();
  const std::string tensor = "tensor<?x16x?x128xbf16>", sums = "tensor<?x16x?xf32>";
  load("func.func @f(%q: " + tensor + ", %k: " + tensor + ", %v: " + tensor + of.arguments +
       ") -> (" + tensor + ", " + sums + ") {\n" + of.set +
       "  %o, %l = attn.attend %q, %k, %v over %set" + of.setType + " : " + tensor + ", " + tensor +
       ", " + tensor + " -> " + tensor + ", " + sums + "\n  return %o, %l : " + tensor + ", " +
       sums + "\n}\n");
  if (HasFatalFailure())
    return;
  bind(of.values);
  results.resize(2);
  auto *stream = reinterpret_cast<driver::Stream>(0x10);
  // Results are allocated once and given from then on.
  Status status = program->run(stream, bound.arguments, results);
  ASSERT_TRUE(status) << status.message();
  std::vector<Tensor> made = results;
  ASSERT_TRUE(program->run(stream, bound.arguments, results));
  ASSERT_EQ(state->launches.size(), 2u);
  state->recording = false;

  // Sanitizers count no allocations and take several times as long.
  const double slowdown = countAllocations() ? 1 : 20;
  auto [same, allocations] = measure(stream);
  EXPECT_EQ(allocations, 0);
  EXPECT_LT(same, 1000 * slowdown);
  // Other addresses of the same shapes: the maps of the first launch are copied and moved.
  for (Argument &argument : bound.arguments)
    if (auto *moved = std::get_if<Tensor>(&argument))
      moved->data = static_cast<char *>(moved->data) + 256;
  auto [moved, movedAllocations] = measure(stream);
  EXPECT_EQ(movedAllocations, 0);
  EXPECT_LT(moved, 1000 * slowdown);
  std::cout << of.name << ": " << same << " ns, other addresses " << moved << " ns";
  // Numbers that were not seen before: the launch is worked out anew.
  if (auto *number = std::get_if<int64_t>(&bound.arguments.back())) {
    double fresh = measure(stream, number).first;
    EXPECT_LT(fresh, 10e3 * slowdown);
    std::cout << ", other numbers " << fresh << " ns";
  }
  std::cout << "\n";
  for (Tensor &result : made)
    program->allocator().release(result.data, stream);
}

INSTANTIATE_TEST_SUITE_P(
    Launch, LaunchCostTest,
    testing::Values(
        LaunchCase{"dense", "", "  %set = sparsity.all\n", "", "b=1,n=128"},
        LaunchCase{"window", ", %left: index, %right: index",
                   "  %set = sparsity.window left(%left) right(%right)\n", "",
                   "b=1,n=128,left=100,right=0"},
        LaunchCase{"documents", ", %cu: tensor<?xi32>",
                   "  %set = sparsity.documents %cu, %cu causal : tensor<?xi32>, tensor<?xi32>\n",
                   "", "b=1,n=128,cu=0:50:128"},
        LaunchCase{"radius",
                   ", %n0: index, %n1: index, %n2: index, %r0: index, %r1: index, %r2: index",
                   "  %g = sparsity.grid [%n0, %n1, %n2]\n"
                   "  %set = sparsity.radius [%r0, %r1, %r2] in %g : !sparsity.domain<3>\n",
                   " : !sparsity.set<3>", "b=1,n0=4,n1=8,n2=16,r0=2,r1=5,r2=8"}),
    [](const testing::TestParamInfo<LaunchCase> &info) { return std::string(info.param.name); });
