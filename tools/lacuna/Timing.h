//===- Timing.h - where the time of a command goes -------------------------===//
#pragma once

#include "tools/lacuna/Command.h"

#include "mlir/Support/Timing.h"

namespace mlir {
class PassManager;
} // namespace mlir

namespace lacuna::tool {

inline constexpr Option timePassesOption = {
    "--time-passes", "", "say on stderr how long each pass and each other phase took"};

/// Measures from here on when the command line has the option; the destructor prints the tree.
class CommandTiming {
public:
  explicit CommandTiming(const Arguments &arguments);
  CommandTiming(const CommandTiming &) = delete;
  CommandTiming &operator=(const CommandTiming &) = delete;
  ~CommandTiming();
};

/// Measures what happens until the scope ends, if anything is measured.
mlir::TimingScope timePhase(llvm::StringRef name);
/// Measures the passes of a pipeline, if anything is measured.
void timePasses(mlir::PassManager &passes);

} // namespace lacuna::tool
