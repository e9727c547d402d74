//===- KernelLowering.cpp - one tile.kernel as functions ------------------===//
#include "compiler/Cpu/KernelLowering.h"

#include "compiler/Cpu/ListFormats.h"
#include "compiler/Cpu/ScalarLowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace lacuna;

/// Bytes of buffers that may lie on a thread's stack; larger ones come from the heap.
static constexpr int64_t largestFrame = 1 << 20;
static constexpr int64_t bufferAlignment = 64;

static SmallVector<Type> convertInputTypes(Block &block, unsigned count) {
  SmallVector<Type> types;
  for (BlockArgument argument : block.getArguments().take_front(count))
    types.push_back(convertInputType(argument.getType()));
  return types;
}

static func::FuncOp createFunction(tile::KernelOp kernel, StringRef suffix, ArrayRef<Type> types) {
  OpBuilder builder(kernel);
  auto function =
      func::FuncOp::create(builder, kernel.getLoc(), (kernel.getSymName() + suffix).str(),
                           builder.getFunctionType(types, {}));
  function.addEntryBlock();
  return function;
}

LogicalResult KernelLowering::run() {
  return success(succeeded(lowerPlan()) && succeeded(lowerBody()));
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Stores numbers from place `first` on.
static void storeNumbers(VectorBuilder &b, Value out, int64_t first, ValueRange numbers) {
  for (auto [i, number] : llvm::enumerate(numbers)) {
    Value value = arith::IndexCastOp::create(b, b.getI64Type(), number);
    memref::StoreOp::create(b, value, out, ValueRange{b.index(first + i)});
  }
}

LogicalResult KernelLowering::lowerPlan() {
  Block &plan = kernel.getPlan().front();
  OpBuilder builder(kernel.getContext());
  SmallVector<Type> types = convertInputTypes(plan, plan.getNumArguments());
  types.push_back(MemRefType::get({ShapedType::kDynamic}, builder.getI64Type()));
  func::FuncOp function = createFunction(kernel, "_plan", types);
  Block *entry = &function.front();
  builder.setInsertionPointToEnd(entry);
  VectorBuilder b(kernel.getLoc(), builder, helpers.buffers.width);
  IRMapping map;
  map.map(plan.getArguments(), entry->getArguments().drop_back());
  Value out = entry->getArguments().back();

  int64_t requirements = 0;
  for (Operation &op : plan) {
    b.setLoc(op.getLoc());
    if (auto require = dyn_cast<tile::RequireOp>(op)) {
      // What follows may divide by what this one has checked, so it must not run.
      Block *fail = function.addBlock(), *next = function.addBlock();
      cf::CondBranchOp::create(b, map.lookup(require.getCondition()), next, fail);
      b.setInsertionPointToEnd(fail);
      SmallVector<Value> numbers = {b.index(++requirements)};
      for (Value value : require.getValues())
        numbers.push_back(map.lookup(value));
      storeNumbers(b, out, 0, numbers);
      func::ReturnOp::create(b, ValueRange());
      b.setInsertionPointToEnd(next);
    } else if (auto end = dyn_cast<tile::PlanOp>(op)) {
      SmallVector<Value> numbers = {b.index(0)};
      for (Value value : end.getOperands())
        numbers.push_back(map.lookup(value));
      storeNumbers(b, out, 0, numbers);
      func::ReturnOp::create(b, ValueRange());
    } else if (failed(cloneScalarOp(b, op, map))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelLowering::locate(VectorBuilder &b, Value number, ValueRange extents) {
  SmallVector<Value> at(extents.size());
  for (int64_t axis = int64_t(extents.size()) - 1; axis > 0; --axis) {
    at[axis] = arith::RemUIOp::create(b, number, extents[axis]);
    number = arith::DivUIOp::create(b, number, extents[axis]);
  }
  if (!at.empty())
    at[0] = number;
  return at;
}

LogicalResult KernelLowering::lowerBody() {
  Block &body = kernel.getBody().front();
  unsigned inputs = kernel.getInputs(), grid = kernel.getGridArguments().size();
  OpBuilder builder(kernel.getContext());
  SmallVector<Type> types = convertInputTypes(body, inputs);
  llvm::append_range(types, TypeRange(kernel.getOutputArguments()));
  types.append(grid + 2, builder.getIndexType());
  func::FuncOp function = createFunction(kernel, "_body", types);
  Block *entry = &function.front();
  auto arguments = entry->getArguments();
  builder.setInsertionPointToEnd(entry);
  VectorBuilder b(kernel.getLoc(), builder, helpers.buffers.width);
  unsigned fixed = inputs + kernel.getOutputs();
  values.map(body.getArguments().take_front(fixed), arguments.take_front(fixed));

  Value lower = arguments[fixed + grid], upper = arguments[fixed + grid + 1];
  LogicalResult result = success();
  openScope();
  allocationPoint = func::ReturnOp::create(b, ValueRange());
  b.setInsertionPoint(allocationPoint);
  Value step = b.index(1);
  auto points = scf::ForOp::create(b, lower, upper, step);
  Operation *end = allocationPoint;
  allocationPoint = points;
  b.setInsertionPointToStart(points.getBody());
  SmallVector<Value> at = locate(b, points.getInductionVar(), arguments.slice(fixed, grid));
  values.map(kernel.getGridArguments(), at);
  result = lowerBlock(b, body);
  b.setInsertionPoint(end);
  for (Value buffer : heapBuffers)
    memref::DeallocOp::create(b, buffer);
  closeScope();
  return result;
}

LogicalResult KernelLowering::lowerBlock(VectorBuilder &b, Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    b.setLoc(op.getLoc());
    if (failed(lowerOp(b, op)))
      return failure();
  }
  return success();
}

LogicalResult KernelLowering::lowerOp(VectorBuilder &b, Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForOp loop) { return lowerFor(b, loop); })
      .Case([&](scf::IfOp choice) { return lowerIf(b, choice); })
      .Case([&](tile::LoadOp load) { return lowerLoad(b, load); })
      .Case([&](tile::DotOp dot) { return lowerDot(b, dot); })
      .Case([&](tile::ScoreOp score) { return lowerScore(b, score); })
      .Case([&](tile::MaskOp mask) { return lowerMask(b, mask); })
      .Case([&](tile::ClassifyOp classify) { return lowerClassify(b, classify); })
      .Case([&](tile::BeginOp begin) { return lowerBegin(b, begin); })
      .Case([&](tile::SoftmaxStepOp step) { return lowerStep(b, step); })
      .Case([&](tile::SkipOp skip) { return lowerSkip(b, skip); })
      .Case([&](tile::UnmarkOp unmark) { return lowerUnmark(b, unmark); })
      .Case([&](tile::FinishOp finish) { return lowerFinish(b, finish); })
      .Case([&](tile::MergeOp merge) { return lowerMerge(b, merge); })
      .Case([&](tile::StoreOp store) { return lowerStore(b, store); })
      .Case([&](tile::SummarizeOp summary) { return lowerSummarize(b, summary); })
      .Case([&](tile::FoldOp fold) { return lowerFold(b, fold); })
      .Case([&](tile::ProjectOp project) { return lowerProject(b, project); })
      .Case([&](tile::ScoreBlocksOp scores) { return lowerScoreBlocks(b, scores); })
      .Case([&](tile::RestrictOp restricted) { return lowerRestrict(b, restricted); })
      .Case([&](tile::ScoreListOp scores) { return lowerScoreList(b, scores); })
      .Case([&](tile::ChooseOp choice) { return lowerChoose(b, choice); })
      .Case([&](tile::SampleOp sample) { return lowerSample(b, sample); })
      .Case([&](tile::MarginOp margin) { return lowerMargin(b, margin); })
      .Case([&](tile::GateOp gate) { return lowerGate(b, gate); })
      .Case([&](tile::LinearStateOp state) { return lowerLinearState(b, state); })
      .Case([&](tile::LinearPrefixOp prefix) { return lowerLinearPrefix(b, prefix); })
      .Case([&](tile::LinearFoldOp fold) { return lowerLinearFold(b, fold); })
      .Case([&](tile::LinearReadOp read) { return lowerLinearRead(b, read); })
      .Case([&](tile::GatedMergeOp merge) { return lowerGatedMerge(b, merge); })
      .Default([&](Operation *other) -> LogicalResult {
        return emitListFormat(b, *other, values) ? success() : cloneScalarOp(b, *other, values);
      });
}

SmallVector<Value> KernelLowering::scalars(ValueRange range) {
  SmallVector<Value> result;
  for (Value value : range)
    result.push_back(values.lookup(value));
  return result;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value KernelLowering::allocate(MemRefType type, Location loc) {
  SmallVector<Value> &free = spare[type];
  Value buffer;
  if (!free.empty()) {
    buffer = free.pop_back_val();
  } else {
    OpBuilder builder(allocationPoint);
    IntegerAttr alignment = builder.getI64IntegerAttr(bufferAlignment);
    int64_t bytes = type.getNumElements() * int64_t(sizeof(float));
    if (stackBytes + bytes <= largestFrame) {
      stackBytes += bytes;
      buffer = memref::AllocaOp::create(builder, loc, type, alignment);
    } else {
      buffer = memref::AllocOp::create(builder, loc, type, alignment);
      heapBuffers.push_back(buffer);
    }
  }
  scopes.back().push_back(buffer);
  return buffer;
}

Value KernelLowering::allocate(Value tile) {
  auto type = cast<tile::TileType>(tile.getType());
  return allocate(helpers.buffers.getType(type, TileLayout::RowsLast), tile.getLoc());
}

void KernelLowering::closeScope() {
  for (Value buffer : scopes.pop_back_val())
    spare[buffer.getType()].push_back(buffer);
}

Value KernelLowering::find(Operation *user, Value tile, TileLayout layout) {
  Value buffer = tiles.lookup({tile, int(layout)});
  if (!buffer)
    user->emitOpError("expected keys and values to come from tile.load in the same loop");
  return buffer;
}

void KernelLowering::bind(Value tile, TileLayout layout, Value buffer) {
  tiles[{tile, int(layout)}] = buffer;
}

/// Whether nothing can read `tile` once `user` has run.
static bool isLastUse(Operation *user, Value tile) {
  Block *home = tile.getParentBlock();
  // In a loop around the user alone, the next iteration reads the tile again.
  for (Operation *around = user; around->getBlock() != home; around = around->getParentOp())
    if (!isa<scf::IfOp>(around->getParentOp()))
      return false;
  for (Operation *other : tile.getUsers()) {
    if (other == user)
      continue;
    // Where the paths to the two users part: later in one block, or in branches that exclude each
    // other.
    Operation *a = user, *b = other;
    SmallVector<Operation *> aboveA;
    for (Operation *op = a;; op = op->getParentOp()) {
      aboveA.push_back(op);
      if (op->getBlock() == home)
        break;
    }
    while (llvm::none_of(aboveA, [&](Operation *op) { return op->getBlock() == b->getBlock(); }))
      b = b->getParentOp();
    a = *llvm::find_if(aboveA, [&](Operation *op) { return op->getBlock() == b->getBlock(); });
    bool exclusive = false;
    if (a == b) {
      // The same scf.if around both, in different regions.
      exclusive = isa<scf::IfOp>(a);
    }
    if (!exclusive && !b->isBeforeInBlock(a))
      return false;
  }
  return true;
}

Value KernelLowering::consume(VectorBuilder &b, Operation *user, Value tile) {
  Value buffer = find(user, tile, TileLayout::RowsLast);
  if (!buffer || isLastUse(user, tile))
    return buffer;
  Value copy = allocate(cast<MemRefType>(buffer.getType()), user->getLoc());
  helpers.callCopy(b, buffer, copy);
  return copy;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerFor(VectorBuilder &b, scf::ForOp op) {
  // Tiles are carried in their buffers, everything else as the loop's own values.
  SmallVector<Value> init, targets;
  for (Value value : op.getInitArgs()) {
    Value target;
    if (isa<tile::TileType>(value.getType())) {
      target = consume(b, op, value);
      if (!target)
        return failure();
    } else {
      init.push_back(scalar(value));
    }
    targets.push_back(target);
  }
  auto loop = scf::ForOp::create(b, scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                                 scalar(op.getStep()), init);
  values.map(op.getInductionVar(), loop.getInductionVar());
  unsigned next = 0;
  for (auto [argument, result, target] :
       llvm::zip_equal(op.getRegionIterArgs(), op.getResults(), targets)) {
    if (target) {
      bind(argument, TileLayout::RowsLast, target);
      bind(result, TileLayout::RowsLast, target);
    } else {
      values.map(argument, loop.getRegionIterArg(next));
      values.map(result, loop.getResult(next));
      ++next;
    }
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  openScope();
  if (failed(lowerBlock(b, *op.getBody())))
    return failure();
  Operation *yield = op.getBody()->getTerminator();
  SmallVector<Value> yielded;
  SmallVector<std::pair<Value, Value>> moves;
  for (auto [value, target] : llvm::zip_equal(yield->getOperands(), targets)) {
    if (!target) {
      yielded.push_back(scalar(value));
      continue;
    }
    Value buffer = find(yield, value, TileLayout::RowsLast);
    if (!buffer)
      return failure();
    if (buffer != target)
      moves.push_back({buffer, target});
  }
  // Through copies, for a loop may swap two tiles.
  for (auto &[from, to] : moves)
    if (llvm::is_contained(targets, from)) {
      Value copy = allocate(cast<MemRefType>(from.getType()), op.getLoc());
      helpers.callCopy(b, from, copy);
      from = copy;
    }
  for (auto [from, to] : moves)
    helpers.callCopy(b, from, to);
  if (!init.empty())
    scf::YieldOp::create(b, yielded);
  closeScope();
  return success();
}

LogicalResult KernelLowering::lowerBranch(VectorBuilder &b, Block &block, Block *into,
                                          ValueRange results, ArrayRef<Value> targets) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(into);
  openScope();
  if (failed(lowerBlock(b, block)))
    return failure();
  SmallVector<Value> yielded;
  Operation *yield = block.getTerminator();
  for (auto [value, target] : llvm::zip_equal(yield->getOperands(), targets)) {
    if (!target) {
      yielded.push_back(scalar(value));
      continue;
    }
    Value buffer = find(yield, value, TileLayout::RowsLast);
    if (!buffer)
      return failure();
    if (buffer != target)
      helpers.callCopy(b, buffer, target);
  }
  if (!yielded.empty())
    scf::YieldOp::create(b, yielded);
  closeScope();
  return success();
}

/// The tile that a branch's result was before the steps that update it in place: through them, the
/// buffer stays the same.
static Value getOrigin(Value tile) {
  while (Operation *definition = tile.getDefiningOp()) {
    unsigned number = cast<OpResult>(tile).getResultNumber();
    if (auto step = dyn_cast<tile::SoftmaxStepOp>(definition))
      tile = step->getOperand(2 + number);
    else if (auto loop = dyn_cast<scf::ForOp>(definition))
      tile = loop.getInitArgs()[number];
    else
      break;
  }
  return tile;
}

LogicalResult KernelLowering::lowerIf(VectorBuilder &b, scf::IfOp op) {
  SmallVector<Type> types;
  SmallVector<Value> targets;
  for (OpResult result : op.getResults()) {
    Value target;
    if (isa<tile::TileType>(result.getType())) {
      // A state that one branch steps and the other leaves alone stays where it is, if nothing
      // reads the old one afterwards.
      unsigned number = result.getResultNumber();
      Value before = getOrigin(op.thenYield().getOperand(number));
      bool inPlace =
          before == getOrigin(op.elseYield().getOperand(number)) && isLastUse(op, before);
      target = inPlace ? tiles.lookup({before, int(TileLayout::RowsLast)}) : Value();
      if (!target)
        target = allocate(result);
      bind(result, TileLayout::RowsLast, target);
    } else {
      types.push_back(result.getType());
    }
    targets.push_back(target);
  }
  auto choice = scf::IfOp::create(b, types, scalar(op.getCondition()),
                                  /*addThenBlock=*/true, /*addElseBlock=*/bool(op.elseBlock()));
  for (Block *block : {choice.thenBlock(), choice.elseBlock()})
    if (block && types.empty() && block->empty()) {
      OpBuilder atEnd = OpBuilder::atBlockEnd(block);
      scf::YieldOp::create(atEnd, op.getLoc());
    }
  if (failed(lowerBranch(b, *op.thenBlock(), choice.thenBlock(), op.getResults(), targets)))
    return failure();
  if (op.elseBlock() &&
      failed(lowerBranch(b, *op.elseBlock(), choice.elseBlock(), op.getResults(), targets)))
    return failure();
  unsigned next = 0;
  for (auto [result, target] : llvm::zip_equal(op.getResults(), targets))
    if (!target)
      values.map(result, choice.getResult(next++));
  return success();
}
