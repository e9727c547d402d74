//===- TileKernel.cpp - verifiers of kernels, plans and launches ----------===//
#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace lacuna::tile;

//===----------------------------------------------------------------------===//
// tile.kernel
//===----------------------------------------------------------------------===//

/// kernel-1 to kernel-4: what the arguments of both blocks are.
static LogicalResult verifyArguments(KernelOp op) {
  auto inputs = static_cast<int64_t>(op.getInputs()),
       outputs = static_cast<int64_t>(op.getOutputs());
  auto arguments = static_cast<int64_t>(op.getBody().getNumArguments());
  // kernel-1
  if (inputs < 0 || outputs < 0 || inputs > arguments || outputs > arguments - inputs)
    return op.emitOpError("expected the body to have at least ")
           << inputs << " inputs and " << outputs << " outputs as arguments, got " << arguments;
  // kernel-2
  if (op.getPlan().getNumArguments() != op.getInputs())
    return op.emitOpError("expected the plan to have the ")
           << inputs << " inputs as arguments, got " << op.getPlan().getNumArguments();
  for (auto [index, inPlan, inBody] :
       llvm::enumerate(op.getPlan().getArguments(), op.getInputArguments()))
    if (inPlan.getType() != inBody.getType())
      return op.emitOpError("expected plan and body to agree on input ")
             << index << ", got " << inPlan.getType() << " and " << inBody.getType();
  // kernel-3
  for (auto [index, output] : llvm::enumerate(op.getOutputArguments()))
    if (!isa<MemRefType>(output.getType()))
      return op.emitOpError("expected output ")
             << index << " to be a memref, got " << output.getType();
  // kernel-4
  for (BlockArgument axis : op.getGridArguments())
    if (!axis.getType().isIndex())
      return op.emitOpError("expected grid coordinates of type index, got ") << axis.getType();
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(verifyArguments(*this)))
    return failure();
  // kernel-5
  auto plan = dyn_cast<PlanOp>(getPlan().front().getTerminator());
  if (!plan)
    return emitOpError("expected the plan to end with tile.plan");
  if (!isa<EndOp>(getBody().front().getTerminator()))
    return emitOpError("expected the body to end with tile.end");
  // kernel-6
  if (plan.getGrid().size() != getGridArguments().size())
    return plan.emitOpError("expected an extent for each of the body's ")
           << getGridArguments().size() << " grid coordinates, got " << plan.getGrid().size();
  // kernel-7
  int64_t extents = 0;
  for (BlockArgument output : getOutputArguments())
    extents += cast<MemRefType>(output.getType()).getRank();
  if (static_cast<int64_t>(plan.getShapes().size()) != extents)
    return plan.emitOpError("expected the ")
           << extents << " extents of all outputs, got " << plan.getShapes().size();
  return success();
}

//===----------------------------------------------------------------------===//
// tile.require
//===----------------------------------------------------------------------===//

LogicalResult RequireOp::verify() {
  // require-1
  auto kernel = cast<KernelOp>((*this)->getParentOp());
  if ((*this)->getParentRegion() != &kernel.getPlan())
    return emitOpError("expected to stand in a plan, where a launch can still be refused");
  // require-2
  StringRef text = getMessage();
  for (size_t open = text.find('{'); open != StringRef::npos; open = text.find('{', open + 1)) {
    StringRef hole = text.substr(open + 1).take_until([](char c) { return c == '}'; });
    unsigned index;
    if (hole.getAsInteger(10, index) || index >= getValues().size())
      return emitOpError("expected each hole of the message to name one of the ")
             << getValues().size() << " values, got {" << hole << "}";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// tile.launch
//===----------------------------------------------------------------------===//

/// Whether a launch can hand out the buffer `output` as a tensor of type `result`.
static bool isTensorOf(Type result, Type output) {
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto memref = dyn_cast<MemRefType>(output);
  return tensor && memref && tensor.getShape() == memref.getShape() &&
         tensor.getElementType() == memref.getElementType();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // launch-1
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("expected the name of a tile.kernel, got ") << getKernelAttr();
  if (failed(verifyArguments(kernel)))
    return failure();
  // launch-2
  if (getInputs().size() != kernel.getInputs())
    return emitOpError("expected the ")
           << kernel.getInputs() << " inputs of the kernel, got " << getInputs().size();
  for (auto [index, input, argument] : llvm::enumerate(getInputs(), kernel.getInputArguments()))
    if (input.getType() != argument.getType())
      return emitOpError("expected input ")
             << index << " of type " << argument.getType() << ", got " << input.getType();
  // launch-3
  if (getOutputs().size() != kernel.getOutputs())
    return emitOpError("expected the ")
           << kernel.getOutputs() << " outputs of the kernel, got " << getOutputs().size();
  for (auto [index, result, argument] : llvm::enumerate(getOutputs(), kernel.getOutputArguments()))
    if (!isTensorOf(result.getType(), argument.getType()))
      return emitOpError("expected output ") << index << " to be a tensor of the shape of "
                                             << argument.getType() << ", got " << result.getType();
  return success();
}

LogicalResult LaunchOp::verify() {
  // launch-4
  if (!getInto().empty() && getInto().getTypes() != getOutputs().getTypes())
    return emitOpError("expected one tensor of the same type per output behind 'into'");
  return success();
}
