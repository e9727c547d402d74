//===- Integers.h - division as formulas mean it ---------------------------===//
#pragma once

#include <cstdint>

namespace lacuna::reference {

/// Rounds towards zero. Dividing by 0 gives 0, and by -1 wraps, so that no input traps.
inline int64_t truncatingDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a));
  return a / b;
}

/// Rounds towards minus infinity.
inline int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = truncatingDivide(a, b);
  bool inexact = b != 0 && b != -1 && a % b != 0;
  return inexact && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Rounds towards plus infinity.
inline int64_t ceilDivide(int64_t a, int64_t b) {
  int64_t quotient = truncatingDivide(a, b);
  bool inexact = b != 0 && b != -1 && a % b != 0;
  return inexact && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

/// The rest in [0, b) for a positive `b`.
inline int64_t modulo(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a - b * floorDivide(a, b);
}

} // namespace lacuna::reference
