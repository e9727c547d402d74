//===- ScalarProgram.cpp - a score or predicate region, for the oracle -----===//
#include "lib/Reference/ScalarProgram.h"

#include "lib/Reference/Integers.h"

#include <cmath>

namespace lacuna::reference {

unsigned ScalarProgram::append(Instruction instruction) {
  instructions.push_back(std::move(instruction));
  return arguments + static_cast<unsigned>(instructions.size()) - 1;
}

unsigned ScalarProgram::addTensor(const Tensor &tensor) {
  tensors.push_back(tensor);
  return static_cast<unsigned>(tensors.size()) - 1;
}

/// The low `width` bits, with the sign extended; one bit stays 0 or 1.
static int64_t wrap(uint64_t value, unsigned width) {
  if (width >= 64)
    return static_cast<int64_t>(value);
  if (width == 1)
    return static_cast<int64_t>(value & 1);
  unsigned shift = 64 - width;
  return static_cast<int64_t>(value << shift) >> shift;
}

/// The low `width` bits, with zeros above.
static uint64_t low(int64_t value, unsigned width) {
  auto bits = static_cast<uint64_t>(value);
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

static uint64_t shiftRight(uint64_t value, uint64_t count) {
  return count >= 64 ? 0 : value >> count;
}

static int64_t shiftRightSigned(int64_t value, uint64_t count) {
  return value >> (count >= 64 ? 63 : count);
}

/// An integer result before wrapping.
static uint64_t integerOp(Opcode opcode, int64_t a, int64_t b, unsigned width) {
  uint64_t ua = low(a, width), ub = low(b, width);
  switch (opcode) {
  case Opcode::Add:
    return ua + ub;
  case Opcode::Subtract:
    return ua - ub;
  case Opcode::Multiply:
    return ua * ub;
  case Opcode::Divide:
    return static_cast<uint64_t>(truncatingDivide(a, b));
  case Opcode::DivideUnsigned:
    return ub == 0 ? 0 : ua / ub;
  case Opcode::FloorDivide:
    return static_cast<uint64_t>(floorDivide(a, b));
  case Opcode::CeilDivide:
    return static_cast<uint64_t>(ceilDivide(a, b));
  case Opcode::Remainder:
    return ua - static_cast<uint64_t>(truncatingDivide(a, b)) * ub;
  case Opcode::RemainderUnsigned:
    return ub == 0 ? 0 : ua % ub;
  case Opcode::Minimum:
    return static_cast<uint64_t>(a < b ? a : b);
  case Opcode::Maximum:
    return static_cast<uint64_t>(a < b ? b : a);
  case Opcode::MinimumUnsigned:
    return ua < ub ? ua : ub;
  case Opcode::MaximumUnsigned:
    return ua < ub ? ub : ua;
  case Opcode::And:
    return ua & ub;
  case Opcode::Or:
    return ua | ub;
  case Opcode::Xor:
    return ua ^ ub;
  case Opcode::ShiftLeft:
    return ub >= 64 ? 0 : ua << ub;
  case Opcode::ShiftRight:
    return static_cast<uint64_t>(shiftRightSigned(a, ub));
  case Opcode::ShiftRightUnsigned:
    return shiftRight(ua, ub);
  case Opcode::Absolute:
    return a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  case Opcode::Equal:
    return ua == ub;
  case Opcode::NotEqual:
    return ua != ub;
  case Opcode::Less:
    return a < b;
  case Opcode::LessEqual:
    return a <= b;
  case Opcode::LessUnsigned:
    return ua < ub;
  case Opcode::LessEqualUnsigned:
    return ua <= ub;
  default:
    return 0;
  }
}

/// Minimum and maximum that a NaN wins, or that a number wins.
static double extreme(double a, double b, bool maximum, bool numberWins) {
  if (std::isnan(a) || std::isnan(b)) {
    if (!numberWins)
      return std::nan("");
    return std::isnan(a) ? b : a;
  }
  return (a < b) == maximum ? b : a;
}

static double floatOp(Opcode opcode, double a, double b, double c) {
  switch (opcode) {
  case Opcode::FloatAdd:
    return a + b;
  case Opcode::FloatSubtract:
    return a - b;
  case Opcode::FloatMultiply:
    return a * b;
  case Opcode::FloatDivide:
    return a / b;
  case Opcode::FloatRemainder:
    return std::fmod(a, b);
  case Opcode::FloatNegate:
    return -a;
  case Opcode::FloatMinimum:
    return extreme(a, b, false, false);
  case Opcode::FloatMaximum:
    return extreme(a, b, true, false);
  case Opcode::FloatMinimumNumber:
    return extreme(a, b, false, true);
  case Opcode::FloatMaximumNumber:
    return extreme(a, b, true, true);
  case Opcode::FusedMultiplyAdd:
    return a * b + c;
  case Opcode::Power:
    return std::pow(a, b);
  case Opcode::CopySign:
    return std::copysign(a, b);
  case Opcode::Abs:
    return std::fabs(a);
  case Opcode::Exp:
    return std::exp(a);
  case Opcode::Exp2:
    return std::exp2(a);
  case Opcode::ExpMinusOne:
    return std::expm1(a);
  case Opcode::Log:
    return std::log(a);
  case Opcode::Log2:
    return std::log2(a);
  case Opcode::Log10:
    return std::log10(a);
  case Opcode::LogOnePlus:
    return std::log1p(a);
  case Opcode::SquareRoot:
    return std::sqrt(a);
  case Opcode::ReciprocalSquareRoot:
    return 1 / std::sqrt(a);
  case Opcode::Sin:
    return std::sin(a);
  case Opcode::Cos:
    return std::cos(a);
  case Opcode::Tan:
    return std::tan(a);
  case Opcode::Tanh:
    return std::tanh(a);
  case Opcode::Atan:
    return std::atan(a);
  case Opcode::Atan2:
    return std::atan2(a, b);
  case Opcode::Erf:
    return std::erf(a);
  case Opcode::Floor:
    return std::floor(a);
  case Opcode::Ceil:
    return std::ceil(a);
  case Opcode::Round:
    return std::round(a);
  case Opcode::RoundEven:
    return std::nearbyint(a); // The rounding mode is never changed from ties-to-even.
  case Opcode::Truncate:
    return std::trunc(a);
  default:
    return 0;
  }
}

/// Truncates towards zero; what does not fit 64 bits, and a NaN, become 0.
static int64_t toInteger(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value) : 0;
}

static double extract(const Tensor &tensor, std::span<const int64_t> index) {
  for (size_t axis = 0; axis < index.size(); ++axis)
    if (index[axis] < 0 || index[axis] >= tensor.shape[axis])
      return 0;
  return tensor.at({index.begin(), index.end()});
}

Register ScalarProgram::run(std::span<const Register> given) const {
  // Regions are small; one allocation per thread serves all pairs.
  thread_local std::vector<Register> registers;
  registers.assign(given.begin(), given.end());
  registers.resize(arguments + instructions.size());
  unsigned next = arguments;
  for (const Instruction &instruction : instructions) {
    auto input = [&](size_t position) -> const Register & {
      static const Register none;
      return position < instruction.inputs.size() ? registers[instruction.inputs[position]] : none;
    };
    Register &out = registers[next++];
    Opcode opcode = instruction.opcode;
    unsigned width = instruction.width, sourceWidth = instruction.sourceWidth;
    if (opcode == Opcode::Integer || opcode == Opcode::Float) {
      out = instruction.constant;
    } else if (opcode == Opcode::Extract) {
      std::vector<int64_t> index;
      for (unsigned source : instruction.inputs)
        index.push_back(registers[source].integer);
      out.number = extract(tensors[instruction.tensor], index);
      out.integer = toInteger(out.number);
    } else if (opcode == Opcode::Select) {
      out = input(0).integer & 1 ? input(1) : input(2);
    } else if (opcode == Opcode::Resize) {
      // One bit widens to all ones when the conversion is signed.
      int64_t source = sourceWidth == 1 ? -input(0).integer : input(0).integer;
      out.integer = wrap(static_cast<uint64_t>(source), width);
    } else if (opcode == Opcode::ResizeUnsigned) {
      out.integer = wrap(low(input(0).integer, sourceWidth), width);
    } else if (opcode == Opcode::ToFloat) {
      int64_t source = sourceWidth == 1 ? -input(0).integer : input(0).integer;
      out.number = static_cast<double>(source);
    } else if (opcode == Opcode::ToFloatUnsigned) {
      out.number = static_cast<double>(low(input(0).integer, sourceWidth));
    } else if (opcode == Opcode::ToInteger) {
      out.integer = wrap(static_cast<uint64_t>(toInteger(input(0).number)), width);
    } else if (opcode == Opcode::FloatEqual) {
      out.integer = input(0).number == input(1).number;
    } else if (opcode == Opcode::FloatLess) {
      out.integer = input(0).number < input(1).number;
    } else if (opcode == Opcode::FloatLessEqual) {
      out.integer = input(0).number <= input(1).number;
    } else if (opcode == Opcode::FloatUnordered) {
      out.integer = std::isnan(input(0).number) || std::isnan(input(1).number);
    } else if (opcode >= Opcode::FloatAdd) {
      out.number = floatOp(opcode, input(0).number, input(1).number, input(2).number);
    } else {
      // Comparisons read operands of `sourceWidth` bits and give one bit.
      bool compares = opcode >= Opcode::Equal && opcode <= Opcode::LessEqualUnsigned;
      out.integer = wrap(
          integerOp(opcode, input(0).integer, input(1).integer, compares ? sourceWidth : width),
          compares ? 1 : width);
    }
  }
  return registers[result];
}

} // namespace lacuna::reference
