//===- Executor.h - who runs independent pieces of work -------------------===//
#pragma once

#include <cstdint>
#include <functional>

namespace lacuna {

/// Runs independent pieces of work, perhaps several at a time. The compiler's CPU programs ask for
/// one, the runtime has one.
class Executor {
public:
  virtual ~Executor() = default;

  using Work = std::function<void(int64_t begin, int64_t end)>;
  /// Calls `work` on ranges that together are [0, count), each index once, and returns when all
  /// are done.
  virtual void parallelFor(int64_t count, const Work &work) = 0;
};

} // namespace lacuna
