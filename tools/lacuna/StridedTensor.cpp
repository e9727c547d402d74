//===- StridedTensor.cpp - tensors inside larger ones ----------------------===//
#include "tools/lacuna/StridedTensor.h"

#include "lib/Support/Walk.h"

#include <cstring>

namespace lacuna::tool {

std::vector<int64_t> spreadStrides(const std::vector<int64_t> &shape) {
  if (shape.size() != 4)
    return contiguousStrides(shape);
  // Rows stay multiples of the 16 bytes that the copy engine asks for.
  constexpr int64_t spareTokens = 1, spareHeads = 1, spareChannels = 8;
  int64_t row = shape[3] + spareChannels, token = (shape[1] + spareHeads) * row;
  return {(shape[2] + spareTokens) * token, row, token, 1};
}

int64_t spanOf(const Tensor &tensor) {
  int64_t last = 0;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    if (tensor.shape[axis] == 0)
      return 0;
    last += (tensor.shape[axis] - 1) * tensor.strides[axis];
  }
  return last + 1;
}

void spreadArguments(BoundSpec &spec) {
  for (Argument &argument : spec.arguments) {
    auto *tensor = std::get_if<Tensor>(&argument);
    if (!tensor || tensor->rank() != 4 || !isFloat(tensor->type) || !tensor->data)
      continue;
    Tensor spread{tensor->type, tensor->shape, spreadStrides(tensor->shape), nullptr};
    OwnedTensor &memory = spec.storage.emplace_back(tensor->type, std::vector{spanOf(spread)});
    spread.data = memory.view().data;
    size_t bytes = static_cast<size_t>(spanOf(spread)) * byteWidth(tensor->type);
    if (bytes > 0)
      std::memset(spread.data, 0xff, bytes);
    forEachIndex(tensor->shape,
                 [&](const std::vector<int64_t> &index) { spread.set(index, tensor->at(index)); });
    *tensor = spread;
  }
}

Result<OwnedTensor> gather(const Tensor &like, OwnedTensor &span, unsigned char fill) {
  Tensor spread = like;
  spread.data = span.view().data;
  OwnedTensor copy = OwnedTensor::clone(spread);
  // With every element overwritten, all that is left is fill.
  auto *bytes = static_cast<unsigned char *>(spread.data);
  size_t width = byteWidth(like.type);
  forEachIndex(spread.shape, [&](const std::vector<int64_t> &index) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * spread.strides[axis];
    std::memset(bytes + static_cast<size_t>(offset) * width, fill, width);
  });
  for (size_t at = 0, count = static_cast<size_t>(span.view().elements()) * width; at < count; ++at)
    if (bytes[at] != fill)
      return Status::error(StatusCode::Device,
                           "a kernel wrote between the rows of a result, at byte " +
                               std::to_string(at));
  return copy;
}

} // namespace lacuna::tool
