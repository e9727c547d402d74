//===- LinearToTile.cpp - one kernel per op of linear attention -----------===//
#include "compiler/Analysis/Footprint.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/SelectLowering.h"
#include "compiler/Passes/SetRequirements.h"
#include "dialects/Attn/Attn.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

namespace lacuna {
#define GEN_PASS_DEF_LINEARTOTILEPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Most value channels and rows that one program takes.
static constexpr int64_t mostChannels = 128, mostRows = 128, mergedRows = 64;

/// The extents of `tensor` in the plan.
static SmallVector<Value> getShape(KernelBuilder &kernel, Value tensor) {
  SmallVector<Value> shape;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(tensor.getType()).getRank(); ++axis)
    shape.push_back(getExtent(kernel.plan, kernel.getLoc(), kernel.inPlan(tensor), axis));
  return shape;
}

/// Where the program of this grid point starts along an axis in steps of `extent`.
static Value startOf(KernelBuilder &kernel, unsigned axis, int64_t extent) {
  Location loc = kernel.getLoc();
  return kernel.body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(axis),
                                                 makeIndex(kernel.body, loc, extent));
}

/// Requires that `found` and `expected` have equal extents along the first `axes` axes.
static LogicalResult requireAlike(KernelBuilder &kernel, Value found, Value expected, unsigned axes,
                                  StringRef message) {
  for (unsigned axis = 0; axis < axes; ++axis)
    if (failed(requireEqualExtents(kernel, found, expected, axis, message)))
      return failure();
  return success();
}

static constexpr const char *normsMessage =
    "expected norms of as many states as there are, got {0} along an axis of {1}";

