//===- Skips.h - which blocks attention may leave out ----------------------===//
#pragma once

#include "lib/Reference/Tolerance.h"

namespace lacuna::reference {

/// One query block of a head.
struct BlockIndex {
  int64_t batch = 0, head = 0, block = 0;
};

/// Compares the marks of `attend.skip` with the rule, for all key blocks of the query blocks: given
/// the blocks that were taken before it, each must have been taken or not, unless scores are too
/// near their limits to tell.
Comparison compareTaken(const Attend &attend, const std::vector<BlockIndex> &blocks,
                        int64_t keyChannels, unsigned threads);

} // namespace lacuna::reference
