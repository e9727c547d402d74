//===- SelectToTile.cpp - one kernel per select op ------------------------===//
#include "compiler/Passes/LaunchRewrite.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/Segments.h"
#include "compiler/Passes/SelectLowering.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace lacuna {
#define GEN_PASS_DEF_SELECTTOTILEPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using lacuna::select::Rule;
using lacuna::select::Scope;

/// Most rows and features that one program of a projection takes.
static constexpr int64_t projectedRows = 128, projectedFeatures = 128;

//===----------------------------------------------------------------------===//
// What all kernels need
//===----------------------------------------------------------------------===//

void lacuna::replaceByLaunch(Operation *op, KernelBuilder &kernel, ValueRange grid,
                             ValueRange shapes) {
  kernel.finish(grid, shapes);
  op->replaceAllUsesWith(kernel.launch({}));
  op->erase();
}

LogicalResult lacuna::requireEqualExtents(KernelBuilder &kernel, Value found, Value expected,
                                          unsigned axis, StringRef message) {
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  Value a = getExtent(plan, loc, kernel.inPlan(found), axis);
  Value b = getExtent(plan, loc, kernel.inPlan(expected), axis);
  Value equal = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, b);
  return kernel.require(equal, message, {a, b});
}

Value lacuna::countBlocks(OpBuilder &builder, Location loc, Value number, int64_t size) {
  return makeBoxCounts(builder, loc, number, size).front();
}

/// The extents of `tensor` in the plan.
static SmallVector<Value> getShape(KernelBuilder &kernel, Value tensor) {
  SmallVector<Value> shape;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(tensor.getType()).getRank(); ++axis)
    shape.push_back(getExtent(kernel.plan, kernel.getLoc(), kernel.inPlan(tensor), axis));
  return shape;
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

static LogicalResult lowerSummarize(select::SummarizeOp op, StringRef name) {
  Location loc = op.getLoc();
  SmallVector<SmallVector<OpFoldResult>> segments;
  SmallVector<Value> uses{op.getTokens()};
  if (op.getDomain()) {
    if (failed(appendSegments(op.getDomain(), segments)))
      return op.emitOpError("expected a domain that domain ops define, got one from outside");
    for (OpFoldResult size : segments.front())
      if (auto value = dyn_cast<Value>(size))
        uses.push_back(value);
  }
  if (op.getFrom())
    uses.push_back(op.getFrom());
  ArrayRef<int64_t> box = op.getBlock();
  KernelBuilder kernel(op, name, uses, op.getResult().getType(), 2 + box.size());
  OpBuilder &plan = kernel.plan, &body = kernel.body;
  SmallVector<Value> shape = getShape(kernel, op.getTokens());
  auto sizesAt = [&](OpBuilder &builder, const IRMapping &map) -> SmallVector<Value> {
    if (!op.getDomain())
      return {getExtent(builder, loc, map.lookup(op.getTokens()), 2)};
    return llvm::map_to_vector(
        segments.front(), [&](OpFoldResult size) { return materialize(builder, loc, size, map); });
  };
  SmallVector<Value> sizes = sizesAt(plan, kernel.getPlanMap());
  if (op.getDomain()) {
    Value zero = makeIndex(plan, loc, 0);
    for (Value size : sizes) {
      Value holds = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, size, zero);
      if (failed(kernel.require(holds, "expected sizes of a domain to be at least 0, got {0}",
                                {size})))
        return failure();
    }
    Value total = makeProduct(plan, loc, sizes);
    Value equal = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, total, shape[2]);
    if (failed(kernel.require(equal,
                              "expected as many tokens as the domain has, got {1} tokens in a "
                              "domain of {0}",
                              {total, shape[2]})))
      return failure();
  }
  SmallVector<Value> counts = makeBoxCounts(plan, loc, sizes, box);
  if (op.getWhole())
    counts[0] = plan.createOrFold<arith::DivUIOp>(loc, sizes[0], makeIndex(plan, loc, box[0]));
  if (op.getFrom()) {
    Value from = kernel.inPlan(op.getFrom()), zero = makeIndex(plan, loc, 0);
    Value holds = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, from, zero);
    if (failed(kernel.require(holds, "expected summaries from a token of at least 0, got {0}",
                              {from})))
      return failure();
    Value before = plan.createOrFold<arith::DivUIOp>(loc, from, makeIndex(plan, loc, box[0]));
    Value touched = plan.createOrFold<arith::SubIOp>(loc, counts[0], before);
    counts[0] = plan.createOrFold<arith::MaxSIOp>(loc, touched, zero);
  }
  SmallVector<Value> grid = {shape[0], shape[1]};
  llvm::append_range(grid, counts);
  auto [first, last] = op.getChannelRange();
  shape[2] = makeProduct(plan, loc, counts);
  shape[3] = makeIndex(plan, loc, op.getResult().getType().getDimSize(3));

  SmallVector<Value> bodySizes = sizesAt(body, kernel.getBodyMap()), at;
  for (auto [axis, extent] : llvm::enumerate(box))
    at.push_back(body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(2 + axis),
                                                  makeIndex(body, loc, extent)));
  Value block = op.getFrom() ? kernel.getGrid(2) : makeBoxNumber(body, loc, at, bodySizes, box);
  if (op.getFrom()) {
    // Rows count from the block of the token to start from.
    Value size = makeIndex(body, loc, box[0]);
    Value before = body.createOrFold<arith::DivUIOp>(loc, kernel.inBody(op.getFrom()), size);
    Value first = body.createOrFold<arith::MulIOp>(loc, before, size);
    at[0] = body.createOrFold<arith::AddIOp>(loc, at[0], first);
  }
  auto summary = tile::SummarizeOp::create(
      body, loc, op.getKind(), kernel.inBody(op.getTokens()), kernel.getGrid(0), kernel.getGrid(1),
      at, bodySizes, box, ArrayRef<int64_t>{first, last}, kernel.getOutput(0), block,
      /*unit=*/nullptr, /*tokens=*/Value(), /*partial=*/Value());
  if (!op.getDomain() && !op.getFrom() && !op.getWhole())
    summary->setAttr(wholeSourceMark, UnitAttr::get(op.getContext()));
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

