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

/// Shapes of a kernel's outputs, and nothing else of it.
static FailureOr<KernelCode> describeKernel(tile::KernelOp kernel) {
  KernelCode code;
  KernelManifest &manifest = code.manifest;
  HostProgramBuilder host(manifest.host);
  manifest.symbol = kernel.getSymName().str();
  manifest.inputs = kernel.getInputs();
  auto plan = cast<tile::PlanOp>(kernel.getPlan().front().getTerminator());
  size_t next = 0;
  for (BlockArgument output : kernel.getOutputArguments()) {
    auto type = cast<MemRefType>(output.getType());
    std::optional<ElementType> element = elementTypeOf(type.getElementType());
    KernelManifest::Output &shape = manifest.outputs.emplace_back();
    shape.type = element.value_or(ElementType::F32);
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      std::optional<unsigned> extent = host.value(plan.getShapes()[next++]);
      if (!element || !extent)
        return plan.emitOpError("expected values that the host can compute from sizes and scalars");
      shape.extents.push_back(*extent);
    }
  }
  return code;
}

/// The launch sequence of `function`, whose kernels `print` turns into code.
static FailureOr<Program>
buildProgram(func::FuncOp function, StringRef architecture,
             llvm::function_ref<FailureOr<KernelCode>(tile::KernelOp)> print) {
  Program program;
  program.name = function.getName().str();
  program.architecture = architecture.str();
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
      FailureOr<KernelCode> code = print(kernel);
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

FailureOr<Program> lacuna::printProgram(func::FuncOp function, CudaOptions options) {
  return buildProgram(function, "sm_90a",
                      [&](tile::KernelOp kernel) { return printCuda(kernel, options); });
}

FailureOr<Program> lacuna::describeProgram(func::FuncOp function) {
  return buildProgram(function, "cpu", describeKernel);
}
