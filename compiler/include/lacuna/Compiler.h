//===- Compiler.h - the text of a spec in, a program out -------------------===//
//
// What an application needs to compile at run time. A program is compiled once and runs for every
// length, batch, window and list that its spec leaves open. Nothing here shows MLIR or LLVM.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/ArtifactFile.h"
#include "lacuna/CompileSteps.h"
#include "lacuna/Status.h"

#include <memory>
#include <string_view>

namespace lacuna {

/// What a program is compiled for.
enum class Target {
  /// CUDA C++ for sm_90a, which a runtime hands to NVRTC.
  Cuda,
  /// Machine code of this process, for the CPU that it runs on.
  Cpu,
};

/// "cuda" or "cpu".
const char *toString(Target target);

/// How to compile; what is 0, false or empty is the planner's choice.
struct CompileOptions {
  Target target = Target::Cuda;
  /// Tokens per tile: one number, or one per axis of the domain; powers of two.
  std::vector<int64_t> queryTile, keyTile;
  /// Depth of the rings of keys and values, and query tiles in shared memory (cuda).
  int64_t stages = 0, querySlots = 0;
  /// Registers per consumer thread (cuda).
  int64_t consumerRegisters = 0;
  /// Warpgroups take turns at the tensor cores (cuda).
  bool pingPong = false;
  /// CUDA source that names the lines of the spec, for profilers.
  bool lineInfo = false;
};

/// Compiles the one function of `text`, whatever was kept: `findOrCompile` of <lacuna/Runtime.h> on
/// `Compilation::steps` compiles what no process has compiled before. A mistake in the text is
/// InvalidArgument whose message has one line per diagnostic, "3:12: error: expected ...", lines
/// and columns counted from 1, and is followed by its notes. Threads may compile at the same time;
/// nothing is shared between calls. Needs neither a GPU nor CUDA.
Result<Program> compileSpec(std::string_view text, const CompileOptions &options = {});

/// The same in steps, for callers that keep programs. Keys are SHA-256 in hex over everything that
/// decides about the program, the options and the build of the compiler among it. For one thread at
/// a time.
class Compilation {
public:
  Compilation(std::string_view text, CompileOptions options);
  ~Compilation();
  Compilation(Compilation &&) noexcept;
  Compilation &operator=(Compilation &&) noexcept;

  /// Of the text as it is, which is not read. Empty when this build of the compiler cannot be told
  /// from another, and then nothing may be kept.
  std::string textKey() const;
  /// Of what the spec says: texts with other comments, or with sets that simplify to the same, have
  /// the same programs. With `lineInfo` it is the text's, for lines are part of the program then.
  Result<std::string> meaningKey();
  /// The program, and what it was made from.
  Result<Artifact> compile();
  /// All of that for a cache. Valid while this lives.
  CompileSteps steps();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// A program for the CPU with its machine code as bytes, for the caches of this machine: what
/// another build of the compiler or another kind of CPU wrote is Corrupt, and keys of `Compilation`
/// tell them apart. The bytes become code of the process; read them from where only its user may
/// write.
Result<std::string> writeNative(const Artifact &artifact);
Result<Artifact> readNative(std::string_view bytes);

} // namespace lacuna
