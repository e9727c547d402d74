//===- Random.cpp - the same numbers on every machine ----------------------===//
#include "lib/Support/Random.h"

#include "lib/Support/Walk.h"

namespace lacuna {

static uint64_t splitMix(uint64_t &state) {
  state += 0x9E3779B97F4A7C15u;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

static uint64_t rotateLeft(uint64_t value, int count) {
  return (value << count) | (value >> (64 - count));
}

Random::Random(uint64_t seed, uint64_t stream) {
  uint64_t start = seed;
  start = splitMix(start) ^ stream;
  for (uint64_t &word : state)
    word = splitMix(start);
}

uint64_t Random::next() {
  uint64_t result = rotateLeft(state[1] * 5, 7) * 9;
  uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotateLeft(state[3], 45);
  return result;
}

int64_t Random::below(int64_t bound) {
  auto range = static_cast<uint64_t>(bound);
  // Numbers of the last, incomplete round would favour small remainders: draw again.
  uint64_t limit = UINT64_MAX - UINT64_MAX % range;
  uint64_t drawn = next();
  while (drawn >= limit)
    drawn = next();
  return static_cast<int64_t>(drawn % range);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::normal() {
  int64_t sum = 0;
  for (int word = 0; word < 3; ++word)
    for (uint64_t bits = next(), part = 0; part < 4; ++part, bits >>= 16)
      sum += static_cast<int64_t>(bits & 0xFFFF);
  return static_cast<double>(2 * sum - 12 * 0xFFFF) * 0x1p-17;
}

void fillNormal(Tensor &tensor, Random &random) {
  forEachIndex(tensor.shape,
               [&](const std::vector<int64_t> &index) { tensor.set(index, random.normal()); });
}

} // namespace lacuna
