//===- PlanOptions.h - how a spec is compiled -----------------------------===//
#pragma once

#include "compiler/Pipelines/Pipelines.h"

namespace lacuna::tool {

/// The plan that a command line asks for.
struct PlanOptions : public SpecToHopperOptions {
  /// Machine code for a GPU names lines of the spec.
  bool lineInfo = false;
  /// Programs and machine code of earlier runs are used, and kept for later ones.
  bool usesCache = true;
};

} // namespace lacuna::tool
