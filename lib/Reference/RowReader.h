//===- RowReader.h - rows of numbers as f64 --------------------------------===//
#pragma once

#include "lacuna/Tensor.h"
#include "lib/Support/Half.h"

namespace lacuna::reference {

/// Reads the last axis of a four-axis tensor as f64. The type is dispatched once per row of
/// numbers.
class RowReader {
public:
  explicit RowReader(const Tensor &tensor) : tensor(tensor) {}

  void read(int64_t batch, int64_t head, int64_t token, std::vector<double> &row) const {
    int64_t offset =
        batch * tensor.strides[0] + head * tensor.strides[1] + token * tensor.strides[2];
    row.resize(static_cast<size_t>(tensor.shape[3]));
    switch (tensor.type) {
    case ElementType::F16:
      return convert<uint16_t>(offset, row, fromF16);
    case ElementType::BF16:
      return convert<uint16_t>(offset, row, fromBF16);
    case ElementType::F32:
      return convert<float>(offset, row, [](float value) { return static_cast<double>(value); });
    case ElementType::F64:
      return convert<double>(offset, row, [](double value) { return value; });
    case ElementType::I8:
    case ElementType::I32:
    case ElementType::I64:
      for (size_t channel = 0; channel < row.size(); ++channel)
        row[channel] = tensor.at({batch, head, token, static_cast<int64_t>(channel)});
    }
  }

private:
  template <typename Stored, typename Convert>
  void convert(int64_t offset, std::vector<double> &row, Convert toDouble) const {
    const auto *data = static_cast<const Stored *>(tensor.data) + offset;
    int64_t step = tensor.strides[3];
    for (size_t channel = 0; channel < row.size(); ++channel)
      row[channel] = toDouble(data[static_cast<int64_t>(channel) * step]);
  }

  const Tensor &tensor;
};

} // namespace lacuna::reference
