//===- AttendLowering.cpp - kernels for one attn.attend -------------------===//
//
// One kernel per query segment; in it, the loops over the key segments follow
// each other. Sets that their formula cannot bound get a kernel before it that
// classifies their tiles.
//
//===----------------------------------------------------------------------===//
#include "compiler/Passes/AttendLowering.h"

#include "compiler/Passes/KernelBuilder.h"
#include "compiler/Passes/Segments.h"

#include "mlir/Transforms/RegionUtils.h"

#include <cmath>

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::Formula;
using lacuna::sparsity::FormulaSpace;
using lacuna::sparsity::SetType;
using lacuna::sparsity::Symbol;

namespace {

/// One side of a tile in one region: where its box starts, and the segment that it lies in.
struct Side {
  SmallVector<Value> at, sizes;
  Value base;
  ArrayRef<int64_t> box;

  int64_t getRows() const { return countTokens(box); }
};

/// The relation of one query segment to one key segment.
struct Pair {
  Value set;
  /// The classes of its tiles, when the formula alone cannot bound the set.
  Value classes = {};
  bool opaque = false;
};

/// Writes all kernels of one attend.
class AttendLowering {
public:
  AttendLowering(attn::AttendOp op, StringRef name) : op(op), name(name) {}

  LogicalResult run();

private:
  LogicalResult readPairs(unsigned segment, SmallVectorImpl<Pair> &pairs);
  LogicalResult lowerClasses(unsigned querySegment, unsigned keySegment, Pair &pair);
  LogicalResult lowerSegment(unsigned segment, ArrayRef<Pair> pairs);

  /// The function's values that kernels over `pairs` compute with.
  SmallVector<Value> getUses(ArrayRef<Pair> pairs);
  /// What must hold at run time before a kernel may touch memory.
  LogicalResult emitRequirements(KernelBuilder &kernel, ArrayRef<Pair> pairs);
  LogicalResult requireEqualExtents(KernelBuilder &kernel, Value a, unsigned axisA, Value b,
                                    unsigned axisB, StringRef message);
  LogicalResult requireHeads(KernelBuilder &kernel);
  LogicalResult requireTokens(KernelBuilder &kernel);
  LogicalResult requirePerHeadLengths(KernelBuilder &kernel, ArrayRef<Pair> pairs);

  Value extent(OpBuilder &builder, Value tensor, unsigned axis);
  /// The sizes of a segment and the number of its first token, at `builder`.
  Side getSide(OpBuilder &builder, const IRMapping &map, unsigned segment, bool isQuery);
  Side getQuerySide(KernelBuilder &kernel, unsigned segment);
  Value getKeyHead(KernelBuilder &kernel);
  /// One visit of a loop over key tiles: the new state.
  SmallVector<Value> emitStep(KernelBuilder &kernel, const Pair &pair, const Side &query,
                              const Side &key, Value queryTile, Value keyHead, ValueRange state);
  Value emitScore(KernelBuilder &kernel, Value scores, const Side &query, const Side &key);
  void emitLoop(KernelBuilder &kernel, const Pair &pair, const Side &query, Side key,
                Value queryTile, Value keyHead, SmallVectorImpl<Value> &state);

  attn::AttendOp op;
  StringRef name;
  Segments segments;
  SmallVector<Value> results;
};

} // namespace

static Value constant(OpBuilder &builder, Location loc, int64_t number) {
  return arith::ConstantIndexOp::create(builder, loc, number);
}

/// Number of boxes of `box` tokens that cover `size`.
static Value ceilDiv(OpBuilder &builder, Location loc, Value size, int64_t box) {
  Value up = builder.createOrFold<arith::AddIOp>(loc, size, constant(builder, loc, box - 1));
  return builder.createOrFold<arith::DivUIOp>(loc, up, constant(builder, loc, box));
}

static Value product(OpBuilder &builder, Location loc, ValueRange factors) {
  Value result = constant(builder, loc, 1);
  for (Value factor : factors)
    result = builder.createOrFold<arith::MulIOp>(loc, result, factor);
  return result;
}

