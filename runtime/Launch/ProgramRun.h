//===- ProgramRun.h - one execution of a loaded program --------------------===//
#pragma once

#include "runtime/Launch/LoadedProgram.h"

namespace lacuna {

/// What one call of `LoadedProgram::run` knows. Lives on the stack of that call.
class ProgramRun {
public:
  ProgramRun(const LoadedProgram &loaded, driver::Stream stream,
             std::span<const Argument> arguments, std::span<Tensor> results)
      : loaded(loaded), stream(stream), arguments(arguments), results(results) {}
  ProgramRun(const ProgramRun &) = delete;
  ProgramRun &operator=(const ProgramRun &) = delete;
  /// Gives intermediate buffers back, and after an error results too.
  ~ProgramRun();

  /// The device is current.
  Status run();

private:
  using Kernel = LoadedProgram::Kernel;
  Status runLaunch(const Launch &launch);
  void bindInputs(const Launch &launch);
  Status evaluate(const KernelManifest &manifest, std::span<const unsigned> order);
  Status checkRequirements(const KernelManifest &manifest, unsigned before) const;
  Status bindOutputs(const Launch &launch, const KernelManifest &manifest);
  Status bindOutput(unsigned buffer, const Launch &launch, size_t output,
                    const KernelManifest::Output &declared);
  Status place(Tensor &tensor, unsigned buffer);
  Result<int64_t> countItems(const KernelManifest &manifest) const;
  Status launchKernel(const Kernel &kernel, const KernelManifest &manifest, int64_t items);
  Status encodeMaps(const Kernel &kernel, const KernelManifest &manifest,
                    std::vector<driver::TensorMap> &maps) const;
  void fillFields(const KernelManifest &manifest, driver::Address counter,
                  std::vector<uint64_t> &fields) const;
  /// "argument 'k'" or "output 0 of fwd".
  std::string bufferName(unsigned buffer) const;

  const LoadedProgram &loaded;
  driver::Stream stream;
  std::span<const Argument> arguments;
  std::span<Tensor> results;

  /// Tensors that launches made, by buffer number less the number of arguments.
  std::vector<Tensor> made;
  /// Memory that this run allocated, by root buffer.
  struct Allocation {
    void *memory = nullptr;
    int result = -1;
  };
  std::vector<Allocation> allocations;
  bool failed = true;

  // Of the launch at hand.
  std::vector<unsigned> buffers;
  std::vector<HostArgument> bound;
  std::vector<double> floats;
  std::vector<int64_t> values;
};

} // namespace lacuna
