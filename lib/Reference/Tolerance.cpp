//===- Tolerance.cpp - how far from the oracle a result may be -------------===//
#include "lib/Reference/Tolerance.h"

#include "lib/Reference/Comparer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lacuna::reference {

static constexpr double u32 = 0x1p-24;

double unitRoundoff(ElementType type) {
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
    return 0x1p-11;
  case ElementType::BF16:
    return 0x1p-8;
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::I8:
  case ElementType::I32:
  case ElementType::I64:
    return u32;
  }
  return u32;
}

double smallestError(ElementType type) {
  return type == ElementType::F16 ? 0x1p-25 : type == ElementType::BF16 ? 0x1p-134 : 0x1p-150;
}

double Tolerance::scores(const RowResult &row) const {
  return u32 * (4 + 2 * std::sqrt(static_cast<double>(keyChannels))) * row.scoreMagnitude;
}

double Tolerance::output(const RowResult &row, size_t channel) const {
  double u = unitRoundoff(type);
  double sums = u32 * (16 + 4 * std::sqrt(static_cast<double>(row.liveKeys)));
  double dense =
      u * std::fabs(row.output[channel]) + (u + sums + 2 * scores(row)) * row.magnitude[channel];
  return 2 * (dense + smallestError(type));
}

double Tolerance::lse(const RowResult &row) const {
  double sums = u32 * (16 + 4 * std::sqrt(static_cast<double>(row.liveKeys)));
  return 2 * (u32 * std::fabs(row.lse) + sums + scores(row));
}

Comparison compareOutput(const Tensor &output, const std::vector<RowIndex> &rows,
                         const std::vector<RowResult> &exact, int64_t keyChannels) {
  Tolerance tolerance(output.type, keyChannels);
  Comparer comparer;
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t channel = 0; channel < exact[row].output.size(); ++channel) {
      std::vector<int64_t> where = {rows[row].batch, rows[row].head, rows[row].query,
                                    static_cast<int64_t>(channel)};
      double got = output.at(where);
      comparer.add(got, exact[row].output[channel], tolerance.output(exact[row], channel),
                   std::move(where));
    }
  return comparer.finish();
}

Comparison compareLse(const Tensor &lse, const std::vector<RowIndex> &rows,
                      const std::vector<RowResult> &exact, int64_t keyChannels) {
  Tolerance tolerance(lse.type, keyChannels);
  Comparer comparer;
  for (size_t row = 0; row < rows.size(); ++row) {
    std::vector<int64_t> where = {rows[row].batch, rows[row].head, rows[row].query};
    double got = lse.at(where);
    comparer.add(got, exact[row].lse, tolerance.lse(exact[row]), std::move(where));
  }
  return comparer.finish();
}

} // namespace lacuna::reference