static SmallVector<Value> countTiles(OpBuilder &builder, Location loc, const Side &side) {
  SmallVector<Value> counts;
  for (auto [size, box] : llvm::zip_equal(side.sizes, side.box))
    counts.push_back(ceilDiv(builder, loc, size, box));
  return counts;
}

/// Row-major number of the tile at `at` among `counts` tiles.
static Value linearTile(OpBuilder &builder, Location loc, const Side &side) {
  Value result = constant(builder, loc, 0);
  SmallVector<Value> counts = countTiles(builder, loc, side);
  for (auto [at, box, count] : llvm::zip_equal(side.at, side.box, counts)) {
    Value tile = builder.createOrFold<arith::DivUIOp>(loc, at, constant(builder, loc, box));
    result = builder.createOrFold<arith::MulIOp>(loc, result, count);
    result = builder.createOrFold<arith::AddIOp>(loc, result, tile);
  }
  return result;
}

static Value isEqual(OpBuilder &builder, Location loc, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, b);
}

static Value isAtLeast(OpBuilder &builder, Location loc, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, a, b);
}

Value AttendLowering::extent(OpBuilder &builder, Value tensor, unsigned axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return constant(builder, op.getLoc(), type.getDimSize(axis));
  return tensor::DimOp::create(builder, op.getLoc(), tensor, axis);
}

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

LogicalResult AttendLowering::requireEqualExtents(KernelBuilder &kernel, Value a, unsigned axisA,
                                                  Value b, unsigned axisB, StringRef message) {
  auto typeA = cast<RankedTensorType>(a.getType()), typeB = cast<RankedTensorType>(b.getType());
  if (!typeA.isDynamicDim(axisA) && !typeB.isDynamicDim(axisB))
    return success(); // The verifier has compared them.
  Value x = extent(kernel.plan, kernel.inPlan(a), axisA);
  Value y = extent(kernel.plan, kernel.inPlan(b), axisB);
  return kernel.require(isEqual(kernel.plan, op.getLoc(), x, y), message, {x, y});
}

LogicalResult AttendLowering::requireHeads(KernelBuilder &kernel) {
  OpBuilder &plan = kernel.plan;
  Location loc = op.getLoc();
  Value heads = extent(plan, kernel.inPlan(op.getQuery()), 1);
  Value keyHeads = extent(plan, kernel.inPlan(op.getKey()), 1);
  // No key head at all fits only no query head; the division must not see it.
  Value one = constant(plan, loc, 1), zero = constant(plan, loc, 0);
  Value divisor = plan.createOrFold<arith::MaxUIOp>(loc, keyHeads, one);
  Value rest = plan.createOrFold<arith::RemUIOp>(loc, heads, divisor);
  Value divides = isEqual(plan, loc, rest, zero);
  Value some = isAtLeast(plan, loc, keyHeads, one);
  Value none = isEqual(plan, loc, heads, zero);
  Value served = plan.createOrFold<arith::OrIOp>(loc, some, none);
  if (failed(kernel.require(plan.createOrFold<arith::AndIOp>(loc, divides, served),
                            "expected the number of query heads to be a multiple of the number "
                            "of key heads, got {0} and {1}",
                            {heads, keyHeads})))
    return failure();
  if (!op.getSinks())
    return success();
  Value length = extent(plan, kernel.inPlan(op.getSinks()), 0);
  return kernel.require(isEqual(plan, loc, length, heads),
                        "expected one sink per query head, got {0} sinks and {1} heads",
                        {length, heads});
}

