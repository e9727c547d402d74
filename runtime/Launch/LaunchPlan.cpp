//===- LaunchPlan.cpp - a launch worked out, but for addresses -------------===//
#include "runtime/Launch/LaunchPlan.h"

#include "runtime/Launch/Signature.h"

#include <algorithm>

namespace lacuna {

std::shared_ptr<const LaunchPlan> PlanMemo::find(const Signature &signature) {
  std::lock_guard lock(mutex);
  for (size_t i = 0, at = latest; i < plans.size(); ++i, at = (at + 1) % plans.size())
    if (std::ranges::equal(plans[at]->signature, signature.words())) {
      latest = at;
      return plans[at];
    }
  return nullptr;
}

void PlanMemo::insert(std::shared_ptr<const LaunchPlan> plan) {
  std::lock_guard lock(mutex);
  if (plans.size() < capacity) {
    latest = plans.size();
    plans.push_back(std::move(plan));
    return;
  }
  // A launch of another thread may hold the old one a little longer.
  plans[oldest] = std::move(plan);
  latest = oldest;
  oldest = (oldest + 1) % capacity;
}

} // namespace lacuna
