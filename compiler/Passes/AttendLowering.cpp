//===- AttendLowering.cpp - kernels for one attn.attend -------------------===//
//
// One kernel per query segment; in it, the loops over the key segments follow
// each other, and so do those of the attends that a merge joins. Sets that their
// formula cannot bound get a kernel before it that classifies their tiles.
//
//===----------------------------------------------------------------------===//
#include "compiler/Passes/AttendLowering.h"

#include "compiler/Passes/FusedMerges.h"
#include "compiler/Passes/HeadTiles.h"
#include "compiler/Passes/Lists.h"

#include "mlir/Transforms/RegionUtils.h"

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

/// One attend that the kernels compute.
struct Part {
  attn::AttendOp op;
  Segments segments;
  /// The head of its keys, in the kernel that is being written.
  Value keyHead = {};
};

/// The relation of one query segment to one key segment of a part.
struct Pair {
  Part *part;
  unsigned keySegment;
  Value set;
  /// The classes of its tiles, when the formula alone cannot bound the set.
  Value classes = {};
  bool opaque = false;
  /// Whether classes may differ between batches, and between heads.
  bool perBatch = false, perHead = false;
};

/// Writes all kernels that one op becomes: an attend, or a merge of several.
class AttendLowering {
public:
  AttendLowering(Operation *anchor, ArrayRef<attn::AttendOp> attends, StringRef name)
      : anchor(anchor), loc(anchor->getLoc()), name(name) {
    for (attn::AttendOp attend : attends)
      parts.push_back({attend, {}});
  }

  LogicalResult run();

private:
  LogicalResult readPairs(Part &part, unsigned segment, SmallVectorImpl<Pair> &pairs);
  LogicalResult lowerClasses(unsigned querySegment, Pair &pair);
  LogicalResult lowerSegment(unsigned segment, ArrayRef<Pair> pairs);

  /// The function's values that kernels over `pairs` compute with.
  SmallVector<Value> getUses(ArrayRef<Pair> pairs);
  /// The sizes of a segment and the number of its first token, at `builder`.
  Side getSide(OpBuilder &builder, const IRMapping &map, Part &part, unsigned segment,
               bool isQuery);
  Side getQuerySide(KernelBuilder &kernel, Part &part, unsigned segment);
  Value getKeyHead(KernelBuilder &kernel, attn::AttendOp op);
  /// One visit of a loop over key tiles: the new state.
  SmallVector<Value> emitStep(KernelBuilder &kernel, const Pair &pair, const Side &query,
                              const Side &key, Value queryTile, ValueRange state);
  Value emitScore(KernelBuilder &kernel, attn::AttendOp op, Value scores, const Side &query,
                  const Side &key);
  void emitLoop(KernelBuilder &kernel, const Pair &pair, const Side &query, Value queryTile,
                SmallVectorImpl<Value> &state);

  Operation *anchor;
  Location loc;
  StringRef name;
  SmallVector<Part> parts;
  SmallVector<Value> results;
  /// The marks of blocks that are taken, in the kernel that is being written.
  Value taken;
};

} // namespace

