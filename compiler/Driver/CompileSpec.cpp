//===- CompileSpec.cpp - the text of a spec in, a program out --------------===//
#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/LogPasses.h"
#include "compiler/Driver/NativeProgram.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/ProgramKeys.h"
#include "compiler/Driver/SpecInterface.h"
#include "compiler/Emit/CudaPrinter.h"
#include "compiler/Pipelines/Pipelines.h"
#include "lacuna/Compiler.h"
#include "lib/Support/Log.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <fmt/format.h>

using namespace mlir;

namespace lacuna {

const char *toString(Target target) {
  switch (target) { // No default: a new enumerator must break this build.
  case Target::Cuda:
    return "cuda";
  case Target::Cpu:
    return "cpu";
  }
  return "unknown";
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// The first place in a file that `loc` is made of; null when it has none.
static FileLineColLoc placeOf(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

static const char *severityText(DiagnosticSeverity severity) {
  switch (severity) { // No default: a new enumerator must break this build.
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "unknown";
}

namespace {
/// Writes the diagnostics of one context down, one line each.
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          add(diagnostic);
          for (Diagnostic &note : diagnostic.getNotes())
            add(note);
          return success();
        }) {}

  /// The mistake that was found in the text.
  Status status() const {
    return Status::error(StatusCode::InvalidArgument,
                         text.empty() ? "expected a spec that compiles, got no reason why not"
                                      : text);
  }

private:
  void add(const Diagnostic &diagnostic) {
    if (!text.empty())
      text += '\n';
    if (FileLineColLoc place = placeOf(diagnostic.getLocation()); place && place.getLine() > 0)
      text += fmt::format("{}:{}: ", place.getLine(), place.getColumn());
    text += fmt::format("{}: {}", severityText(diagnostic.getSeverity()), diagnostic.str());
  }

  std::string text;
  ScopedDiagnosticHandler handler;
};
} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The only function of a spec; null after a diagnostic.
static func::FuncOp findFunction(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() == 1 && !functions.front().isExternal())
    return functions.front();
  if (functions.size() == 1)
    functions.front().emitError("expected the function of a spec to have a body");
  else
    emitError(functions.size() > 1 ? functions[1].getLoc() : module.getLoc(),
              "expected a spec to have one function, got ")
        << functions.size();
  return {};
}

static FailureOr<Program> compileForCuda(ModuleOp module, const SpecToHopperOptions &plan,
                                         bool lineInfo) {
  PassManager passes(module.getContext());
  buildSpecToHopper(passes, plan);
  logPasses(passes);
  if (failed(passes.run(module)))
    return failure();
  return printProgram(*module.getOps<func::FuncOp>().begin(), {lineInfo});
}

static FailureOr<Program> compileForCpu(ModuleOp module, const SpecToHopperOptions &plan) {
  PassManager passes(module.getContext());
  buildSpecToTile(passes, plan);
  buildTileToLoops(passes);
  logPasses(passes);
  if (failed(passes.run(module)))
    return failure();
  func::FuncOp function = *module.getOps<func::FuncOp>().begin();
  FailureOr<std::unique_ptr<CpuProgram>> code = CpuProgram::compile(function);
  if (failed(code))
    return failure();
  FailureOr<Program> program = describeProgram(function);
  if (failed(program))
    return failure();
  program->native = makeNative(std::move(*code));
  return program;
}

/// Refuses numbers that no plan can have, by name.
static Status checkOptions(const CompileOptions &options) {
  struct Count {
    const char *name;
    int64_t value, most;
  };
  for (const Count &count :
       {Count{"stages", options.stages, 16}, Count{"query slots", options.querySlots, 16},
        Count{"consumer registers", options.consumerRegisters, 255}})
    if (count.value < 0 || count.value > count.most)
      return Status::error(StatusCode::InvalidArgument,
                           fmt::format("{}: expected a number from 0 to {}, got {}", count.name,
                                       count.most, count.value));
  bool pipeline =
      options.stages || options.querySlots || options.consumerRegisters || options.pingPong;
  if (pipeline && options.target == Target::Cpu)
    return Status::error(StatusCode::InvalidArgument,
                         "expected stages, query slots, consumer registers and ping-pong for "
                         "target cuda only, got them for target cpu");
  return Status::ok();
}

