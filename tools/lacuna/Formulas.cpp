//===- Formulas.cpp - loop bounds as people write them --------------------===//
#include "tools/lacuna/Formulas.h"

#include "mlir/IR/AffineExprVisitor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdlib>

using namespace mlir;

namespace lacuna::tool {

namespace {
/// A sum as its terms: a number times a text, and a constant.
struct Sum {
  std::vector<std::pair<int64_t, std::string>> terms;
  int64_t constant = 0;

  void add(int64_t factor, const std::string &text) {
    auto found = llvm::find_if(terms, [&](const auto &term) { return term.second == text; });
    if (found == terms.end())
      terms.emplace_back(factor, text);
    else
      found->first += factor;
  }
};
} // namespace

static void collect(AffineExpr expr, int64_t factor, const FormulaNames &names, Sum &sum);

/// Terms and a constant with signs between them, as they stand.
static std::string termsText(ArrayRef<std::pair<int64_t, std::string>> terms, int64_t constant) {
  std::string text;
  auto append = [&](int64_t factor, const std::string &what) {
    bool negative = factor < 0;
    uint64_t size = negative ? 0 - static_cast<uint64_t>(factor) : static_cast<uint64_t>(factor);
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    text += what.empty() ? std::to_string(size)
            : size == 1  ? what
                         : std::to_string(size) + "*" + what;
  };
  for (const auto &[factor, what] : terms)
    append(factor, what);
  if (constant != 0 || text.empty())
    append(constant, "");
  return text;
}

/// Positive terms first, then negative ones.
static Sum collectSum(AffineExpr expr, const FormulaNames &names) {
  Sum sum, sorted;
  collect(expr, 1, names, sum);
  sorted.constant = sum.constant;
  for (bool negative : {false, true})
    for (const auto &term : sum.terms)
      if (term.first != 0 && (term.first < 0) == negative)
        sorted.terms.push_back(term);
  return sorted;
}

static std::string sumText(AffineExpr expr, const FormulaNames &names) {
  Sum sum = collectSum(expr, names);
  return termsText(sum.terms, sum.constant);
}

static bool isOneWord(llvm::StringRef text) {
  return text.find_first_of(" ") == llvm::StringRef::npos;
}

static std::string grouped(const std::string &text) {
  return isOneWord(text) ? text : "(" + text + ")";
}

static std::string binaryText(AffineBinaryOpExpr expr, const FormulaNames &names) {
  std::string left = grouped(sumText(expr.getLHS(), names));
  std::string right = grouped(sumText(expr.getRHS(), names));
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
    return "floor(" + left + " / " + right + ")";
  case AffineExprKind::CeilDiv:
    return "ceil(" + left + " / " + right + ")";
  case AffineExprKind::Mod:
    return "(" + left + " mod " + right + ")";
  default:
    return left + "*" + right;
  }
}

static void collect(AffineExpr expr, int64_t factor, const FormulaNames &names, Sum &sum) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    sum.constant += factor * constant.getValue();
    return;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return sum.add(factor, names.dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return sum.add(factor, names.symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add) {
    collect(binary.getLHS(), factor, names, sum);
    collect(binary.getRHS(), factor, names, sum);
    return;
  }
  if (binary.getKind() == AffineExprKind::Mul)
    if (auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return collect(binary.getLHS(), factor * scale.getValue(), names, sum);
  sum.add(factor, binaryText(binary, names));
}

std::string formulaText(AffineExpr expr, const FormulaNames &names) { return sumText(expr, names); }

/// The largest or smallest of `exprs`. Of several constants only the one that matters is left.
static std::string extremeText(ArrayRef<AffineExpr> exprs, bool largest,
                               const FormulaNames &names) {
  std::vector<std::string> texts;
  std::optional<int64_t> constant;
  for (AffineExpr expr : exprs) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      int64_t value = number.getValue();
      constant = !constant ? value
                 : largest ? std::max(*constant, value)
                           : std::min(*constant, value);
      continue;
    }
    std::string text = sumText(expr, names);
    if (!llvm::is_contained(texts, text))
      texts.push_back(text);
  }
  if (constant)
    texts.insert(texts.begin(), std::to_string(*constant));
  if (texts.size() == 1)
    return texts.front();
  return (largest ? "max(" : "min(") + llvm::join(texts, ", ") + ")";
}

/// `a == b` or `a >= b`, without minus signs as far as possible.
static std::string relationText(const Sum &sum, llvm::StringRef relation, llvm::StringRef flipped) {
  Sum left, right;
  for (const auto &[factor, what] : sum.terms)
    (factor > 0 ? left : right).terms.emplace_back(std::abs(factor), what);
  // `left <= -1` reads better than `-1 >= left`.
  if (left.terms.empty())
    return termsText(right.terms, 0) + (" " + flipped + " ").str() + termsText({}, sum.constant);
  return termsText(left.terms, 0) + (" " + relation + " ").str() +
         termsText(right.terms, -sum.constant);
}

/// `expr >= 0` as a relation. With its opposite among `all` it is an equality, which the one of the
/// two says that starts with a positive term; the other says nothing.
static std::string conditionText(AffineExpr expr, ArrayRef<AffineExpr> all,
                                 const FormulaNames &names) {
  // A residue that must not be positive is a residue of 0.
  AffineExpr negated = -expr;
  if (negated.getKind() == AffineExprKind::Mod)
    return llvm::StringRef(sumText(negated, names)).trim("()").str() + " == 0";
  Sum sum = collectSum(expr, names);
  for (AffineExpr other : all)
    if (sumText(other, names) == sumText(negated, names))
      return sum.terms.empty() || sum.terms.front().first > 0 ? relationText(sum, "==", "==") : "";
  return relationText(sum, ">=", "<=");
}

std::string boxText(const TileBox &box, const FormulaNames &names) {
  std::vector<std::string> parts;
  size_t keyDim = names.dims.size() - box.ranges.size();
  for (const AxisRange &range : box.ranges)
    parts.push_back(names.dims[keyDim++] + " in [" +
                    extremeText(range.lower, /*largest=*/true, names) + ", " +
                    extremeText(range.upper, /*largest=*/false, names) + ")");
  SmallVector<AffineExpr> all;
  for (AffineExpr guard : box.guards)
    if (auto known = dyn_cast<AffineConstantExpr>(guard); !known || known.getValue() < 0)
      all.push_back(guard);
  llvm::append_range(all, box.conditions);
  std::vector<std::string> conditions;
  for (AffineExpr condition : all)
    if (std::string text = conditionText(condition, all, names);
        !text.empty() && !llvm::is_contained(conditions, text))
      conditions.push_back(text);
  std::string text = llvm::join(parts, ", ");
  return conditions.empty() ? text : text + " where " + llvm::join(conditions, ", ");
}

Footprint withSymbols(const Footprint &footprint, ArrayRef<AffineExpr> replacements) {
  Footprint result = footprint;
  auto replace = [&](AffineExpr &expr) { expr = expr.replaceSymbols(replacements); };
  for (std::vector<TileBox> *boxes : {&result.live, &result.full, &result.partial})
    for (TileBox &box : *boxes) {
      llvm::for_each(box.guards, replace);
      llvm::for_each(box.conditions, replace);
      for (AxisRange &range : box.ranges) {
        llvm::for_each(range.lower, replace);
        llvm::for_each(range.upper, replace);
      }
    }
  return result;
}

} // namespace lacuna::tool
