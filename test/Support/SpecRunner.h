//===- SpecRunner.h - a spec on the CPU, against the oracle ----------------===//
#pragma once

#include "compiler/Driver/CheckResults.h"
#include "compiler/Pipelines/Pipelines.h"
#include "test/Support/RandomSpec.h"
#include "test/Support/SpecText.h"

#include <functional>

namespace lacuna {
class CpuProgram;
}

namespace lacuna::test {

/// A spec that is compiled once and run on many sizes. Each run is compared with the oracle.
class SpecRunner {
public:
  /// Tiles of 0 leave the choice to the compiler. With `unaligned`, key tiles on several axes lie
  /// as they do on the GPU.
  explicit SpecRunner(const std::string &text, int64_t queryTile = 0, int64_t keyTile = 0,
                      bool unaligned = false);
  ~SpecRunner();

  /// Why the spec did not compile, or "".
  const std::string &getMistake() const { return mistake; }

  /// Changes inputs between binding and running.
  using Change = std::function<void(BoundSpec &)>;
  /// What is wrong with a run on these values, or "" when every result agrees with the oracle.
  std::string run(const Assignments &given, const Change &change = nullptr);
  /// Result `index` of the last run.
  const Tensor &result(unsigned index) const { return outputs[index].view(); }

private:
  SpecText spec;
  /// The compiled copy.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<CpuProgram> program;
  std::vector<OwnedTensor> outputs;
  std::string mistake;
};

} // namespace lacuna::test
