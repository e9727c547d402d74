//===- Bench.cpp - lacuna bench: how fast a spec runs here ----------------===//
#include "compiler/Driver/CountPairs.h"
#include "compiler/Driver/CpuProgram.h"
#include "compiler/Driver/SelectResults.h"
#include "tools/lacuna/FmaPeak.h"
#include "tools/lacuna/GpuRun.h"
#include "tools/lacuna/MakeProgram.h"
#include "tools/lacuna/SpecArguments.h"

#include "lib/Support/Text.h"
#include "runtime/Cpu/ThreadPool.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>

using namespace mlir;

namespace lacuna::tool {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

namespace {
struct BenchResult {
  std::vector<double> seconds;
  /// Of the compilation.
  double compileSeconds = 0;
  int64_t threads = 0;
  AttentionWork work;
  /// What multiply-adds reach; 0 on a GPU, where it is not measured.
  double peak = 0;
  std::string target = "cpu";
  /// Of reading the spec; and on a GPU, of what follows.
  double parseSeconds = 0;
  GpuPhases phases;

  double median() const { return seconds[seconds.size() / 2]; }
  double untilFirstLaunch() const {
    return parseSeconds + phases.lower + phases.open + phases.build + phases.firstLaunch;
  }
  double rate() const { return median() > 0 ? work.flops / median() : 0; }
};
} // namespace

/// Runs until the time is up, and at least a few times. The first run warms caches and is not
/// counted.
static LogicalResult measure(const BoundSpec &spec, const CpuProgram &program, Executor &executor,
                             double limit, BenchResult &result) {
  constexpr size_t least = 5, most = 1000;
  bool shows = llvm::sys::Process::StandardErrIsDisplayed();
  Clock::time_point start = Clock::now();
  bool warm = false;
  while (!warm || result.seconds.size() < least ||
         (secondsSince(start) < limit && result.seconds.size() < most)) {
    Clock::time_point begin = Clock::now();
    auto outputs = program.run(spec.arguments, executor);
    double seconds = secondsSince(begin);
    if (!outputs) {
      func::FuncOp function = spec.function;
      return function.emitError(outputs.status().message());
    }
    if (warm)
      result.seconds.push_back(seconds);
    else
      start = Clock::now();
    warm = true;
    if (shows)
      llvm::errs() << "\rrun " << result.seconds.size() << ", " << durationText(seconds) << "   ";
  }
  if (shows)
    llvm::errs() << "\r                              \r";
  std::sort(result.seconds.begin(), result.seconds.end());
  return success();
}

static std::string textOf(const BenchResult &result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "compile     " << durationText(result.compileSeconds) << '\n'
     << "time        " << durationText(result.median()) << " (median of " << result.seconds.size()
     << " runs; fastest " << durationText(result.seconds.front()) << ", slowest "
     << durationText(result.seconds.back()) << ")\n"
     << "work        " << siText(result.work.flops) << "FLOP on "
     << groupedText(result.work.livePairs) << " live pairs\n"
     << "speed       " << siText(result.rate()) << "FLOP/s on ";
  if (result.peak == 0)
    os << result.target << "\nhost        " << durationText(result.phases.hostLaunch)
       << " to queue a launch; from the text to the end of the first launch "
       << durationText(result.untilFirstLaunch()) << '\n';
  else
    os << result.threads << " threads, "
       << llvm::formatv("{0:F1} % of the {1}FLOP/s that multiply-adds reach here",
                        100 * result.rate() / result.peak, siText(result.peak))
       << '\n';
  return text;
}

static std::string jsonOf(const BenchResult &result) {
  llvm::json::Object root{
      {"target", result.target},
      {"threads", result.threads},
      {"runs", static_cast<int64_t>(result.seconds.size())},
      {"compile_seconds", result.compileSeconds},
      {"median_seconds", result.median()},
      {"fastest_seconds", result.seconds.front()},
      {"slowest_seconds", result.seconds.back()},
      {"live_pairs", result.work.livePairs},
      {"flops", result.work.flops},
      {"gflops", result.rate() / 1e9},
  };
  if (result.peak == 0) {
    root["parse_seconds"] = result.parseSeconds;
    root["lower_seconds"] = result.phases.lower;
    root["open_seconds"] = result.phases.open;
    root["build_seconds"] = result.phases.build;
    root["first_launch_seconds"] = result.phases.firstLaunch;
    root["cold_seconds"] = result.untilFirstLaunch();
    root["host_seconds"] = result.phases.hostLaunch;
  }
  if (result.peak > 0) {
    root["peak_gflops"] = result.peak / 1e9;
    root["fraction_of_peak"] = result.rate() / result.peak;
  }
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root))).str();
}

