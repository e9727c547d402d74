//===- ResultShapes.cpp - what a program returns, before it runs -----------===//
#include "lacuna/ResultShapes.h"

#include "lib/Artifact/HostProgram.h"

#include <array>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>

namespace lacuna {

using Op = HostInstruction::Op;

namespace {
/// Rewrites the host programs of kernels, which see kernel arguments, as one over the function's.
/// Launches come in order and each instruction once, so that neither depth nor sharing costs more
/// than there are bytes in an artifact.
class Inliner {
public:
  explicit Inliner(const Program &program);

  ElementType typeOf(unsigned buffer) const { return buffers[buffer].type; }
  /// Extents of a buffer; what the arguments do not tell has no value.
  const std::vector<std::optional<unsigned>> &extentsOf(unsigned buffer) const {
    return buffers[buffer].extents;
  }

  HostProgram code;

private:
  using Extents = std::vector<std::optional<unsigned>>;
  struct Buffer {
    ElementType type = ElementType::F32;
    Extents extents;
  };

  void addArguments();
  /// The value of an instruction whose operands are in `values`, or nothing.
  std::optional<unsigned> inlined(const Launch &launch, HostInstruction instruction,
                                  const Extents &values);
  unsigned emit(HostInstruction instruction);

  const Program &program;
  std::vector<Buffer> buffers;
  std::map<std::array<int64_t, 4>, unsigned> known;
};
} // namespace

unsigned Inliner::emit(HostInstruction instruction) {
  std::array<int64_t, 4> key = {static_cast<int64_t>(instruction.op), instruction.a, instruction.b,
                                instruction.c};
  auto [place, isNew] = known.try_emplace(key, static_cast<unsigned>(code.code.size()));
  if (isNew)
    code.code.push_back(instruction);
  return place->second;
}

void Inliner::addArguments() {
  for (unsigned argument = 0; argument < program.arguments.size(); ++argument) {
    const ArgumentDeclaration &declared = program.arguments[argument];
    Buffer &buffer = buffers.emplace_back();
    buffer.type = declared.type;
    for (size_t axis = 0; axis < declared.shape.size(); ++axis)
      buffer.extents.push_back(
          emit(declared.shape[axis] >= 0
                   ? HostInstruction{Op::Constant, declared.shape[axis]}
                   : HostInstruction{Op::Extent, argument, static_cast<int64_t>(axis)}));
  }
}

std::optional<unsigned> Inliner::inlined(const Launch &launch, HostInstruction instruction,
                                         const Extents &values) {
  auto input = static_cast<size_t>(instruction.a), axis = static_cast<size_t>(instruction.b);
  switch (instruction.op) {
  case Op::Constant:
    return emit(instruction);
  case Op::Extent:
    // Outputs of the launch itself come behind its inputs.
    if (input >= launch.inputs.size() || axis >= extentsOf(launch.inputs[input]).size())
      return std::nullopt;
    return extentsOf(launch.inputs[input])[axis];
  case Op::Scalar:
    if (input >= launch.inputs.size() || launch.inputs[input] >= program.arguments.size())
      return std::nullopt;
    return emit({Op::Scalar, launch.inputs[input]});
  case Op::Stride:
    return std::nullopt;
  default:
    break;
  }
  for (int64_t *operand : {&instruction.a, &instruction.b, &instruction.c}) {
    if (operand == &instruction.c && instruction.op != Op::Select)
      continue;
    std::optional<unsigned> value = values[static_cast<size_t>(*operand)];
    if (!value)
      return std::nullopt;
    *operand = *value;
  }
  return emit(instruction);
}

Inliner::Inliner(const Program &program) : program(program) {
  addArguments();
  for (const Launch &launch : program.launches) {
    const KernelManifest &kernel = program.kernels[launch.kernel].manifest;
    Extents values;
    for (const HostInstruction &instruction : kernel.host.code)
      values.push_back(inlined(launch, instruction, values));
    for (const KernelManifest::Output &output : kernel.outputs) {
      Buffer &buffer = buffers.emplace_back();
      buffer.type = output.type;
      for (unsigned extent : output.extents)
        buffer.extents.push_back(values[extent]);
    }
  }
}

/// Leaves out what no result needs: it costs time in each call, and might have no value there.
static void keepNeeded(ResultShapes &shapes) {
  std::vector<HostInstruction> &code = shapes.code.code;
  std::vector<bool> isNeeded(code.size(), false);
  for (const ResultDeclaration &result : shapes.results)
    for (unsigned extent : result.extents)
      isNeeded[extent] = true;
  auto operandsOf = [](HostInstruction &instruction) {
    std::vector<int64_t *> operands = {&instruction.a, &instruction.b, &instruction.c};
    operands.resize(operandCount(instruction.op));
    return operands;
  };
  for (size_t i = code.size(); i-- > 0;)
    if (isNeeded[i])
      for (int64_t *operand : operandsOf(code[i]))
        isNeeded[static_cast<size_t>(*operand)] = true;
  std::vector<unsigned> moved(code.size());
  size_t kept = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!isNeeded[i])
      continue;
    HostInstruction instruction = code[i];
    for (int64_t *operand : operandsOf(instruction))
      *operand = moved[static_cast<size_t>(*operand)];
    moved[i] = static_cast<unsigned>(kept);
    code[kept++] = instruction;
  }
  code.resize(kept);
  for (ResultDeclaration &result : shapes.results)
    for (unsigned &extent : result.extents)
      extent = moved[extent];
}

Result<ResultShapes> ResultShapes::of(const Program &program) {
  Inliner inliner(program);
  ResultShapes shapes;
  for (size_t i = 0; i < program.results.size(); ++i) {
    ResultDeclaration &declared = shapes.results.emplace_back();
    declared.name = i < program.resultNames.size() ? program.resultNames[i] : std::to_string(i);
    declared.type = inliner.typeOf(program.results[i]);
    for (std::optional<unsigned> extent : inliner.extentsOf(program.results[i])) {
      if (!extent)
        return Status::error(StatusCode::Unsupported,
                             "expected shapes of results to depend on extents and numbers only");
      const HostInstruction &instruction = inliner.code.code[*extent];
      declared.shape.push_back(instruction.op == Op::Constant ? instruction.a : -1);
      declared.extents.push_back(*extent);
    }
  }
  shapes.code = std::move(inliner.code);
  keepNeeded(shapes);
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
