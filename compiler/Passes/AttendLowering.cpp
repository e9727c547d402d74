//===- AttendLowering.cpp - kernels for one attn.attend -------------------===//
//
// One kernel per query segment; in it, the loops over the key segments follow
// each other. Sets that their formula cannot bound get a kernel before it that
// classifies their tiles.
//
//===----------------------------------------------------------------------===//
#include "compiler/Passes/AttendLowering.h"

#include "compiler/Passes/Lists.h"

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
  /// Whether classes may differ between batches, and between heads.
  bool perBatch = false, perHead = false;
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

static SmallVector<Value> countTiles(OpBuilder &builder, Location loc, const Side &side) {
  return makeBoxCounts(builder, loc, side.sizes, side.box);
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Side AttendLowering::getSide(OpBuilder &builder, const IRMapping &map, unsigned segment,
                             bool isQuery) {
  Location loc = op.getLoc();
  Side side;
  side.box = segments.getBox(isQuery ? *op.getQueryTile() : *op.getKeyTile(), segment);
  side.base = makeIndex(builder, loc, 0);
  if (segments.isLoneSequence()) {
    side.sizes = {getExtent(builder, loc, map.lookup(isQuery ? op.getQuery() : op.getKey()), 2)};
    return side;
  }
  auto sizesOf = [&](unsigned index) {
    SmallVector<Value> sizes;
    for (OpFoldResult size : segments.getSizes(index))
      sizes.push_back(materialize(builder, loc, size, map));
    return sizes;
  };
  for (unsigned before = 0; before < segment; ++before)
    side.base = builder.createOrFold<arith::AddIOp>(loc, side.base,
                                                    makeProduct(builder, loc, sizesOf(before)));
  side.sizes = sizesOf(segment);
  return side;
}

Side AttendLowering::getQuerySide(KernelBuilder &kernel, unsigned segment) {
  Location loc = op.getLoc();
  Side side = getSide(kernel.body, kernel.getBodyMap(), segment, /*isQuery=*/true);
  for (auto [axis, box] : llvm::enumerate(side.box))
    side.at.push_back(kernel.body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(2 + axis),
                                                              makeIndex(kernel.body, loc, box)));
  return side;
}

Value AttendLowering::getKeyHead(KernelBuilder &kernel) {
  OpBuilder &body = kernel.body;
  Location loc = op.getLoc();
  Value heads = getExtent(body, loc, kernel.inBody(op.getQuery()), 1);
  Value keyHeads = getExtent(body, loc, kernel.inBody(op.getKey()), 1);
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
    Value queries = getExtent(body, loc, kernel.inBody(op.getQuery()), 2);
    Value keys = getExtent(body, loc, kernel.inBody(op.getKey()), 2);
    Value shift = body.createOrFold<arith::SubIOp>(loc, keys, queries);
    queryBase = body.createOrFold<arith::AddIOp>(loc, queryBase, shift);
  }
  auto score = tile::ScoreOp::create(body, loc, scores.getType(), scores, kernel.getGrid(0),
                                     kernel.getGrid(1), query.at, query.sizes, queryBase, key.at,
                                     key.sizes, key.base, query.box, key.box);
  // A copy: the map must not keep the region's arguments for the next clone.
  IRMapping map = kernel.getBodyMap();
  op.getScore().cloneInto(&score.getBody(), map);
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

/// Notes on what else than coordinates an opaque set depends.
static void findDependence(const Formula &formula, Pair &pair) {
  for (const Formula &part : formula.getParts())
    findDependence(part, pair);
  // Other ops with terms of their own look at coordinates only.
  if (formula.getKind() != Formula::Kind::Opaque)
    return;
  auto readMemory = [&](RankedTensorType type) {
    pair.perBatch |= type.getDimSize(0) != 1;
    pair.perHead |= type.getDimSize(1) != 1;
  };
  if (auto list = dyn_cast<sparsity::BlocksOp>(formula.getOp()))
    readMemory(list.getIds().getType());
  if (auto map = dyn_cast<sparsity::BitmapOp>(formula.getOp()))
    readMemory(map.getMask().getType());
  auto where = dyn_cast<sparsity::WhereOp>(formula.getOp());
  if (!where)
    return;
  pair.perBatch |= !where.getPredicate().getArgument(0).use_empty();
  pair.perHead |= !where.getPredicate().getArgument(1).use_empty();
}