static LogicalResult lowerFold(select::FoldOp op, StringRef name) {
  Location loc = op.getLoc();
  auto by = static_cast<int64_t>(op.getBy());
  KernelBuilder kernel(op, name, op.getTokens(), op.getResult().getType(), /*gridRank=*/3);
  SmallVector<Value> shape = getShape(kernel, op.getTokens());
  shape[2] = countBlocks(kernel.plan, loc, shape[2], by);
  shape[3] = makeIndex(kernel.plan, loc, op.getResult().getType().getDimSize(3));
  tile::FoldOp::create(kernel.body, loc, kernel.inBody(op.getTokens()), kernel.getGrid(0),
                       kernel.getGrid(1), kernel.getGrid(2), by, op.getReversed(),
                       kernel.getOutput(0));
  replaceByLaunch(op, kernel, ArrayRef(shape).take_front(3), shape);
  return success();
}

/// Requires, in the plan, that each matrix belongs to as many heads as any other.
static LogicalResult requireMatrices(KernelBuilder &kernel, Value heads, Value matrices) {
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  // Without matrices there are no heads.
  Value one = makeIndex(plan, loc, 1);
  Value divisor = plan.createOrFold<arith::MaxSIOp>(loc, matrices, one);
  Value share = plan.createOrFold<arith::DivUIOp>(loc, heads, divisor);
  Value covered = plan.createOrFold<arith::MulIOp>(loc, share, matrices);
  Value holds = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, covered, heads);
  return kernel.require(holds,
                        "expected the number of heads to be a multiple of the number of matrices, "
                        "got {0} and {1}",
                        {heads, matrices});
}

