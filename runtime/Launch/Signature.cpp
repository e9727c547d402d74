//===- Signature.cpp - everything that a launch depends on but addresses ---===//
#include "runtime/Launch/Signature.h"

#include <cstring>

namespace lacuna {

/// Elements and the copy engine's boxes are aligned to at most this.
static constexpr uint64_t coarsestAlignment = 16;

void Signature::add(uint64_t word) {
  if (count == most)
    complete = false;
  else
    storage[count++] = word;
}

void Signature::add(const std::vector<int64_t> &numbers) {
  add(numbers.size());
  if (numbers.size() > most - count) {
    complete = false;
    return;
  }
  for (int64_t number : numbers)
    storage[count++] = static_cast<uint64_t>(number);
}

void Signature::add(const Tensor &tensor) {
  auto address = reinterpret_cast<uint64_t>(tensor.data);
  add(static_cast<uint64_t>(tensor.type) << 8 | uint64_t{address != 0} << 4 |
      address % coarsestAlignment);
  add(tensor.shape);
  add(tensor.strides);
}

Signature::Signature(std::span<const Argument> arguments, std::span<const Tensor> results) {
  add(arguments.size() << 32 | results.size());
  for (const Argument &argument : arguments) {
    // Kinds need no words of their own: a program declares them, and a wrong one is never accepted.
    // They are here so that a wrong one is never taken for a right one.
    add(argument.index());
    if (const auto *tensor = std::get_if<Tensor>(&argument)) {
      add(*tensor);
    } else if (const auto *integer = std::get_if<int64_t>(&argument)) {
      add(static_cast<uint64_t>(*integer));
    } else {
      uint64_t bits = 0;
      std::memcpy(&bits, &std::get<double>(argument), sizeof(bits));
      add(bits);
    }
  }
  for (const Tensor &result : results) {
    add(uint64_t{result.data != nullptr});
    if (result.data)
      add(result);
  }
}

} // namespace lacuna