LogicalResult AttendLowering::readPairs(unsigned segment, SmallVectorImpl<Pair> &pairs) {
  for (Value set : segments.getSets(segment)) {
    auto type = cast<SetType>(set.getType());
    FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
    FailureOr<Formula> formula = sparsity::buildFormula(set, space);
    if (failed(formula))
      return failure();
    bool isWalked =
        static_cast<bool>(findWalkedList(set, segments.getBox(*op.getQueryTile(), segment)));
    Pair &pair = pairs.emplace_back(Pair{set, {}, formula->hasOpaque() && !isWalked});
    if (!pair.opaque)
      continue;
    findDependence(*formula, pair);
    for (const Symbol &symbol : space.getSymbols()) {
      // A monotone term may read memory by batch or head.
      bool isMonotone = symbol.kind == Symbol::Kind::Monotone;
      pair.perBatch |= isMonotone;
      pair.perHead |= isMonotone || symbol.kind == Symbol::Kind::PerHead;
    }
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
  if (failed(emitRequirements(op, segments, querySegment, pair.set, kernel)))
    return failure();

  OpBuilder &plan = kernel.plan;
  // One entry serves all batches or heads where nothing tells them apart.
  Value one = makeIndex(plan, loc, 1);
  auto served = [&](unsigned axis, bool each) {
    Value extent = getExtent(plan, loc, kernel.inPlan(op.getQuery()), axis);
    return each ? extent : plan.createOrFold<arith::MinSIOp>(loc, extent, one);
  };
  SmallVector<Value> grid = {served(0, pair.perBatch), served(1, pair.perHead)};
  SmallVector<Value> queryTiles =
      countTiles(plan, loc, getSide(plan, kernel.getPlanMap(), querySegment, /*isQuery=*/true));
  SmallVector<Value> keyTiles =
      countTiles(plan, loc, getSide(plan, kernel.getPlanMap(), keySegment, /*isQuery=*/false));
  SmallVector<Value> shape = {grid[0], grid[1], makeProduct(plan, loc, queryTiles),
                              makeProduct(plan, loc, keyTiles)};
  llvm::append_range(grid, queryTiles);

  OpBuilder &body = kernel.body;
  Side query = getQuerySide(kernel, querySegment);
  Side key = getSide(body, kernel.getBodyMap(), keySegment, /*isQuery=*/false);
  Value queryTile = makeBoxNumber(body, loc, query.at, query.sizes, query.box);
  Value set = kernel.inBody(pair.set), batch = kernel.getGrid(0), head = kernel.getGrid(1);
  auto loop = tile::ForEachOp::create(body, loc, TypeRange(), tile::TileClass::Live, set, batch,
                                      head, query.at, query.sizes, key.sizes, Value(), ValueRange(),
                                      query.box, key.box);
  openLoop(body, loop, key);
  Value keyTile = makeBoxNumber(body, loc, key.at, key.sizes, key.box);
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
  auto sets = llvm::map_to_vector(pairs, [](const Pair &pair) { return pair.set; });
  if (failed(emitRequirements(op, segments, segment, sets, kernel)))
    return failure();

  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape = {getExtent(plan, loc, kernel.inPlan(op.getQuery()), 0),
                              getExtent(plan, loc, kernel.inPlan(op.getQuery()), 1),
                              getExtent(plan, loc, kernel.inPlan(op.getQuery()), 2),
                              getExtent(plan, loc, kernel.inPlan(op.getValue()), 3)};
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