static LogicalResult lowerProject(select::ProjectOp op, StringRef name) {
  Location loc = op.getLoc();
  KernelBuilder kernel(op, name, op->getOperands(), op.getResult().getType(), /*gridRank=*/4);
  OpBuilder &plan = kernel.plan, &body = kernel.body;
  SmallVector<Value> shape = getShape(kernel, op.getTokens());
  Value matrices = getExtent(plan, loc, kernel.inPlan(op.getWeights()), 0);
  if (failed(requireMatrices(kernel, shape[1], matrices)))
    return failure();
  int64_t features = op.getResult().getType().getDimSize(3);
  int64_t width = std::min(features, projectedFeatures);
  shape[3] = makeIndex(plan, loc, features);
  SmallVector<Value> grid = {shape[0], shape[1], countBlocks(plan, loc, shape[2], projectedRows),
                             countBlocks(plan, loc, shape[3], width)};
  auto startOf = [&](unsigned axis, int64_t extent) {
    return body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(axis),
                                            makeIndex(body, loc, extent));
  };
  tile::ProjectOp::create(body, loc, kernel.inBody(op.getTokens()), kernel.inBody(op.getWeights()),
                          kernel.getGrid(0), kernel.getGrid(1), startOf(2, projectedRows),
                          startOf(3, width), ArrayRef<int64_t>{projectedRows, width},
                          kernel.getOutput(0));
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// The extent of the lists: what no row can need more than.
static Value emitCapacity(select::ChooseOp op, KernelBuilder &kernel, Value columns) {
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  Value capacity = columns;
  auto limit = [&](Value most) {
    capacity = plan.createOrFold<arith::MinSIOp>(loc, capacity, most);
  };
  if (op.getScope() == Scope::Row) {
    Value floor = makeIndex(plan, loc, static_cast<int64_t>(op.getFloor().value_or(0)));
    if (op.getRule() == Rule::TopK) {
      Value number;
      if (op.getConstant())
        number = makeIndex(plan, loc, static_cast<int64_t>(op.getConstant()->convertToDouble()));
      else if (op.getNumber().getType().isIndex())
        number = kernel.inPlan(op.getNumber());
      if (number)
        limit(plan.createOrFold<arith::MaxSIOp>(loc, number, floor));
    } else if (op.getRule() == Rule::Share && op.getConstant()) {
      // A multiple of 2^-32, as select.choose says.
      double share = op.getConstant()->convertToDouble();
      auto multiple = static_cast<int64_t>(std::floor(share * 4294967296.0));
      Value part = plan.createOrFold<arith::MulIOp>(loc, columns, makeIndex(plan, loc, multiple));
      Value most =
          plan.createOrFold<arith::CeilDivSIOp>(loc, part, makeIndex(plan, loc, int64_t{1} << 32));
      limit(plan.createOrFold<arith::MaxSIOp>(loc, most, floor));
    }
    if (op.getCap())
      limit(makeIndex(plan, loc, static_cast<int64_t>(*op.getCap())));
  }
  return capacity;
}

static LogicalResult lowerChoose(select::ChooseOp op, StringRef name) {
  Location loc = op.getLoc();
  SmallVector<Value> uses{op.getScores()};
  if (op.getNumber())
    uses.push_back(op.getNumber());
  unsigned axes = 3 - static_cast<unsigned>(op.getScope());
  KernelBuilder kernel(op, name, uses, {op.getIds().getType(), op.getCounts().getType()}, axes);
  if (op.getNumber() && isa<RankedTensorType>(op.getNumber().getType()))
    for (unsigned axis = 0; axis < 3; ++axis)
      if (failed(requireEqualExtents(kernel, op.getNumber(), op.getScores(), axis,
                                     "expected a number for each row of scores, got {0} along an "
                                     "axis of {1}")))
        return failure();
  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape = getShape(kernel, op.getScores());
  SmallVector<Value> grid(ArrayRef(shape).take_front(axes));
  Value columns = shape[3];
  Value fits = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, columns,
                                                makeIndex(plan, loc, INT32_MAX));
  if (failed(kernel.require(fits, "expected at most 2147483647 columns of scores, got {0}",
                            {columns})))
    return failure();
  shape[3] = emitCapacity(op, kernel, columns);
  shape.append({shape[0], shape[1], shape[2]});
  SmallVector<Value> at;
  for (unsigned axis = 0; axis < axes; ++axis)
    at.push_back(kernel.getGrid(axis));
  tile::ChooseOp::create(kernel.body, loc, op.getRule(), kernel.inBody(op.getScores()), at,
                         op.getNumber() ? kernel.inBody(op.getNumber()) : Value(),
                         op.getConstantAttr(), op.getFloorAttr(), op.getCapAttr(), op.getScope(),
                         kernel.getOutput(0), kernel.getOutput(1), /*restricted=*/Value());
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

