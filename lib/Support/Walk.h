//===- Walk.h - visiting the indices of a shape ----------------------------===//
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

/// Calls `visit(index)` for every index of `shape` in row-major order; once for an empty shape,
/// never when an extent is 0. The vector passed is reused.
template <typename Visit> void forEachIndex(const std::vector<int64_t> &shape, Visit visit) {
  for (int64_t extent : shape)
    if (extent == 0)
      return;
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(static_cast<const std::vector<int64_t> &>(index));
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

} // namespace lacuna
