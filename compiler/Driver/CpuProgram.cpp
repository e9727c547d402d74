//===- CpuProgram.cpp - a spec as machine code of this process ------------===//
#include "compiler/Driver/CpuProgram.h"

#include "compiler/Cpu/Jit.h"
#include "compiler/Driver/LogPasses.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/SpecInterface.h"
#include "compiler/Emit/ElementTypes.h"
#include "compiler/Passes/Passes.h"
#include "lib/Support/Log.h"

#include "mlir/Pass/PassManager.h"

#include <chrono>
#include <fmt/format.h>

using namespace mlir;
using namespace lacuna;

CpuProgram::~CpuProgram() = default;

LogicalResult CpuProgram::readArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    ArgumentDeclaration declaration;
    declaration.name = valueName(argument);
    if (declaration.name.empty())
      declaration.name = std::to_string(argument.getArgNumber());
    Type type = argument.getType();
    Scalar scalar = Scalar::None;
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      std::optional<ElementType> element = elementTypeOf(tensor.getElementType());
      if (!element)
        return emitError(argument.getLoc(), "expected elements of type f16, bf16, f32, f64, i8, "
                                            "i32, i64 or index, got ")
               << tensor.getElementType();
      declaration.type = *element;
      for (int64_t extent : tensor.getShape())
        declaration.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    } else if (type.isIntOrIndex()) {
      declaration.kind = ArgumentDeclaration::Kind::Integer;
      unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
      scalar = bits == 1    ? Scalar::I1
               : bits == 8  ? Scalar::I8
               : bits == 16 ? Scalar::I16
               : bits == 32 ? Scalar::I32
               : bits == 64 ? Scalar::I64
                            : Scalar::None;
    } else {
      declaration.kind = ArgumentDeclaration::Kind::Float;
      scalar = type.isF16()    ? Scalar::F16
               : type.isBF16() ? Scalar::BF16
               : type.isF32()  ? Scalar::F32
               : type.isF64()  ? Scalar::F64
                               : Scalar::None;
    }
    if (declaration.kind != ArgumentDeclaration::Kind::Tensor && scalar == Scalar::None)
      return emitError(argument.getLoc(), "expected a tensor, an index, an integer of 1, 8, 16, 32 "
                                          "or 64 bits or a float as argument, got ")
             << type;
    declarations.push_back(std::move(declaration));
    scalars.push_back(scalar);
  }
  return success();
}

FailureOr<size_t> CpuProgram::readKernel(Operation *op) {
  auto launch = cast<tile::LaunchOp>(op);
  auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(op, launch.getKernelAttr());
  if (!kernel)
    return op->emitError("expected a kernel named '") << launch.getKernel() << "', got none";
  for (auto [index, known] : llvm::enumerate(kernels))
    if (known.name == launch.getKernel())
      return index;
  Kernel entry;
  entry.name = launch.getKernel().str();
  entry.gridRank = kernel.getGridArguments().size();
  for (tile::RequireOp require : kernel.getPlan().getOps<tile::RequireOp>())
    entry.requirements.push_back({require.getMessage().str(), require.getValues().size()});
  for (BlockArgument output : kernel.getOutputArguments()) {
    auto type = cast<MemRefType>(output.getType());
    std::optional<ElementType> element = elementTypeOf(type.getElementType());
    if (!element)
      return op->emitError("expected results with elements of type f16, bf16, f32, f64, i8, i32 or "
                           "i64, got ")
             << type.getElementType();
    entry.outputs.push_back({*element, static_cast<size_t>(type.getRank())});
  }
  kernels.push_back(std::move(entry));
  return kernels.size() - 1;
}

LogicalResult CpuProgram::readLaunches(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected one block of launches, got ")
           << function.getBody().getBlocks().size();
  llvm::DenseMap<Value, unsigned> numbers;
  for (BlockArgument argument : function.getArguments())
    numbers[argument] = argument.getArgNumber();
  unsigned next = function.getNumArguments();
  auto lookup = [&](Operation &op, Value value) -> FailureOr<unsigned> {
    auto found = numbers.find(value);
    if (found == numbers.end())
      return op.emitError("expected arguments and results of launches only");
    return found->second;
  };
  for (Operation &op : function.getBody().front()) {
    if (auto end = dyn_cast<func::ReturnOp>(op)) {
      for (Value value : end.getOperands()) {
        FailureOr<unsigned> number = lookup(op, value);
        if (failed(number))
          return failure();
        if (!isa<TensorType>(value.getType()))
          return op.emitError("expected tensors as results, got ") << value.getType();
        results.push_back(*number);
      }
      return success();
    }
    auto launch = dyn_cast<tile::LaunchOp>(op);
    if (!launch)
      return op.emitError("expected only launches, got '") << op.getName() << "'";
    Step step;
    FailureOr<size_t> kernel = readKernel(launch);
    if (failed(kernel))
      return failure();
    step.kernel = *kernel;
    for (auto [operands, list] : {std::pair(ValueRange(launch.getInputs()), &step.inputs),
                                  std::pair(ValueRange(launch.getInto()), &step.into)})
      for (Value value : operands) {
        FailureOr<unsigned> number = lookup(op, value);
        if (failed(number))
          return failure();
        list->push_back(*number);
      }
    step.firstResult = next;
    for (Value result : launch.getResults())
      numbers[result] = next++;
    steps.push_back(std::move(step));
  }
  return success();
}

LogicalResult CpuProgram::generate(func::FuncOp function) {
  FailureOr<HostMachine> machine = HostMachine::detect(function.getLoc());
  if (failed(machine))
    return failure();
  OwningOpRef<ModuleOp> module = function->getParentOfType<ModuleOp>().clone();
  PassManager passes(module->getContext());
  TileToCpuPassOptions tiles;
  tiles.vectorWidth = options.vectorWidth ? options.vectorWidth : machine->vectorWidth;
  passes.addPass(createTileToCpuPass(tiles));
  CpuToLlvmPassOptions native;
  native.nativeHalf = machine->nativeHalf;
  native.nativeFma = machine->nativeFma;
  passes.addPass(createCpuToLlvmPass(native));
  logPasses(passes);
  if (failed(passes.run(*module)))
    return failure();
  auto start = std::chrono::steady_clock::now();
  FailureOr<std::string> object = compileObject(*module, *machine);
  if (failed(object))
    return failure();
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  log(LogLevel::Debug, "machine code took {:.2f} ms", spent.count());
  if (Status status = link(std::move(*object)); !status)
    return function.emitOpError(status.message());
  return success();
}

Status CpuProgram::link(std::string object) {
  jit = Jit::load(std::move(object));
  if (!jit)
    return Status::error(StatusCode::Corrupt, "expected machine code, got other bytes");
  for (Kernel &kernel : kernels) {
    kernel.plan = jit->lookup(kernel.name + "_plan");
    kernel.body = jit->lookup(kernel.name + "_body");
    if (!kernel.plan || !kernel.body)
      return Status::error(
          StatusCode::NotFound,
          fmt::format("expected machine code for kernel '{}', got none", kernel.name));
  }
  return Status::ok();
}

FailureOr<std::unique_ptr<CpuProgram>> CpuProgram::compile(func::FuncOp function,
                                                           const CpuProgramOptions &options) {
  auto program = std::make_unique<CpuProgram>();
  program->options = options;
  if (function.isDeclaration())
    return function.emitOpError("expected a function with a body");
  if (failed(program->readArguments(function)) || failed(program->readLaunches(function)) ||
      failed(program->generate(function)))
    return failure();
  return program;
}
