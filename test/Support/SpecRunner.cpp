//===- SpecRunner.cpp - a spec on the CPU, against the oracle --------------===//
#include "test/Support/SpecRunner.h"

#include "compiler/Driver/CpuProgram.h"
#include "compiler/Driver/SelectResults.h"
#include "runtime/Cpu/ThreadPool.h"

#include "mlir/Pass/PassManager.h"

namespace lacuna::test {

/// One pool for all tests.
static runtime::ThreadPool &threads() {
  static runtime::ThreadPool pool;
  return pool;
}

SpecRunner::SpecRunner(const std::string &text, int64_t queryTile, int64_t keyTile, bool unaligned)
    : spec(text) {
  mistake = spec.getMessages();
  if (!spec.isParsed())
    return;
  exposeSelections(spec.getFunction());
  // The oracle reads the spec as it was written: compile a copy.
  module = spec.getModule().clone();
  mlir::PassManager passes(module->getContext());
  SpecToTileOptions tiles;
  if (queryTile > 0)
    tiles.queryTile = {queryTile};
  if (keyTile > 0)
    tiles.keyTile = {keyTile};
  buildSpecToTile(passes, tiles);
  buildTileToLoops(passes, unaligned);
  if (mlir::succeeded(passes.run(*module))) {
    CpuProgramOptions options;
    options.poisonOutputs = true;
    auto compiled = CpuProgram::compile(*module->getOps<mlir::func::FuncOp>().begin(), options);
    if (mlir::succeeded(compiled))
      program = std::move(*compiled);
  }
  if (!program)
    mistake = spec.getMessages().empty() ? "no reason given" : spec.getMessages();
}

SpecRunner::~SpecRunner() = default;

std::string SpecRunner::run(const Assignments &given, const Change &change) {
  if (!program)
    return mistake;
  BindOptions options;
  options.given = given;
  mlir::FailureOr<BoundSpec> bound = bindSpec(spec.getFunction(), options);
  if (mlir::failed(bound))
    return spec.getMessages();
  if (change)
    change(*bound);
  Result<std::vector<OwnedTensor>> results = program->run(bound->arguments, threads());
  if (!results)
    return results.status().message();
  outputs = std::move(*results);
  for (const OwnedTensor &output : outputs)
    bound->results.push_back(output.view());
  std::unique_ptr<ReferenceProgram> reference = ReferenceProgram::build(*bound);
  if (!reference)
    return spec.getMessages();
  CheckOptions check;
  check.budget = 2e8;
  return checkResults(*reference, bound->results, check).failures();
}

} // namespace lacuna::test
