//===- GpuCode.cpp - the levels of compile that a GPU has -----------------===//
#include "tools/lacuna/GpuCode.h"

#include "compiler/Emit/CudaPrinter.h"
#include "lacuna/Runtime.h"
#include "runtime/Jit/Nvrtc.h"
#include "tools/lacuna/Command.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace lacuna::tool {

/// All kernels of the spec, in order.
static FailureOr<std::vector<KernelCode>> printKernels(Spec &spec,
                                                       const SpecToHopperOptions &plan) {
  PassManager passes(&spec.getContext());
  buildSpecToHopper(passes, plan);
  if (failed(passes.run(spec.getModule())))
    return failure();
  std::vector<KernelCode> kernels;
  WalkResult result = spec.getModule().walk([&](tile::KernelOp kernel) {
    FailureOr<KernelCode> code = printCuda(kernel);
    if (failed(code))
      return WalkResult::interrupt();
    kernels.push_back(std::move(*code));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return kernels;
}

/// Compiles every kernel with NVRTC and hands each result to `take`.
static int compileKernels(Spec &spec, const SpecToHopperOptions &plan,
                          llvm::function_ref<void(const KernelCode &, const NvrtcOutput &)> take) {
  FailureOr<std::vector<KernelCode>> kernels = printKernels(spec, plan);
  if (failed(kernels))
    return UserMistake;
  Result<GpuOptions> environment = GpuOptions::fromEnvironment();
  if (!environment)
    return fail(environment.status().message());
  auto nvrtc = Nvrtc::load({environment->nvrtc, environment->cudaHome, environment->programPath,
                            environment->home, runningProgramFolder()});
  if (!nvrtc)
    return failEnvironment(nvrtc.status().message());
  NvrtcOptions options;
  // Results of NVRTC's own cache come without a report.
  options.noCache = true;
  for (const KernelCode &kernel : *kernels) {
    Result<NvrtcOutput> output =
        (*nvrtc)->compile(kernel.source, kernel.manifest.symbol + ".cu", "sm_90a", options);
    if (!output)
      return failEnvironment(output.status().message());
    take(kernel, *output);
  }
  return Success;
}

int emitCuda(Spec &spec, const SpecToHopperOptions &plan, llvm::raw_ostream &os) {
  FailureOr<std::vector<KernelCode>> kernels = printKernels(spec, plan);
  if (failed(kernels))
    return UserMistake;
  for (const KernelCode &kernel : *kernels)
    os << kernel.source;
  return Success;
}

int emitPtx(Spec &spec, const SpecToHopperOptions &plan, llvm::raw_ostream &os) {
  return compileKernels(spec, plan,
                        [&](const KernelCode &, const NvrtcOutput &output) { os << output.ptx; });
}

int emitCubin(Spec &spec, const SpecToHopperOptions &plan, llvm::raw_ostream &os) {
  int count = 0;
  int code = compileKernels(spec, plan, [&](const KernelCode &, const NvrtcOutput &output) {
    if (count++ == 0)
      os << output.cubin;
  });
  if (code == Success && count > 1)
    return fail("expected a spec of one kernel for one cubin, got " + llvm::Twine(count));
  return code;
}

int emitSassReport(Spec &spec, const SpecToHopperOptions &plan, llvm::raw_ostream &os) {
  llvm::json::Array kernels;
  int code = compileKernels(spec, plan, [&](const KernelCode &kernel, const NvrtcOutput &output) {
    llvm::json::Object entry{
        {"name", kernel.manifest.symbol},
        {"threads", kernel.manifest.threads},
        {"shared_bytes", kernel.manifest.sharedBytes},
        {"wgmma_serialized", output.report.wgmmaSerialized},
        {"setmaxnreg_ignored", output.report.setmaxnregIgnored},
        {"compile_seconds", output.seconds},
    };
    if (const KernelReport *report = output.report.find(kernel.manifest.symbol)) {
      entry["registers"] = report->registers;
      entry["spill_bytes"] = report->spillStoreBytes + report->spillLoadBytes;
      entry["stack_bytes"] = report->stackBytes;
    }
    kernels.push_back(std::move(entry));
  });
  if (code == Success)
    os << llvm::formatv("{0:2}\n",
                        llvm::json::Value(llvm::json::Object{{"kernels", std::move(kernels)}}));
  return code;
}

} // namespace lacuna::tool
