//===- AlgebraVerify.cpp - the labelled rules of sets made of sets --------===//
#include "dialects/Sparsity/SparsityInternal.h"

using namespace mlir;
using namespace lacuna;
using namespace lacuna::sparsity;

/// algebra-3: sets that an expression may name, each use counted. Formulas grow with it.
static constexpr size_t maxSets = 1024;

/// Whether two values are the same domain: one value, or two ops that say the same.
static bool isSameDomain(Value a, Value b) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  return first && second &&
         OperationEquivalence::isEquivalentTo(first, second, OperationEquivalence::IgnoreLocations);
}

/// The domain that the expression below `set` names, null when there is none; `op` owns the
/// diagnostics. Iterative and bounded, because the IR may be cyclic at this point.
static FailureOr<Value> checkDomain(Operation *op, ValueRange sets) {
  SmallVector<Value> pending(sets);
  Value domain;
  for (size_t next = 0; next < pending.size(); ++next) {
    // algebra-3
    if (pending.size() > maxSets)
      return op->emitOpError("expected an expression of at most ") << maxSets << " sets";
    // algebra-2
    Operation *definition = pending[next].getDefiningOp();
    if (!isa_and_nonnull<SetOpInterface, SegmentsOp>(definition))
      return op->emitOpError("expected operands that set ops define, got ")
             << (definition ? "the result of '" + definition->getName().getStringRef().str() + "'"
                            : "a block argument");
    for (Value operand : definition->getOperands()) {
      if (isa<SetType>(operand.getType()) && !isa<SegmentsOp>(definition))
        pending.push_back(operand);
      if (!isa<DomainType>(operand.getType()))
        continue;
      // algebra-1
      if (!domain) {
        domain = operand;
      } else if (!isSameDomain(domain, operand)) {
        InFlightDiagnostic diagnostic =
            op->emitOpError("expected operands over one domain, got two");
        diagnostic.attachNote(domain.getLoc()) << "one is this";
        diagnostic.attachNote(operand.getLoc()) << "the other is this";
        return diagnostic;
      }
    }
  }
  return domain;
}

Value lacuna::sparsity::findDomain(Value set) {
  SmallVector<Value> pending{set};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Operation *definition = pending.pop_back_val().getDefiningOp();
    if (!definition)
      continue;
    for (Value operand : definition->getOperands()) {
      if (isa<DomainType>(operand.getType()))
        return operand;
      if (isa<SetType>(operand.getType()) && seen.insert(operand).second)
        pending.push_back(operand);
    }
  }
  return {};
}

LogicalResult UnionOp::verify() { return checkDomain(*this, getSets()); }
LogicalResult IntersectOp::verify() { return checkDomain(*this, getSets()); }
LogicalResult SubtractOp::verify() { return checkDomain(*this, getOperands()); }
LogicalResult ComplementOp::verify() { return checkDomain(*this, getRemoved()); }

LogicalResult PerHeadOp::verify() {
  // per-head-1
  if (!getClasses() == !getClassValues())
    return emitOpError("expected classes as an operand or as a list, got ")
           << (getClasses() ? "both" : "neither");
  // per-head-2
  if (getSets().empty())
    return emitOpError("expected at least one set");
  for (Value set : getSets())
    if (set.getType() != getSet().getType())
      return emitOpError("expected sets of type ")
             << getSet().getType() << ", got " << set.getType();
  // per-head-3
  for (int64_t chosen : getClassValues().value_or(ArrayRef<int64_t>{}))
    if (chosen < 0 || chosen >= static_cast<int64_t>(getSets().size()))
      return emitOpError("expected classes below ") << getSets().size() << ", got " << chosen;
  if (getClassValues() && getClassValues()->empty())
    return emitOpError("expected a class for at least one head");
  return checkDomain(*this, getSets());
}

/// The domain of every segment, or nothing when a definition is out of sight.
static SmallVector<Value> getSegmentDomains(Value domain) {
  auto concat = domain.getDefiningOp<ConcatOp>();
  if (!concat)
    return {domain};
  SmallVector<Value> result;
  for (Value part : concat.getDomains())
    llvm::append_range(result, getSegmentDomains(part));
  return result;
}

LogicalResult SegmentsOp::verify() {
  ArrayRef<int64_t> ranks = cast<DomainType>(getDomain().getType()).getSegments();
  size_t count = ranks.size();
  // segments-1
  if (count < 2)
    return emitOpError("expected a domain of at least two segments, got ") << count;
  if (getSets().size() != count * count)
    return emitOpError("expected ")
           << count << " rows of " << count << " sets, got " << getSets().size() << " sets";
  SmallVector<Value> domains = getSegmentDomains(getDomain());
  for (auto [index, set] : llvm::enumerate(getSets())) {
    size_t query = index / count, key = index % count;
    // segments-2
    auto expected = SetType::get(getContext(), {ranks[query]}, {ranks[key]});
    if (set.getType() != expected)
      return emitOpError("expected a set of type ")
             << expected << " in row " << query << ", column " << key << ", got " << set.getType();
    FailureOr<Value> domain = checkDomain(*this, set);
    if (failed(domain))
      return failure();
    // segments-3
    if (*domain && domains.size() == count && !isSameDomain(*domain, domains[query]) &&
        !isSameDomain(*domain, domains[key]))
      return emitOpError("expected the set in row ")
             << query << ", column " << key << " to be over the domain of its segment";
  }
  return success();
}
