//===- ElementTypes.h - types of tensor elements in memory ----------------===//
#pragma once

#include "lacuna/Tensor.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace lacuna {

/// How elements of `type` lie in memory (an index takes 64 bits), or nothing for types that tensors
/// of a spec cannot have.
std::optional<ElementType> elementTypeOf(mlir::Type type);

} // namespace lacuna
