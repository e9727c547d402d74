//===- Run.cpp - lacuna run: a spec on inputs, checked by the oracle -------===//
#include "compiler/Driver/CountPairs.h"
#include "compiler/Driver/CpuProgram.h"
#include "compiler/Driver/SelectResults.h"
#include "lib/Support/Npy.h"
#include "lib/Support/Settings.h"
#include "runtime/Cpu/ThreadPool.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/GpuRun.h"
#include "tools/lacuna/MakeProgram.h"
#include "tools/lacuna/RunReport.h"
#include "tools/lacuna/Spec.h"
#include "tools/lacuna/SpecArguments.h"
#include "tools/lacuna/StridedTensor.h"
#include "tools/lacuna/Timing.h"

#include "dialects/Attn/Attn.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;

namespace lacuna::tool {

namespace {
/// What the command line asks for.
struct RunRequest {
  BindOptions binding;
  PlanOptions plan;
  int64_t threads = 0, repeats = 1, checkRows = 0;
  bool strided = false;
  bool onGpu() const { return isOnGpu(plan); }
  /// What each run sets beyond `binding`, as written; one empty text for a single run.
  std::vector<std::string> sets = {""};
};

/// A run so far; steps return an exit code after a message, or Success.
class Runner {
public:
  Runner(const Arguments &arguments, const RunRequest &request)
      : arguments(arguments), request(request), pool(request.threads) {}
  int run();

private:
  /// One run: values, results, report.
  int runOnce(const std::string &set);
  int bind(const std::string &set);
  /// Once for all runs.
  int compile();
  int execute();
  int countWork();
  int check();
  int writeOutputs();

