//===- RunSelections.h - what a spec chooses, for tools that count ---------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "lacuna/Executor.h"

namespace lacuna {

/// Makes what select ops hand to sets and attention arguments of `function`, a copy of the spec's,
/// which then chooses nothing. Their tensors, appended to `arguments`, are those of `spec.results`,
/// or computed here: then the result owns them. After a mistake a diagnostic is emitted.
mlir::FailureOr<std::vector<OwnedTensor>> takeSelections(const BoundSpec &spec,
                                                         mlir::func::FuncOp function,
                                                         std::vector<Argument> &arguments,
                                                         Executor &executor);

} // namespace lacuna
