//===- Tolerance.cpp - how far from the oracle a result may be -------------===//
#include "lib/Reference/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lacuna::reference {

static constexpr double u32 = 0x1p-24;

static double unitRoundoff(ElementType type) {
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

/// Below the normal range the spacing is constant: half of it.
static double smallestError(ElementType type) {
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

namespace {
/// Adds up errors value by value.
class Comparer {
public:
  void add(double got, double exact, double tolerance, std::vector<int64_t> where) {
    ++comparison.values;
    bool alike = std::isnan(got) == std::isnan(exact) && (!std::isinf(exact) || got == exact) &&
                 (std::isinf(exact) || !std::isinf(got));
    double error = !alike                                   ? infinity
                   : std::isnan(exact) || std::isinf(exact) ? 0
                                                            : std::fabs(got - exact);
    double excess = !alike ? infinity : error == 0 ? 0 : error / tolerance;
    comparison.beyond += !(excess <= 1);
    comparison.maxAbsolute = std::max(comparison.maxAbsolute, error);
    if (std::isfinite(exact)) {
      errors += error * error;
      squares += exact * exact;
      largest = std::max(largest, std::fabs(exact));
      relative.emplace_back(std::fabs(exact), error);
    }
    if (comparison.where.empty() || excess > comparison.worst) {
      comparison.worst = excess;
      comparison.where = std::move(where);
      comparison.got = got;
      comparison.exact = exact;
    }
  }

  Comparison finish() {
    for (auto [exact, error] : relative)
      if (exact > 0 && exact >= largest / 1000)
        comparison.maxRelative = std::max(comparison.maxRelative, error / exact);
    if (errors > 0)
      comparison.relativeL2 = squares > 0 ? std::sqrt(errors / squares) : infinity;
    return comparison;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  Comparison comparison;
  double errors = 0, squares = 0, largest = 0;
  std::vector<std::pair<double, double>> relative;
};
} // namespace

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
