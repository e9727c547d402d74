//===- TileToCpu.cpp - kernels as functions on buffers and vectors --------===//
#include "compiler/Cpu/KernelLowering.h"
#include "compiler/Passes/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace lacuna {
#define GEN_PASS_DEF_TILETOCPUPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

namespace {
struct TileToCpu final : lacuna::impl::TileToCpuPassBase<TileToCpu> {
  using TileToCpuPassBase::TileToCpuPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (vectorWidth != 4 && vectorWidth != 8 && vectorWidth != 16) {
      module.emitError("expected vector-width to be 4, 8 or 16, got ") << vectorWidth.getValue();
      return signalPassFailure();
    }
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.getOps<tile::LaunchOp>().empty())
        function.erase();

    // Index arithmetic must be plain ops, so that predicates can run on vectors.
    RewritePatternSet patterns(&getContext());
    populateAffineToStdConversionPatterns(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    HelperFunctions helpers(module, vectorWidth);
    for (auto kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
      if (failed(applyPatternsGreedily(kernel, frozen)) ||
          failed(KernelLowering(kernel, helpers).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
