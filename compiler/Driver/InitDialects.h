//===- InitDialects.h - the dialects that a spec may use ------------------===//
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace lacuna {

/// Lacuna's dialects and the upstream ones that specs and the levels below them are written in.
/// Every program takes its dialects from here, so that none of them reads what another refuses.
mlir::DialectRegistry lacunaDialects();

} // namespace lacuna
