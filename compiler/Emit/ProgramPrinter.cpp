//===- ProgramPrinter.cpp - the launch sequence of a function -------------===//
#include "compiler/Emit/KernelPrinter.h"
#include "compiler/Emit/ValueName.h"

using namespace mlir;
using namespace lacuna;

static FailureOr<ArgumentDeclaration> declare(func::FuncOp function, unsigned index) {
  ArgumentDeclaration result;
  Type type = function.getArgument(index).getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    result.kind = ArgumentDeclaration::Kind::Tensor;
    std::optional<ElementType> element = elementTypeOf(tensor.getElementType());
    if (!element)
      return function.emitOpError("expected tensors of f16, bf16, f32, f64, i8, i32, i64 or index, "
                                  "got ")
             << tensor << " as argument " << index;
    result.type = *element;
    for (int64_t extent : tensor.getShape())
      result.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  } else {
    result.kind = isa<FloatType>(type) ? ArgumentDeclaration::Kind::Float
                                       : ArgumentDeclaration::Kind::Integer;
  }
  result.name = valueName(function.getArgument(index));
  if (result.name.empty())
    result.name = std::to_string(index);
  return result;
}

FailureOr<Program> lacuna::printProgram(func::FuncOp function, CudaOptions options) {
  Program program;
  program.name = function.getName().str();
  program.architecture = "sm_90a";
  DenseMap<Value, unsigned> buffers;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    buffers[function.getArgument(index)] = index;
    FailureOr<ArgumentDeclaration> argument = declare(function, index);
    if (failed(argument))
      return failure();
    program.arguments.push_back(std::move(*argument));
  }
  unsigned nextBuffer = function.getNumArguments();
  auto bufferOf = [&](Value value, Operation *user) -> FailureOr<unsigned> {
    if (auto it = buffers.find(value); it != buffers.end())
      return it->second;
    user->emitOpError("expected arguments of the function or results of earlier launches");
    return failure();
  };
  for (Operation &op : function.getBody().front()) {
    if (auto launch = dyn_cast<tile::LaunchOp>(op)) {
      auto kernel =
          SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(launch, launch.getKernelAttr());
      FailureOr<KernelCode> code = printCuda(kernel, options);
      if (failed(code))
        return failure();
      Launch &entry = program.launches.emplace_back();
      entry.kernel = program.kernels.size();
      program.kernels.push_back(std::move(*code));
      for (Value input : launch.getInputs()) {
        FailureOr<unsigned> buffer = bufferOf(input, launch);
        if (failed(buffer))
          return failure();
        entry.inputs.push_back(*buffer);
      }
      for (auto [index, result] : llvm::enumerate(launch.getOutputs())) {
        int64_t into = -1;
        if (!launch.getInto().empty()) {
          FailureOr<unsigned> buffer = bufferOf(launch.getInto()[index], launch);
          if (failed(buffer))
            return failure();
          into = *buffer;
        }
        entry.into.push_back(into);
        buffers[result] = nextBuffer++;
      }
    } else if (auto end = dyn_cast<func::ReturnOp>(op)) {
      for (Value result : end.getOperands()) {
        FailureOr<unsigned> buffer = bufferOf(result, end);
        if (failed(buffer))
          return failure();
        program.results.push_back(*buffer);
      }
    }
  }
  return program;
}
