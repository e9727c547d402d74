//===- PlanBuilder.h - works a launch out ----------------------------------===//
#pragma once

#include "runtime/Launch/LoadedProgram.h"

namespace lacuna {

/// Checks the arguments of one launch and computes its plan. Lives on the stack of one call; asks
/// the driver for nothing.
class PlanBuilder {
public:
  PlanBuilder(const LoadedProgram &loaded, std::span<const Argument> arguments,
              std::span<const Tensor> results)
      : loaded(loaded), arguments(arguments), results(results) {}
  PlanBuilder(const PlanBuilder &) = delete;
  PlanBuilder &operator=(const PlanBuilder &) = delete;

  /// The plan; its maps are not encoded yet.
  Result<std::shared_ptr<LaunchPlan>> build();

private:
  Status planLaunch(const Launch &launch);
  void bindInputs(const Launch &launch);
  Status evaluate(const KernelManifest &manifest, std::span<const unsigned> order);
  Status checkRequirements(const KernelManifest &manifest, unsigned before) const;
  Status bindOutputs(const Launch &launch, const KernelManifest &manifest);
  Status bindOutput(unsigned buffer, const Launch &launch, size_t output,
                    const KernelManifest::Output &declared);
  Status place(Tensor &tensor, unsigned buffer);
  Result<int64_t> countItems(const KernelManifest &manifest) const;
  Result<unsigned> countBlocks(const KernelManifest &manifest, int64_t items) const;
  Status planMaps(const KernelManifest &manifest, PlannedLaunch &planned) const;
  void planFields(const KernelManifest &manifest, PlannedLaunch &planned) const;
  void planResults();
  /// The buffer whose memory kernel argument `index` of the launch at hand has.
  unsigned rootOf(unsigned index) const { return loaded.root[buffers[index]]; }

  const LoadedProgram &loaded;
  std::span<const Argument> arguments;
  std::span<const Tensor> results;
  std::shared_ptr<LaunchPlan> plan = std::make_shared<LaunchPlan>();

  /// Tensors that launches make, by buffer number less the number of arguments. Those that are not
  /// given have no address.
  std::vector<Tensor> made;

  // Of the launch at hand.
  std::vector<unsigned> buffers;
  std::vector<HostArgument> bound;
  std::vector<double> floats;
  std::vector<int64_t> values;
};

} // namespace lacuna
