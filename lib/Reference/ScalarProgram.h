//===- ScalarProgram.h - a score or predicate region, for the oracle -------===//
#pragma once

#include "lacuna/Tensor.h"

#include <span>

namespace lacuna::reference {

/// What one instruction computes. Floats are evaluated in f64, whatever their type in the spec.
enum class Opcode {
  /// Constants and memory. Extract reads `tensor` at integer inputs; outside it reads 0.
  Integer,
  Float,
  Extract,
  /// Integers, wrapped to `width` bits; a division by zero gives 0.
  Add,
  Subtract,
  Multiply,
  Divide,
  DivideUnsigned,
  FloorDivide,
  CeilDivide,
  Remainder,
  RemainderUnsigned,
  Minimum,
  Maximum,
  MinimumUnsigned,
  MaximumUnsigned,
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRight,
  ShiftRightUnsigned,
  Absolute,
  /// Comparisons give 0 or 1.
  Equal,
  NotEqual,
  Less,
  LessEqual,
  LessUnsigned,
  LessEqualUnsigned,
  /// True when neither side is NaN and the relation holds; Unordered when one is.
  FloatEqual,
  FloatLess,
  FloatLessEqual,
  FloatUnordered,
  /// Condition, value if 1, value if 0; for both kinds of values.
  Select,
  /// Conversions.
  Resize,
  ResizeUnsigned,
  ToFloat,
  ToFloatUnsigned,
  ToInteger,
  /// Floats.
  FloatAdd,
  FloatSubtract,
  FloatMultiply,
  FloatDivide,
  FloatRemainder,
  FloatNegate,
  FloatMinimum,
  FloatMaximum,
  FloatMinimumNumber,
  FloatMaximumNumber,
  FusedMultiplyAdd,
  Power,
  CopySign,
  Abs,
  Exp,
  Exp2,
  ExpMinusOne,
  Log,
  Log2,
  Log10,
  LogOnePlus,
  SquareRoot,
  ReciprocalSquareRoot,
  Sin,
  Cos,
  Tan,
  Tanh,
  Atan,
  Atan2,
  Erf,
  Floor,
  Ceil,
  Round,
  RoundEven,
  Truncate,
};

/// A register: integers use one half, floats the other.
struct Register {
  int64_t integer = 0;
  double number = 0;
};

struct Instruction {
  Opcode opcode;
  /// Registers read.
  std::vector<unsigned> inputs;
  /// Bits of an integer result, and of the source where signedness matters.
  unsigned width = 64;
  unsigned sourceWidth = 64;
  /// Integer, Float: the constant.
  Register constant = {};
  /// Extract: index into the program's tensors.
  unsigned tensor = 0;
};

/// Straight-line code. Registers 0 .. arguments-1 are given by the caller; each instruction adds
/// one.
class ScalarProgram {
public:
  explicit ScalarProgram(unsigned arguments) : arguments(arguments) {}

  /// Appends an instruction; returns the register of its result.
  unsigned append(Instruction instruction);
  /// Adds a tensor that Extract may name. The memory is borrowed.
  unsigned addTensor(const Tensor &tensor);
  void setResult(unsigned register_) { result = register_; }
  unsigned getArguments() const { return arguments; }

  Register run(std::span<const Register> given) const;

private:
  unsigned arguments;
  unsigned result = 0;
  std::vector<Instruction> instructions;
  std::vector<Tensor> tensors;
};

} // namespace lacuna::reference
