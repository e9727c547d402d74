//===- SelectScores.cpp - kernels of scores of blocks ---------------------===//
#include "compiler/Passes/SelectLowering.h"
#include "compiler/Passes/SetRequirements.h"

#include "mlir/Transforms/RegionUtils.h"

#include <cmath>

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::Formula;
using lacuna::sparsity::FormulaSpace;

/// Rows and columns of tokens that one program takes, where blocks are not larger.
static constexpr int64_t scoreTile = 128;

/// The multiple of `block` nearest below the usual extent, or one block.
static int64_t tileExtent(int64_t block) {
  return block >= scoreTile ? block : scoreTile / block * block;
}

LogicalResult lacuna::emitPairs(KernelBuilder &kernel, Region &region, Value set, bool eachHead,
                                Value head, Value rows, Value columns) {
  FormulaSpace space(set.getContext(), 1, 1);
  FailureOr<Formula> formula = sparsity::buildFormula(kernel.inBody(set), space);
  if (failed(formula))
    return failure();
  Location loc = kernel.getLoc();
  OpBuilder builder(set.getContext());
  Block *block = builder.createBlock(&region);
  Type index = builder.getIndexType();
  sparsity::PairContext pair;
  pair.batch = kernel.getGrid(0);
  pair.head = eachHead ? Value(block->addArgument(index, loc)) : head;
  pair.query = {block->addArgument(index, loc)};
  pair.key = {block->addArgument(index, loc)};
  pair.querySizes = {rows};
  pair.keySizes = {columns};
  Value live = sparsity::emitPredicate(builder, loc, *formula, space, pair);
  tile::YieldOp::create(builder, loc, live);
  return success();
}

/// Batches, heads and lengths of what a product reads.
template <typename Op>
static LogicalResult requireProduct(KernelBuilder &kernel, Op op, ValueRange sets) {
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  Value query = op.getQuery(), key = op.getKey();
  if (failed(
          requireEqualExtents(kernel, query, key, 0,
                              "expected query and key rows to share the batch, got {0} and {1}")))
    return failure();
  if (failed(requireKeyHeads(kernel, getExtent(plan, loc, kernel.inPlan(query), 1),
                             getExtent(plan, loc, kernel.inPlan(key), 1))))
    return failure();
  return requireSequenceSets(kernel, sets, kernel.inPlan(query),
                             getExtent(plan, loc, kernel.inPlan(query), 2),
                             getExtent(plan, loc, kernel.inPlan(key), 2));
}

static APFloat scaleOf(FloatAttr scale, RankedTensorType query) {
  if (scale)
    return scale.getValue();
  return APFloat(static_cast<float>(1.0 / std::sqrt(static_cast<double>(query.getDimSize(3)))));
}

/// Where the program of this grid point starts along an axis of tiles.
static Value startOf(KernelBuilder &kernel, unsigned axis, int64_t extent) {
  Location loc = kernel.getLoc();
  return kernel.body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(axis),
                                                 makeIndex(kernel.body, loc, extent));
}

/// The pairs of the op's set as those that count.
template <typename Op>
static LogicalResult emitLive(Op op, KernelBuilder &kernel, tile::ScoreBlocksOp scores) {
  if (!op.getSet())
    return success();
  auto rowsOf = [&](Value tensor) {
    return getExtent(kernel.body, op.getLoc(), kernel.inBody(tensor), 2);
  };
  Value rows = rowsOf(op.getQuery()), columns = rowsOf(op.getKey());
  return emitPairs(kernel, scores.getLive(), op.getSet(), /*eachHead=*/true, Value(), rows,
                   columns);
}

//===----------------------------------------------------------------------===//
// select.score
//===----------------------------------------------------------------------===//

/// The function's region with row numbers in place of positions.
static void cloneFunction(select::ScoreOp op, KernelBuilder &kernel, Region &target) {
  if (op.getFunction().empty())
    return;
  Location loc = op.getLoc();
  OpBuilder &body = kernel.body;
  Value shift;
  if (!op.getFromStart()) {
    Value rows = getExtent(body, loc, kernel.inBody(op.getQuery()), 2);
    Value columns = getExtent(body, loc, kernel.inBody(op.getKey()), 2);
    shift = body.createOrFold<arith::SubIOp>(loc, columns, rows);
  }
  IRMapping map = kernel.getBodyMap();
  op.getFunction().cloneInto(&target, map);
  Block &block = target.front();
  OpBuilder inner(&block, block.begin());
  if (shift) {
    Value row = block.getArgument(3);
    Operation *position = arith::AddIOp::create(inner, loc, row, shift);
    row.replaceAllUsesExcept(position->getResult(0), position);
  }
  Operation *yield = block.getTerminator();
  inner.setInsertionPoint(yield);
  tile::YieldOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
}

