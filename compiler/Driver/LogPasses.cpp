//===- LogPasses.cpp - where the time of a compilation goes ----------------===//
#include "compiler/Driver/LogPasses.h"

#include "lib/Support/Log.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>

using namespace mlir;

namespace lacuna {

namespace {
/// Passes of one pipeline; pipelines inside of it are no passes.
class PassLogger final : public PassInstrumentation {
  using Clock = std::chrono::steady_clock;

  void runBeforePass(Pass *, Operation *) override { starts.push_back(Clock::now()); }
  void runAfterPass(Pass *pass, Operation *) override { say(pass, "took"); }
  void runAfterPassFailed(Pass *pass, Operation *) override { say(pass, "failed after"); }

  void say(Pass *pass, const char *what) {
    std::chrono::duration<double, std::milli> spent = Clock::now() - starts.pop_back_val();
    if (!pass->getArgument().empty())
      log(LogLevel::Debug, "{} {} {:.2f} ms", pass->getArgument().str(), what, spent.count());
  }

  SmallVector<Clock::time_point> starts;
};
} // namespace

void logPasses(PassManager &passes) {
  if (isLogged(LogLevel::Debug))
    passes.addInstrumentation(std::make_unique<PassLogger>());
}

} // namespace lacuna
