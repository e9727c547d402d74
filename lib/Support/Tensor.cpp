//===- Tensor.cpp - a strided view of numbers in memory -------------------===//
#include "lacuna/Tensor.h"

#include "lib/Support/Half.h"
#include "lib/Support/Walk.h"

#include <cstring>

namespace lacuna {

unsigned byteWidth(ElementType type) {
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::I8:
    return 1;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  }
  return 0;
}

const char *toString(ElementType type) {
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  case ElementType::I8:
    return "i8";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  }
  return "unknown";
}

bool isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
         type == ElementType::F64;
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

bool Tensor::isContiguous() const {
  int64_t expected = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 0)
      return true;
    if (shape[axis] != 1 && strides[axis] != expected)
      return false;
    expected *= shape[axis];
  }
  return true;
}

/// Where element `index` of `tensor` lies.
static char *address(const Tensor &tensor, const std::vector<int64_t> &index) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < index.size(); ++axis)
    offset += index[axis] * tensor.strides[axis];
  return static_cast<char *>(tensor.data) + offset * static_cast<int64_t>(byteWidth(tensor.type));
}

template <typename T> static T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T> static void store(char *to, T value) { std::memcpy(to, &value, sizeof(T)); }

double Tensor::at(const std::vector<int64_t> &index) const {
  const char *from = address(*this, index);
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
    return fromF16(load<uint16_t>(from));
  case ElementType::BF16:
    return fromBF16(load<uint16_t>(from));
  case ElementType::F32:
    return static_cast<double>(load<float>(from));
  case ElementType::F64:
    return load<double>(from);
  case ElementType::I8:
    return load<int8_t>(from);
  case ElementType::I32:
    return load<int32_t>(from);
  case ElementType::I64:
    return static_cast<double>(load<int64_t>(from));
  }
  return 0;
}

void Tensor::set(const std::vector<int64_t> &index, double value) {
  char *to = address(*this, index);
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
    return store(to, toF16(value));
  case ElementType::BF16:
    return store(to, toBF16(value));
  case ElementType::F32:
    return store(to, static_cast<float>(value));
  case ElementType::F64:
    return store(to, value);
  case ElementType::I8:
    return store(to, static_cast<int8_t>(value));
  case ElementType::I32:
    return store(to, static_cast<int32_t>(value));
  case ElementType::I64:
    return store(to, static_cast<int64_t>(value));
  }
}

std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

OwnedTensor::OwnedTensor(ElementType type, std::vector<int64_t> shape) {
  tensor.type = type;
  tensor.strides = contiguousStrides(shape);
  tensor.shape = std::move(shape);
  constexpr size_t alignment = 64, word = sizeof(uint64_t);
  auto bytes = static_cast<size_t>(tensor.elements()) * byteWidth(type);
  storage.assign((bytes + word - 1) / word + alignment / word, 0);
  auto begin = reinterpret_cast<uintptr_t>(storage.data());
  size_t skip = ((alignment - begin % alignment) % alignment) / word;
  tensor.data = storage.data() + skip;
}

void copyElements(const Tensor &from, const Tensor &to) {
  unsigned width = byteWidth(from.type);
  if (from.isContiguous() && to.isContiguous()) {
    if (size_t bytes = static_cast<size_t>(from.elements()) * width)
      std::memcpy(to.data, from.data, bytes);
    return;
  }
  forEachIndex(from.shape, [&](const std::vector<int64_t> &index) {
    std::memcpy(address(to, index), address(from, index), width);
  });
}

OwnedTensor OwnedTensor::clone(const Tensor &source) {
  OwnedTensor copy(source.type, source.shape);
  copyElements(source, copy.tensor);
  return copy;
}

} // namespace lacuna
