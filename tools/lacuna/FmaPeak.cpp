//===- FmaPeak.cpp - how fast this machine multiplies and adds ------------===//
#include "tools/lacuna/FmaPeak.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace lacuna::tool {

/// Independent chains that hide the latency of a multiply-add on every machine.
static constexpr int chains = 16;

namespace {
/// One round of multiply-adds: returns the operations done; the sum keeps them from being removed.
using Round = int64_t (*)(int64_t steps, float &sum);
} // namespace

#ifdef __x86_64__
__attribute__((target("avx512f"))) static int64_t roundAvx512(int64_t steps, float &sum) {
  __m512 state[chains];
  for (int chain = 0; chain < chains; ++chain)
    state[chain] = _mm512_set1_ps(static_cast<float>(chain));
  __m512 factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(0.001f);
  for (int64_t step = 0; step < steps; ++step)
    for (int chain = 0; chain < chains; ++chain)
      state[chain] = _mm512_fmadd_ps(state[chain], factor, term);
  for (int chain = 0; chain < chains; ++chain)
    sum += _mm512_cvtss_f32(state[chain]);
  return steps * chains * 16 * 2;
}

__attribute__((target("avx2,fma"))) static int64_t roundAvx2(int64_t steps, float &sum) {
  // Half of the chains: there are sixteen registers.
  constexpr int used = chains - 4;
  __m256 state[used];
  for (int chain = 0; chain < used; ++chain)
    state[chain] = _mm256_set1_ps(static_cast<float>(chain));
  __m256 factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(0.001f);
  for (int64_t step = 0; step < steps; ++step)
    for (int chain = 0; chain < used; ++chain)
      state[chain] = _mm256_fmadd_ps(state[chain], factor, term);
  for (int chain = 0; chain < used; ++chain)
    sum += _mm256_cvtss_f32(state[chain]);
  return steps * used * 8 * 2;
}
#endif

static int64_t roundPlain(int64_t steps, float &sum) {
  float state[chains];
  for (int chain = 0; chain < chains; ++chain)
    state[chain] = static_cast<float>(chain);
  for (int64_t step = 0; step < steps; ++step)
    for (int chain = 0; chain < chains; ++chain)
      state[chain] = state[chain] * 0.999f + 0.001f;
  for (int chain = 0; chain < chains; ++chain)
    sum += state[chain];
  return steps * chains * 2;
}

static Round chooseRound() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return roundAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return roundAvx2;
#endif
  return roundPlain;
}

double measureFmaPeak(unsigned threads) {
  using Clock = std::chrono::steady_clock;
  Round round = chooseRound();
  constexpr int64_t steps = 100'000;
  std::vector<double> rates(threads);
  std::vector<float> sums(threads);
  auto work = [&](unsigned thread) {
    float sum = 0;
    // The best of several short rounds: others may use the machine too.
    for (int repeat = 0; repeat < 40; ++repeat) {
      auto start = Clock::now();
      int64_t done = round(steps, sum);
      double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      rates[thread] = std::max(rates[thread], static_cast<double>(done) / seconds);
    }
    sums[thread] = sum;
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread)
    others.emplace_back(work, thread);
  work(0);
  for (std::thread &other : others)
    other.join();
  double total = 0;
  for (unsigned thread = 0; thread < threads; ++thread)
    total += sums[thread] == -1 ? 0 : rates[thread];
  return total;
}

} // namespace lacuna::tool
