//===- AssemblerFaults.h - code that some assemblers get wrong -------------===//
//
// The assemblers of CUDA 12.6 to 13.3 turn min(min(a, -b), c) on 32-bit integers, and the same with
// max, into one instruction of three operands and lose the sign of b. Smallest case, for sm_90a:
//
//   neg.s32 %r4, %r2;
//   min.s32 %r5, %r1, %r4;
//   min.s32 %r6, %r5, %r3;
//
// becomes VIMNMX3 of the values of r1, r3 and r2. 12.5 and before and 13.4 and after are right.
// The front end itself writes such code, for the number of rounds of an unrolled loop whose end is
// a minimum, so that no care in a source rules it out.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lacuna {

/// Whether the assembler of this version of CUDA loses signs as above.
bool losesNegations(int major, int minor);

/// The first instruction of PTX text that may take part: the outer minimum or maximum. Operands in
/// either order count, though one order is assembled rightly.
std::optional<std::string> findLostNegation(std::string_view ptx);

} // namespace lacuna
