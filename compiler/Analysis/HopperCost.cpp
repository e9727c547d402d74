//===- HopperCost.cpp - what a pipeline on sm_90a takes -------------------===//
#include "compiler/Analysis/HopperCost.h"

#include <algorithm>

using namespace lacuna;

/// Matrices lie in shared memory as panels of 64 columns, 128 bytes a row.
static int64_t panels(int64_t columns) { return (columns + 63) / 64; }

/// More than these no role needs.
static constexpr int64_t mostOfProducer = 128, mostOfConsumers[] = {240, 224, 160};
/// What a walk over one range of key tiles needs, and most others; and how many values they keep.
static constexpr int64_t simpleProducer = 32, usualProducer = 56;
static constexpr int64_t simpleValues = 6, usualValues = 20;

int64_t lacuna::estimateProducer(int64_t values) {
  if (values <= simpleValues)
    return simpleProducer;
  // Most values are bounds of loops, which have a test and a count of their own.
  int64_t needed = usualProducer + 2 * std::max<int64_t>(values - usualValues, 0);
  return std::min((needed + 7) / 8 * 8, mostOfProducer);
}

HopperRegisters lacuna::hopperRegistersFor(int64_t consumers, int64_t producer, int64_t asked,
                                           int64_t blocks) {
  consumers = std::max<int64_t>(consumers, 1);
  int64_t reserved = producer ? producer : usualProducer;
  int64_t all = registersAtLaunch(consumers, blocks);
  int64_t share = (all - reserved) / consumers / 8 * 8;
  int64_t most = mostOfConsumers[std::min<int64_t>(consumers, 3) - 1];
  int64_t consumer = asked ? asked : std::min(share, most);
  int64_t left = (all - consumers * consumer) / 8 * 8;
  return {std::clamp<int64_t>(left, 24, mostOfProducer), consumer};
}

/// Addresses, row maxima and sums, loop state. From ptxas: the longest tile of each head dimension
/// that does not spill.
static constexpr int64_t otherRegisters = 28;

int64_t lacuna::estimateRegisters(const HopperShape &shape, int64_t elements) {
  return shape.keys / 2 + shape.keys / 4 + shape.valueDim / 2 + otherRegisters + elements;
}

HopperRings lacuna::fitHopperRings(const HopperShape &shape, HopperRings asked) {
  auto fits = [&](int64_t slots, int64_t stages) {
    return sharedMemoryBytes(shape, {slots, stages}) <= sharedMemoryLimitOf(shape.blocks);
  };
  HopperRings rings = {asked.querySlots ? asked.querySlots : 1, asked.stages ? asked.stages : 2};
  if (!asked.querySlots && fits(2, rings.stages))
    rings.querySlots = 2;
  while (!asked.stages && rings.stages < 4 && fits(rings.querySlots, rings.stages + 1))
    ++rings.stages;
  return rings;
}

/// Operations of the tensor cores per clock.
static constexpr double productRate = 4096;
/// Power keeps the tensor cores at this share of their rate, whatever the schedule.
static constexpr double productShare = 0.9;
/// Clocks of a tile in which nothing overlaps the products: barriers, first and last instructions.
static constexpr double productGap = 230, softmaxGap = 150;
/// Exponentials and vector instructions per clock.
static constexpr double exponentialRate = 16, vectorRate = 128;
/// Vector instructions per score, and those of a mask.
static constexpr double scoreInstructions = 4.5;
/// Those of a mask per score.
static constexpr double maskInstructions(ScoreMask mask) {
  return mask == ScoreMask::None ? 0 : mask == ScoreMask::Bounds ? 2 : 8;
}
/// Copies: clocks of an instruction and of 128 bytes.
static constexpr double copyClocks = 52, lineClocks = 3.7;
/// Bytes per clock that the threads of a multiprocessor gather from L2.
static constexpr double gatherRate = 27;

TileClocks lacuna::estimateTile(const HopperShape &shape, ScoreMask mask) {
  double scores = static_cast<double>(shape.rows) * static_cast<double>(shape.keys);
  TileClocks clocks;
  clocks.products = 2 * scores * static_cast<double>(shape.headDim + shape.valueDim) / productRate;
  // The rescaling of the output is shared by the keys of a tile.
  double perScore = scoreInstructions +
                    static_cast<double>(shape.valueDim) / static_cast<double>(shape.keys) +
                    maskInstructions(mask);
  // Three warpgroups fill each other's gaps better than two.
  double gaps = shape.consumers() >= 3 ? 0.9 : 1.05;
  clocks.softmax = gaps * (scores / exponentialRate + scores * perScore / vectorRate);
  double copies = static_cast<double>(panels(shape.headDim) + panels(shape.valueDim));
  auto keys = static_cast<double>(shape.keys);
  clocks.loads = shape.isGathered ? copies * 128 * keys / gatherRate
                                  : copies * (copyClocks + lineClocks * keys);
  clocks.total = std::max({clocks.products / productShare, clocks.products + productGap,
                           clocks.softmax + softmaxGap, clocks.loads});
  return clocks;
}

double lacuna::estimateItem(int64_t querySlots) { return querySlots > 1 ? 1000 : 3000; }