LogicalResult AttendLowering::requireTokens(KernelBuilder &kernel) {
  if (segments.isLoneSequence())
    return success();
  OpBuilder &plan = kernel.plan;
  Location loc = op.getLoc();
  Value zero = constant(plan, loc, 0), total = zero;
  for (unsigned segment = 0; segment < segments.size(); ++segment) {
    SmallVector<Value> sizes;
    for (OpFoldResult size : segments.getSizes(segment))
      sizes.push_back(materialize(plan, loc, size, kernel.getPlanMap()));
    for (Value size : sizes)
      if (failed(kernel.require(isAtLeast(plan, loc, size, zero),
                                "expected sizes of a domain to be at least 0, got {0}", {size})))
        return failure();
    total = plan.createOrFold<arith::AddIOp>(loc, total, product(plan, loc, sizes));
  }
  for (auto [tensor, text] :
       {std::pair(op.getQuery(), "queries"), std::pair(op.getKey(), "keys")}) {
    Value count = extent(plan, kernel.inPlan(tensor), 2);
    std::string message = std::string("expected the domain to have as many tokens as there are ") +
                          text + ", got {0} and {1}";
    if (failed(kernel.require(isEqual(plan, loc, total, count), message, {total, count})))
      return failure();
  }
  return success();
}

LogicalResult AttendLowering::requirePerHeadLengths(KernelBuilder &kernel, ArrayRef<Pair> pairs) {
  OpBuilder &plan = kernel.plan;
  Location loc = op.getLoc();
  SetVector<Value> tensors;
  for (const Pair &pair : pairs) {
    auto type = cast<SetType>(pair.set.getType());
    FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
    if (failed(sparsity::buildFormula(pair.set, space)))
      return failure();
    for (const Symbol &symbol : space.getSymbols())
      if (symbol.kind == Symbol::Kind::PerHead)
        tensors.insert(symbol.value);
  }
  if (tensors.empty())
    return success();
  Value heads = extent(plan, kernel.inPlan(op.getQuery()), 1);
  for (Value tensor : tensors) {
    Value length = extent(plan, kernel.inPlan(tensor), 0);
    if (failed(kernel.require(isAtLeast(plan, loc, length, heads),
                              "expected a value for each query head, got {0} values and {1} heads",
                              {length, heads})))
      return failure();
  }
  return success();
}

LogicalResult AttendLowering::emitRequirements(KernelBuilder &kernel, ArrayRef<Pair> pairs) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  return success(
      succeeded(requireEqualExtents(
          kernel, q, 0, k, 0, "expected query and key to share the batch, got {0} and {1}")) &&
      succeeded(requireEqualExtents(
          kernel, k, 0, v, 0, "expected key and value to share the batch, got {0} and {1}")) &&
      succeeded(requireEqualExtents(
          kernel, k, 1, v, 1, "expected key and value to share the heads, got {0} and {1}")) &&
      succeeded(requireEqualExtents(kernel, k, 2, v, 2,
                                    "expected as many values as keys, got {1} and {0}")) &&
      succeeded(requireHeads(kernel)) && succeeded(requireTokens(kernel)) &&
      succeeded(requirePerHeadLengths(kernel, pairs)));
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Side AttendLowering::getSide(OpBuilder &builder, const IRMapping &map, unsigned segment,
                             bool isQuery) {
  Location loc = op.getLoc();
  Side side;
  side.box = segments.getBox(isQuery ? *op.getQueryTile() : *op.getKeyTile(), segment);
  side.base = constant(builder, loc, 0);
  if (segments.isLoneSequence()) {
    side.sizes = {extent(builder, map.lookup(isQuery ? op.getQuery() : op.getKey()), 2)};
    return side;
  }
  auto sizesOf = [&](unsigned index) {
    SmallVector<Value> sizes;
    for (OpFoldResult size : segments.getSizes(index))
      sizes.push_back(materialize(builder, loc, size, map));
    return sizes;
  };
  for (unsigned before = 0; before < segment; ++before)
    side.base =
        builder.createOrFold<arith::AddIOp>(loc, side.base, product(builder, loc, sizesOf(before)));
  side.sizes = sizesOf(segment);
  return side;
}

Side AttendLowering::getQuerySide(KernelBuilder &kernel, unsigned segment) {
  Location loc = op.getLoc();
  Side side = getSide(kernel.body, kernel.getBodyMap(), segment, /*isQuery=*/true);
  for (auto [axis, box] : llvm::enumerate(side.box))
    side.at.push_back(kernel.body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(2 + axis),
                                                              constant(kernel.body, loc, box)));
  return side;
}

