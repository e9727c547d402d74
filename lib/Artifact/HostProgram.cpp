//===- HostProgram.cpp - the arithmetic that a launch does on the host -----===//
#include "lib/Artifact/HostProgram.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace lacuna {

using Op = HostInstruction::Op;

const char *toString(HostInstruction::Op op) {
  switch (op) { // No default: a new enumerator must break this build.
  case Op::Constant:
    return "constant";
  case Op::Extent:
    return "extent";
  case Op::Stride:
    return "stride";
  case Op::Scalar:
    return "scalar";
  case Op::Add:
    return "add";
  case Op::Sub:
    return "sub";
  case Op::Mul:
    return "mul";
  case Op::FloorDiv:
    return "floor-div";
  case Op::CeilDiv:
    return "ceil-div";
  case Op::Mod:
    return "mod";
  case Op::Min:
    return "min";
  case Op::Max:
    return "max";
  case Op::Gcd:
    return "gcd";
  case Op::Equal:
    return "equal";
  case Op::Less:
    return "less";
  case Op::LessEqual:
    return "less-equal";
  case Op::And:
    return "and";
  case Op::Or:
    return "or";
  case Op::Select:
    return "select";
  }
  return "unknown";
}

unsigned operandCount(Op op) {
  switch (op) {
  case Op::Constant:
  case Op::Extent:
  case Op::Stride:
  case Op::Scalar:
    return 0;
  case Op::Select:
    return 3;
  default:
    return 2;
  }
}

static bool isLeafOfArgument(Op op) {
  return op == Op::Extent || op == Op::Stride || op == Op::Scalar;
}

HostSchedule scheduleHostProgram(const HostProgram &program, unsigned inputs) {
  HostSchedule schedule;
  std::vector<bool> late(program.code.size(), false);
  for (unsigned i = 0; i < program.code.size(); ++i) {
    const HostInstruction &instruction = program.code[i];
    const int64_t operands[] = {instruction.a, instruction.b, instruction.c};
    if (isLeafOfArgument(instruction.op))
      late[i] = instruction.a >= inputs;
    for (unsigned operand = 0; operand < operandCount(instruction.op); ++operand)
      late[i] = late[i] || late[static_cast<size_t>(operands[operand])];
    (late[i] ? schedule.afterOutputs : schedule.beforeOutputs).push_back(i);
  }
  return schedule;
}

Status checkHostProgram(const HostProgram &program, unsigned arguments) {
  auto wrong = [](size_t value, std::string what) {
    return Status::error(StatusCode::Corrupt, fmt::format("host value {}: {}", value, what));
  };
  for (size_t i = 0; i < program.code.size(); ++i) {
    const HostInstruction &instruction = program.code[i];
    if (instruction.op < Op::Constant || instruction.op > Op::Select)
      return wrong(i, fmt::format("expected a known operation, got number {}",
                                  static_cast<int>(instruction.op)));
    const int64_t operands[] = {instruction.a, instruction.b, instruction.c};
    for (unsigned operand = 0; operand < operandCount(instruction.op); ++operand)
      if (operands[operand] < 0 || operands[operand] >= static_cast<int64_t>(i))
        return wrong(
            i, fmt::format("expected operands to be earlier values, got {}", operands[operand]));
    if (!isLeafOfArgument(instruction.op))
      continue;
    if (instruction.a < 0 || instruction.a >= arguments)
      return wrong(i,
                   fmt::format("expected one of {} arguments, got {}", arguments, instruction.a));
    if (instruction.op != Op::Scalar && instruction.b < 0)
      return wrong(i, fmt::format("expected an axis of at least 0, got {}", instruction.b));
  }
  return Status::ok();
}

/// Quotient rounded to minus infinity; `divisor` is not 0 and the quotient fits.
static int64_t floorDivide(int64_t dividend, int64_t divisor) {
  int64_t quotient = dividend / divisor;
  return quotient - ((dividend % divisor != 0 && (dividend < 0) != (divisor < 0)) ? 1 : 0);
}

/// Quotient rounded to plus infinity; `divisor` is not 0 and the quotient fits.
static int64_t ceilDivide(int64_t dividend, int64_t divisor) {
  int64_t quotient = dividend / divisor;
  return quotient + ((dividend % divisor != 0 && (dividend < 0) == (divisor < 0)) ? 1 : 0);
}

