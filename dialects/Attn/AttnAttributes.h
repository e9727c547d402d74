//===- AttnAttributes.h - what passes note at attends and merges ----------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lacuna::attn {

/// Of a merge: its parts make one kernel, so it is not merged into the merge that reads it.
inline constexpr llvm::StringLiteral oneKernel = "attn.one_kernel";

} // namespace lacuna::attn
