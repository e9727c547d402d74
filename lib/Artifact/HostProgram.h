//===- HostProgram.h - the arithmetic that a launch does on the host -------===//
#pragma once

#include "lacuna/Artifact.h"
#include "lacuna/Status.h"

#include <optional>
#include <span>

namespace lacuna {

/// "floor-div", "extent", ...: the operation in messages.
const char *toString(HostInstruction::Op op);

/// How many of a, b and c are earlier values; leaves have none.
unsigned operandCount(HostInstruction::Op op);

/// What a host program can see of one kernel argument: a tensor, or a number.
struct HostArgument {
  /// Borrowed; null for numbers, and for outputs while their extents are not known.
  const Tensor *tensor = nullptr;
  int64_t integer = 0;
};

/// Why a host program has no value.
struct HostFailure {
  /// The instruction that failed.
  unsigned value = 0;
  std::string message;
};

/// Instructions by the moment at which they can run: extents of outputs are values of the same
/// program, so that whatever reads an output's extents or strides has to wait until it exists.
struct HostSchedule {
  std::vector<unsigned> beforeOutputs, afterOutputs;
};

/// Splits `program`; arguments from number `inputs` on are outputs.
HostSchedule scheduleHostProgram(const HostProgram &program, unsigned inputs);

/// Refuses operands that are not earlier values and arguments beyond `arguments`.
Status checkHostProgram(const HostProgram &program, unsigned arguments);

/// Computes values[i] for the instructions `order` of a checked program. All arithmetic is exact: a
/// result beyond 64 bits, a zero divisor or an axis that the argument lacks is a failure. "And" and
/// "or" take every number other than 0 for true and give 0 or 1.
std::optional<HostFailure> evaluateHostProgram(const HostProgram &program,
                                               std::span<const unsigned> order,
                                               std::span<const HostArgument> arguments,
                                               std::span<int64_t> values);

} // namespace lacuna
