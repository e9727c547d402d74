//===- InlineArray.h - a short array without a heap ------------------------===//
#pragma once

#include <array>
#include <memory>
#include <type_traits>

namespace lacuna {

/// `size` elements that are not initialised. Up to `most` of them lie inside the object, which is
/// meant for the stack; more are allocated.
template <typename T, size_t most> class InlineArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  explicit InlineArray(size_t size) : count(size) {
    if (size > most)
      large.reset(new T[size]);
  }
  size_t size() const { return count; }
  T *data() { return large ? large.get() : small.data(); }
  T &operator[](size_t index) { return data()[index]; }
  const T &operator[](size_t index) const { return (large ? large.get() : small.data())[index]; }
  T *begin() { return data(); }
  T *end() { return data() + count; }

private:
  size_t count;
  std::unique_ptr<T[]> large;
  std::array<T, most> small;
};

} // namespace lacuna
