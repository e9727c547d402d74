//===- CaseTensors.h - tensors of the reported cases ----------------------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "lib/Support/Walk.h"

#include <vector>

namespace lacuna {

inline Tensor &input(BoundSpec &spec, size_t index) {
  return std::get<Tensor>(spec.arguments[index]);
}

inline void fill(Tensor &tensor, double number) {
  forEachIndex(tensor.shape, [&](const std::vector<int64_t> &index) { tensor.set(index, number); });
}

/// Every element of a result.
inline std::vector<double> elements(const Tensor &tensor) {
  std::vector<double> numbers;
  forEachIndex(tensor.shape,
               [&](const std::vector<int64_t> &index) { numbers.push_back(tensor.at(index)); });
  return numbers;
}

} // namespace lacuna
