//===- PlanOptions.h - how a spec is compiled -----------------------------===//
#pragma once

#include "compiler/Pipelines/Pipelines.h"

namespace lacuna::tool {

/// The plan that a command line asks for.
struct PlanOptions : public SpecToHopperOptions {
  /// Machine code for a GPU names lines of the spec.
  bool lineInfo = false;
};

} // namespace lacuna::tool
