//===- Npy.h - tensors in NumPy's file format ------------------------------===//
#pragma once

#include "lacuna/Status.h"
#include "lacuna/Tensor.h"

namespace lacuna {

/// Reads a .npy file of version 1 or 2 with little-endian f2, f4, f8, i1, i4 or i8 elements.
/// NumPy has no bf16: two raw bytes (`V2`, what other libraries save) and `u2` are read as bf16.
/// Fortran order becomes strides. Everything else is refused with the reason, and so is a file
/// whose length is not exactly that of its header and elements.
Result<OwnedTensor> readNpy(const std::string &path);

/// The same for bytes in memory; `name` stands for the file in messages.
Result<OwnedTensor> parseNpy(const std::string &bytes, const std::string &name);

/// Writes any view in row-major order, version 1; bf16 as `V2`.
Status writeNpy(const std::string &path, const Tensor &tensor);

/// The bytes that `writeNpy` writes.
std::string formatNpy(const Tensor &tensor);

} // namespace lacuna