/// False for 2^63, which has no place in 64 bits.
static bool greatestCommonDivisor(int64_t a, int64_t b, int64_t &result) {
  while (b != 0) {
    int64_t rest = b == -1 ? 0 : a % b;
    a = b;
    b = rest;
  }
  return a >= 0 ? (result = a, true) : !__builtin_sub_overflow(int64_t{0}, a, &result);
}

/// Applies an operation on values; false when the result does not fit or the divisor is 0.
static bool compute(Op op, int64_t a, int64_t b, int64_t c, int64_t &result) {
  switch (op) {
  case Op::Add:
    return !__builtin_add_overflow(a, b, &result);
  case Op::Sub:
    return !__builtin_sub_overflow(a, b, &result);
  case Op::Mul:
    return !__builtin_mul_overflow(a, b, &result);
  case Op::FloorDiv:
  case Op::CeilDiv:
  case Op::Mod:
    if (b == 0)
      return false;
    if (b == -1) { // The one quotient that overflows, and a remainder that traps on some machines.
      result = 0;
      return op == Op::Mod || !__builtin_sub_overflow(int64_t{0}, a, &result);
    }
    result = op == Op::FloorDiv  ? floorDivide(a, b)
             : op == Op::CeilDiv ? ceilDivide(a, b)
                                 : a - floorDivide(a, b) * b;
    return true;
  case Op::Min:
    result = std::min(a, b);
    return true;
  case Op::Max:
    result = std::max(a, b);
    return true;
  case Op::Gcd:
    return greatestCommonDivisor(a, b, result);
  case Op::Equal:
    result = a == b;
    return true;
  case Op::Less:
    result = a < b;
    return true;
  case Op::LessEqual:
    result = a <= b;
    return true;
  case Op::And:
    result = a != 0 && b != 0;
    return true;
  case Op::Or:
    result = a != 0 || b != 0;
    return true;
  case Op::Select:
    result = a != 0 ? b : c;
    return true;
  case Op::Constant:
  case Op::Extent:
  case Op::Stride:
  case Op::Scalar:
    return false;
  }
  return false;
}

/// Reads an extent or a stride; false when there is no such axis.
static bool readAxis(const HostInstruction &instruction, std::span<const HostArgument> arguments,
                     int64_t &result) {
  const Tensor *tensor = arguments[static_cast<size_t>(instruction.a)].tensor;
  if (!tensor || instruction.b >= tensor->rank())
    return false;
  const auto &numbers = instruction.op == Op::Extent ? tensor->shape : tensor->strides;
  result = numbers[static_cast<size_t>(instruction.b)];
  return true;
}

/// The sentence for an instruction that has no value.
static std::string failureText(const HostInstruction &instruction, std::span<int64_t> values) {
  if (isLeafOfArgument(instruction.op))
    return fmt::format("expected argument {} to have an axis {}", instruction.a, instruction.b);
  int64_t a = values[static_cast<size_t>(instruction.a)];
  int64_t b = values[static_cast<size_t>(instruction.b)];
  bool divides =
      instruction.op == Op::FloorDiv || instruction.op == Op::CeilDiv || instruction.op == Op::Mod;
  if (divides && b == 0)
    return fmt::format("{} of {} divides by zero", toString(instruction.op), a);
  return fmt::format("{} of {} and {} exceeds 64 bits", toString(instruction.op), a, b);
}

std::optional<HostFailure> evaluateHostProgram(const HostProgram &program,
                                               std::span<const unsigned> order,
                                               std::span<const HostArgument> arguments,
                                               std::span<int64_t> values) {
  for (unsigned i : order) {
    const HostInstruction &instruction = program.code[i];
    bool done = true;
    switch (instruction.op) {
    case Op::Constant:
      values[i] = instruction.a;
      break;
    case Op::Extent:
    case Op::Stride:
      done = readAxis(instruction, arguments, values[i]);
      break;
    case Op::Scalar:
      values[i] = arguments[static_cast<size_t>(instruction.a)].integer;
      break;
    default: {
      // Only a select has a third operand; 0 is a value that the others ignore.
      int64_t third = instruction.op == Op::Select ? instruction.c : 0;
      done = compute(instruction.op, values[static_cast<size_t>(instruction.a)],
                     values[static_cast<size_t>(instruction.b)], values[static_cast<size_t>(third)],
                     values[i]);
    }
    }
    if (!done)
      return HostFailure{i, failureText(instruction, values)};
  }
  return std::nullopt;
}

} // namespace lacuna
