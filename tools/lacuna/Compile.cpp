//===- Compile.cpp - lacuna compile: a spec at each level -----------------===//
#include "compiler/Emit/CudaPrinter.h"
#include "compiler/Pipelines/Pipelines.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/Spec.h"
#include "tools/lacuna/SpecArguments.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

namespace {
/// A level that can be printed.
struct Level {
  llvm::StringRef name, help;
  /// Writes the spec at this level; a mistake is on stderr.
  LogicalResult (*emit)(Spec &spec, const SpecToTileOptions &tiles, llvm::raw_ostream &os);
};
} // namespace

static LogicalResult runAndPrint(Spec &spec, PassManager &passes, llvm::raw_ostream &os) {
  if (failed(passes.run(spec.getModule())))
    return failure();
  // Values keep the names that the spec gave them.
  spec.getModule().print(os, OpPrintingFlags().printNameLocAsPrefix());
  os << '\n';
  return success();
}

static LogicalResult emitMlir(Spec &spec, const SpecToTileOptions &, llvm::raw_ostream &os) {
  PassManager none(&spec.getContext());
  return runAndPrint(spec, none, os);
}

static LogicalResult emitSparsity(Spec &spec, const SpecToTileOptions &, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return runAndPrint(spec, passes, os);
}

static LogicalResult emitTile(Spec &spec, const SpecToTileOptions &tiles, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  buildSpecToTile(passes, tiles);
  return runAndPrint(spec, passes, os);
}

static void buildHopper(PassManager &passes, const SpecToTileOptions &tiles) {
  buildSpecToTile(passes, tiles);
  buildTileToLoops(passes);
  buildLoopsToHopper(passes);
}

static LogicalResult emitHopper(Spec &spec, const SpecToTileOptions &tiles, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  buildHopper(passes, tiles);
  return runAndPrint(spec, passes, os);
}

static LogicalResult emitCuda(Spec &spec, const SpecToTileOptions &tiles, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  buildHopper(passes, tiles);
  if (failed(passes.run(spec.getModule())))
    return failure();
  LogicalResult result = success();
  spec.getModule().walk([&](tile::KernelOp kernel) {
    FailureOr<KernelCode> code = printCuda(kernel);
    if (succeeded(code))
      os << code->source;
    else
      result = failure();
  });
  return result;
}

static const Level levels[] = {
    {"mlir", "the spec as it was read", emitMlir},
    {"sparsity", "after set algebra: what folds away is gone", emitSparsity},
    {"tile", "one program per kernel: loops over live tiles, masks in partial ones", emitTile},
    {"hopper", "warp roles and pipelines (target sm_90a)", emitHopper},
    {"cuda", "CUDA C++ (target sm_90a)", emitCuda},
};

/// Levels of targets that other builds have.
static const llvm::StringRef elsewhere[] = {"ptx", "cubin", "artifact", "sass-report"};

static const Level *findLevel(llvm::StringRef name) {
  const Level *found =
      llvm::find_if(levels, [&](const Level &level) { return level.name == name; });
  return found == std::end(levels) ? nullptr : found;
}

/// Success, or what the exit code is after a message.
static int checkLevel(const Arguments &arguments, llvm::StringRef level) {
  bool onGpu = false;
  if (int code = readTarget(arguments, onGpu))
    return code;
  if (llvm::is_contained(elsewhere, level))
    return failEnvironment("level '" + level +
                           "' belongs to target 'sm_90a', which is not in this "
                           "build");
  return Success;
}

static int runCompile(const Arguments &arguments) {
  llvm::StringRef name = arguments.get("--emit");
  if (!arguments.has("--emit"))
    return failUsage(arguments.getCommand(), "expected --emit=LEVEL");
  const Level *level = findLevel(name);
  if (!level && !llvm::is_contained(elsewhere, name)) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const Level &known : levels)
      names.push_back(known.name);
    return failUsage(arguments.getCommand(),
                     "unknown level '" + name + "'" + didYouMean(name, names));
  }
  if (int code = checkLevel(arguments, name))
    return code;
  SpecToTileOptions tiles;
  if (int code = readTiles(arguments, tiles))
    return code;
  if (name == "hopper" || name == "cuda")
    tiles.target = "sm_90a";
  auto spec = Spec::load(arguments.positional(0));
  if (!spec)
    return UserMistake;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (failed(level->emit(*spec, tiles, os)))
    return UserMistake;
  return writeOutput(arguments.get("-o"), text);
}

static const Option options[] = {
    {"--emit", "LEVEL",
     "which level to print:\n"
     "  mlir      the spec as it was read\n"
     "  sparsity  after set algebra: what folds away is gone\n"
     "  tile      one program per kernel: loops over live tiles, masks in partial ones"},
    {"--target", "TARGET", "what the program is for: cpu (default)"},
    {"--query-tile", "SHAPE", "tokens per query tile: 64, or 4x4x4 on a grid"},
    {"--key-tile", "SHAPE", "tokens per key tile"},
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
