//===- Random.cpp - the same numbers on every machine ----------------------===//
#include "lib/Support/Random.h"

#include "lib/Support/Half.h"
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
  // Four 16-bit numbers a word, added as two sums of 32 bits.
  constexpr uint64_t even = 0x0000FFFF0000FFFF;
  uint64_t sums = 0;
  for (int word = 0; word < 3; ++word) {
    uint64_t bits = next();
    sums += (bits & even) + ((bits >> 16) & even);
  }
  auto sum = static_cast<int64_t>((sums & 0xFFFFFFFF) + (sums >> 32));
  return static_cast<double>(2 * sum - 12 * 0xFFFF) * 0x1p-17;
}

/// `convert` gives the stored form of a number.
template <typename Convert>
static void fillContiguous(const Tensor &tensor, Random &random, Convert convert) {
  auto *data = static_cast<decltype(convert(0.0)) *>(tensor.data);
  for (int64_t element = 0, count = tensor.elements(); element < count; ++element)
    data[element] = convert(random.normal());
}

void fillNormal(Tensor &tensor, Random &random) {
  if (tensor.isContiguous() && tensor.type == ElementType::BF16)
    return fillContiguous(tensor, random, toBF16);
  if (tensor.isContiguous() && tensor.type == ElementType::F16)
    return fillContiguous(tensor, random, toF16);
  forEachIndex(tensor.shape,
               [&](const std::vector<int64_t> &index) { tensor.set(index, random.normal()); });
}

} // namespace lacuna
