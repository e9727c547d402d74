//===- Dlpack.cpp - tensors of other libraries -----------------------------===//
#include "bindings/C/Handles.h"

#include <fmt/format.h>

namespace lacuna::c {

std::string toText(DLDevice device) {
  switch (static_cast<int>(device.device_type)) {
  case kDLCPU:
    return device.device_id == 0 ? "cpu" : fmt::format("cpu:{}", device.device_id);
  case kDLCUDA:
    return fmt::format("cuda:{}", device.device_id);
  case kDLCUDAHost:
    return "pinned host memory";
  case kDLCUDAManaged:
    return "managed memory";
  default:
    return fmt::format("device type {}, number {}", static_cast<int>(device.device_type),
                       device.device_id);
  }
}

DLDataType toDlpack(ElementType type) {
  auto make = [&](int code) {
    return DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(8 * byteWidth(type)), 1};
  };
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
  case ElementType::F32:
  case ElementType::F64:
    return make(kDLFloat);
  case ElementType::BF16:
    return make(kDLBfloat);
  case ElementType::I8:
  case ElementType::I32:
  case ElementType::I64:
    return make(kDLInt);
  }
  return make(kDLInt);
}

static std::optional<ElementType> elementType(DLDataType type) {
  for (ElementType known : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64,
                            ElementType::I8, ElementType::I32, ElementType::I64}) {
    DLDataType wanted = toDlpack(known);
    if (wanted.code == type.code && wanted.bits == type.bits && wanted.lanes == type.lanes)
      return known;
  }
  return std::nullopt;
}

/// "u8", "c64", "f32x4": a type that programs do not have.
static std::string typeText(DLDataType type) {
  const char *names[] = {"i", "u", "f", "handle", "bf", "c"};
  std::string text =
      type.code < std::size(names) ? names[type.code] : fmt::format("type {} of ", type.code);
  text += fmt::format("{}", type.bits);
  return type.lanes == 1 ? text : fmt::format("{}x{}", text, type.lanes);
}

/// Whether code for `wanted` may touch memory of `given`. Pinned and managed memory has its own
/// rules of order, which a launch does not know: only the CPU takes pinned memory.
static bool isReachable(DLDevice given, DLDevice wanted) {
  if (wanted.device_type == kDLCPU)
    return given.device_type == kDLCPU || given.device_type == kDLCUDAHost;
  return given.device_type == wanted.device_type && given.device_id == wanted.device_id;
}

Status about(const std::string &role, const Status &status) {
  return Status::error(status.code(), fmt::format("{}: {}", role, status.message()));
}

static Status refuse(std::string text) {
  return Status::error(StatusCode::InvalidArgument, std::move(text));
}

Result<Tensor> fromDlpack(const DLTensor *tensor, DLDevice device) {
  if (!tensor)
    return refuse("expected a tensor, got null");
  if (!isReachable(tensor->device, device))
    return refuse(fmt::format("expected a tensor on {}, got one on {}", toText(device),
                              toText(tensor->device)));
  std::optional<ElementType> type = elementType(tensor->dtype);
  if (!type)
    return refuse(
        fmt::format("expected elements of type f16, bf16, f32, f64, i8, i32 or i64, got {}",
                    typeText(tensor->dtype)));
  if (tensor->ndim < 0 || (tensor->ndim > 0 && !tensor->shape))
    return refuse(fmt::format("expected a shape of at least 0 axes, got {}", tensor->ndim));
  Tensor view;
  view.type = *type;
  view.shape.assign(tensor->shape, tensor->shape + tensor->ndim);
  if (tensor->strides)
    view.strides.assign(tensor->strides, tensor->strides + tensor->ndim);
  else
    view.strides = contiguousStrides(view.shape);
  view.data = tensor->data ? static_cast<char *>(tensor->data) + tensor->byte_offset : nullptr;
  return view;
}

} // namespace lacuna::c