  const Arguments &arguments;
  const RunRequest &request;
  runtime::ThreadPool pool;
  std::unique_ptr<Spec> spec;
  BoundSpec bound;
  std::unique_ptr<CpuProgram> program;
  GpuRun gpu;
  std::vector<OwnedTensor> outputs;
  double compileSeconds = 0;
  bool compiled = false;
  RunReport report;
};
} // namespace

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Says what takes long, when somebody watches.
static void showProgress(llvm::StringRef what) {
  if (llvm::errs().is_displayed())
    llvm::errs() << "lacuna: " << what << "...\n";
}

int Runner::bind(const std::string &set) {
  BindOptions options = request.binding;
  if (!set.empty() && !parseAssignments(set, options.given))
    return fail("expected pairs such as n=4096,left=255, got '" + set + "'");
  FailureOr<BoundSpec> values = bindSpec(spec->getFunction(), options);
  if (failed(values))
    return UserMistake;
  bound = std::move(*values);
  if (request.strided)
    spreadArguments(bound);
  return Success;
}

int Runner::compile() {
  if (compiled)
    return Success;
  compiled = true;
  auto start = std::chrono::steady_clock::now();
  if (request.onGpu()) {
    gpu.spread = request.strided;
    int code = gpu.compile(*spec, request.plan);
    compileSeconds = secondsSince(start);
    return code;
  }
  int code = makeCpuProgram(*spec, request.plan, program);
  compileSeconds = secondsSince(start);
  return code;
}

int Runner::execute() {
  report.compileSeconds = compileSeconds;
  report.threads = pool.getThreads();
  report.repeats = request.repeats;
  if (request.onGpu())
    return gpu.execute(bound.arguments, request.repeats, report.runSeconds, outputs);
  for (int64_t repeat = 0; repeat < request.repeats; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    Result<std::vector<OwnedTensor>> results = program->run(bound.arguments, pool);
    double seconds = secondsSince(start);
    if (!results) {
      emitError(bound.function.getLoc()) << results.status().message();
      return UserMistake;
    }
    report.runSeconds = repeat == 0 ? seconds : std::min(report.runSeconds, seconds);
    outputs = std::move(*results);
  }
  return Success;
}

int Runner::countWork() {
  for (const OwnedTensor &output : outputs)
    bound.results.push_back(output.view());
  FailureOr<AttentionWork> work = lacuna::countWork(bound, pool, request.plan);
  if (failed(work))
    return UserMistake;
  report.livePairs = work->livePairs;
  report.allPairs = work->allPairs;
  report.flops = work->flops;
  return Success;
}

int Runner::check() {
  showProgress("comparing with the oracle");
  std::unique_ptr<ReferenceProgram> reference = ReferenceProgram::build(bound);
  if (!reference)
    return UserMistake;
  CheckOptions options;
  options.seed = request.binding.seed;
  options.rows = request.checkRows;
  options.threads = static_cast<unsigned>(request.threads);
  report.sampleSeed = options.seed;
  report.check = checkResults(*reference, bound.results, options);
  // The oracle counts too, where that is quick.
  constexpr int64_t mostTests = int64_t{1} << 26;
  std::optional<int64_t> live = reference->countLivePairs(mostTests, options.threads);
  if (live && *live != report.livePairs)
    return fail("expected " + llvm::Twine(*live) + " live pairs, counted " +
                llvm::Twine(report.livePairs));
  return Success;
}

int Runner::writeOutputs() {
  std::string folder = arguments.get("--outputs").str();
  if (std::error_code failure = llvm::sys::fs::create_directories(folder))
    return failEnvironment("cannot create '" + folder + "': " + failure.message());
  std::vector<std::string> names = namesOfResults(bound.function);
  names.resize(spec->getWrittenResults());
  for (auto [name, output] : llvm::zip(names, outputs))
    if (Status status = writeNpy(folder + "/" + name + ".npy", output.view()); !status)
      return failEnvironment(status.message());
  return Success;
}

int Runner::run() {
  spec = Spec::load(arguments.positional(0));
  if (!spec)
    return UserMistake;
  // Choices decide which pairs are live, so that counting and checking need them. An artifact's
  // kernels are made and return what they return.
  if (!request.onGpu() || !spec->getArtifact())
    spec->exposeSelections(arguments.has("--check") || request.checkRows > 0);
  int worst = Success;
  for (const std::string &set : request.sets) {
    int code = runOnce(set);
    if (code && !set.empty())
      llvm::errs() << "lacuna: note: with --set " << set << '\n';
    worst = std::max(worst, code);
    // Without a program nothing can follow.
    if (compiled && !program && !gpu.isCompiled())
      break;
  }
  return worst;
}

int Runner::runOnce(const std::string &set) {
  if (int code = bind(set))
    return code;
  report = RunReport();
  report.set = set;
  outputs.clear();
  report.function = bound.function.getSymName().str();
  report.target = request.onGpu() ? "sm_90a" : "cpu";
  report.spec = &bound;
  for (auto step : {&Runner::compile, &Runner::execute, &Runner::countWork})
    if (int code = (this->*step)())
      return code;
  if (arguments.has("--outputs"))
    if (int code = writeOutputs())
      return code;
  if (arguments.has("--check") || request.checkRows > 0)
    if (int code = check())
      return code;
  llvm::outs() << (arguments.has("--json") ? report.json() : report.text());
  return report.check && !report.check->passes() ? UserMistake : Success;
}

/// The lines of the file that `--sets` names.
static int readSets(const Arguments &arguments, RunRequest &request) {
  if (!arguments.has("--sets"))
    return Success;
  if (arguments.has("--outputs"))
    return failUsage(arguments.getCommand(), "option '--outputs' is for one run, not for '--sets'");
  auto file = llvm::MemoryBuffer::getFile(arguments.get("--sets"));
  if (!file)
    return fail("cannot read '" + arguments.get("--sets") + "': " + file.getError().message());
  request.sets.clear();
  for (llvm::StringRef rest = (*file)->getBuffer(); !rest.empty();) {
    auto [line, next] = rest.split('\n');
    if (!line.trim().empty())
      request.sets.push_back(line.trim().str());
    rest = next;
  }
  return Success;
}

static int runRun(const Arguments &arguments) {
  RunRequest request;
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return failEnvironment(settings.status().message());
  request.threads = settings->threads;
  if (int code = readBinding(arguments, request.binding))
    return code;
  request.binding.checkInputs = arguments.has("--check-inputs");
  if (int code = readPlan(arguments, request.plan))
    return code;
  if (int code = checkPlan(arguments, request.plan))
    return code;
  if (int code = readCount(arguments, "--threads", 0, request.threads))
    return code;
  if (int code = readCount(arguments, "--repeat", 1, request.repeats))
    return code;
  if (int code = readCount(arguments, "--check-rows", 1, request.checkRows))
    return code;
  request.strided = arguments.has("--strided");
  if (int code = readSets(arguments, request))
    return code;
  return Runner(arguments, request).run();
}

static const Option options[] = {
    {"--set", "NAME=VALUE,...",
     "sizes (n, nq, nk, b, ...), scalars (left=255), shapes (q=1x8x4096x64) and\n"
     "elements (offsets=0:100:4096); may be repeated"},
    {"--sets", "FILE", "run once for each line, a further --set; the spec is compiled once"},
    {"--check", "", "compare with the oracle, exit 1 when a value is beyond tolerance"},
    {"--check-rows", "N",
     "check about N rows of each attend, not more: the first, last and tile-border rows\n"
     "of every head, then others"},
    {"--check-inputs", "", "refuse lists with ids of no block, ids twice, or counts out of range"},
    {"--target", "TARGET", "where to run: cpu (default), or cuda, an H100 or H200"},
    {"--strided", "", "tensors lie inside larger ones, tokens before heads, with NaN between rows"},
    {"--inputs", "DIR", "take argument %q from DIR/q.npy, and so on"},
    {"--outputs", "DIR", "write each result to DIR/<name>.npy"},
    {"--seed", "N", "where random inputs and samples start (default: 0)"},
    {"--threads", "N", "threads (default: LACUNA_THREADS, else one per core)"},
    {"--repeat", "N", "run N times and report the fastest (default: 1)"},
    queryTileOption,
    keyTileOption,
    stagesOption,
    querySlotsOption,
    consumerRegistersOption,
    pingPongOption,
    lineInfoOption,
    noCacheOption,
    timePassesOption,
    {"--json", "", "print the report as JSON"},
};

const Command runCommand = {
    .name = "run",
    .summary = "compile a spec and run it on random or given inputs",
    .usage = "SPEC [--set NAME=VALUE,...] [--check]",
    .help =
        "Every argument of the spec needs a value; --set wins over files, files over the defaults\n"
        "that the spec declares, and float tensors are random otherwise. The report says what was\n"
        "computed, how many pairs are live, and how fast it was. With --check the results are\n"
        "compared with an oracle that walks the set pair by pair in f64; where that would take\n"
        "long it takes a sample of rows and says so.\n\n"
        "  lacuna run examples/sliding_window_sinks.mlir --set n=4096,left=255 --check\n"
        "  lacuna run examples/documents.mlir --set n=100,offsets=0:30:30:100 --check\n"
        "  lacuna run examples/dense.mlir --set q=2x8x1024x64 --repeat 5 --json\n",
    .options = options,
    .positionals = 1,
    .run = runRun,
};

} // namespace lacuna::tool
