//===- LogPasses.h - where the time of a compilation goes ------------------===//
#pragma once

namespace mlir {
class PassManager;
} // namespace mlir

namespace lacuna {

/// Logs at level debug how long each pass takes; nothing while that level is off.
void logPasses(mlir::PassManager &passes);

} // namespace lacuna
