//===- Warp.h - the lanes of a warp as threads, which meet ----------------===//
#pragma once

#include <array>
#include <barrier>

/// Where 32 threads hand in a value each.
struct Warp {
  std::barrier<> meeting{32};
  std::array<unsigned, 32> values{};

  /// What all lanes hand in; nobody goes on before all have read.
  std::array<unsigned, 32> collect(unsigned lane, unsigned value) {
    values[lane] = value;
    meeting.arrive_and_wait();
    std::array<unsigned, 32> all = values;
    meeting.arrive_and_wait();
    return all;
  }
  /// A bit for each lane whose vote holds.
  unsigned ballot(unsigned lane, bool vote) {
    std::array<unsigned, 32> votes = collect(lane, vote);
    unsigned lanes = 0;
    for (unsigned other = 0; other < 32; ++other)
      lanes |= votes[other] << other;
    return lanes;
  }
};
