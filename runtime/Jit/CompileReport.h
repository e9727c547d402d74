//===- CompileReport.h - what the assembler says about kernels -------------===//
#pragma once

#include "lacuna/Status.h"

#include <string_view>
#include <vector>

namespace lacuna {

/// Resources of one kernel.
struct KernelReport {
  std::string name;
  /// Registers of a thread when the kernel starts; warps may trade them later.
  unsigned registers = 0;
  unsigned spillStoreBytes = 0, spillLoadBytes = 0;
  /// Bytes of local memory that a thread's frame has.
  unsigned stackBytes = 0;
  /// Bytes of shared memory that the source declares; dynamic memory is not in it.
  unsigned sharedBytes = 0;
  unsigned constantBytes = 0;
  unsigned barriers = 0;
};

/// Facts of a log. None of them makes a compilation fail: the caller decides.
struct CompileReport {
  std::vector<KernelReport> kernels;
  /// The assembler made matrix products wait for each other (C7510, C7511, C7515, C7520).
  bool wgmmaSerialized = false;
  /// The assembler dropped a reallocation of registers (C7508).
  bool setmaxnregIgnored = false;
  /// Lines that warn of lost speed, as they stand.
  std::vector<std::string> losses;
  /// Whether the assembler spoke about every kernel. NVRTC keeps results of its own, and what comes
  /// from there has no log: registers, stack and shared memory are right, spills and losses
  /// unknown.
  bool complete = true;

  /// The kernel of that name, or null.
  const KernelReport *find(std::string_view name) const;
  /// Whether any kernel spills.
  bool spills() const;
};

/// Reads the lines that `--ptxas-options=-v` and the assembler's warnings leave in a log.
CompileReport parseCompileLog(std::string_view log);

/// The first line of a log that reports an error, or the first line that is not empty.
std::string firstError(std::string_view log);

} // namespace lacuna
