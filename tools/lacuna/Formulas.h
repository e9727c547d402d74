//===- Formulas.h - loop bounds as people write them ----------------------===//
#pragma once

#include "compiler/Analysis/Footprint.h"

#include <string>
#include <vector>

namespace lacuna::tool {

/// Names of what a footprint's expressions are made of.
struct FormulaNames {
  /// Tile coordinates of the query, then of the key: I and J, or I0, I1, J0, J1.
  std::vector<std::string> dims;
  /// One per Footprint symbol.
  std::vector<std::string> symbols;
};

/// `floor((64*I - left) / 64)` and the like.
std::string formulaText(mlir::AffineExpr expr, const FormulaNames &names);

/// One line per box: `J in [max(0, ...), min(...))`, then conditions.
std::string boxText(const TileBox &box, const FormulaNames &names);

/// The footprint with each symbol replaced: for readers, when two are known to be equal or one is
/// known.
Footprint withSymbols(const Footprint &footprint, llvm::ArrayRef<mlir::AffineExpr> replacements);

} // namespace lacuna::tool
