//===- MaskCost.cpp - what hiding dead scores takes on sm_90a -------------===//
#include "compiler/Analysis/MaskCost.h"

#include "dialects/Sparsity/Sparsity.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace mlir;

// Registers of the parts of a mask, fitted to what ptxas spills and what it does not.
static constexpr int64_t ofAtom = 2, ofManyAxes = 12, ofAlternatives = 24, ofDivision = 26,
                         ofOpaque = 84;
/// Terms that read memory, such as the start of a document, and each that divides.
static constexpr int64_t ofMemory = 8, ofUnit = 8;

namespace {
/// What occurs in a formula.
struct Parts {
  int64_t atoms = 0;
  bool alternatives = false, divisions = false, opaque = false;
  llvm::SmallBitVector symbols;
  const FormulaSpace &space;

  explicit Parts(const FormulaSpace &space) : symbols(space.getSymbols().size()), space(space) {}

  bool dependsOnKey(AffineExpr expr) const {
    for (unsigned axis = 0; axis < space.getKeyRank(); ++axis)
      if (expr.isFunctionOfDim(space.getQueryRank() + axis))
        return true;
    return false;
  }

  void add(const Formula &formula, bool isAlternative = false) {
    switch (formula.getKind()) {
    case Formula::Kind::True:
    case Formula::Kind::False:
      return;
    case Formula::Kind::Opaque:
      opaque = true;
      return;
    case Formula::Kind::NonNegative:
    case Formula::Kind::Zero:
      // Alternatives are tested one after the other.
      atoms += !isAlternative;
      formula.getExpr().walk([&](AffineExpr part) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
          symbols.set(symbol.getPosition());
        bool divides = part.getKind() == AffineExprKind::FloorDiv ||
                       part.getKind() == AffineExprKind::CeilDiv ||
                       part.getKind() == AffineExprKind::Mod;
        // Divisions of the query alone are part of a bound.
        divisions |= divides && dependsOnKey(part);
      });
      return;
    case Formula::Kind::Or:
    case Formula::Kind::And:
      isAlternative |= formula.getKind() == Formula::Kind::Or;
      alternatives |= isAlternative;
      for (const Formula &part : formula.getParts())
        add(part, isAlternative);
      return;
    }
  }
};
} // namespace

MaskCost lacuna::estimateMask(const Formula &formula, const FormulaSpace &space) {
  Parts parts(space);
  parts.add(formula);
  MaskCost cost;
  cost.registers = space.getKeyRank() > 1 ? ofManyAxes : ofAtom * parts.atoms;
  if (parts.alternatives)
    cost.registers += ofAlternatives;
  if (parts.divisions)
    cost.registers += ofDivision;
  if (parts.opaque)
    cost.registers += ofOpaque;
  bool readsMemory = false;
  for (unsigned index : parts.symbols.set_bits()) {
    const Symbol &symbol = space.getSymbols()[index];
    if (symbol.kind != Symbol::Kind::Monotone)
      continue;
    if (auto radius = dyn_cast<RadiusOp>(symbol.op); radius && radius.getUnit())
      cost.registers += ofUnit;
    bool inMemory = llvm::any_of(symbol.op->getOperandTypes(),
                                 [](Type type) { return isa<RankedTensorType>(type); });
    readsMemory |= inMemory;
  }
  if (readsMemory)
    cost.registers += ofMemory;
  // One bound that follows from the query's place: a loop over one range.
  if (space.getKeyRank() == 1 && parts.atoms <= 1 && cost.registers <= ofAtom)
    cost.producer = estimateProducer(0);
  if (parts.alternatives || parts.divisions || parts.opaque)
    cost.mask = ScoreMask::Predicate;
  return cost;
}
