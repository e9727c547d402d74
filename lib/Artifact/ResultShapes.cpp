//===- ResultShapes.cpp - what a program returns, before it runs -----------===//
#include "lacuna/ResultShapes.h"

#include "lib/Artifact/HostProgram.h"

#include <fmt/format.h>
#include <numeric>

namespace lacuna {

using Op = HostInstruction::Op;

namespace {
/// Rewrites the host programs of kernels, which see kernel arguments, as one over the function's.
class Inliner {
public:
  Inliner(const Program &program, HostProgram &code) : program(program), code(code) {
    for (unsigned launch = 0; launch < program.launches.size(); ++launch)
      for (unsigned output = 0; output < program.launches[launch].into.size(); ++output)
        makers.push_back({launch, output});
  }

  /// The buffer's extent along `axis` as a value of `code`.
  Result<unsigned> extent(unsigned buffer, size_t axis) {
    if (buffer < program.arguments.size()) {
      const std::vector<int64_t> &shape = program.arguments[buffer].shape;
      if (axis >= shape.size())
        return corrupt();
      return emit(shape[axis] >= 0
                      ? HostInstruction{Op::Constant, shape[axis]}
                      : HostInstruction{Op::Extent, buffer, static_cast<int64_t>(axis)});
    }
    size_t made = buffer - program.arguments.size();
    if (made >= makers.size())
      return corrupt();
    const std::vector<unsigned> &extents = outputOf(buffer).extents;
    if (axis >= extents.size())
      return corrupt();
    return value(makers[made].launch, extents[axis]);
  }

  const KernelManifest::Output &outputOf(unsigned buffer) const {
    const Maker &maker = makers[buffer - program.arguments.size()];
    return kernelOf(maker.launch).outputs[maker.output];
  }

  bool isMade(unsigned buffer) const {
    return buffer >= program.arguments.size() && buffer < program.arguments.size() + makers.size();
  }

private:
  struct Maker {
    unsigned launch, output;
  };

  const KernelManifest &kernelOf(unsigned launch) const {
    return program.kernels[program.launches[launch].kernel].manifest;
  }

  static Status corrupt() {
    return Status::error(StatusCode::Corrupt,
                         "expected shapes of results to depend on arguments that exist");
  }

  unsigned emit(HostInstruction instruction) {
    for (unsigned i = 0; i < code.code.size(); ++i) {
      const HostInstruction &known = code.code[i];
      if (known.op == instruction.op && known.a == instruction.a && known.b == instruction.b &&
          known.c == instruction.c)
        return i;
    }
    code.code.push_back(instruction);
    return static_cast<unsigned>(code.code.size() - 1);
  }

  /// Host value `index` of a launch's kernel.
  Result<unsigned> value(unsigned launch, unsigned index) {
    const HostInstruction &instruction = kernelOf(launch).host.code[index];
    const std::vector<unsigned> &inputs = program.launches[launch].inputs;
    auto buffer = static_cast<size_t>(instruction.a);
    switch (instruction.op) {
    case Op::Constant:
      return emit(instruction);
    case Op::Extent:
      if (buffer >= inputs.size())
        return corrupt();
      return extent(inputs[buffer], static_cast<size_t>(instruction.b));
    case Op::Scalar:
      if (buffer >= inputs.size())
        return corrupt();
      return emit({Op::Scalar, inputs[buffer]});
    case Op::Stride:
      return Status::error(StatusCode::Unsupported,
                           "expected shapes of results to depend on extents and numbers only");
    default:
      return operation(launch, instruction);
    }
  }

  Result<unsigned> operation(unsigned launch, HostInstruction instruction) {
    for (int64_t *operand : {&instruction.a, &instruction.b, &instruction.c}) {
      if (operand == &instruction.c && instruction.op != Op::Select)
        continue;
      Result<unsigned> inlined = value(launch, static_cast<unsigned>(*operand));
      if (!inlined)
        return inlined.status();
      *operand = *inlined;
    }
    return emit(instruction);
  }

  const Program &program;
  HostProgram &code;
  /// Of each buffer behind the arguments.
  std::vector<Maker> makers;
};
} // namespace

static Result<ResultDeclaration> declareResult(const Program &program, size_t index,
                                               Inliner &inliner, const HostProgram &code) {
  ResultDeclaration declared;
  declared.name =
      index < program.resultNames.size() ? program.resultNames[index] : std::to_string(index);
  unsigned buffer = program.results[index];
  size_t rank = 0;
  if (inliner.isMade(buffer)) {
    declared.type = inliner.outputOf(buffer).type;
    rank = inliner.outputOf(buffer).extents.size();
  } else if (buffer < program.arguments.size()) {
    declared.type = program.arguments[buffer].type;
    rank = program.arguments[buffer].shape.size();
  }
  for (size_t axis = 0; axis < rank; ++axis) {
    Result<unsigned> extent = inliner.extent(buffer, axis);
    if (!extent)
      return extent.status();
    const HostInstruction &instruction = code.code[*extent];
    declared.shape.push_back(instruction.op == Op::Constant ? instruction.a : -1);
    declared.extents.push_back(*extent);
  }
  return declared;
}

Result<ResultShapes> ResultShapes::of(const Program &program) {
  ResultShapes shapes;
  Inliner inliner(program, shapes.code);
  for (size_t i = 0; i < program.results.size(); ++i) {
    Result<ResultDeclaration> declared = declareResult(program, i, inliner, shapes.code);
    if (!declared)
      return declared.status();
    shapes.results.push_back(std::move(*declared));
  }
  return shapes;
}

Result<std::vector<Tensor>> ResultShapes::infer(std::span<const Argument> arguments) const {
  std::vector<HostArgument> seen(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    seen[i].tensor = std::get_if<Tensor>(&arguments[i]);
    if (const auto *integer = std::get_if<int64_t>(&arguments[i]))
      seen[i].integer = *integer;
  }
  std::vector<unsigned> order(code.code.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<int64_t> values(code.code.size());
  if (std::optional<HostFailure> failure = evaluateHostProgram(code, order, seen, values))
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("shapes of results: {}", failure->message));
  std::vector<Tensor> tensors;
  for (const ResultDeclaration &result : results) {
    Tensor &tensor = tensors.emplace_back();
    tensor.type = result.type;
    int64_t bytes = byteWidth(result.type);
    for (unsigned extent : result.extents) {
      tensor.shape.push_back(values[extent]);
      if (values[extent] < 0 ||
          __builtin_mul_overflow(bytes, std::max<int64_t>(values[extent], 1), &bytes))
        return Status::error(StatusCode::InvalidArgument,
                             fmt::format("result '{}': expected extents of at least 0 and fewer "
                                         "than 2^63 bytes, got {} along axis {}",
                                         result.name, values[extent], tensor.shape.size() - 1));
    }
    tensor.strides = contiguousStrides(tensor.shape);
  }
  return tensors;
}

} // namespace lacuna
