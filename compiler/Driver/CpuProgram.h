//===- CpuProgram.h - a spec as machine code of this process --------------===//
#pragma once

#include "lacuna/Artifact.h"
#include "lacuna/Executor.h"
#include "lacuna/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <string_view>

namespace lacuna {

class Jit;

struct CpuProgramOptions {
  /// f32 lanes of a vector; 0 takes the widest that the CPU has.
  int64_t vectorWidth = 0;
  /// Fill outputs with NaN before kernels run: whatever they leave out shows.
  bool poisonOutputs = false;
};

/// One function of a module, compiled. Runs of one program may overlap.
class CpuProgram {
public:
  /// `function` holds launches of kernels without sets (`lacuna-tile-to-loops`) and returns their
  /// results. Its module is left as it is. After a failure the diagnostic is emitted.
  static mlir::FailureOr<std::unique_ptr<CpuProgram>>
  compile(mlir::func::FuncOp function, const CpuProgramOptions &options = {});
  ~CpuProgram();

  /// The program as bytes, which only this build of the compiler reads, and only on a CPU like this
  /// one: for caches, not for files that travel.
  std::string write() const;
  /// Corrupt when the bytes are damaged, of another build or for another CPU. They become code of
  /// this process: take them from nobody else.
  static Result<std::unique_ptr<CpuProgram>> read(std::string_view bytes);

  /// What the function takes, in order.
  const std::vector<ArgumentDeclaration> &getArguments() const { return declarations; }

  /// Checks the arguments, then runs all launches; the results are the function's. The status names
  /// the argument that does not fit, or the requirement that a kernel found broken.
  Result<std::vector<OwnedTensor>> run(const std::vector<Argument> &arguments,
                                       Executor &executor) const;
  /// The same into memory of the caller, which overlaps with no argument; any layout will do.
  Status run(std::span<const Argument> arguments, std::span<const Tensor> given,
             Executor &executor) const;

private:
  /// Address of each argument, as packed functions take them.
  using Function = void (*)(void **);
  struct Requirement {
    std::string message;
    size_t values = 0;
  };
  struct Output {
    ElementType type = ElementType::F32;
    size_t rank = 0;
  };
  struct Kernel {
    std::string name;
    Function plan = nullptr, body = nullptr;
    std::vector<Requirement> requirements;
    size_t gridRank = 0;
    std::vector<Output> outputs;
  };
  /// One launch; buffers are numbered, function arguments first, then every launch's results.
  struct Step {
    size_t kernel = 0;
    std::vector<unsigned> inputs;
    std::vector<unsigned> into;
    unsigned firstResult = 0;
  };
  class Arguments;
  struct Buffer;

  mlir::LogicalResult readArguments(mlir::func::FuncOp function);
  mlir::LogicalResult readLaunches(mlir::func::FuncOp function);
  mlir::FailureOr<size_t> readKernel(mlir::Operation *launch);
  mlir::LogicalResult generate(mlir::func::FuncOp function);
  /// Makes `object` the code of all kernels. NotFound when one has none in it.
  Status link(std::string object);
  template <typename Coder, typename Self> static void code(Coder &coder, Self &program);
  /// Whether all numbers refer to what is there.
  bool isWellFormed() const;
  Status check(std::span<const Argument> arguments) const;
  size_t countBuffers() const;
  const Step &makerOf(unsigned buffer) const;
  void wantAt(unsigned buffer, const Tensor &given, std::vector<Buffer> &buffers) const;
  Status runSteps(std::span<const Argument> arguments, std::vector<Buffer> &buffers,
                  Executor &executor) const;
  Status runStep(const Step &step, std::vector<Buffer> &buffers, Executor &executor) const;
  static Status placeOutput(ElementType type, const std::vector<int64_t> &shape, Buffer &target);
  Status allocateOutputs(const Step &step, const int64_t *extents,
                         std::vector<Buffer> &buffers) const;
  /// Whether anything after `step` reads the buffer.
  bool isReadAfter(const Step &step, unsigned buffer) const;

  CpuProgramOptions options;
  std::vector<ArgumentDeclaration> declarations;
  /// How each argument lies in memory.
  enum class Scalar { None, I1, I8, I16, I32, I64, F16, BF16, F32, F64 };
  std::vector<Scalar> scalars;
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
  std::vector<unsigned> results;
  std::unique_ptr<Jit> jit;
};

} // namespace lacuna
