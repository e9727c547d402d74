//===- Artifact.h - what a compiler leaves for a runtime ------------------===//
//
// Compiler and runtime meet in these types only. A program is a launch sequence of kernels; a
// kernel is CUDA source plus everything the host must know to launch it on arguments of any size.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/Executor.h"
#include "lacuna/Status.h"
#include "lacuna/Tensor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lacuna {

/// One integer operation of a host program. Operands `a`, `b`, `c` are indices of earlier
/// instructions unless the operation says otherwise.
struct HostInstruction {
  enum class Op {
    /// The number `a`.
    Constant,
    /// Extent of tensor argument `a` along axis `b`; `a` and `b` are numbers.
    Extent,
    /// Stride in elements of tensor argument `a` along axis `b`; `a` and `b` are numbers.
    Stride,
    /// Value of integer argument `a`, a number.
    Scalar,
    Add,
    Sub,
    Mul,
    /// Quotient rounded to minus infinity; a zero divisor makes the launch an error.
    FloorDiv,
    CeilDiv,
    /// Remainder with the sign of the divisor.
    Mod,
    Min,
    Max,
    /// Greatest common divisor, not negative; 0 of two zeros.
    Gcd,
    /// 1 when a == b, else 0; and so on.
    Equal,
    Less,
    LessEqual,
    And,
    Or,
    /// b when a != 0, else c.
    Select,
  };
  Op op = Op::Constant;
  int64_t a = 0, b = 0, c = 0;
};

/// A straight-line program over a kernel's arguments; value i is the result of instruction i.
struct HostProgram {
  std::vector<HostInstruction> code;
};

/// A condition on the arguments, checked before each launch.
struct Requirement {
  /// Host value that must not be 0.
  unsigned value = 0;
  /// What is required, as one sentence in lower case; `{0}` stands for the first of `values`.
  std::string message;
  /// Host values that the message shows.
  std::vector<unsigned> values;
};

/// One 8-byte field of the kernel's argument struct.
struct ArgumentField {
  enum class Kind {
    /// Address of tensor argument `index` (inputs first, then outputs).
    Pointer,
    /// Host value `index`, as i64.
    Integer,
    /// Float argument `index`, as f64.
    Float,
    /// Address of a 32-bit counter that is 0 when the kernel starts.
    WorkCounter,
  };
  Kind kind = Kind::Integer;
  unsigned index = 0;
};

/// How to encode the tensor map of one tensor argument.
struct TensorMapRecipe {
  enum class Swizzle { None, Bytes32, Bytes64, Bytes128 };
  struct Axis {
    /// Host values: number of elements, and distance in elements between neighbours (the first axis
    /// must have distance 1 and its value is not used).
    unsigned extent = 0, stride = 0;
    /// Elements of one box along this axis.
    unsigned box = 1;
  };
  /// Tensor argument (inputs first, then outputs).
  unsigned tensor = 0;
  /// Innermost axis first; at most five.
  std::vector<Axis> axes;
  Swizzle swizzle = Swizzle::Bytes128;
  /// Host value: how many elements after the tensor's address the map starts; nothing for none.
  std::optional<unsigned> base = {};
};

/// One kernel. Its CUDA signature is one `const __grid_constant__ TensorMap` per map, in order,
/// then one `const __grid_constant__` struct of the fields.
struct KernelManifest {
  /// Entry symbol in the source; extern "C".
  std::string symbol;
  unsigned threads = 0;
  /// Bytes of dynamic shared memory.
  unsigned sharedBytes = 0;
  HostProgram host;
  std::vector<Requirement> requirements;
  /// Host values whose product is the number of work items.
  std::vector<unsigned> grid;
  /// Thread blocks per multiprocessor of a persistent launch; 0 launches one block per work item.
  unsigned blocksPerMultiprocessor = 1;
  std::vector<TensorMapRecipe> maps;
  std::vector<ArgumentField> fields;
  unsigned inputs = 0;
  /// Per output: element type and the host values of its extents.
  struct Output {
    ElementType type = ElementType::F32;
    std::vector<unsigned> extents;
  };
  std::vector<Output> outputs;
};

/// A kernel with its code: source always, machine code when it was compiled ahead of time.
struct KernelCode {
  KernelManifest manifest;
  std::string source;
  std::string cubin;
};

/// A function argument as the spec declares it.
struct ArgumentDeclaration {
  enum class Kind { Tensor, Integer, Float };
  std::string name;
  Kind kind = Kind::Tensor;
  ElementType type = ElementType::F32;
  /// Tensor: extents, -1 where any is accepted.
  std::vector<int64_t> shape;
};

/// One launch of the sequence. Buffers are numbered: function arguments first, then every output of
/// every launch in order.
struct Launch {
  unsigned kernel = 0;
  /// Buffer of each kernel input.
  std::vector<unsigned> inputs;
  /// Per output: a buffer that it overwrites in part (from an earlier launch), or -1 for a new one.
  std::vector<int64_t> into;
};

/// What the compiler leaves for the CPU of this process.
class NativeCode {
public:
  virtual ~NativeCode() = default;
  /// Checks the arguments, then runs all launches. Every result has memory of its own, the right
  /// type and the right shape, in any layout. Runs of one program may overlap.
  virtual Status run(std::span<const Argument> arguments, std::span<const Tensor> results,
                     Executor &executor) const = 0;
};

/// A compiled function.
struct Program {
  std::string name;
  /// Target the source is written for: "sm_90a", or "cpu".
  std::string architecture;
  std::vector<ArgumentDeclaration> arguments;
  std::vector<KernelCode> kernels;
  std::vector<Launch> launches;
  /// Buffers that the function returns.
  std::vector<unsigned> results;
  /// What the spec calls them, one name each; nothing stands for "0", "1" and so on.
  std::vector<std::string> resultNames;
  /// Programs of architecture "cpu": the machine code of this process. Lives as long as a copy of
  /// the program and is not part of files.
  std::shared_ptr<const NativeCode> native;
};

} // namespace lacuna
