//===- GpuCode.cpp - the levels of compile that a GPU has -----------------===//
#include "tools/lacuna/GpuCode.h"

#include "compiler/Emit/CudaPrinter.h"
#include "lacuna/Runtime.h"
#include "runtime/Jit/Nvrtc.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/Disassembly.h"
#include "tools/lacuna/Timing.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

/// All kernels of the spec, in order.
static FailureOr<std::vector<KernelCode>> printKernels(Spec &spec, const PlanOptions &plan) {
  PassManager passes(&spec.getContext());
  buildSpecToHopper(passes, plan);
  timePasses(passes);
  if (failed(passes.run(spec.getModule())))
    return failure();
  TimingScope printing = timePhase("print CUDA C++");
  std::vector<KernelCode> kernels;
  WalkResult result = spec.getModule().walk([&](tile::KernelOp kernel) {
    FailureOr<KernelCode> code = printCuda(kernel, {plan.lineInfo});
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
static int compileKernels(Spec &spec, const PlanOptions &plan,
                          llvm::function_ref<void(const KernelCode &, const NvrtcOutput &)> take) {
  FailureOr<std::vector<KernelCode>> kernels = printKernels(spec, plan);
  if (failed(kernels))
    return UserMistake;
  Result<GpuOptions> environment = GpuOptions::fromEnvironment();
  if (!environment)
    return fail(environment.status().message());
  TimingScope compiling = timePhase("NVRTC");
  auto nvrtc = Nvrtc::load({environment->nvrtc, environment->cudaHome, environment->programPath,
                            environment->home, runningProgramFolder()});
  if (!nvrtc)
    return failEnvironment(nvrtc.status().message());
  NvrtcOptions options;
  // Results of NVRTC's own cache come without a report.
  options.noCache = true;
  options.lineInfo = plan.lineInfo;
  for (const KernelCode &kernel : *kernels) {
    Result<NvrtcOutput> output =
        (*nvrtc)->compile(kernel.source, kernel.manifest.symbol + ".cu", "sm_90a", options);
    if (!output)
      return failEnvironment(output.status().message());
    take(kernel, *output);
  }
  return Success;
}

int emitCuda(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  FailureOr<std::vector<KernelCode>> kernels = printKernels(spec, plan);
  if (failed(kernels))
    return UserMistake;
  for (const KernelCode &kernel : *kernels)
    os << kernel.source;
  return Success;
}

int emitPtx(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  return compileKernels(spec, plan,
                        [&](const KernelCode &, const NvrtcOutput &output) { os << output.ptx; });
}

int emitCubin(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  int count = 0;
  int code = compileKernels(spec, plan, [&](const KernelCode &, const NvrtcOutput &output) {
    if (count++ == 0)
      os << output.cubin;
  });
  if (code == Success && count > 1)
    return fail("expected a spec of one kernel for one cubin, got " + llvm::Twine(count));
  return code;
}

/// Blocks that a multiprocessor of sm_90 holds at once: registers are handed out to warps in units
/// of 256, and each block takes 1 KiB of shared memory more than it asks for.
static int64_t countResidentBlocks(int64_t threads, int64_t registers, int64_t sharedBytes) {
  auto warps = static_cast<int64_t>(llvm::divideCeil(threads, 32));
  int64_t ofWarp = static_cast<int64_t>(llvm::alignTo(registers * 32, 256));
  int64_t blocks = std::min<int64_t>(32, 64 / warps);
  if (ofWarp > 0)
    blocks = std::min(blocks, 65536 / (ofWarp * warps));
  return std::min(blocks, 233472 / (sharedBytes + 1024));
}

static llvm::json::Object toJson(const InstructionCounts &counts) {
  llvm::json::Object object;
  int64_t total = 0;
  for (const auto &[name, count] : counts) {
    object[name] = count;
    total += count;
  }
  object["total"] = total;
  return object;
}

static llvm::json::Object reportKernel(const KernelCode &kernel, const NvrtcOutput &output) {
  const KernelManifest &manifest = kernel.manifest;
  llvm::json::Object entry{
      {"name", manifest.symbol},
      {"threads", manifest.threads},
      {"shared_bytes", manifest.sharedBytes},
      {"wgmma_serialized", output.report.wgmmaSerialized},
      {"setmaxnreg_ignored", output.report.setmaxnregIgnored},
      {"compile_seconds", output.seconds},
  };
  if (const KernelReport *report = output.report.find(manifest.symbol)) {
    int64_t blocks = countResidentBlocks(manifest.threads, report->registers, manifest.sharedBytes);
    entry["registers"] = report->registers;
    entry["spill_bytes"] = report->spillStoreBytes + report->spillLoadBytes;
    entry["stack_bytes"] = report->stackBytes;
    entry["blocks_per_multiprocessor"] = blocks;
    entry["occupancy"] =
        static_cast<double>(blocks * static_cast<int64_t>(manifest.threads)) / 2048;
  }
  return entry;
}

int emitSassReport(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  std::optional<Disassembler> disassembler = Disassembler::find();
  Status status = Status::ok();
  llvm::json::Array kernels;
  int code = compileKernels(spec, plan, [&](const KernelCode &kernel, const NvrtcOutput &output) {
    llvm::json::Object entry = reportKernel(kernel, output);
    if (disassembler) {
      Result<std::string> listing = disassembler->disassemble(output.cubin);
      if (listing) {
        InstructionMix mix = countInstructions(*listing);
        entry["instructions"] = toJson(mix.all);
        entry["main_loop"] = toJson(mix.mainLoop);
        entry["main_loop_spills"] = mix.loopSpills();
        entry["main_loop_overlapped_exponentials"] = mix.overlappedExponentials;
      } else {
        status = listing.status();
      }
    }
    kernels.push_back(std::move(entry));
  });
  if (code != Success)
    return code;
  if (!status)
    return failEnvironment(status.message());
  if (!disassembler)
    llvm::errs()
        << "lacuna: note: no instructions are counted: nvdisasm is missing (install a CUDA "
           "toolkit or the wheel nvidia-cuda-nvdisasm, or set LACUNA_NVDISASM)\n";
  os << llvm::formatv("{0:2}\n",
                      llvm::json::Value(llvm::json::Object{{"kernels", std::move(kernels)}}));
  return Success;
}

} // namespace lacuna::tool
