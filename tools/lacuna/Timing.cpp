//===- Timing.cpp - where the time of a command goes -----------------------===//
#include "tools/lacuna/Timing.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace mlir;

namespace lacuna::tool {

namespace {
/// Of the command that runs; there is one per process.
struct Measurement {
  Measurement() {
    manager.setEnabled(true);
    manager.setDisplayMode(DefaultTimingManager::DisplayMode::Tree);
    manager.setOutput(createOutputStrategy(DefaultTimingManager::OutputFormat::Text, llvm::errs()));
    root = manager.getRootScope();
  }
  // Prints when it is destroyed, after the root has stopped.
  DefaultTimingManager manager;
  TimingScope root;
};
} // namespace

static std::optional<Measurement> &measurement() {
  static std::optional<Measurement> only;
  return only;
}

CommandTiming::CommandTiming(const Arguments &arguments) {
  if (arguments.has(timePassesOption.name))
    measurement().emplace();
}

CommandTiming::~CommandTiming() { measurement().reset(); }

TimingScope timePhase(llvm::StringRef name) {
  return measurement() ? measurement()->root.nest(name) : TimingScope();
}

void timePasses(PassManager &passes) {
  if (measurement())
    passes.enableTiming(measurement()->root);
}

} // namespace lacuna::tool
