//===- LaunchFixture.h - specs compiled, and launched on the fake driver ---===//
#pragma once

#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/SpecInterface.h"
#include "compiler/Emit/CudaPrinter.h"
#include "compiler/Pipelines/Pipelines.h"
#include "runtime/Launch/LoadedProgram.h"
#include "test/Unit/runtime/FakeDriverTest.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

namespace lacuna {

/// Specs compiled down to CUDA C++ and launched on the fake driver, whose device memory is the
/// host's.
class LaunchFixture : public FakeDriverTest {
protected:
  /// Compiles the spec and loads it. There is no NVRTC: compiling a kernel later would fail.
  void load(const std::string &text) {
    context.appendDialectRegistry(lacunaDialects());
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
    spec = parseSpec(sources, &context);
    ASSERT_TRUE(spec);
    mlir::OwningOpRef<mlir::ModuleOp> module = spec->clone();
    SpecToHopperOptions options;
    options.target = "sm_90a";
    mlir::PassManager passes(&context);
    buildSpecToHopper(passes, options);
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
    mlir::FailureOr<Program> printed = printProgram(*module->getOps<mlir::func::FuncOp>().begin());
    ASSERT_TRUE(mlir::succeeded(printed));
    ASSERT_EQ(printed->kernels.size(), 1u);
    printed->kernels[0].cubin = "machine code";
    state->mapCount = printed->kernels[0].manifest.maps.size();
    state->fieldCount = printed->kernels[0].manifest.fields.size();
    auto device = openDevice();
    ASSERT_TRUE(device) << device.status().message();
    auto loaded = LoadedProgram::load(*device, std::move(*printed), {});
    ASSERT_TRUE(loaded) << loaded.status().message();
    program = std::move(*loaded);
  }

  /// Arguments of these sizes and numbers; their tensors lie in `bound`.
  void bind(const std::string &values) {
    BindOptions options;
    EXPECT_TRUE(parseAssignments(values, options.given));
    auto found = bindSpec(*spec->getOps<mlir::func::FuncOp>().begin(), options);
    ASSERT_TRUE(mlir::succeeded(found)) << values;
    bound = std::move(*found);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> spec;
  std::unique_ptr<LoadedProgram> program;
  BoundSpec bound;
};

} // namespace lacuna
