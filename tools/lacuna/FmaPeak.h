//===- FmaPeak.h - how fast this machine multiplies and adds --------------===//
#pragma once

namespace lacuna::tool {

/// f32 operations per second (a fused multiply-add counts as two) that `threads` threads reach
/// together in registers, with the widest vectors of the host; measured for about a tenth of a
/// second.
double measureFmaPeak(unsigned threads);

} // namespace lacuna::tool
