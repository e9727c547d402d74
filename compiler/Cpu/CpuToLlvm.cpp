//===- CpuToLlvm.cpp - functions on buffers and vectors to LLVM -----------===//
#include "compiler/Passes/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace lacuna {
#define GEN_PASS_DEF_CPUTOLLVMPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

namespace {

/// a b + c in two steps: without the instruction, LLVM would call a function per lane.
struct SplitFma final : OpRewritePattern<vector::FMAOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::FMAOp op, PatternRewriter &rewriter) const override {
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), op.getLhs(), op.getRhs());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getAcc());
    return success();
  }
};

/// Integer code on scalars or vectors alike.
struct Integers {
  Integers(PatternRewriter &rewriter, Location loc, Type like)
      : rewriter(rewriter), loc(loc), like(like) {}

  Type withElement(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type type(unsigned width) const { return withElement(rewriter.getIntegerType(width)); }
  Value constant(int64_t number) const {
    TypedAttr value = rewriter.getI32IntegerAttr(static_cast<int32_t>(number));
    if (auto vector = dyn_cast<VectorType>(type(32)))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(rewriter, loc, value);
  }
  Value number(float value) const {
    return bitcast(constant(llvm::bit_cast<int32_t>(value)), f32());
  }
  Type f32() const { return withElement(rewriter.getF32Type()); }
  Value bitcast(Value value, Type type) const {
    return arith::BitcastOp::create(rewriter, loc, type, value);
  }
  template <typename OpT> Value make(Value a, Value b) const {
    return OpT::create(rewriter, loc, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) const {
    return arith::CmpIOp::create(rewriter, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) const {
    return arith::SelectOp::create(rewriter, loc, condition, a, b);
  }

  PatternRewriter &rewriter;
  Location loc;
  Type like;
};

/// f16 to f32: the bits in place are a number whose exponent is 112 too small.
struct ExpandHalfExt final : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Integers in(rewriter, op.getLoc(), op.getType());
    Value half = in.bitcast(op.getIn(), in.type(16));
    Value bits = arith::ExtUIOp::create(rewriter, op.getLoc(), in.type(32), half);
    Value sign = in.make<arith::AndIOp>(bits, in.constant(0x8000));
    sign = in.make<arith::ShLIOp>(sign, in.constant(16));
    Value magnitude = in.make<arith::AndIOp>(bits, in.constant(0x7FFF));
    Value place = in.make<arith::ShLIOp>(magnitude, in.constant(13));
    Value finite = in.make<arith::MulFOp>(in.bitcast(place, in.f32()), in.number(0x1p112f));
    Value special = in.make<arith::OrIOp>(place, in.constant(0x7F800000));
    Value isSpecial = in.compare(arith::CmpIPredicate::uge, magnitude, in.constant(0x7C00));
    Value result = in.select(isSpecial, special, in.bitcast(finite, in.type(32)));
    result = in.make<arith::OrIOp>(result, sign);
    rewriter.replaceOp(op, in.bitcast(result, in.f32()));
    return success();
  }
};

/// f32 to f16, to the nearest, ties to even.
struct ExpandHalfTrunc final : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF32() ||
        !getElementTypeOrSelf(op.getType()).isF16())
      return failure();
    Integers in(rewriter, op.getLoc(), op.getType());
    Value bits = in.bitcast(op.getIn(), in.type(32));
    Value sign = in.make<arith::ShRUIOp>(bits, in.constant(16));
    sign = in.make<arith::AndIOp>(sign, in.constant(0x8000));
    Value magnitude = in.make<arith::AndIOp>(bits, in.constant(0x7FFFFFFF));
    // Normal results: move the exponent, then round by adding half a unit, less one where even.
    Value odd = in.make<arith::ShRUIOp>(magnitude, in.constant(13));
    odd = in.make<arith::AndIOp>(odd, in.constant(1));
    Value normal = in.make<arith::SubIOp>(magnitude, in.constant((127 - 15) << 23));
    normal = in.make<arith::AddIOp>(normal, in.constant(0xFFF));
    normal = in.make<arith::AddIOp>(normal, odd);
    normal = in.make<arith::ShRUIOp>(normal, in.constant(13));
    // Small results: the sum with 0.5 has the unit of a subnormal in its last place.
    Value sum = in.make<arith::AddFOp>(in.bitcast(magnitude, in.f32()), in.number(0.5f));
    Value small = in.make<arith::SubIOp>(in.bitcast(sum, in.type(32)),
                                         in.constant(llvm::bit_cast<int32_t>(0.5f)));
    Value result = in.select(
        in.compare(arith::CmpIPredicate::ult, magnitude, in.constant(113 << 23)), small, normal);
    Value isLarge = in.compare(arith::CmpIPredicate::uge, magnitude, in.constant(143 << 23));
    result = in.select(isLarge, in.constant(0x7C00), result);
    Value isNan = in.compare(arith::CmpIPredicate::ugt, magnitude, in.constant(0x7F800000));
    result = in.select(isNan, in.constant(0x7E00), result);
    result = in.make<arith::OrIOp>(result, sign);
    Value half = arith::TruncIOp::create(rewriter, op.getLoc(), in.type(16), result);
    rewriter.replaceOp(op, in.bitcast(half, op.getType()));
    return success();
  }
};

struct CpuToLlvm final : lacuna::impl::CpuToLlvmPassBase<CpuToLlvm> {
  using CpuToLlvmPassBase::CpuToLlvmPassBase;

  LogicalResult expand();
  LogicalResult convert();
  void runOnOperation() override {
    if (failed(expand()) || failed(convert()))
      signalPassFailure();
  }
};

} // namespace

LogicalResult CpuToLlvm::expand() {
  RewritePatternSet patterns(&getContext());
  math::populateExpansionPatterns(patterns, {"exp2"});
  populateMathPolynomialApproximationPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  if (!nativeFma)
    patterns.add<SplitFma>(&getContext());
  if (!nativeHalf)
    patterns.add<ExpandHalfExt, ExpandHalfTrunc>(&getContext());
  return applyPatternsGreedily(getOperation(), std::move(patterns));
}

LogicalResult CpuToLlvm::convert() {
  MLIRContext *context = &getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget structured(*context);
  structured.addIllegalDialect<scf::SCFDialect>();
  structured.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(getOperation(), structured, std::move(patterns))))
    return failure();

  RewritePatternSet toLlvm(context);
  populateVectorToLLVMConversionPatterns(types, toLlvm);
  populateFinalizeMemRefToLLVMConversionPatterns(types, toLlvm);
  arith::populateArithToLLVMConversionPatterns(types, toLlvm);
  index::populateIndexToLLVMConversionPatterns(types, toLlvm);
  populateMathToLLVMConversionPatterns(types, toLlvm);
  populateMathToLibmConversionPatterns(toLlvm, PatternBenefit(0));
  cf::populateControlFlowToLLVMConversionPatterns(types, toLlvm);
  populateFuncToLLVMConversionPatterns(types, toLlvm);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(getOperation(), target, std::move(toLlvm));
}
