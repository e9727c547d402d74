//===- Comparer.h - errors added up value by value -------------------------===//
#pragma once

#include "lib/Reference/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lacuna::reference {

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

} // namespace lacuna::reference
