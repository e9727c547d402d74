//===- TensorMaps.cpp - descriptors for the copy engine --------------------===//
#include "runtime/Launch/TensorMaps.h"

#include <fmt/format.h>

namespace lacuna {

/// Alignment of addresses and strides.
static constexpr uint64_t engineAlignment = 16;

template <typename... Values>
static Status refuse(fmt::format_string<Values...> format, Values &&...values) {
  return Status::error(StatusCode::InvalidArgument,
                       fmt::format(format, std::forward<Values>(values)...));
}

/// Checks what only the tensor itself knows; the map starts at `address`.
static Status checkTensor(const Tensor &tensor, uint64_t address) {
  if (address % engineAlignment != 0)
    return refuse("expected an address that is a multiple of {} bytes, got {:#x}", engineAlignment,
                  address);
  if (!tensor.shape.empty() && tensor.shape.back() > 1 && tensor.strides.back() != 1)
    return refuse("expected elements of the last axis side by side, got stride {}",
                  tensor.strides.back());
  return Status::ok();
}

Result<TensorMapKey> makeTensorMapKey(const TensorMapRecipe &recipe, const Tensor &tensor,
                                      std::span<const int64_t> values, driver::Address scratch) {
  const uint64_t width = byteWidth(tensor.type);
  TensorMapKey key;
  bool empty = false;
  for (size_t axis = 0; axis < recipe.axes.size(); ++axis) {
    int64_t extent = values[recipe.axes[axis].extent];
    if (extent < 0 || extent > (int64_t{1} << 32))
      return refuse("expected extents of 0 to 2^32, got {}", extent);
    empty |= extent == 0;
    key.extents[axis] = static_cast<uint64_t>(extent);
  }
  if (empty) {
    key.address = scratch;
    for (size_t axis = 0; axis < recipe.axes.size(); ++axis) {
      key.extents[axis] = 1;
      key.strides[axis] = axis ? engineAlignment : 0;
    }
    return key;
  }
  key.address = reinterpret_cast<uint64_t>(tensor.data);
  if (recipe.base)
    key.address += static_cast<uint64_t>(values[*recipe.base]) * width;
  if (Status status = checkTensor(tensor, key.address); !status)
    return status;
  for (size_t axis = 1; axis < recipe.axes.size(); ++axis) {
    int64_t stride = values[recipe.axes[axis].stride];
    if (key.extents[axis] == 1) {
      key.strides[axis] = engineAlignment;
      continue;
    }
    if (stride < 0 || stride >= (int64_t{1} << 40) / static_cast<int64_t>(width))
      return refuse("expected strides of 0 to 2^40 bytes, got {} elements", stride);
    key.strides[axis] = static_cast<uint64_t>(stride) * width;
    if (key.strides[axis] % engineAlignment != 0)
      return refuse("expected strides that are multiples of {} elements ({} bytes), got {}",
                    engineAlignment / width, engineAlignment, stride);
  }
  return key;
}

static int mapType(ElementType type) {
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
    return driver::MapF16;
  case ElementType::BF16:
    return driver::MapBF16;
  case ElementType::F32:
    return driver::MapF32;
  case ElementType::F64:
    return driver::MapF64;
  case ElementType::I8:
    return driver::MapU8;
  case ElementType::I32:
    return driver::MapI32;
  case ElementType::I64:
    return driver::MapI64;
  }
  return driver::MapU8;
}

Status encodeTensorMap(const Driver &api, const TensorMapRecipe &recipe, ElementType type,
                       const TensorMapKey &key, driver::TensorMap &result) {
  auto rank = static_cast<uint32_t>(recipe.axes.size());
  std::array<uint32_t, 5> box{}, step{};
  for (size_t axis = 0; axis < rank; ++axis) {
    box[axis] = recipe.axes[axis].box;
    step[axis] = 1;
  }
  // The enumerators of the recipe are numbered as the driver's. Boxes are filled with zeros
  // outside.
  return api.check(api.encodeTiled(&result, mapType(type), rank,
                                   reinterpret_cast<void *>(key.address), key.extents.data(),
                                   key.strides.data() + 1, box.data(), step.data(), 0,
                                   static_cast<int>(recipe.swizzle), driver::mapPromotion128, 0),
                   "cuTensorMapEncodeTiled");
}

} // namespace lacuna