static SmallVector<Value> countTiles(OpBuilder &builder, Location loc, const Side &side) {
  return makeBoxCounts(builder, loc, side.sizes, side.box);
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Side AttendLowering::getSide(OpBuilder &builder, const IRMapping &map, Part &part, unsigned segment,
                             bool isQuery) {
  attn::AttendOp op = part.op;
  const Segments &segments = part.segments;
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

Side AttendLowering::getQuerySide(KernelBuilder &kernel, Part &part, unsigned segment) {
  Side side = getSide(kernel.body, kernel.getBodyMap(), part, segment, /*isQuery=*/true);
  for (auto [axis, box] : llvm::enumerate(side.box))
    side.at.push_back(kernel.body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(2 + axis),
                                                              makeIndex(kernel.body, loc, box)));
  return side;
}

Value AttendLowering::getKeyHead(KernelBuilder &kernel, attn::AttendOp op) {
  OpBuilder &body = kernel.body;
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

Value AttendLowering::emitScore(KernelBuilder &kernel, attn::AttendOp op, Value scores,
                                const Side &query, const Side &key) {
  if (op.getScore().empty())
    return scores;
  OpBuilder &body = kernel.body;
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
                                            ValueRange state) {
  OpBuilder &body = kernel.body;
  attn::AttendOp op = pair.part->op;
  Value keys = load(kernel, op.getKey(), pair.part->keyHead, key);
  Value values = load(kernel, op.getValue(), pair.part->keyHead, key);
  FloatAttr scale = body.getF32FloatAttr(static_cast<float>(getScale(op)));
  Value scores =
      tile::DotOp::create(body, loc, tileOf({query.getRows(), key.getRows()}, body.getF32Type()),
                          queryTile, keys, scale);
  scores = emitScore(kernel, op, scores, query, key);
  scores = tile::MaskOp::create(body, loc, scores.getType(), scores, kernel.getGrid(0),
                                kernel.getGrid(1), kernel.inBody(pair.set), query.at, query.sizes,
                                key.at, key.sizes, query.box, key.box);
  if (op.hasSkip())
    scores = tile::SkipOp::create(
        body, loc, scores.getType(), scores, state[1], kernel.getGrid(0), kernel.getGrid(1),
        query.at.front(), query.sizes.front(), key.at.front(),
        op.getBelow() ? kernel.inBody(op.getBelow()) : Value(), taken,
        body.getI64IntegerAttr(op.getSkipQuery()->front()), op.getMarginAttr());
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

void AttendLowering::emitLoop(KernelBuilder &kernel, const Pair &pair, const Side &query,
                              Value queryTile, SmallVectorImpl<Value> &state) {
  OpBuilder &body = kernel.body;
  Side key = getSide(body, kernel.getBodyMap(), *pair.part, pair.keySegment, /*isQuery=*/false);
  SmallVector<Type> types(ValueRange(state).getTypes());
  Value classes = pair.classes ? kernel.inBody(pair.classes) : Value();
  auto loop = tile::ForEachOp::create(
      body, loc, types, tile::TileClass::Live, kernel.inBody(pair.set), kernel.getGrid(0),
      kernel.getGrid(1), query.at, query.sizes, key.sizes, classes, state, query.box, key.box,
      /*ascending=*/pair.part->op.isOrdered());
  Block *block = openLoop(body, loop, key);
  SmallVector<Value> next =
      emitStep(kernel, pair, query, key, queryTile, block->getArguments().take_back(state.size()));
  tile::YieldOp::create(body, loc, next);
  body.setInsertionPointAfter(loop);
  state.assign(loop.getResults().begin(), loop.getResults().end());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

SmallVector<Value> AttendLowering::getUses(ArrayRef<Pair> pairs) {
  SmallVector<Value> uses;
  SetVector<Value> captured;
  for (const Pair &pair : pairs) {
    attn::AttendOp op = pair.part->op;
    uses.append({op.getQuery(), op.getKey(), op.getValue()});
    for (Value value : {op.getSinks(), op.getBelow()})
      if (value)
        uses.push_back(value);
    getUsedValuesDefinedAbove(op.getScore(), captured);
    pair.part->segments.appendValues(uses);
    uses.push_back(pair.set);
    if (pair.classes)
      uses.push_back(pair.classes);
  }
  llvm::append_range(uses, captured);
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

LogicalResult AttendLowering::readPairs(Part &part, unsigned segment,
                                        SmallVectorImpl<Pair> &pairs) {
  attn::AttendOp op = part.op;
  for (auto [keySegment, set] : llvm::enumerate(part.segments.getSets(segment))) {
    auto type = cast<SetType>(set.getType());
    FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
    FailureOr<Formula> formula = sparsity::buildFormula(set, space);
    if (failed(formula))
      return failure();
    // Entries of a list come in no order.
    bool isWalked =
        !op.isOrdered() && findWalkedList(set, part.segments.getBox(*op.getQueryTile(), segment));
    Pair &pair = pairs.emplace_back(
        Pair{&part, static_cast<unsigned>(keySegment), set, {}, formula->hasOpaque() && !isWalked});
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

LogicalResult AttendLowering::lowerClasses(unsigned querySegment, Pair &pair) {
  Part &part = *pair.part;
  attn::AttendOp op = part.op;
  Builder types(op.getContext());
  auto output =
      RankedTensorType::get(SmallVector<int64_t>(4, ShapedType::kDynamic), types.getI8Type());
  std::string kernelName = (name + "_classes").str();
  KernelBuilder kernel(anchor, kernelName, getUses({pair}), {output},
                       2 + part.segments.getRank(querySegment));
  if (failed(emitRequirements(op, part.segments, querySegment, pair.set, kernel)))
    return failure();

  OpBuilder &plan = kernel.plan;
  // One entry serves all batches or heads where nothing tells them apart.
  Value one = makeIndex(plan, loc, 1);
  auto served = [&](unsigned axis, bool each) {
    Value extent = getExtent(plan, loc, kernel.inPlan(op.getQuery()), axis);
    return each ? extent : plan.createOrFold<arith::MinSIOp>(loc, extent, one);
  };
  SmallVector<Value> grid = {served(0, pair.perBatch), served(1, pair.perHead)};
  SmallVector<Value> queryTiles = countTiles(plan, loc,
                                             getSide(plan, kernel.getPlanMap(), part, querySegment,
                                                     /*isQuery=*/true));
  SmallVector<Value> keyTiles = countTiles(plan, loc,
                                           getSide(plan, kernel.getPlanMap(), part, pair.keySegment,
                                                   /*isQuery=*/false));
  SmallVector<Value> shape = {grid[0], grid[1], makeProduct(plan, loc, queryTiles),
                              makeProduct(plan, loc, keyTiles)};
  llvm::append_range(grid, queryTiles);

  OpBuilder &body = kernel.body;
  Side query = getQuerySide(kernel, part, querySegment);
  Side key = getSide(body, kernel.getBodyMap(), part, pair.keySegment, /*isQuery=*/false);
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

/// Which blocks are taken, in memory: also where nobody asks for it, for rows of the output may
/// have to be computed again.
static RankedTensorType getMarks(attn::AttendOp op) {
  if (op.getTaken())
    return op.getTaken().getType();
  return RankedTensorType::get(SmallVector<int64_t>(4, ShapedType::kDynamic),
                               IntegerType::get(op.getContext(), 8));
}

/// The extents of the marks, in the plan.
static void appendMarks(KernelBuilder &kernel, attn::AttendOp op, SmallVectorImpl<Value> &shape) {
  OpBuilder &plan = kernel.plan;
  auto count = [&](Value tokens, std::optional<ArrayRef<int64_t>> block) {
    Value size = getExtent(plan, kernel.getLoc(), kernel.inPlan(tokens), 2);
    return makeBoxCounts(plan, kernel.getLoc(), size, *block).front();
  };
  shape.append({shape[0], shape[1], count(op.getQuery(), op.getSkipQuery()),
                count(op.getKey(), op.getSkipKey())});
}

LogicalResult AttendLowering::lowerSegment(unsigned segment, ArrayRef<Pair> pairs) {
  Part &first = parts.front();
  attn::AttendOp op = first.op;
  SmallVector<RankedTensorType> outputs = {op.getOutput().getType()};
  // Nobody may read the sums of a merge.
  bool hasLse = op.getLse() && (anchor == op || !anchor->getResult(1).use_empty());
  if (hasLse)
    outputs.push_back(cast<RankedTensorType>(op.getLse().getType()));
  if (op.hasSkip())
    outputs.push_back(getMarks(op));
  std::string kernelName = name.str();
  if (first.segments.size() > 1)
    kernelName += "_segment_" + std::to_string(segment);
  KernelBuilder kernel(anchor, kernelName, getUses(pairs), outputs,
                       2 + first.segments.getRank(segment));
  for (Part &part : parts) {
    SmallVector<Value> sets;
    for (const Pair &pair : pairs)
      if (pair.part == &part)
        sets.push_back(pair.set);
    if (failed(emitRequirements(part.op, part.segments, segment, sets, kernel)))
      return failure();
  }

  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape = {getExtent(plan, loc, kernel.inPlan(op.getQuery()), 0),
                              getExtent(plan, loc, kernel.inPlan(op.getQuery()), 1),
                              getExtent(plan, loc, kernel.inPlan(op.getQuery()), 2),
                              getExtent(plan, loc, kernel.inPlan(op.getValue()), 3)};
  SmallVector<Value> grid = {shape[0], shape[1]};
  llvm::append_range(grid, countTiles(plan, loc,
                                      getSide(plan, kernel.getPlanMap(), first, segment,
                                              /*isQuery=*/true)));
  if (hasLse)
    shape.append({shape[0], shape[1], shape[2]});
  if (op.hasSkip())
    appendMarks(kernel, op, shape);

  OpBuilder &body = kernel.body;
  Side query = getQuerySide(kernel, first, segment);
  Value queryTile = load(kernel, op.getQuery(), kernel.getGrid(1), query);
  for (Part &part : parts)
    part.keyHead = getKeyHead(kernel, part.op);
  int64_t valueChannels = op.getValue().getType().getDimSize(3);
  tile::TileType accumulator = tileOf({query.getRows(), valueChannels}, body.getF32Type());
  tile::TileType row = tileOf({query.getRows()}, body.getF32Type());
  SmallVector<Value> state = llvm::to_vector_of<Value>(
      tile::BeginOp::create(body, loc, accumulator, row, row).getResults());
  if (op.hasSkip()) {
    taken = kernel.getOutput(outputs.size() - 1);
    tile::UnmarkOp::create(body, loc, taken, kernel.getGrid(0), kernel.getGrid(1), query.at.front(),
                           query.getRows(), op.getSkipQuery()->front());
  }
  for (const Pair &pair : pairs)
    emitLoop(kernel, pair, query, queryTile, state);
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
  if (hasLse)
    store(finish.getLse(), 1);

  kernel.finish(grid, shape);
  if (Attribute heads = op->getAttr(headTileMark))
    kernel.getKernel()->setAttr(headTileMark, heads);
  results = llvm::to_vector_of<Value>(kernel.launch(results).getResults());
  return success();
}

LogicalResult AttendLowering::run() {
  for (Part &part : parts) {
    if (!part.op.getQueryTile() || !part.op.getKeyTile())
      return part.op.emitOpError("expected tile shapes, which lacuna-assign-tiles chooses");
    if (failed(part.segments.read(part.op)))
      return failure();
  }
  for (unsigned segment = 0; segment < parts.front().segments.size(); ++segment) {
    SmallVector<Pair> pairs;
    for (Part &part : parts)
      if (failed(readPairs(part, segment, pairs)))
        return failure();
    for (Pair &pair : pairs)
      if (pair.opaque && failed(lowerClasses(segment, pair)))
        return failure();
    if (failed(lowerSegment(segment, pairs)))
      return failure();
  }
  for (auto [old, result] : llvm::zip(anchor->getResults(), results))
    old.replaceAllUsesWith(result);
  anchor->erase();
  return success();
}

LogicalResult lacuna::lowerAttend(attn::AttendOp op, StringRef name) {
  return AttendLowering(op, op, name).run();
}

LogicalResult lacuna::lowerFusedMerge(attn::MergeOp op, ArrayRef<attn::AttendOp> parts,
                                      StringRef name) {
  if (failed(AttendLowering(op, parts, name).run()))
    return failure();
  for (attn::AttendOp part : parts)
    part->erase();
  return success();
}
