//===- MakeProgram.cpp - the program of a spec, kept or made ---------------===//
#include "tools/lacuna/MakeProgram.h"

#include "compiler/Driver/ProgramKeys.h"
#include "compiler/Driver/SpecInterface.h"
#include "compiler/Emit/CudaPrinter.h"
#include "lacuna/Runtime.h"
#include "lib/Support/Settings.h"
#include "runtime/Cache/ProgramCache.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/Timing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

/// A mistake whose message is on stderr.
static Status reported() { return Status::error(StatusCode::InvalidArgument, ""); }

static Result<Artifact> compile(Spec &spec, const PlanOptions &plan, const Digest &meaning) {
  // What reads the spec later reads it as it was written.
  OwningOpRef<ModuleOp> module = spec.getModule().clone();
  PassManager passes(module->getContext());
  buildSpecToHopper(passes, plan);
  timePasses(passes);
  if (failed(passes.run(*module)))
    return reported();
  TimingScope printing = timePhase("print CUDA C++");
  FailureOr<Program> program =
      printProgram(*module->getOps<func::FuncOp>().begin(), {plan.lineInfo});
  if (failed(program))
    return reported();
  program->resultNames = namesOfResults(spec.getFunction());
  Artifact artifact;
  artifact.program = std::move(*program);
  artifact.origin.irDigest = meaning.hex();
  return artifact;
}

namespace {
/// How one kind of program is made, and what becomes of its bytes.
struct Maker {
  const char *kind;
  /// Keeps what it made for the caller; the bytes are for the cache.
  std::function<Result<std::string>(const Digest &meaning)> compile;
  std::function<Status(const std::string &bytes)> read;
};
} // namespace

/// What `maker` makes of `spec`, or the cache has. An exit code after a message, or Success.
static int findOrMake(Spec &spec, const PlanOptions &plan, BlobStore *cache, const Maker &maker) {
  Digest text = digestOfText(spec.getKeyText(), spec.getPath(), plan, plan.lineInfo), meaning;
  ProgramSteps steps;
  steps.text = text;
  steps.label = spec.getFunction().getSymName().str();
  steps.kind = maker.kind;
  steps.simplify = [&]() -> Result<Digest> {
    TimingScope simplifying = timePhase("simplify for the cache's key");
    FailureOr<Digest> digest = digestOfMeaning(spec.getModule(), plan);
    if (failed(digest))
      return reported();
    // Lines are part of the kernels then: other lines, other program.
    return meaning = plan.lineInfo ? text : *digest;
  };
  steps.compile = [&] { return maker.compile(meaning); };
  steps.read = maker.read;
  Status made = Status::ok();
  if (cache && !compilerBuild().empty())
    made = findOrCompile(*cache, steps);
  else if (made = steps.simplify().status(); made)
    made = steps.compile().status();
  if (made)
    return Success;
  return made.message().empty() ? UserMistake : failEnvironment(made.message());
}

int makeCpuProgram(Spec &spec, const PlanOptions &plan, std::unique_ptr<CpuProgram> &program) {
  std::shared_ptr<BlobStore> cache;
  if (plan.usesCache) {
    Result<Settings> settings = Settings::fromEnvironment();
    if (!settings)
      return failEnvironment(settings.status().message());
    cache = std::make_shared<BlobStore>(CacheOptions::from(*settings));
  }
  auto compile = [&](const Digest &) -> Result<std::string> {
    // The oracle reads the spec as it was written: compile a copy.
    OwningOpRef<ModuleOp> module = spec.getModule().clone();
    PassManager passes(module->getContext());
    buildSpecToTile(passes, plan);
    buildTileToLoops(passes);
    timePasses(passes);
    if (failed(passes.run(*module)))
      return reported();
    TimingScope building = timePhase("machine code");
    auto made = CpuProgram::compile(*module->getOps<func::FuncOp>().begin());
    if (failed(made))
      return reported();
    program = std::move(*made);
    return program->write();
  };
  auto read = [&](const std::string &bytes) {
    if (program)
      return Status::ok();
    TimingScope linking = timePhase("link");
    Result<std::unique_ptr<CpuProgram>> found = CpuProgram::read(bytes);
    if (found)
      program = std::move(*found);
    return found.status();
  };
  return findOrMake(spec, plan, cache.get(), {"native", compile, read});
}

int makeProgram(Spec &spec, const PlanOptions &plan, BlobStore *cache, Artifact &artifact) {
  if (spec.getArtifact()) {
    if (optionsText(plan, plan.lineInfo) != optionsText(SpecToHopperOptions(), false)) {
      fail("expected no options of a plan with an artifact, whose kernels are made, got " +
           llvm::Twine(optionsText(plan, plan.lineInfo)));
      return WrongUsage;
    }
    artifact = *spec.getArtifact();
    return Success;
  }
  bool isThere = false;
  auto make = [&](const Digest &meaning) -> Result<std::string> {
    Result<Artifact> made = compile(spec, plan, meaning);
    if (!made)
      return made.status();
    artifact = std::move(*made);
    isThere = true;
    return writeArtifact(artifact);
  };
  auto read = [&](const std::string &bytes) {
    Result<Artifact> found = isThere ? Result<Artifact>(artifact) : readArtifact(bytes);
    if (found)
      artifact = std::move(*found);
    return found.status();
  };
  if (int code = findOrMake(spec, plan, cache, {"program", make, read}))
    return code;
  // Another text of the same meaning may have made the program.
  artifact.origin.specDigest = sha256(spec.getText()).hex();
  artifact.origin.spec = spec.getText();
  artifact.origin.options = optionsText(plan, plan.lineInfo);
  artifact.origin.compiler = compilerBuild();
  return Success;
}

int emitArtifact(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  Result<GpuOptions> options = GpuOptions::fromEnvironment();
  if (!options)
    return fail(options.status().message());
  options->lineInfo = plan.lineInfo;
  if (!plan.usesCache)
    options->cache = nullptr;
  Artifact artifact;
  if (int code = makeProgram(spec, plan, options->cache.get(), artifact))
    return code;
  Status compiled = compileAhead(artifact.program, *options);
  if (compiled.code() == StatusCode::Missing)
    llvm::errs() << "lacuna: note: the artifact holds sources only: " << compiled.message() << '\n';
  else if (!compiled)
    return failEnvironment(compiled.message());
  Result<std::string> bytes = writeArtifact(artifact);
  if (!bytes)
    return failEnvironment(bytes.status().message());
  os << *bytes;
  return Success;
}

} // namespace lacuna::tool
