//===- Disassembly.h - which instructions machine code has ----------------===//
#pragma once

#include "lacuna/Status.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace lacuna::tool {

/// How often each instruction occurs, by the first part of its name: "HGMMA", "MUFU".
using InstructionCounts = std::map<std::string, int64_t>;

/// The instructions of one kernel.
struct InstructionMix {
  InstructionCounts all;
  /// Those of the innermost loop that multiplies matrices; empty when there is none.
  InstructionCounts mainLoop;
  /// Exponentials of the main loop that run beside matrix products: after the last product was
  /// issued and before all of them are waited for.
  int64_t overlappedExponentials = 0;

  /// Accesses to local memory in the main loop: what was spilled there.
  int64_t loopSpills() const;
};

/// Counts the instructions of a listing that nvdisasm writes with `-c`.
InstructionMix countInstructions(llvm::StringRef listing);

/// CUDA's disassembler, a program of its own.
class Disassembler {
public:
  /// Empty when there is none: LACUNA_NVDISASM, PATH, CUDA_HOME, /usr/local/cuda, and the wheel in
  /// a folder `nvdisasm` beside the build folder.
  static std::optional<Disassembler> find();

  const std::string &getPath() const { return path; }
  Result<std::string> disassemble(llvm::StringRef cubin) const;

private:
  explicit Disassembler(std::string path) : path(std::move(path)) {}

  std::string path;
};

} // namespace lacuna::tool