static LogicalResult lowerState(attn::LinearStateOp op, StringRef name) {
  Location loc = op.getLoc();
  Value key = op.getKey(), value = op.getValue();
  KernelBuilder kernel(op, name, {key, value}, {op.getStates().getType(), op.getNorms().getType()},
                       /*gridRank=*/4);
  if (failed(requireAlike(kernel, value, key, 3,
                          "expected a value for each key, got {0} along an axis of {1}")))
    return failure();
  OpBuilder &plan = kernel.plan;
  auto size = static_cast<int64_t>(op.getBlock());
  int64_t channels = op.getValue().getType().getDimSize(3);
  int64_t width = std::min(channels, mostChannels);
  SmallVector<Value> keys = getShape(kernel, key);
  Value count = countBlocks(plan, loc, keys[2], size);
  Value columns = countBlocks(plan, loc, makeIndex(plan, loc, channels), width);
  SmallVector<Value> grid = {keys[0], keys[1], count, columns};
  SmallVector<Value> shape = {keys[0], keys[1], count, keys[3], makeIndex(plan, loc, channels)};
  shape.append({keys[0], keys[1], count, keys[3]});
  tile::LinearStateOp::create(kernel.body, loc, op.getFeature(), kernel.inBody(key),
                              kernel.inBody(value), kernel.getGrid(0), kernel.getGrid(1),
                              kernel.getGrid(2), size, startOf(kernel, 3, width), width,
                              kernel.getOutput(0), kernel.getOutput(1));
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

/// States and norms with another number of states.
static SmallVector<Value> shapesOfSums(ArrayRef<Value> states, Value count) {
  SmallVector<Value> shape(states);
  shape[2] = count;
  SmallVector<Value> norms(ArrayRef(shape).drop_back());
  llvm::append_range(shape, norms);
  return shape;
}

static LogicalResult lowerPrefix(attn::LinearPrefixOp op, StringRef name) {
  Location loc = op.getLoc();
  KernelBuilder kernel(op, name, op->getOperands(),
                       {op.getSums().getType(), op.getNormSums().getType()}, /*gridRank=*/3);
  if (failed(requireAlike(kernel, op.getNorms(), op.getStates(), 3, normsMessage)))
    return failure();
  OpBuilder &plan = kernel.plan;
  SmallVector<Value> states = getShape(kernel, op.getStates());
  Value one = makeIndex(plan, loc, 1);
  Value count = plan.createOrFold<arith::AddIOp>(loc, states[2], one);
  Value rows = plan.createOrFold<arith::AddIOp>(loc, states[3], one);
  tile::LinearPrefixOp::create(kernel.body, loc, kernel.inBody(op.getStates()),
                               kernel.inBody(op.getNorms()), kernel.getGrid(0), kernel.getGrid(1),
                               kernel.getGrid(2), kernel.getOutput(0), kernel.getOutput(1));
  replaceByLaunch(op, kernel, {states[0], states[1], rows}, shapesOfSums(states, count));
  return success();
}

static LogicalResult lowerFold(attn::LinearFoldOp op, StringRef name) {
  Location loc = op.getLoc();
  KernelBuilder kernel(op, name, op->getOperands(),
                       {op.getSums().getType(), op.getNormSums().getType()}, /*gridRank=*/3);
  if (failed(requireAlike(kernel, op.getNorms(), op.getStates(), 3, normsMessage)))
    return failure();
  auto by = static_cast<int64_t>(op.getBy());
  SmallVector<Value> states = getShape(kernel, op.getStates());
  Value count = countBlocks(kernel.plan, loc, states[2], by);
  tile::LinearFoldOp::create(kernel.body, loc, kernel.inBody(op.getStates()),
                             kernel.inBody(op.getNorms()), kernel.getGrid(0), kernel.getGrid(1),
                             kernel.getGrid(2), by, kernel.getOutput(0), kernel.getOutput(1));
  replaceByLaunch(op, kernel, {states[0], states[1], count}, shapesOfSums(states, count));
  return success();
}

static LogicalResult requireRead(attn::LinearReadOp op, KernelBuilder &kernel) {
  Location loc = op.getLoc();
  Value query = op.getQuery(), states = op.getStates();
  if (failed(requireAlike(kernel, op.getNorms(), states, 3, normsMessage)) ||
      failed(requireAlike(kernel, states, query, 1,
                          "expected query and states to share the batch, got {1} and {0}")))
    return failure();
  auto extent = [&](Value tensor, unsigned axis) {
    return getExtent(kernel.plan, loc, kernel.inPlan(tensor), axis);
  };
  if (failed(requireKeyHeads(kernel, extent(query, 1), extent(states, 1))))
    return failure();
  return requireSequenceSets(kernel, op.getSet(), kernel.inPlan(query), extent(query, 2),
                             extent(states, 2));
}

/// Between which states those lie that `row` reads: bounds that the set's formula gives.
static FailureOr<std::pair<Value, Value>> emitRange(KernelBuilder &kernel, Value set, Value row,
                                                    Value rows, Value states) {
  Location loc = kernel.getLoc();
  OpBuilder &body = kernel.body;
  sparsity::FormulaSpace space(set.getContext(), 1, 1);
  FailureOr<sparsity::Formula> formula = sparsity::buildFormula(kernel.inBody(set), space);
  if (failed(formula))
    return failure();
  FootprintOptions options;
  options.maxBoxes = 1;
  Footprint footprint = computeFootprint(*formula, space, {{1}, {1}}, options);
  Value lower = makeIndex(body, loc, 0), upper = states;
  if (footprint.live.empty())
    return std::pair(lower, lower);
  sparsity::PairContext pair;
  pair.batch = kernel.getGrid(0);
  pair.head = kernel.getGrid(1);
  pair.query = {row};
  pair.querySizes = {rows};
  pair.keySizes = {states};
  SmallVector<Value> symbols;
  for (const TileSymbol &symbol : footprint.symbols)
    symbols.push_back(sparsity::emitSymbol(body, loc, space.getSymbols()[symbol.symbol], pair));
  auto expand = [&](AffineExpr bound) {
    return affine::expandAffineExpr(body, loc, bound, row, symbols);
  };
  // Tiles are single rows and states. Several boxes have no bounds in common.
  if (footprint.live.size() > 1)
    return std::pair(lower, upper);
  const AxisRange &range = footprint.live.front().ranges.front();
  for (AffineExpr bound : range.lower)
    lower = body.createOrFold<arith::MaxSIOp>(loc, lower, expand(bound));
  for (AffineExpr bound : range.upper)
    upper = body.createOrFold<arith::MinSIOp>(loc, upper, expand(bound));
  return std::pair(lower, upper);
}

static LogicalResult lowerRead(attn::LinearReadOp op, StringRef name) {
  Location loc = op.getLoc();
  Value query = op.getQuery(), states = op.getStates();
  KernelBuilder kernel(op, name, {query, states, op.getNorms(), op.getSet()},
                       {op.getOutput().getType(), op.getLse().getType()}, /*gridRank=*/4);
  if (failed(requireRead(op, kernel)))
    return failure();
  OpBuilder &plan = kernel.plan, &body = kernel.body;
  // Rows of a program lie in one tile.
  auto queryTile = static_cast<int64_t>(op.getQueryTile());
  int64_t rows = queryTile <= mostRows ? queryTile : std::gcd(queryTile, mostRows);
  int64_t channels = op.getStates().getType().getDimSize(4);
  int64_t width = std::min(channels, mostChannels);
  SmallVector<Value> shape = getShape(kernel, query);
  shape[3] = makeIndex(plan, loc, channels);
  SmallVector<Value> grid = {shape[0], shape[1], countBlocks(plan, loc, shape[2], rows),
                             countBlocks(plan, loc, shape[3], width)};
  shape.append({shape[0], shape[1], shape[2]});

  Value row = startOf(kernel, 2, rows);
  Value past = body.createOrFold<arith::RemUIOp>(loc, row, makeIndex(body, loc, queryTile));
  Value first = body.createOrFold<arith::SubIOp>(loc, row, past);
  Value queryRows = getExtent(body, loc, kernel.inBody(query), 2);
  Value count = getExtent(body, loc, kernel.inBody(states), 2);
  auto range = emitRange(kernel, op.getSet(), first, queryRows, count);
  if (failed(range))
    return failure();
  auto read = tile::LinearReadOp::create(
      body, loc, op.getFeature(), kernel.inBody(query), kernel.inBody(states),
      kernel.inBody(op.getNorms()), kernel.getGrid(0), kernel.getGrid(1), row,
      startOf(kernel, 3, width), ArrayRef<int64_t>{rows, width}, first, range->first, range->second,
      op.getUndivided(), kernel.getOutput(0), kernel.getOutput(1));
  body.setInsertionPoint(read);
  if (failed(emitPairs(kernel, read.getMember(), op.getSet(), /*eachHead=*/false, kernel.getGrid(1),
                       queryRows, count)))
    return failure();
  body.setInsertionPointAfter(read);
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

static LogicalResult lowerGatedMerge(attn::GatedMergeOp op, StringRef name) {
  Location loc = op.getLoc();
  KernelBuilder kernel(op, name, op->getOperands(), op.getOutput().getType(), /*gridRank=*/3);
  Value first = op.getOutputs().front();
  constexpr const char *message =
      "expected all parts of a merge to have one shape, got {0} and {1}";
  for (Value part : op.getOutputs())
    if (part != first && failed(requireAlike(kernel, part, first, 3, message)))
      return failure();
  bool isPerHead = cast<RankedTensorType>(op.getGates().front().getType()).getRank() == 1;
  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape = getShape(kernel, first);
  for (Value gate : SetVector<Value>(op.getGates().begin(), op.getGates().end()))
    for (auto [axis, expected] :
         llvm::enumerate(ArrayRef(shape).slice(isPerHead ? 1 : 0, isPerHead ? 1 : 3))) {
      Value found = getExtent(plan, loc, kernel.inPlan(gate), axis);
      Value equal =
          plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, found, expected);
      if (failed(kernel.require(equal,
                                "expected a gate per row or per head, got {0} along an axis of {1}",
                                {found, expected})))
        return failure();
    }
  SmallVector<Value> outputs, gates;
  for (auto [output, gate] : llvm::zip_equal(op.getOutputs(), op.getGates())) {
    outputs.push_back(kernel.inBody(output));
    gates.push_back(kernel.inBody(gate));
  }
  tile::GatedMergeOp::create(kernel.body, loc, outputs, gates, kernel.getGrid(0), kernel.getGrid(1),
                             startOf(kernel, 2, mergedRows), mergedRows, kernel.getOutput(0));
  Value tiles = countBlocks(plan, loc, shape[2], mergedRows);
  replaceByLaunch(op, kernel, {shape[0], shape[1], tiles}, shape);
  return success();
}

static LogicalResult lowerOp(Operation *op, StringRef name) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](attn::LinearStateOp op) { return lowerState(op, name); })
      .Case([&](attn::LinearPrefixOp op) { return lowerPrefix(op, name); })
      .Case([&](attn::LinearFoldOp op) { return lowerFold(op, name); })
      .Case([&](attn::LinearReadOp op) { return lowerRead(op, name); })
      .Default([&](Operation *op) { return lowerGatedMerge(cast<attn::GatedMergeOp>(op), name); });
}

static LogicalResult lowerFunction(func::FuncOp function) {
  auto isLinear = [](Operation *op) {
    return attn::isLinear(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (!function.walk(isLinear).wasInterrupted())
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a single block around linear attention, got ")
           << function.getBody().getBlocks().size() << " blocks";
  eraseDeadOps(function.getBody().front());
  return lowerTopLevel(function, attn::isLinear, lowerOp);
}

namespace {
struct LinearToTile final : lacuna::impl::LinearToTilePassBase<LinearToTile> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(lowerFunction(function)))
        return signalPassFailure();
  }
};
} // namespace