static LogicalResult requireScore(select::ScoreOp op, KernelBuilder &kernel, ValueRange sets) {
  if (failed(requireProduct(kernel, op, sets)))
    return failure();
  for (Value rows : {op.getLse(), op.getWeights()})
    for (unsigned axis = 0; rows && axis < 3; ++axis)
      if (failed(requireEqualExtents(kernel, rows, op.getQuery(), axis,
                                     "expected a number for each query row, got {0} along an axis "
                                     "of {1}")))
        return failure();
  for (unsigned axis = 0; op.getCompanion() && axis < 3; ++axis)
    if (failed(requireEqualExtents(kernel, op.getCompanion(), op.getKey(), axis,
                                   "expected a companion for each key row, got {0} along an axis "
                                   "of {1}")))
      return failure();
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  Value heads = getExtent(plan, loc, kernel.inPlan(op.getQuery()), 1);
  Value group = makeIndex(plan, loc, static_cast<int64_t>(op.getGroup()));
  Value rest = plan.createOrFold<arith::RemUIOp>(loc, heads, group);
  Value divides = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest,
                                                   makeIndex(plan, loc, 0));
  return kernel.require(divides,
                        "expected groups that divide the query heads, got {0} heads in "
                        "groups of {1}",
                        {heads, group});
}

LogicalResult lacuna::lowerScore(select::ScoreOp op, StringRef name) {
  Location loc = op.getLoc();
  SmallVector<Value> uses{op.getQuery(), op.getKey()}, sets;
  for (Value value :
       std::initializer_list<Value>{op.getCompanion(), op.getLse(), op.getWeights(), op.getSet()})
    if (value)
      uses.push_back(value);
  if (op.getSet())
    sets.push_back(op.getSet());
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getFunction(), captured);
  llvm::append_range(uses, captured);
  KernelBuilder kernel(op, name, uses, op.getScores().getType(), /*gridRank=*/4);
  if (failed(requireScore(op, kernel, sets)))
    return failure();

  auto rows = static_cast<int64_t>(op.getRows()), columns = static_cast<int64_t>(op.getColumns());
  auto group = static_cast<int64_t>(op.getGroup());
  SmallVector<int64_t> tile = {tileExtent(rows), tileExtent(columns)};
  OpBuilder &plan = kernel.plan;
  auto extent = [&](Value tensor, unsigned axis) {
    return getExtent(plan, loc, kernel.inPlan(tensor), axis);
  };
  Value batches = extent(op.getQuery(), 0);
  Value heads =
      plan.createOrFold<arith::DivUIOp>(loc, extent(op.getQuery(), 1), makeIndex(plan, loc, group));
  Value queryRows = extent(op.getQuery(), 2), keyRows = extent(op.getKey(), 2);
  SmallVector<Value> grid = {batches, heads, countBlocks(plan, loc, queryRows, tile[0]),
                             countBlocks(plan, loc, keyRows, tile[1])};
  SmallVector<Value> shape = {batches, heads, countBlocks(plan, loc, queryRows, rows),
                              countBlocks(plan, loc, keyRows, columns)};

  OpBuilder &body = kernel.body;
  auto optional = [&](Value value) { return value ? kernel.inBody(value) : Value(); };
  Value row = startOf(kernel, 2, tile[0]), column = startOf(kernel, 3, tile[1]);
  auto scores = tile::ScoreBlocksOp::create(
      body, loc, op.getKind(), kernel.inBody(op.getQuery()), kernel.inBody(op.getKey()),
      optional(op.getCompanion()), optional(op.getLse()), optional(op.getWeights()),
      kernel.getGrid(0), kernel.getGrid(1), row, column, tile, rows, op.getRowReduction(), columns,
      op.getColumnReduction(), group, scaleOf(op.getScaleAttr(), op.getQuery().getType()),
      kernel.getOutput(0));
  body.setInsertionPoint(scores);
  if (failed(emitLive(op, kernel, scores)))
    return failure();
  cloneFunction(op, kernel, scores.getFunction());
  body.setInsertionPointAfter(scores);
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

//===----------------------------------------------------------------------===//
// select.log_sum_exp, select.restrict
//===----------------------------------------------------------------------===//