/// Compiles and measures on the first GPU; the exit code of a failure, or Success.
static int benchOnGpu(LoadedSpec &spec, const PlanOptions &plan, BenchResult &result) {
  constexpr int runs = 20;
  result.target = "sm_90a";
  GpuRun gpu;
  Clock::time_point start = Clock::now();
  if (int code = gpu.compile(*spec.spec, plan))
    return code;
  result.compileSeconds = secondsSince(start);
  int code = gpu.measure(spec.bound.arguments, runs, result.seconds);
  result.phases = gpu.phases;
  return code;
}

/// The lists that the GPU chooses: which pairs are live is counted on them. What was measured does
/// not return them.
static int fetchSelections(LoadedSpec &spec, const PlanOptions &plan,
                           std::vector<OwnedTensor> &results) {
  spec.spec->exposeSelections(/*all=*/false);
  GpuRun gpu;
  if (int code = gpu.compile(*spec.spec, plan))
    return code;
  double seconds = 0;
  if (int code = gpu.execute(spec.bound.arguments, 1, seconds, results))
    return code;
  for (const OwnedTensor &result : results)
    spec.bound.results.push_back(result.view());
  return Success;
}

static int benchOnCpu(LoadedSpec &spec, const PlanOptions &plan, Executor &threads, double limit,
                      BenchResult &result) {
  Clock::time_point start = Clock::now();
  std::unique_ptr<CpuProgram> program;
  if (int code = makeCpuProgram(*spec.spec, plan, program))
    return code;
  result.compileSeconds = secondsSince(start);
  if (failed(measure(spec.bound, *program, threads, limit, result)))
    return UserMistake;
  result.peak = measureFmaPeak(static_cast<unsigned>(result.threads));
  return Success;
}

static int runBench(const Arguments &arguments) {
  BindOptions bind;
  PlanOptions plan;
  int64_t threadCount = 0;
  if (int code = readBinding(arguments, bind))
    return code;
  if (int code = readPlan(arguments, plan))
    return code;
  if (int code = checkPlan(arguments, plan))
    return code;
  if (int code = readThreads(arguments, threadCount))
    return code;
  std::optional<double> limit = parseNumber(arguments.get("--seconds", "2"));
  if (!limit || *limit < 0 || *limit > 3600)
    return failUsage(arguments.getCommand(),
                     "option '--seconds' expects a number from 0 to 3600, got '" +
                         arguments.get("--seconds") + "'");
  Clock::time_point begin = Clock::now();
  LoadedSpec loaded;
  if (int code = loadSpec(arguments, bind, loaded))
    return code;
  BenchResult result;
  result.parseSeconds = secondsSince(begin);
  runtime::ThreadPool threads(threadCount);
  result.threads = threads.getThreads();
  if (int code = isOnGpu(plan) ? benchOnGpu(loaded, plan, result)
                               : benchOnCpu(loaded, plan, threads, *limit, result))
    return code;
  std::vector<OwnedTensor> chosen;
  bool returnsNone = loaded.spec->getArtifact() || !hasSelections(loaded.bound.function);
  if (isOnGpu(plan) && !returnsNone)
    if (int code = fetchSelections(loaded, plan, chosen))
      return code;
  FailureOr<AttentionWork> work = countWork(loaded.bound, threads, plan);
  if (failed(work))
    return UserMistake;
  result.work = *work;
  return writeOutput("", arguments.has("--json") ? jsonOf(result) : textOf(result));
}

static const Option options[] = {
    {"--set", "NAME=VALUE,...", "sizes and arguments; what is missing has its declared default"},
    {"--target", "TARGET", "where to run: cpu (default), or cuda, an H100 or H200"},
    {"--seconds", "NUMBER", "how long to repeat (default: 2; at least 5 runs)"},
    {"--threads", "NUMBER", "threads to use (default: one per core)"},
    {"--seed", "NUMBER", "where random inputs start (default: 0)"},
    {"--inputs", "DIR", "folder with .npy files named like the arguments"},
    queryTileOption,
    keyTileOption,
    stagesOption,
    querySlotsOption,
    consumerRegistersOption,
    pingPongOption,
    lineInfoOption,
    noCacheOption,
    {"--json", "", "print JSON"},
};

const Command benchCommand = {
    .name = "bench",
    .summary = "measure how fast a spec runs on this machine",
    .usage = "SPEC [--set n=4096] [--seconds 2] [--json]",
    .help =
        "The time is the median of many runs after one that warms the caches. Work counts live\n"
        "pairs only: 2 (d + dv) operations each. The peak is measured too: multiply-adds in\n"
        "registers, as many threads, the widest vectors.\n\n"
        "  lacuna bench examples/dense.mlir --set n=2048\n",
    .options = options,
    .positionals = 1,
    .run = runBench,
};

} // namespace lacuna::tool
