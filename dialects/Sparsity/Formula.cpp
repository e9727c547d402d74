//===- Formula.cpp - a set of pairs as a formula --------------------------===//
#include "dialects/Sparsity/Formula.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace lacuna::sparsity;

//===----------------------------------------------------------------------===//
// FormulaSpace
//===----------------------------------------------------------------------===//

FormulaSpace::FormulaSpace(MLIRContext *context, unsigned queryRank, unsigned keyRank)
    : context(context), queryRank(queryRank), keyRank(keyRank) {
  for (unsigned axis = 0; axis < queryRank; ++axis)
    symbols.push_back({Symbol::Kind::QuerySize, axis});
  for (unsigned axis = 0; axis < keyRank; ++axis)
    symbols.push_back({Symbol::Kind::KeySize, axis});
}

AffineExpr FormulaSpace::symbol(const Symbol &symbol) {
  auto *it = llvm::find(symbols, symbol);
  unsigned index = std::distance(symbols.begin(), it);
  if (it == symbols.end())
    symbols.push_back(symbol);
  return getAffineSymbolExpr(index, context);
}

AffineExpr FormulaSpace::query(unsigned axis) {
  assert(axis < queryRank && "no such query axis");
  return getAffineDimExpr(axis, context);
}

AffineExpr FormulaSpace::key(unsigned axis) {
  assert(axis < keyRank && "no such key axis");
  return getAffineDimExpr(queryRank + axis, context);
}

AffineExpr FormulaSpace::querySize(unsigned axis) {
  assert(axis < queryRank && "no such query axis");
  return getAffineSymbolExpr(axis, context);
}

AffineExpr FormulaSpace::keySize(unsigned axis) {
  assert(axis < keyRank && "no such key axis");
  return getAffineSymbolExpr(queryRank + axis, context);
}

AffineExpr FormulaSpace::position(unsigned axis, bool alignStart) {
  if (alignStart)
    return query(axis);
  return query(axis) + keySize(axis) - querySize(axis);
}

AffineExpr FormulaSpace::constant(int64_t value) { return getAffineConstantExpr(value, context); }

AffineExpr FormulaSpace::scalar(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return constant(number.getSExtValue());
  return symbol({Symbol::Kind::Scalar, 0, value});
}

AffineExpr FormulaSpace::perHead(Value tensor) {
  return symbol({Symbol::Kind::PerHead, 0, tensor});
}

AffineExpr FormulaSpace::monotone(Operation *op, unsigned term, unsigned queryAxis) {
  return symbol({Symbol::Kind::Monotone, queryAxis, {}, op, term});
}

//===----------------------------------------------------------------------===//
// Formula
//===----------------------------------------------------------------------===//

struct Formula::Node {
  Kind kind;
  AffineExpr expr = {};
  Operation *op = nullptr;
  unsigned term = 0;
  bool negated = false;
  SmallVector<Formula> parts = {};
};

Formula Formula::always() { return Formula(std::make_shared<Node>(Node{Kind::True})); }

Formula Formula::never() { return Formula(std::make_shared<Node>(Node{Kind::False})); }

Formula Formula::nonNegative(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue() >= 0);
  return Formula(std::make_shared<Node>(Node{Kind::NonNegative, expr}));
}

Formula Formula::zero(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue() == 0);
  return Formula(std::make_shared<Node>(Node{Kind::Zero, expr}));
}

Formula Formula::between(AffineExpr lower, AffineExpr x, AffineExpr upper) {
  return lessEqual(lower, x) & lessEqual(x, upper);
}

Formula Formula::opaque(Operation *op, unsigned term, bool negated) {
  return Formula(std::make_shared<Node>(Node{Kind::Opaque, {}, op, term, negated}));
}

Formula Formula::combine(Kind kind, ArrayRef<Formula> parts) {
  // "and" absorbs False and drops True; "or" the other way round.
  Kind absorbing = kind == Kind::And ? Kind::False : Kind::True;
  Kind neutral = kind == Kind::And ? Kind::True : Kind::False;
  SmallVector<Formula> kept;
  auto add = [&](const Formula &part) {
    if (!llvm::is_contained(kept, part))
      kept.push_back(part);
  };
  for (const Formula &part : parts) {
    if (part.getKind() == absorbing)
      return part;
    if (part.getKind() == neutral)
      continue;
    if (part.getKind() == kind)
      llvm::for_each(part.getParts(), add);
    else
      add(part);
  }
  if (kept.empty())
    return constant(kind == Kind::And);
  if (kept.size() == 1)
    return kept.front();
  return Formula(std::make_shared<Node>(Node{kind, {}, nullptr, 0, false, std::move(kept)}));
}

Formula Formula::all(ArrayRef<Formula> parts) { return combine(Kind::And, parts); }
Formula Formula::any(ArrayRef<Formula> parts) { return combine(Kind::Or, parts); }

Formula Formula::operator!() const {
  switch (getKind()) {
  case Kind::True:
    return never();
  case Kind::False:
    return always();
  case Kind::NonNegative:
    return nonNegative(-getExpr() - 1);
  case Kind::Zero:
    return nonNegative(getExpr() - 1) | nonNegative(-getExpr() - 1);
  case Kind::Opaque:
    return opaque(getOp(), getTerm(), !isNegated());
  case Kind::And:
  case Kind::Or: {
    SmallVector<Formula> parts;
    for (const Formula &part : getParts())
      parts.push_back(!part);
    return getKind() == Kind::And ? any(parts) : all(parts);
  }
  }
  llvm_unreachable("all kinds are handled");
}

Formula::Kind Formula::getKind() const { return node->kind; }
AffineExpr Formula::getExpr() const { return node->expr; }
ArrayRef<Formula> Formula::getParts() const { return node->parts; }
Operation *Formula::getOp() const { return node->op; }
unsigned Formula::getTerm() const { return node->term; }
bool Formula::isNegated() const { return node->negated; }

bool Formula::hasOpaque() const {
  return getKind() == Kind::Opaque ||
         llvm::any_of(getParts(), [](const Formula &part) { return part.hasOpaque(); });
}

Formula Formula::withoutOpaque(bool value) const {
  if (getKind() == Kind::Opaque)
    return constant(value);
  if (getKind() != Kind::And && getKind() != Kind::Or)
    return *this;
  SmallVector<Formula> parts;
  for (const Formula &part : getParts())
    parts.push_back(part.withoutOpaque(value));
  return combine(getKind(), parts);
}

bool Formula::operator==(const Formula &other) const {
  if (node == other.node)
    return true;
  return getKind() == other.getKind() && getExpr() == other.getExpr() && getOp() == other.getOp() &&
         getTerm() == other.getTerm() && isNegated() == other.isNegated() &&
         getParts() == other.getParts();
}
