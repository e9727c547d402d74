//===- FusedMerges.h - merges that one kernel computes --------------------===//
#pragma once

#include "dialects/Attn/Attn.h"

namespace lacuna {

/// Parts with masks of their own that one kernel has registers for: sets with numbers that only a
/// run knows, and score functions that are no sum with a constant.
inline constexpr int64_t mostHeavyParts = 3;

/// The attends that `merge` joins, when one kernel can compute them one after the other with one
/// softmax state, which leaves no partial result to be stored and read again: all parts are attends
/// of the same queries with the same scale and no sinks, over one segment of queries of the same
/// sizes, and nothing else reads their results. Empty otherwise.
llvm::SmallVector<attn::AttendOp> findFusedParts(attn::MergeOp merge);

/// The merge that `attend` is fused into; null if there is none.
attn::MergeOp findFusedMerge(attn::AttendOp attend);

/// What scores of `op` are multiplied by.
double getScale(attn::AttendOp op);

} // namespace lacuna
