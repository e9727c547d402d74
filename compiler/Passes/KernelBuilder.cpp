//===- KernelBuilder.cpp - one tile.kernel and its launch -----------------===//
#include "compiler/Passes/KernelBuilder.h"

#include "dialects/Attn/Attn.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace lacuna;

bool lacuna::isCloneable(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  return isMemoryEffectFree(op) && llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

Value lacuna::makeIndex(OpBuilder &builder, Location loc, int64_t number) {
  return arith::ConstantIndexOp::create(builder, loc, number);
}

Value lacuna::getExtent(OpBuilder &builder, Location loc, Value tensor, unsigned axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return makeIndex(builder, loc, type.getDimSize(axis));
  return tensor::DimOp::create(builder, loc, tensor, axis);
}

Value lacuna::makeProduct(OpBuilder &builder, Location loc, ValueRange factors) {
  Value result = makeIndex(builder, loc, 1);
  for (Value factor : factors)
    result = builder.createOrFold<arith::MulIOp>(loc, result, factor);
  return result;
}

SmallVector<Value> lacuna::makeBoxCounts(OpBuilder &builder, Location loc, ValueRange sizes,
                                         ArrayRef<int64_t> box) {
  SmallVector<Value> counts;
  for (auto [size, tokens] : llvm::zip_equal(sizes, box)) {
    Value up = builder.createOrFold<arith::AddIOp>(loc, size, makeIndex(builder, loc, tokens - 1));
    counts.push_back(
        builder.createOrFold<arith::DivUIOp>(loc, up, makeIndex(builder, loc, tokens)));
  }
  return counts;
}

Value lacuna::makeBoxNumber(OpBuilder &builder, Location loc, ValueRange at, ValueRange sizes,
                            ArrayRef<int64_t> box) {
  Value result = makeIndex(builder, loc, 0);
  SmallVector<Value> counts = makeBoxCounts(builder, loc, sizes, box);
  for (auto [first, tokens, count] : llvm::zip_equal(at, box, counts)) {
    Value number =
        builder.createOrFold<arith::DivUIOp>(loc, first, makeIndex(builder, loc, tokens));
    result = builder.createOrFold<arith::MulIOp>(loc, result, count);
    result = builder.createOrFold<arith::AddIOp>(loc, result, number);
  }
  return result;
}

/// Splits what `uses` depend on into `inputs` (values that only the function can supply) and
/// `slice` (ops to compute again).
static void collectSlice(ValueRange uses, SetVector<Value> &inputs, DenseSet<Operation *> &slice) {
  SmallVector<Value> pending(uses);
  for (size_t next = 0; next < pending.size(); ++next) {
    Value value = pending[next];
    Operation *definition = value.getDefiningOp();
    if (!definition || !isCloneable(definition) || isa<attn::AttendOp, attn::MergeOp>(definition)) {
      inputs.insert(value);
      continue;
    }
    if (!slice.insert(definition).second)
      continue;
    llvm::append_range(pending, definition->getOperands());
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(definition->getRegions(), captured);
    llvm::append_range(pending, captured);
  }
}

static RankedTensorType withoutEncoding(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

KernelBuilder::KernelBuilder(Operation *op, StringRef name, ValueRange uses,
                             ArrayRef<RankedTensorType> outputTypes, unsigned gridRank)
    : plan(op->getContext()), body(op->getContext()), op(op), loc(op->getLoc()) {
  for (RankedTensorType type : outputTypes)
    outputs.push_back(withoutEncoding(type));
  auto function = op->getParentOfType<func::FuncOp>();
  inputs.insert(function.getArguments().begin(), function.getArguments().end());
  DenseSet<Operation *> slice;
  collectSlice(uses, inputs, slice);

  OpBuilder builder(function);
  SymbolTable symbols(function->getParentOp());
  kernel = tile::KernelOp::create(builder, loc, name, inputs.size(), outputs.size());
  symbols.insert(kernel);
  Block *planBlock = builder.createBlock(&kernel.getPlan());
  Block *bodyBlock = builder.createBlock(&kernel.getBody());
  for (Value input : inputs) {
    planMap.map(input, planBlock->addArgument(input.getType(), input.getLoc()));
    bodyMap.map(input, bodyBlock->addArgument(input.getType(), input.getLoc()));
  }
  for (RankedTensorType type : outputs)
    bodyBlock->addArgument(MemRefType::get(type.getShape(), type.getElementType()), loc);
  for (unsigned axis = 0; axis < gridRank; ++axis)
    bodyBlock->addArgument(builder.getIndexType(), loc);

  plan.setInsertionPointToEnd(planBlock);
  body.setInsertionPointToEnd(bodyBlock);
  for (Operation &candidate : *op->getBlock())
    if (slice.contains(&candidate)) {
      plan.clone(candidate, planMap);
      body.clone(candidate, bodyMap);
    }
}

LogicalResult KernelBuilder::require(Value condition, StringRef message, ValueRange values) {
  APInt known;
  if (!matchPattern(condition, m_ConstantInt(&known))) {
    tile::RequireOp::create(plan, loc, condition, message, values);
    return success();
  }
  if (!known.isZero())
    return success();
  std::string text = message.str();
  for (auto [index, value] : llvm::enumerate(values)) {
    std::string hole = "{" + std::to_string(index) + "}";
    APInt number;
    std::string shown = "an unknown number";
    if (matchPattern(value, m_ConstantInt(&number)))
      shown = std::to_string(number.getSExtValue());
    if (size_t at = text.find(hole); at != std::string::npos)
      text.replace(at, hole.size(), shown);
  }
  return op->emitOpError(text);
}

LogicalResult lacuna::requireKeyHeads(KernelBuilder &kernel, Value heads, Value keyHeads) {
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return plan.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  };
  // No key head at all fits only no query head; the division must not see it.
  Value one = makeIndex(plan, loc, 1), zero = makeIndex(plan, loc, 0);
  Value divisor = plan.createOrFold<arith::MaxUIOp>(loc, keyHeads, one);
  Value rest = plan.createOrFold<arith::RemUIOp>(loc, heads, divisor);
  Value divides = compare(arith::CmpIPredicate::eq, rest, zero);
  Value some = compare(arith::CmpIPredicate::sge, keyHeads, one);
  Value none = compare(arith::CmpIPredicate::eq, heads, zero);
  Value served = plan.createOrFold<arith::OrIOp>(loc, some, none);
  Value holds = plan.createOrFold<arith::AndIOp>(loc, divides, served);
  return kernel.require(holds,
                        "expected the number of query heads to be a multiple of the number of key "
                        "heads, got {0} and {1}",
                        {heads, keyHeads});
}

void lacuna::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void KernelBuilder::finish(ValueRange grid, ValueRange shapes) {
  tile::PlanOp::create(plan, loc, grid, shapes);
  tile::EndOp::create(body, loc);
  // Each region got all that either needs.
  eraseDeadOps(kernel.getPlan().front());
  eraseDeadOps(kernel.getBody().front());
}

tile::LaunchOp KernelBuilder::launch(ValueRange into) {
  OpBuilder builder(op);
  SmallVector<Type> types(outputs.begin(), outputs.end());
  return tile::LaunchOp::create(builder, loc, types, kernel.getSymName(), inputs.getArrayRef(),
                                into);
}
