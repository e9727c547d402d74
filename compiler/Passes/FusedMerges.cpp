//===- FusedMerges.cpp - merges that one kernel computes ------------------===//
#include "compiler/Passes/FusedMerges.h"

#include "compiler/Passes/Lists.h"
#include "compiler/Passes/Segments.h"
#include "lib/Device/SharedLayout.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace lacuna;

double lacuna::getScale(attn::AttendOp op) {
  if (std::optional<APFloat> scale = op.getScale())
    return scale->convertToFloat();
  return static_cast<float>(1.0 /
                            std::sqrt(static_cast<double>(op.getQuery().getType().getDimSize(3))));
}

/// Whether both see the queries as one sequence, or as one grid of the same sizes.
static bool haveSameQueries(attn::AttendOp a, attn::AttendOp b) {
  auto read = [](attn::AttendOp op, Segments &segments) {
    auto type = cast<sparsity::SetType>(op.getSet().getType());
    // Sets without a domain are refused elsewhere, with a message.
    return type.isSingle() && succeeded(segments.readDomain(op));
  };
  ScopedDiagnosticHandler quiet(a.getContext(), [](Diagnostic &) { return success(); });
  Segments first, second;
  if (!read(a, first) || !read(b, second) || first.getRank(0) != second.getRank(0) ||
      first.isLoneSequence() != second.isLoneSequence())
    return false;
  return first.isLoneSequence() || first.getSizes(0) == second.getSizes(0);
}

/// Whether tiles that have been chosen agree.
static bool haveSameTiles(attn::AttendOp a, attn::AttendOp b) {
  auto agree = [](std::optional<ArrayRef<int64_t>> x, std::optional<ArrayRef<int64_t>> y) {
    return !x || !y || *x == *y;
  };
  return agree(a.getQueryTile(), b.getQueryTile()) && agree(a.getKeyTile(), b.getKeyTile());
}

/// Whether masks of the part take registers for themselves: sets with numbers that only a run
/// knows, or a score function that is no sum with a constant.
static bool isHeavy(attn::AttendOp part) {
  if (auto affine = part.getSet().getDefiningOp<sparsity::AffineOp>();
      !affine || !affine.getNumbers().empty())
    return true;
  if (part.getScore().empty())
    return false;
  auto add = part.getScore().front().getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  return !add || !matchPattern(add.getRhs(), m_Constant());
}

/// Whether the part walks keys so few at a time that they are gathered, which a kernel does for one
/// pair of tensors.
static bool walksKeys(attn::AttendOp part) {
  if (!cast<sparsity::SetType>(part.getSet().getType()).isSingle())
    return false;
  sparsity::BlocksOp list = findAdditiveList(part.getSet());
  return list && countTokens(list.getKey()) < leastCopiedKeys;
}

SmallVector<attn::AttendOp> lacuna::findFusedParts(attn::MergeOp merge) {
  SmallVector<attn::AttendOp> parts;
  for (auto [output, lse] : llvm::zip_equal(merge.getOutputs(), merge.getLses())) {
    auto attend = output.getDefiningOp<attn::AttendOp>();
    if (!attend || output != attend.getOutput() || lse != attend.getLse() || !output.hasOneUse() ||
        !lse.hasOneUse() || attend.getSinks() || attend.hasSkip() ||
        attend->getBlock() != merge->getBlock())
      return {};
    if (!parts.empty() &&
        (attend.getQuery() != parts.front().getQuery() ||
         getScale(attend) != getScale(parts.front()) || !haveSameQueries(attend, parts.front()) ||
         !haveSameTiles(attend, parts.front())))
      return {};
    parts.push_back(attend);
  }
  bool isLarge = llvm::count_if(parts, isHeavy) > mostHeavyParts;
  if (parts.size() < 2 || isLarge || llvm::any_of(parts, walksKeys))
    return {};
  return parts;
}

attn::MergeOp lacuna::findFusedMerge(attn::AttendOp attend) {
  if (!attend.getOutput().hasOneUse())
    return nullptr;
  auto merge = dyn_cast<attn::MergeOp>(*attend.getOutput().user_begin());
  return merge && !findFusedParts(merge).empty() ? merge : nullptr;
}
