//===- SpecArguments.cpp - options that several commands take --------------===//
#include "tools/lacuna/SpecArguments.h"

#include "compiler/Driver/SelectResults.h"
#include "lib/Support/Settings.h"
#include "lib/Support/Text.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

int readCount(const Arguments &arguments, llvm::StringRef option, int64_t least, int64_t &value) {
  if (!arguments.has(option))
    return Success;
  llvm::StringRef text = arguments.get(option);
  std::optional<int64_t> number = parseInteger(text);
  if (!number || *number < least)
    return failUsage(arguments.getCommand(), "option '" + option +
                                                 "' expects a number of at least " +
                                                 llvm::Twine(least) + ", got '" + text + "'");
  value = *number;
  return Success;
}

int readBinding(const Arguments &arguments, BindOptions &binding) {
  for (llvm::StringRef text : arguments.getAll("--set"))
    if (!parseAssignments(text, binding.given))
      return failUsage(arguments.getCommand(),
                       "option '--set' expects pairs such as n=4096,left=255, got '" + text + "'");
  auto seed = static_cast<int64_t>(binding.seed);
  if (int code = readCount(arguments, "--seed", 0, seed))
    return code;
  binding.seed = static_cast<uint64_t>(seed);
  binding.inputs = arguments.get("--inputs").str();
  return Success;
}

static int readTile(const Arguments &arguments, llvm::StringRef option,
                    SpecToTileOptions::ListOption<int64_t> &tile) {
  if (!arguments.has(option))
    return Success;
  std::optional<std::vector<int64_t>> shape = parseShape(arguments.get(option));
  if (!shape)
    return failUsage(arguments.getCommand(), "option '" + option +
                                                 "' expects extents such as 64 or 4x4x4, got '" +
                                                 arguments.get(option) + "'");
  tile = llvm::ArrayRef<int64_t>(*shape);
  return Success;
}

static int readTarget(const Arguments &arguments, PlanOptions &plan) {
  llvm::StringRef target = arguments.get("--target", "cpu");
  bool onGpu = target == "cuda" || target == "sm_90a";
  if (target != "cpu" && !onGpu)
    return failUsage(arguments.getCommand(),
                     "unknown target '" + target + "', expected cpu or cuda");
  plan.target = onGpu ? "sm_90a" : "cpu";
  return Success;
}

int readPlan(const Arguments &arguments, PlanOptions &plan) {
  if (int code = readTarget(arguments, plan))
    return code;
  if (int code = readTile(arguments, "--query-tile", plan.queryTile))
    return code;
  if (int code = readTile(arguments, "--key-tile", plan.keyTile))
    return code;
  for (auto [option, value] : {std::pair(stagesOption.name, &plan.stages),
                               std::pair(querySlotsOption.name, &plan.querySlots),
                               std::pair(consumerRegistersOption.name, &plan.consumerRegisters)}) {
    int64_t number = 0;
    if (int code = readCount(arguments, option, 1, number))
      return code;
    *value = number;
  }
  plan.pingPong = arguments.has(pingPongOption.name);
  plan.lineInfo = arguments.has(lineInfoOption.name);
  plan.usesCache = !arguments.has(noCacheOption.name);
  return Success;
}

bool isOnGpu(const PlanOptions &plan) { return plan.target == "sm_90a"; }

int checkPlan(const Arguments &arguments, const PlanOptions &plan) {
  if (isOnGpu(plan))
    return Success;
  for (llvm::StringRef option :
       {stagesOption.name, querySlotsOption.name, consumerRegistersOption.name, pingPongOption.name,
        lineInfoOption.name})
    if (arguments.has(option))
      return failUsage(arguments.getCommand(), "option '" + option + "' is for --target=cuda");
  return Success;
}

int readThreads(const Arguments &arguments, int64_t &threads) {
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return fail(settings.status().message());
  threads = settings->threads;
  return readCount(arguments, "--threads", 1, threads);
}

int loadSpec(const Arguments &arguments, const BindOptions &binding, LoadedSpec &loaded) {
  loaded.spec = Spec::load(arguments.positional(0));
  if (!loaded.spec)
    return UserMistake;
  BindOptions options = binding;
  if (options.withoutData && hasSelections(loaded.spec->getFunction())) {
    // Without data nothing is chosen or summed.
    options.withoutData = false;
    if (hasChoices(loaded.spec->getFunction()))
      llvm::errs()
          << "lacuna: note: which pairs are live depends on data here; what follows is for "
             "random inputs\n";
  }
  FailureOr<BoundSpec> bound = bindSpec(loaded.spec->getFunction(), options);
  if (failed(bound))
    return UserMistake;
  loaded.bound = std::move(*bound);
  return Success;
}

} // namespace lacuna::tool
