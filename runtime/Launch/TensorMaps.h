//===- TensorMaps.h - descriptors for the copy engine ----------------------===//
#pragma once

#include "lacuna/Artifact.h"
#include "runtime/Driver/Driver.h"

#include <array>
#include <span>
#include <vector>

namespace lacuna {

/// Everything that a tensor map depends on. Innermost axis first.
struct TensorMapKey {
  driver::Address address = 0;
  std::array<uint64_t, 5> extents{};
  /// Bytes between neighbours; of the first axis: not used, 0.
  std::array<uint64_t, 5> strides{};
  bool operator==(const TensorMapKey &) const = default;
};

/// Reads extents and strides of a recipe from host values and checks what the copy engine demands:
/// an address and strides that are multiples of 16 bytes, neighbours of the innermost axis side by
/// side, extents up to 2^32. The message starts with the rule; the caller adds the argument's name.
///
/// An axis of one element has no neighbours: its stride may be anything and is replaced. A tensor
/// with no element has no memory to show: its map describes a single element of `scratch`, which a
/// kernel that looks nevertheless may read or write.
Result<TensorMapKey> makeTensorMapKey(const TensorMapRecipe &recipe, const Tensor &tensor,
                                      std::span<const int64_t> values, driver::Address scratch);

/// Encodes the map that `recipe` and `key` describe for elements of `type`.
Status encodeTensorMap(const Driver &api, const TensorMapRecipe &recipe, ElementType type,
                       const TensorMapKey &key, driver::TensorMap &result);

} // namespace lacuna
