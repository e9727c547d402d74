//===- MakeProgram.cpp - the GPU's program of a spec, kept or made ---------===//
#include "tools/lacuna/MakeProgram.h"

#include "compiler/Driver/ProgramKeys.h"
#include "compiler/Driver/SpecInterface.h"
#include "compiler/Emit/CudaPrinter.h"
#include "lacuna/Runtime.h"
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
  Digest text = digestOfText(spec.getText(), spec.getPath(), plan, plan.lineInfo), meaning;
  ProgramSteps steps;
  steps.text = text;
  steps.label = spec.getFunction().getSymName().str();
  steps.simplify = [&]() -> Result<Digest> {
    TimingScope simplifying = timePhase("simplify for the cache's key");
    FailureOr<Digest> digest = digestOfMeaning(spec.getModule(), plan);
    if (failed(digest))
      return reported();
    // Lines are part of the kernels then: other lines, other program.
    return meaning = plan.lineInfo ? text : *digest;
  };
  steps.compile = [&] { return compile(spec, plan, meaning); };
  Result<Artifact> made = reported();
  if (cache && !compilerBuild().empty())
    made = findOrCompile(*cache, steps);
  else if (Result<Digest> digest = steps.simplify())
    made = steps.compile();
  if (!made)
    return made.status().message().empty() ? UserMistake : failEnvironment(made.status().message());
  artifact = std::move(*made);
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
