//===- Signature.h - everything that a launch depends on but addresses -----===//
#pragma once

#include "lacuna/Tensor.h"

#include <array>
#include <span>

namespace lacuna {

/// The arguments and results of a launch as words: kinds, element types, shapes, strides, numbers,
/// which addresses are there and how they are aligned. Whether a launch is accepted and all that it
/// computes follow from the words; only addresses themselves are left to fill in. Two launches with
/// the same words differ in nothing else.
class Signature {
public:
  Signature(std::span<const Argument> arguments, std::span<const Tensor> results);
  /// False for arguments that are too many to describe; there are no words then.
  bool isComplete() const { return complete; }
  std::span<const uint64_t> words() const { return {storage.data(), count}; }

private:
  void add(uint64_t word);
  void add(const std::vector<int64_t> &numbers);
  void add(const Tensor &tensor);

  /// Thirty tensors of four axes.
  static constexpr size_t most = 360;
  size_t count = 0;
  bool complete = true;
  std::array<uint64_t, most> storage; // Written before it is read: filling it costs a launch 50 ns.
};

} // namespace lacuna
