//===- LinearOps.cpp - syntax and canonical forms of linear attention -----===//
#include "dialects/Attn/Attn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lacuna::attn;

bool lacuna::attn::isLinear(Operation *op) {
  return isa<LinearStateOp, LinearPrefixOp, LinearFoldOp, LinearReadOp, GatedMergeOp>(op);
}

/// (output , gate) , ... attr-dict : output type , gate type
ParseResult GatedMergeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> outputs, gates;
  Type outputType, gateType;
  auto parsePart = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseOperand(outputs.emplace_back()) ||
                   parser.parseComma() || parser.parseOperand(gates.emplace_back()) ||
                   parser.parseRParen());
  };
  if (parser.parseCommaSeparatedList(parsePart) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(outputType) ||
      parser.parseComma() || parser.parseType(gateType) ||
      parser.resolveOperands(outputs, outputType, result.operands) ||
      parser.resolveOperands(gates, gateType, result.operands))
    return failure();
  result.addTypes(outputType);
  return success();
}

void GatedMergeOp::print(OpAsmPrinter &printer) {
  printer << " ";
  llvm::interleaveComma(llvm::zip_equal(getOutputs(), getGates()), printer, [&](auto part) {
    printer << "(" << std::get<0>(part) << ", " << std::get<1>(part) << ")";
  });
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getOutput().getType();
  if (!getGates().empty())
    printer << ", " << getGates().front().getType();
}

/// Single states are their own sums.
LogicalResult LinearFoldOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getBy() != 1 || getStates().getType() != getSums().getType() ||
      getNorms().getType() != getNormSums().getType())
    return failure();
  results.assign({getStates(), getNorms()});
  return success();
}

namespace {
/// A level that only the next one reads is not stored.
struct FoldTwice final : OpRewritePattern<LinearFoldOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LinearFoldOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getStates().getDefiningOp<LinearFoldOp>();
    if (!inner || op.getStates() != inner.getSums() || op.getNorms() != inner.getNormSums())
      return rewriter.notifyMatchFailure(op, "sums no level");
    if (llvm::any_of(inner->getUsers(), [&](Operation *user) { return user != op; }))
      return rewriter.notifyMatchFailure(op, "sums a level that others read");
    uint64_t by = op.getBy() * inner.getBy();
    if (by > uint64_t{1} << 30)
      return rewriter.notifyMatchFailure(op, "sums more states than one op may");
    rewriter.replaceOpWithNewOp<LinearFoldOp>(op, op->getResultTypes(), inner.getStates(),
                                              inner.getNorms(), by);
    return success();
  }
};
} // namespace

void LinearFoldOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldTwice>(context);
}
