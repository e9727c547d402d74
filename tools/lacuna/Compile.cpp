//===- Compile.cpp - lacuna compile: a spec at each level -----------------===//
#include "tools/lacuna/Command.h"
#include "tools/lacuna/Spec.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

/// Runs the passes that lead to a level; a mistake is on stderr.
using Level = LogicalResult (*)(Spec &spec, llvm::raw_ostream &os);

static LogicalResult emitSparsity(Spec &spec, llvm::raw_ostream &os) {
  PassManager passes(&spec.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(spec.getModule())))
    return failure();
  spec.getModule().print(os);
  return success();
}

struct NamedLevel {
  llvm::StringRef name;
  Level emit;
};
static const NamedLevel levels[] = {{"sparsity", emitSparsity}};

static int runCompile(const Arguments &arguments) {
  llvm::StringRef emit = arguments.get("--emit", "sparsity");
  const NamedLevel *level =
      llvm::find_if(levels, [&](const NamedLevel &known) { return known.name == emit; });
  if (level == std::end(levels)) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const NamedLevel &known : levels)
      names.push_back(known.name);
    return failUsage(arguments.getCommand(),
                     "unknown level '" + emit + "'" + didYouMean(emit, names));
  }
  auto spec = Spec::load(arguments.positional(0));
  if (!spec)
    return UserMistake;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (failed(level->emit(*spec, os)))
    return UserMistake;
  return writeOutput(arguments.get("-o"), text);
}

static const Option options[] = {
    {"--emit", "LEVEL", "which level to print:\n  sparsity   sets after canonicalization"},
    {"-o", "FILE", "where to write (default: stdout)"},
};

const Command compileCommand = {
    .name = "compile",
    .summary = "print a spec at one of the levels it goes through",
    .usage = "SPEC --emit=LEVEL [-o FILE]",
    .help = "Changing a size or a width changes nothing in any level: they are run-time values.\n",
    .options = options,
    .positionals = 1,
    .run = runCompile,
};

} // namespace lacuna::tool
