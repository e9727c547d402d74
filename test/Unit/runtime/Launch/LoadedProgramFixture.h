//===- LoadedProgramFixture.h - the sample program on the fake driver ------===//
#pragma once

#include "runtime/Launch/LoadedProgram.h"
#include "test/Unit/runtime/FakeDriverTest.h"
#include "test/Unit/runtime/Launch/SampleProgram.h"

namespace lacuna {

/// Loads programs and runs them on small tensors.
class LoadedProgramFixture : public FakeDriverTest {
protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    if (HasFatalFailure())
      return;
    state->mapCount = 3;
    state->fieldCount = 4;
    arguments = {tensor(2, 300), tensor(2, 300), int64_t{255}, 0.125};
  }

  /// A contiguous f16 tensor batch x rows x 64 at an address that nothing reads.
  static Tensor tensor(int64_t batch, int64_t rows, uint64_t address = 0x7000000000) {
    return {
        ElementType::F16, {batch, rows, 64}, {rows * 64, 64, 1}, reinterpret_cast<void *>(address)};
  }

  /// Both results of the sample, in memory that nothing writes.
  static std::vector<Tensor> givenResults(int64_t batch, int64_t rows) {
    return {
        tensor(batch, rows, 0x8000),
        {ElementType::F32, {batch, rows}, {rows, 1}, reinterpret_cast<void *>(uint64_t{0x9000})}};
  }

  Result<std::unique_ptr<LoadedProgram>> load(Program program = sampleProgram(),
                                              LoadOptions options = {}) {
    Result<std::shared_ptr<const Device>> device = openDevice();
    return device ? LoadedProgram::load(*device, std::move(program), std::move(options))
                  : Result<std::unique_ptr<LoadedProgram>>(device.status());
  }

  /// Runs once and gives allocated results back.
  Status run(const LoadedProgram &program) {
    std::vector<Tensor> results(program.program().results.size());
    Status status = program.run(nullptr, arguments, results);
    for (const Tensor &result : results)
      if (result.data)
        program.allocator().release(result.data, nullptr);
    return status;
  }

  std::vector<Argument> arguments;
};

} // namespace lacuna
