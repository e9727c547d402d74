//===- Compile.cpp - lacuna compile: a spec at each level -----------------===//
#include "compiler/Pipelines/Pipelines.h"
#include "lib/Support/File.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/CpuCode.h"
#include "tools/lacuna/GpuCode.h"
#include "tools/lacuna/MakeProgram.h"
#include "tools/lacuna/Spec.h"
#include "tools/lacuna/SpecArguments.h"
#include "tools/lacuna/Timing.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

namespace {
/// A level that can be printed.
struct Level {
  llvm::StringRef name, help;
  /// Writes the spec at this level: an exit code, after a message unless it is Success.
  int (*emit)(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);
};
} // namespace

static int runAndPrint(Spec &spec, PassManager &passes, llvm::raw_ostream &os) {
  timePasses(passes);
  if (failed(passes.run(spec.getModule())))
    return UserMistake;
  // Values keep the names that the spec gave them.
  spec.getModule().print(os, OpPrintingFlags().printNameLocAsPrefix());
  os << '\n';
  return Success;
}

static int emitMlir(Spec &spec, const PlanOptions &, llvm::raw_ostream &os) {
  PassManager none(&spec.getContext());
  return runAndPrint(spec, none, os);
}

static int emitSparsity(Spec &spec, const PlanOptions &, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return runAndPrint(spec, passes, os);
}

static int emitTile(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  buildSpecToTile(passes, plan);
  return runAndPrint(spec, passes, os);
}

static int emitLoops(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  buildSpecToTile(passes, plan);
  buildTileToLoops(passes);
  return runAndPrint(spec, passes, os);
}

static int emitHopper(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  buildSpecToHopper(passes, plan);
  return runAndPrint(spec, passes, os);
}

static const Level levels[] = {
    {"mlir", "the spec as it was read", emitMlir},
    {"sparsity", "after set algebra: what folds away is gone", emitSparsity},
    {"tile", "one program per kernel: loops over live tiles, masks in partial ones", emitTile},
    {"loops", "bounds in closed form, masks as predicates", emitLoops},
    {"cpu", "functions on buffers and vectors (target cpu)", emitCpu},
    {"llvm", "LLVM IR after optimisation (target cpu)", emitLlvm},
    {"asm", "assembly of this host (target cpu)", emitAssembly},
    {"object", "an object file of this host (target cpu)", emitObject},
    {"hopper", "warp roles and pipelines (target sm_90a)", emitHopper},
    {"cuda", "CUDA C++ (target sm_90a)", emitCuda},
    {"ptx", "what NVRTC makes of it", emitPtx},
    {"cubin", "machine code", emitCubin},
    {"sass-report", "registers, spills, occupancy and instructions of each kernel, as JSON",
     emitSassReport},
    {"artifact", "one file that a runtime loads without a compiler", emitArtifact},
};

/// Levels of the target sm_90a; the others are the CPU's unless --target says otherwise.
static const llvm::StringRef gpuLevels[] = {"hopper", "cuda",        "ptx",
                                            "cubin",  "sass-report", "artifact"};

static const Level *findLevel(llvm::StringRef name) {
  const Level *found =
      llvm::find_if(levels, [&](const Level &level) { return level.name == name; });
  return found == std::end(levels) ? nullptr : found;
}

static int runCompile(const Arguments &arguments) {
  llvm::StringRef name = arguments.get("--emit");
  if (!arguments.has("--emit"))
    return failUsage(arguments.getCommand(), "expected --emit=LEVEL");
  const Level *level = findLevel(name);
  if (!level) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const Level &known : levels)
      names.push_back(known.name);
    return failUsage(arguments.getCommand(),
                     "unknown level '" + name + "'" + didYouMean(name, names));
  }
  PlanOptions plan;
  if (int code = readPlan(arguments, plan))
    return code;
  if (llvm::is_contained(gpuLevels, name))
    plan.target = "sm_90a";
  if (int code = checkPlan(arguments, plan))
    return code;
  auto spec = Spec::load(arguments.positional(0));
  if (!spec)
    return UserMistake;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (int code = level->emit(*spec, plan, os))
    return code;
  llvm::StringRef path = arguments.get("-o");
  bool replaces = !llvm::sys::fs::exists(path) || llvm::sys::fs::is_regular_file(path);
  if (name != "artifact" || path.empty() || path == "-" || !replaces)
    return writeOutput(path, text);
  // Whoever reads an artifact finds the old one or the new one, whole.
  Status written = writeFile(path.str(), text);
  return written ? Success : failEnvironment(written.message());
}

static const Option options[] = {
    {"--emit", "LEVEL",
     "which level to print:\n"
     "  mlir      the spec as it was read\n"
     "  sparsity  after set algebra: what folds away is gone\n"
     "  tile      one program per kernel: loops over live tiles, masks in partial ones\n"
     "  loops     bounds in closed form, masks as predicates\n"
     "  cpu       functions on buffers and vectors\n"
     "  llvm      LLVM IR after optimisation\n"
     "  asm       assembly of this host\n"
     "  object    an object file of this host\n"
     "  hopper    warp roles and pipelines of sm_90a\n"
     "  cuda      CUDA C++\n"
     "  ptx       what NVRTC makes of it; no GPU is needed\n"
     "  cubin     machine code\n"
     "  sass-report  registers, spills, occupancy and instructions of each kernel, as JSON\n"
     "  artifact  one file that a runtime loads without a compiler; 'lacuna inspect' shows it"},
    {"--target", "TARGET", "what tiles are for: cpu (default) or cuda; the GPU's levels imply it"},
    queryTileOption,
    keyTileOption,
    stagesOption,
    querySlotsOption,
    consumerRegistersOption,
    pingPongOption,
    lineInfoOption,
    noCacheOption,
    timePassesOption,
    {"-o", "FILE", "where to write (default: stdout)"},
};

const Command compileCommand = {
    .name = "compile",
    .summary = "print a spec at one of the levels it goes through",
    .usage = "SPEC --emit=LEVEL [-o FILE]",
    .help =
        "Lengths, widths and offsets are run-time values: changing one changes no level. To see\n"
        "what a set became, look at 'tile' first. Loops over full tiles hold no tile.mask; loops\n"
        "over partial tiles hold one:\n\n"
        "  lacuna compile examples/sliding_window_sinks.mlir --emit=tile\n",
    .options = options,
    .positionals = 1,
    .run = runCompile,
};

} // namespace lacuna::tool
