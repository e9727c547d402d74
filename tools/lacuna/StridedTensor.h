//===- StridedTensor.h - tensors inside larger ones ------------------------===//
//
// Views as applications have them: tokens before heads, and other numbers between and behind the
// rows. What lies between is NaN, so that a kernel that reads it shows.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "lacuna/Status.h"

namespace lacuna::tool {

/// The strides that `shape`, batch x heads x tokens x channels, gets inside a larger tensor; those
/// of a contiguous tensor for another number of axes.
std::vector<int64_t> spreadStrides(const std::vector<int64_t> &shape);

/// From the first element of `tensor` to its last, in elements; 0 for an empty one.
int64_t spanOf(const Tensor &tensor);

/// Replaces the float tensors of four axes among the arguments by equal ones with spread strides.
void spreadArguments(BoundSpec &spec);

/// A contiguous copy of the tensor with the shape and strides of `like` whose memory is `span`,
/// which it uses up. A message when a byte between the elements is not `fill`.
Result<OwnedTensor> gather(const Tensor &like, OwnedTensor &span, unsigned char fill);

} // namespace lacuna::tool