LogicalResult lacuna::lowerLogSumExp(select::LogSumExpOp op, StringRef name) {
  Location loc = op.getLoc();
  SmallVector<Value> uses{op.getQuery(), op.getKey()}, sets;
  if (Value set = op.getSet()) {
    uses.push_back(set);
    sets.push_back(set);
  }
  KernelBuilder kernel(op, name, uses, op.getLse().getType(), /*gridRank=*/3);
  if (failed(requireProduct(kernel, op, sets)))
    return failure();
  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape;
  for (unsigned axis = 0; axis < 3; ++axis)
    shape.push_back(getExtent(plan, loc, kernel.inPlan(op.getQuery()), axis));
  SmallVector<Value> grid = {shape[0], shape[1], countBlocks(plan, loc, shape[2], scoreTile)};

  OpBuilder &body = kernel.body;
  using select::Reduction;
  Value row = startOf(kernel, 2, scoreTile), column = makeIndex(body, loc, 0);
  auto scores = tile::ScoreBlocksOp::create(
      body, loc, select::ScoreKind::Dot, kernel.inBody(op.getQuery()), kernel.inBody(op.getKey()),
      Value(), Value(), Value(), kernel.getGrid(0), kernel.getGrid(1), row, column,
      ArrayRef<int64_t>{scoreTile, scoreTile}, 1, Reduction::Sum, 0, Reduction::LogSumExp, 1,
      scaleOf(op.getScaleAttr(), op.getQuery().getType()), kernel.getOutput(0));
  body.setInsertionPoint(scores);
  if (failed(emitLive(op, kernel, scores)))
    return failure();
  body.setInsertionPointAfter(scores);
  replaceByLaunch(op, kernel, grid, shape);
  return success();
}

LogicalResult lacuna::lowerRestrict(select::RestrictOp op, StringRef name) {
  Location loc = op.getLoc();
  SmallVector<Value> uses{op.getScores()}, sets;
  for (Value set : {op.getWithin(), op.getForce()})
    if (set)
      sets.push_back(set);
  llvm::append_range(uses, sets);
  KernelBuilder kernel(op, name, uses, op.getResult().getType(), /*gridRank=*/3);
  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape;
  for (unsigned axis = 0; axis < 4; ++axis)
    shape.push_back(getExtent(plan, loc, kernel.inPlan(op.getScores()), axis));
  if (failed(requireSequenceSets(kernel, sets, kernel.inPlan(op.getScores()), shape[2], shape[3])))
    return failure();

  OpBuilder &body = kernel.body;
  Value scores = kernel.inBody(op.getScores()), head = kernel.getGrid(1);
  auto restricted = tile::RestrictOp::create(body, loc, scores, kernel.getGrid(0), head,
                                             kernel.getGrid(2), kernel.getOutput(0));
  body.setInsertionPoint(restricted);
  Value rows = getExtent(body, loc, scores, 2), columns = getExtent(body, loc, scores, 3);
  auto emit = [&](Region &region, Value set) {
    return set ? emitPairs(kernel, region, set, /*eachHead=*/false, head, rows, columns)
               : success();
  };
  if (failed(emit(restricted.getWithin(), op.getWithin())) ||
      failed(emit(restricted.getForce(), op.getForce())))
    return failure();
  body.setInsertionPointAfter(restricted);
  replaceByLaunch(op, kernel, ArrayRef(shape).take_front(3), shape);
  return success();
}

LogicalResult lacuna::lowerScoreList(select::ScoreListOp op, StringRef name) {
  Location loc = op.getLoc();
  SmallVector<Value> uses{op.getQuery(), op.getKey(), op.getIds(), op.getCounts()}, sets;
  for (Value set : {op.getSet(), op.getForce()})
    if (set)
      sets.push_back(set);
  llvm::append_range(uses, sets);
  KernelBuilder kernel(op, name, uses, op.getScores().getType(), /*gridRank=*/3);
  if (failed(requireProduct(kernel, op, sets)))
    return failure();
  for (Value lists : {op.getIds(), op.getCounts()})
    for (unsigned axis = 0; axis < 3; ++axis)
      if (failed(requireEqualExtents(kernel, lists, op.getQuery(), axis,
                                     "expected a list for each query row, got {0} along an axis "
                                     "of {1}")))
        return failure();
  OpBuilder &plan = kernel.plan, &body = kernel.body;
  SmallVector<Value> shape;
  for (unsigned axis = 0; axis < 4; ++axis)
    shape.push_back(getExtent(plan, loc, kernel.inPlan(op.getIds()), axis));
  Value query = kernel.inBody(op.getQuery()), key = kernel.inBody(op.getKey());
  Value head = kernel.getGrid(1);
  auto scores = tile::ScoreListOp::create(
      body, loc, query, key, kernel.inBody(op.getIds()), kernel.inBody(op.getCounts()),
      kernel.getGrid(0), head, kernel.getGrid(2),
      scaleOf(op.getScaleAttr(), op.getQuery().getType()), kernel.getOutput(0));
  body.setInsertionPoint(scores);
  Value rows = getExtent(body, loc, query, 2), columns = getExtent(body, loc, key, 2);
  auto emit = [&](Region &region, Value set) {
    return set ? emitPairs(kernel, region, set, /*eachHead=*/false, head, rows, columns)
               : success();
  };
  if (failed(emit(scores.getWithin(), op.getSet())) ||
      failed(emit(scores.getForce(), op.getForce())))
    return failure();
  body.setInsertionPointAfter(scores);
  replaceByLaunch(op, kernel, ArrayRef(shape).take_front(3), shape);
  return success();
}