struct Compilation::State {
  State(std::string_view text, CompileOptions options)
      : options(std::move(options)), text(text),
        // Threads of the caller compile side by side; one compilation is too short to be split.
        context(lacunaDialects(), MLIRContext::Threading::DISABLED), diagnostics(&context) {
    context.printOpOnDiagnostic(false);
    plan.target = this->options.target == Target::Cuda ? "sm_90a" : "cpu";
    plan.queryTile = llvm::ArrayRef<int64_t>(this->options.queryTile);
    plan.keyTile = llvm::ArrayRef<int64_t>(this->options.keyTile);
    plan.stages = this->options.stages;
    plan.querySlots = this->options.querySlots;
    plan.consumerRegisters = this->options.consumerRegisters;
    plan.pingPong = this->options.pingPong;
  }

  /// Reads and verifies the spec, once.
  Status read();
  Digest textDigest() const { return digestOfText(text, bufferName, plan, options.lineInfo); }

  static constexpr const char *bufferName = "spec";
  CompileOptions options;
  SpecToHopperOptions plan;
  std::string text;
  MLIRContext context;
  Diagnostics diagnostics;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module;
};

Compilation::Compilation(std::string_view text, CompileOptions options)
    : state(std::make_unique<State>(text, std::move(options))) {}
Compilation::~Compilation() = default;
Compilation::Compilation(Compilation &&) noexcept = default;
Compilation &Compilation::operator=(Compilation &&) noexcept = default;

Status Compilation::State::read() {
  if (module)
    return Status::ok();
  if (Status status = checkOptions(options); !status)
    return status;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, bufferName), llvm::SMLoc());
  OwningOpRef<ModuleOp> parsed = parseSpec(sources, &context);
  if (!parsed || !findFunction(*parsed))
    return diagnostics.status();
  module = std::move(parsed);
  return Status::ok();
}

std::string Compilation::textKey() const {
  return compilerBuild().empty() ? std::string() : state->textDigest().hex();
}

Result<std::string> Compilation::meaningKey() {
  if (Status status = state->read(); !status)
    return status;
  if (state->options.lineInfo)
    return textKey();
  FailureOr<Digest> digest = digestOfMeaning(*state->module, state->plan);
  return failed(digest) ? Result<std::string>(state->diagnostics.status()) : digest->hex();
}

Result<Artifact> Compilation::compile() {
  Result<std::string> meaning = meaningKey();
  if (!meaning)
    return meaning.status();
  // What was read stays: it may be compiled again.
  auto start = std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> module = state->module->clone();
  bool lineInfo = state->options.lineInfo;
  FailureOr<Program> program = state->options.target == Target::Cuda
                                   ? compileForCuda(*module, state->plan, lineInfo)
                                   : compileForCpu(*module, state->plan);
  if (failed(program))
    return state->diagnostics.status();
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  log(LogLevel::Info, "compiled {} for {} in {:.0f} ms", program->name, program->architecture,
      spent.count());
  Artifact artifact;
  artifact.program = std::move(*program);
  artifact.program.resultNames = namesOfResults(*state->module->getOps<func::FuncOp>().begin());
  artifact.origin.specDigest = sha256(state->text).hex();
  artifact.origin.irDigest = std::move(*meaning);
  artifact.origin.spec = state->text;
  artifact.origin.options = optionsText(state->plan, lineInfo);
  artifact.origin.compiler = compilerBuild();
  return artifact;
}

/// What people who list the cache see: the name of the first function in the text.
static std::string labelOf(std::string_view text) {
  constexpr std::string_view start = "func.func @";
  size_t at = text.find(start);
  if (at == text.npos)
    return {};
  text.remove_prefix(at + start.size());
  return std::string(text.substr(0, text.find_first_of("( \n\"{")));
}

CompileSteps Compilation::steps() {
  CompileSteps steps;
  steps.textKey = textKey();
  steps.meaningKey = [this] { return meaningKey(); };
  steps.compile = [this] { return compile(); };
  bool isCpu = state->options.target == Target::Cpu;
  steps.write = isCpu ? writeNative : writeArtifact;
  steps.read = [this, isCpu](std::string_view bytes) {
    Result<Artifact> artifact = isCpu ? readNative(bytes) : readArtifact(bytes);
    // Another text of the same meaning may have made the program.
    if (artifact) {
      artifact->origin.specDigest = sha256(state->text).hex();
      artifact->origin.spec = state->text;
    }
    return artifact;
  };
  steps.kind = isCpu ? "native" : "program";
  steps.label = labelOf(state->text);
  return steps;
}

Result<Program> compileSpec(std::string_view text, const CompileOptions &options) {
  Result<Artifact> artifact = Compilation(text, options).compile();
  if (!artifact)
    return artifact.status();
  return std::move(artifact->program);
}

} // namespace lacuna