Value AttendLowering::getKeyHead(KernelBuilder &kernel) {
  OpBuilder &body = kernel.body;
  Location loc = op.getLoc();
  Value heads = extent(body, kernel.inBody(op.getQuery()), 1);
  Value keyHeads = extent(body, kernel.inBody(op.getKey()), 1);
  Value group = body.createOrFold<arith::DivUIOp>(loc, heads, keyHeads);
  return body.createOrFold<arith::DivUIOp>(loc, kernel.getGrid(1), group);
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

static tile::TileType tileOf(ArrayRef<int64_t> shape, Type elementType) {
  return tile::TileType::get(elementType.getContext(), shape, elementType);
}

static Value load(KernelBuilder &kernel, Value source, Value head, const Side &side) {
  auto type = cast<RankedTensorType>(source.getType());
  auto tile = tileOf({side.getRows(), type.getDimSize(3)}, type.getElementType());
  return tile::LoadOp::create(kernel.body, kernel.getLoc(), tile, kernel.inBody(source),
                              kernel.getGrid(0), head, side.at, side.sizes, side.base, side.box);
}

Value AttendLowering::emitScore(KernelBuilder &kernel, Value scores, const Side &query,
                                const Side &key) {
  if (op.getScore().empty())
    return scores;
  OpBuilder &body = kernel.body;
  Location loc = op.getLoc();
  Value queryBase = query.base;
  if (!op.getFromStart()) {
    Value queries = extent(body, kernel.inBody(op.getQuery()), 2);
    Value keys = extent(body, kernel.inBody(op.getKey()), 2);
    Value shift = body.createOrFold<arith::SubIOp>(loc, keys, queries);
    queryBase = body.createOrFold<arith::AddIOp>(loc, queryBase, shift);
  }
  auto score = tile::ScoreOp::create(body, loc, scores.getType(), scores, kernel.getGrid(0),
                                     kernel.getGrid(1), query.at, query.sizes, queryBase, key.at,
                                     key.sizes, key.base, query.box, key.box);
  op.getScore().cloneInto(&score.getBody(), kernel.getBodyMap());
  Operation *yield = score.getBody().front().getTerminator();
  OpBuilder inner(yield);
  tile::YieldOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
  return score.getResult();
}

SmallVector<Value> AttendLowering::emitStep(KernelBuilder &kernel, const Pair &pair,
                                            const Side &query, const Side &key, Value queryTile,
                                            Value keyHead, ValueRange state) {
  OpBuilder &body = kernel.body;
  Location loc = op.getLoc();
  Value keys = load(kernel, op.getKey(), keyHead, key);
  Value values = load(kernel, op.getValue(), keyHead, key);
  int64_t channels = op.getQuery().getType().getDimSize(3);
  FloatAttr scale = op.getScaleAttr();
  if (!scale)
    scale = body.getF32FloatAttr(static_cast<float>(1.0 / std::sqrt(double(channels))));
  Value scores =
      tile::DotOp::create(body, loc, tileOf({query.getRows(), key.getRows()}, body.getF32Type()),
                          queryTile, keys, scale);
  scores = emitScore(kernel, scores, query, key);
  scores = tile::MaskOp::create(body, loc, scores.getType(), scores, kernel.getGrid(0),
                                kernel.getGrid(1), kernel.inBody(pair.set), query.at, query.sizes,
                                key.at, key.sizes, query.box, key.box);
  auto step =
      tile::SoftmaxStepOp::create(body, loc, state[0].getType(), state[1].getType(),
                                  state[2].getType(), scores, values, state[0], state[1], state[2]);
  return llvm::to_vector_of<Value>(step.getResults());
}

/// Makes the block of a loop over key tiles, sets where the key box starts, and leaves `builder` in
/// it.
static Block *openLoop(OpBuilder &builder, tile::ForEachOp loop, Side &key) {
  Block *block = builder.createBlock(&loop.getBody());
  for (size_t axis = 0; axis < key.sizes.size(); ++axis)
    key.at.push_back(block->addArgument(builder.getIndexType(), loop.getLoc()));
  for (Value value : loop.getInit())
    block->addArgument(value.getType(), loop.getLoc());
  return block;
}

void AttendLowering::emitLoop(KernelBuilder &kernel, const Pair &pair, const Side &query, Side key,
                              Value queryTile, Value keyHead, SmallVectorImpl<Value> &state) {
  OpBuilder &body = kernel.body;
  Location loc = op.getLoc();
  SmallVector<Type> types(ValueRange(state).getTypes());
  Value classes = pair.classes ? kernel.inBody(pair.classes) : Value();
  auto loop = tile::ForEachOp::create(
      body, loc, types, tile::TileClass::Live, kernel.inBody(pair.set), kernel.getGrid(0),
      kernel.getGrid(1), query.at, query.sizes, key.sizes, classes, state, query.box, key.box);
  Block *block = openLoop(body, loop, key);
  SmallVector<Value> next = emitStep(kernel, pair, query, key, queryTile, keyHead,
                                     block->getArguments().take_back(state.size()));
  tile::YieldOp::create(body, loc, next);
  body.setInsertionPointAfter(loop);
  state.assign(loop.getResults().begin(), loop.getResults().end());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

SmallVector<Value> AttendLowering::getUses(ArrayRef<Pair> pairs) {
  SmallVector<Value> uses = {op.getQuery(), op.getKey(), op.getValue()};
  if (op.getSinks())
    uses.push_back(op.getSinks());
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getScore(), captured);
  llvm::append_range(uses, captured);
  for (const Pair &pair : pairs) {
    uses.push_back(pair.set);
    if (pair.classes)
      uses.push_back(pair.classes);
  }
  segments.appendValues(uses);
  return uses;
}

LogicalResult AttendLowering::readPairs(unsigned segment, SmallVectorImpl<Pair> &pairs) {
  for (Value set : segments.getSets(segment)) {
    auto type = cast<SetType>(set.getType());
    FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
    FailureOr<Formula> formula = sparsity::buildFormula(set, space);
    if (failed(formula))
      return failure();
    pairs.push_back({set, {}, formula->hasOpaque()});
  }
  return success();
}

LogicalResult AttendLowering::lowerClasses(unsigned querySegment, unsigned keySegment, Pair &pair) {
  Location loc = op.getLoc();
  Builder types(op.getContext());
  auto output =
      RankedTensorType::get(SmallVector<int64_t>(4, ShapedType::kDynamic), types.getI8Type());
  std::string kernelName = (name + "_classes").str();
  KernelBuilder kernel(op, kernelName, getUses({pair}), {output},
                       2 + segments.getRank(querySegment));
  if (failed(emitRequirements(kernel, {pair})))
    return failure();

  OpBuilder &plan = kernel.plan;
  SmallVector<Value> grid = {extent(plan, kernel.inPlan(op.getQuery()), 0),
                             extent(plan, kernel.inPlan(op.getQuery()), 1)};
  SmallVector<Value> queryTiles =
      countTiles(plan, loc, getSide(plan, kernel.getPlanMap(), querySegment, /*isQuery=*/true));
  SmallVector<Value> keyTiles =
      countTiles(plan, loc, getSide(plan, kernel.getPlanMap(), keySegment, /*isQuery=*/false));
  SmallVector<Value> shape = {grid[0], grid[1], product(plan, loc, queryTiles),
                              product(plan, loc, keyTiles)};
  llvm::append_range(grid, queryTiles);

  OpBuilder &body = kernel.body;
  Side query = getQuerySide(kernel, querySegment);
  Side key = getSide(body, kernel.getBodyMap(), keySegment, /*isQuery=*/false);
  Value queryTile = linearTile(body, loc, query);
  Value set = kernel.inBody(pair.set), batch = kernel.getGrid(0), head = kernel.getGrid(1);
  auto loop = tile::ForEachOp::create(body, loc, TypeRange(), tile::TileClass::Live, set, batch,
                                      head, query.at, query.sizes, key.sizes, Value(), ValueRange(),
                                      query.box, key.box);
  openLoop(body, loop, key);
  Value keyTile = linearTile(body, loc, key);
  Value tileClass =
      tile::ClassifyOp::create(body, loc, body.getI8Type(), batch, head, set, query.at, query.sizes,
                               key.at, key.sizes, query.box, key.box);
  memref::StoreOp::create(body, loc, tileClass, kernel.getOutput(0),
                          ValueRange{batch, head, queryTile, keyTile});
  tile::YieldOp::create(body, loc, ValueRange());
  body.setInsertionPointAfter(loop);
  kernel.finish(grid, shape);
  pair.classes = kernel.launch({}).getResult(0);
  return success();
}

LogicalResult AttendLowering::lowerSegment(unsigned segment, ArrayRef<Pair> pairs) {
  Location loc = op.getLoc();
  SmallVector<RankedTensorType> outputs = {op.getOutput().getType()};
  if (op.getLse())
    outputs.push_back(cast<RankedTensorType>(op.getLse().getType()));
  std::string kernelName = name.str();
  if (segments.size() > 1)
    kernelName += "_segment_" + std::to_string(segment);
  KernelBuilder kernel(op, kernelName, getUses(pairs), outputs, 2 + segments.getRank(segment));
  if (failed(emitRequirements(kernel, pairs)))
    return failure();

  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape = {
      extent(plan, kernel.inPlan(op.getQuery()), 0), extent(plan, kernel.inPlan(op.getQuery()), 1),
      extent(plan, kernel.inPlan(op.getQuery()), 2), extent(plan, kernel.inPlan(op.getValue()), 3)};
  SmallVector<Value> grid = {shape[0], shape[1]};
  llvm::append_range(grid, countTiles(plan, loc,
                                      getSide(plan, kernel.getPlanMap(), segment,
                                              /*isQuery=*/true)));
  if (op.getLse())
    shape.append({shape[0], shape[1], shape[2]});

  OpBuilder &body = kernel.body;
  Side query = getQuerySide(kernel, segment);
  Value queryTile = load(kernel, op.getQuery(), kernel.getGrid(1), query);
  Value keyHead = getKeyHead(kernel);
  int64_t valueChannels = op.getValue().getType().getDimSize(3);
  tile::TileType accumulator = tileOf({query.getRows(), valueChannels}, body.getF32Type());
  tile::TileType row = tileOf({query.getRows()}, body.getF32Type());
  SmallVector<Value> state = llvm::to_vector_of<Value>(
      tile::BeginOp::create(body, loc, accumulator, row, row).getResults());
  for (auto [keySegment, pair] : llvm::enumerate(pairs))
    emitLoop(kernel, pair, query, getSide(body, kernel.getBodyMap(), keySegment, /*isQuery=*/false),
             queryTile, keyHead, state);
  Value sink;
  if (op.getSinks())
    sink = tensor::ExtractOp::create(body, loc, kernel.inBody(op.getSinks()), kernel.getGrid(1));
  auto finish =
      tile::FinishOp::create(body, loc, accumulator, row, state[0], state[1], state[2], sink);
  auto store = [&](Value tile, unsigned output) {
    tile::StoreOp::create(body, loc, tile, kernel.getOutput(output), kernel.getGrid(0),
                          kernel.getGrid(1), query.at, query.sizes, query.base, query.box);
  };
  store(finish.getOutput(), 0);
  if (op.getLse())
    store(finish.getLse(), 1);

  kernel.finish(grid, shape);
  results = llvm::to_vector_of<Value>(kernel.launch(results).getResults());
  return success();
}

LogicalResult AttendLowering::run() {
  if (!op.getQueryTile() || !op.getKeyTile())
    return op.emitOpError("expected tile shapes, which lacuna-assign-tiles chooses");
  if (failed(segments.read(op)))
    return failure();
  for (unsigned segment = 0; segment < segments.size(); ++segment) {
    SmallVector<Pair> pairs;
    if (failed(readPairs(segment, pairs)))
      return failure();
    for (auto [keySegment, pair] : llvm::enumerate(pairs))
      if (pair.opaque && failed(lowerClasses(segment, keySegment, pair)))
        return failure();
    if (failed(lowerSegment(segment, pairs)))
      return failure();
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

LogicalResult lacuna::lowerAttend(attn::AttendOp op, StringRef name) {
  return AttendLowering(op, name).run();
}