static LogicalResult lowerSample(select::SampleOp op, StringRef name) {
  Location loc = op.getLoc();
  KernelBuilder kernel(op, name, {op.getScores(), op.getSeed()},
                       {op.getIds().getType(), op.getCounts().getType(), op.getWeights().getType()},
                       /*gridRank=*/3);
  SmallVector<Value> scores = getShape(kernel, op.getScores()), shape = scores;
  SmallVector<Value> grid(ArrayRef(scores).take_front(3));
  llvm::append_range(shape, grid);
  llvm::append_range(shape, scores);
  tile::SampleOp::create(kernel.body, loc, op.getNumberAttr(), kernel.inBody(op.getScores()),
                         kernel.getGrid(0), kernel.getGrid(1), kernel.getGrid(2),
                         kernel.inBody(op.getSeed()), kernel.getOutput(0), kernel.getOutput(1),
                         kernel.getOutput(2));
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

static LogicalResult lowerMargin(select::MarginOp op, StringRef name) {
  KernelBuilder kernel(op, name, op.getScores(), op.getMargin().getType(), /*gridRank=*/3);
  SmallVector<Value> shape = getShape(kernel, op.getScores());
  shape.pop_back();
  tile::MarginOp::create(kernel.body, op.getLoc(), op.getNumberAttr(),
                         kernel.inBody(op.getScores()), kernel.getGrid(0), kernel.getGrid(1),
                         kernel.getGrid(2), kernel.getOutput(0));
  replaceByLaunch(op, kernel, shape, shape);
  return success();
}

static LogicalResult lowerGate(select::GateOp op, StringRef name) {
  KernelBuilder kernel(op, name, op.getValues(), op.getNumbers().getType(), /*gridRank=*/1);
  SmallVector<Value> shape = getShape(kernel, op.getValues());
  tile::GateOp::create(kernel.body, op.getLoc(), op.getShareAttr(), kernel.inBody(op.getValues()),
                       kernel.getGrid(0), op.getLowAttr(), op.getHighAttr(), kernel.getOutput(0));
  replaceByLaunch(op, kernel, shape.front(), shape);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult lowerOp(Operation *op, StringRef name) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](select::SummarizeOp op) { return lowerSummarize(op, name); })
      .Case([&](select::FoldOp op) { return lowerFold(op, name); })
      .Case([&](select::ProjectOp op) { return lowerProject(op, name); })
      .Case([&](select::ScoreOp op) { return lowerScore(op, name); })
      .Case([&](select::LogSumExpOp op) { return lowerLogSumExp(op, name); })
      .Case([&](select::RestrictOp op) { return lowerRestrict(op, name); })
      .Case([&](select::ScoreListOp op) { return lowerScoreList(op, name); })
      .Case([&](select::ChooseOp op) { return lowerChoose(op, name); })
      .Case([&](select::SampleOp op) { return lowerSample(op, name); })
      .Case([&](select::MarginOp op) { return lowerMargin(op, name); })
      .Case([&](select::GateOp op) { return lowerGate(op, name); })
      .Case([&](select::ListOfMaskOp op) { return lowerListOfMask(op, name); })
      .Case([&](select::MaskOfListOp op) { return lowerMaskOfList(op, name); })
      .Case([&](select::ListOfCsrOp op) { return lowerListOfCsr(op, name); })
      .Case([&](select::CsrOfListOp op) { return lowerCsrOfList(op, name); })
      .Case([&](select::ChildrenOp op) { return lowerChildren(op, name); })
      .Case([&](select::PickOp op) { return lowerPick(op, name); })
      .Case([&](select::WithoutOp op) { return lowerWithout(op, name); })
      .Default(
          [](Operation *op) { return op->emitOpError("expected an op with a kernel of its own"); });
}

/// Whether `op` is for this pass; what it yields inside regions goes with the op around it.
static bool isSelect(Operation *op) {
  return isa_and_present<select::SelectDialect>(op->getDialect()) && !isa<select::YieldOp>(op);
}

LogicalResult
lacuna::lowerTopLevel(func::FuncOp function, llvm::function_ref<bool(Operation *)> isOurs,
                      llvm::function_ref<LogicalResult(Operation *, StringRef)> lower) {
  unsigned count = 0;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isOurs(&op))
      continue;
    if (auto named = dyn_cast<NameLoc>(op.getLoc()))
      op.setLoc(named.getChildLoc());
    std::string name =
        (function.getSymName() + "_" + op.getName().stripDialect() + "_" + Twine(count++)).str();
    if (failed(lower(&op, name)))
      return failure();
  }
  WalkResult left = function.walk([&](Operation *op) -> WalkResult {
    if (!isOurs(op))
      return WalkResult::advance();
    return op->emitOpError("expected to stand at the top level of a function");
  });
  return success(!left.wasInterrupted());
}

static LogicalResult lowerFunction(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isSelect(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a single block around select ops, got ")
           << function.getBody().getBlocks().size() << " blocks";
  eraseDeadOps(function.getBody().front());
  for (auto transpose : llvm::to_vector(function.getBody().front().getOps<select::TransposeOp>()))
    expandTranspose(transpose);
  return lowerTopLevel(function, isSelect, lowerOp);
}

namespace {
struct SelectToTile final : lacuna::impl::SelectToTilePassBase<SelectToTile> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(lowerFunction(function)))
        return signalPassFailure();
  }
};
} // namespace
