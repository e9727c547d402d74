//===- LaunchRewrite.cpp - one launch in place of others ------------------===//
#include "compiler/Passes/LaunchRewrite.h"

using namespace mlir;
using namespace lacuna;

tile::KernelOp lacuna::getKernel(tile::LaunchOp launch) {
  return SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(launch, launch.getKernelAttr());
}

/// Calls `visit` with the argument of the plan and that of the body for each input of `part` that
/// `parts` make.
static bool allBetween(ArrayRef<tile::LaunchOp> parts, tile::LaunchOp part,
                       llvm::function_ref<bool(Value, Value)> visit) {
  tile::KernelOp kernel = getKernel(part);
  for (auto [index, input] : llvm::enumerate(part.getInputs()))
    if (llvm::is_contained(parts, input.getDefiningOp()) &&
        !visit(kernel.getPlan().getArgument(index), kernel.getBody().getArgument(index)))
      return false;
  return true;
}

bool LaunchRewrite::isPossible(ArrayRef<tile::LaunchOp> parts) {
  Operation *last = parts.back();
  for (tile::LaunchOp part : parts) {
    if (!part.getInto().empty() || part->getBlock() != last->getBlock())
      return false;
    for (Operation *user : part->getUsers())
      if (!llvm::is_contained(parts, user) &&
          (user->getBlock() != last->getBlock() || user->isBeforeInBlock(last)))
        return false;
    bool isKnown = allBetween(parts, part, [&](Value inPlan, Value inBody) {
      return llvm::all_of(inPlan.getUsers(),
                          [](Operation *user) {
                            auto dim = dyn_cast<tensor::DimOp>(user);
                            return dim && dim.getConstantIndex();
                          }) &&
             llvm::all_of(inBody.getUsers(), [](Operation *user) {
               return isa<tile::TileDialect>(user->getDialect());
             });
    });
    if (!isKnown)
      return false;
  }
  return true;
}

LaunchRewrite::LaunchRewrite(ArrayRef<tile::LaunchOp> parts, StringRef name, ValueRange needed,
                             ValueRange moreInputs, ArrayRef<RankedTensorType> outputs)
    : plan(parts.front()->getContext()), body(parts.front()->getContext()), parts(parts),
      bodyMaps(parts.size()), newOutputs(outputs.begin(), outputs.end()) {
  for (tile::LaunchOp part : parts) {
    for (Value input : part.getInputs())
      if (!isPart(input.getDefiningOp()))
        inputs.insert(input);
    for (OpResult result : part->getResults())
      if (llvm::is_contained(needed, result) ||
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !isPart(user); }))
        kept.push_back(result);
  }
  inputs.insert(moreInputs.begin(), moreInputs.end());

  tile::KernelOp first = getKernel(parts.front());
  OpBuilder builder(first);
  Location loc = parts.front()->getLoc();
  SymbolTable symbols(first->getParentOp());
  kernel = tile::KernelOp::create(builder, loc, name, inputs.size(), kept.size() + outputs.size());
  symbols.insert(kernel);
  Block *planBlock = builder.createBlock(&kernel.getPlan());
  Block *bodyBlock = builder.createBlock(&kernel.getBody());
  for (Value input : inputs) {
    planInputs.map(input, planBlock->addArgument(input.getType(), input.getLoc()));
    bodyInputs.map(input, bodyBlock->addArgument(input.getType(), input.getLoc()));
  }
  auto addOutput = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return bodyBlock->addArgument(MemRefType::get(tensor.getShape(), tensor.getElementType()), loc);
  };
  for (OpResult result : kept)
    memory.map(result, addOutput(result.getType()));
  for (Type type : newOutputs)
    addOutput(type);
  for (Value axis : first.getGridArguments())
    bodyBlock->addArgument(axis.getType(), axis.getLoc());

  plan.setInsertionPointToEnd(planBlock);
  body.setInsertionPointToEnd(bodyBlock);
  for (auto [index, part] : llvm::enumerate(parts)) {
    clonePlan(part);
    cloneBody(index);
  }
}

void LaunchRewrite::clonePlan(tile::LaunchOp part) {
  Block &block = getKernel(part).getPlan().front();
  IRMapping map;
  DenseMap<Value, Value> between;
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), part.getInputs())) {
    if (isPart(input.getDefiningOp()))
      between[argument] = input;
    else
      map.map(argument, planInputs.lookup(input));
  }
  for (Operation &op : block.without_terminator()) {
    auto dim = dyn_cast<tensor::DimOp>(op);
    if (dim && between.contains(dim.getSource()))
      map.map(dim.getResult(),
              shapes[between[dim.getSource()]][static_cast<size_t>(*dim.getConstantIndex())]);
    else
      plan.clone(op, map);
  }
  auto end = cast<tile::PlanOp>(block.getTerminator());
  auto extents = end.getShapes();
  for (OpResult result : part->getResults())
    for (int64_t axis = 0; axis < cast<RankedTensorType>(result.getType()).getRank(); ++axis) {
      shapes[result].push_back(map.lookup(extents.front()));
      extents = extents.drop_front();
    }
  if (grid.empty())
    for (Value extent : end.getGrid())
      grid.push_back(map.lookup(extent));
}

void LaunchRewrite::cloneBody(unsigned index) {
  tile::LaunchOp part = parts[index];
  tile::KernelOp from = getKernel(part);
  IRMapping &map = bodyMaps[index];
  for (auto [argument, input] : llvm::zip_equal(from.getInputArguments(), part.getInputs()))
    if (!isPart(input.getDefiningOp()))
      map.map(argument, bodyInputs.lookup(input));
  map.map(from.getGridArguments(), kernel.getGridArguments());
  for (Operation &op : from.getBody().front())
    if (!isa<tile::TileDialect>(op.getDialect()))
      body.clone(op, map);
}

tile::LaunchOp LaunchRewrite::finish(Operation *place, ValueRange newShapes) {
  Location loc = kernel.getLoc();
  SmallVector<Value> extents;
  for (OpResult result : kept)
    llvm::append_range(extents, shapes[result]);
  llvm::append_range(extents, newShapes);
  tile::PlanOp::create(plan, loc, grid, extents);
  tile::EndOp::create(body, loc);
  eraseDeadOps(kernel.getPlan().front());
  eraseDeadOps(kernel.getBody().front());

  SmallVector<Type> types = llvm::map_to_vector(kept, [](OpResult r) { return r.getType(); });
  llvm::append_range(types, newOutputs);
  OpBuilder builder(place);
  auto launch = tile::LaunchOp::create(builder, loc, types, kernel.getSymName(),
                                       inputs.getArrayRef(), ValueRange());
  for (auto [result, by] : llvm::zip(kept, launch.getResults()))
    result.replaceAllUsesExcept(by, launch);
  for (tile::LaunchOp part : llvm::reverse(parts)) {
    tile::KernelOp old = getKernel(part);
    part.erase();
    if (SymbolTable::symbolKnownUseEmpty(old, old->getParentOp()))
      old.erase();
  }
  return launch;
}
