//===- Tensor.h - a strided view of numbers in memory ---------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lacuna {

/// Element types that cross the public interface.
enum class ElementType { F16, BF16, F32, F64, I8, I32, I64 };

/// Bytes of one element.
unsigned byteWidth(ElementType type);
/// "f16", "bf16", ...: the names that specs use.
const char *toString(ElementType type);
/// Whether elements are floating-point numbers.
bool isFloat(ElementType type);

/// A view: element (i0, i1, ...) lies at data + byteWidth * sum(i_d * strides[d]).
struct Tensor {
  ElementType type = ElementType::F32;
  /// Elements along each axis.
  std::vector<int64_t> shape;
  /// Distance in elements between neighbours along each axis; may be zero or negative.
  std::vector<int64_t> strides;
  /// Borrowed: whoever made the view keeps the memory alive.
  void *data = nullptr;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const;
  bool isContiguous() const;
  /// The element at `index`, converted. No bounds check.
  double at(const std::vector<int64_t> &index) const;
  void set(const std::vector<int64_t> &index, double value);
};

/// Row-major strides of `shape`.
std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &shape);

/// "1x8x4096x64", as the command line writes shapes.
std::string shapeText(const std::vector<int64_t> &shape);

/// Copies between tensors of one type and shape that do not overlap; any layouts.
void copyElements(const Tensor &from, const Tensor &to);

/// A tensor that owns its memory. Moving keeps views of it valid; copies are made by `clone`.
class OwnedTensor {
public:
  OwnedTensor() = default;
  OwnedTensor(OwnedTensor &&) = default;
  OwnedTensor &operator=(OwnedTensor &&) = default;
  OwnedTensor(const OwnedTensor &) = delete;
  OwnedTensor &operator=(const OwnedTensor &) = delete;
  /// Zero-filled, contiguous, 64-byte aligned.
  OwnedTensor(ElementType type, std::vector<int64_t> shape);
  const Tensor &view() const { return tensor; }
  Tensor &view() { return tensor; }
  /// A contiguous copy of any view.
  static OwnedTensor clone(const Tensor &source);

private:
  std::vector<uint64_t> storage;
  Tensor tensor;
};

/// Value of a function argument: a tensor, an index or integer, or a float.
using Argument = std::variant<Tensor, int64_t, double>;

} // namespace lacuna
