//===- TileToHopper.cpp - one producer, several consumers -----------------===//
#include "compiler/Passes/HeadTiles.h"
#include "compiler/Passes/Passes.h"

#include "dialects/Attn/AddedConstant.h"
#include "dialects/Hopper/Hopper.h"
#include "lib/Device/SharedLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>
#include <numeric>

namespace lacuna {
#define GEN_PASS_DEF_TILETOHOPPERPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Whether an op carries or computes tiles (as opposed to scalars).
static bool isTileOp(Operation *op) {
  auto isTile = [](Type type) { return isa<tile::TileType>(type); };
  return llvm::any_of(op->getResultTypes(), isTile) || llvm::any_of(op->getOperandTypes(), isTile);
}

/// What one softmax step absorbs: scores = [skip of] [mask of] [score function of] a product.
struct StepParts {
  tile::SkipOp skip;
  tile::DotOp dot;
  tile::ScoreOp score;
  tile::MaskOp mask;
  tile::LoadOp query, keys, values;

  explicit StepParts(tile::SoftmaxStepOp step) {
    Value scores = step.getScores();
    if ((skip = scores.getDefiningOp<tile::SkipOp>()))
      scores = skip.getScores();
    if ((mask = scores.getDefiningOp<tile::MaskOp>()))
      scores = mask.getScores();
    if ((score = scores.getDefiningOp<tile::ScoreOp>()))
      scores = score.getScores();
    values = step.getValues().getDefiningOp<tile::LoadOp>();
    if (!(dot = scores.getDefiningOp<tile::DotOp>()))
      return;
    query = dot.getQuery().getDefiningOp<tile::LoadOp>();
    keys = dot.getKey().getDefiningOp<tile::LoadOp>();
  }
  bool isComplete() const { return query && keys && values; }

  /// The constant that the score function adds, when it does nothing else: such a function applies
  /// to the raw product as well.
  std::optional<float> getShift() {
    if (!score)
      return 0.0f;
    Block &body = score.getBody().front();
    return attn::getAddedConstant(body.getTerminator()->getOperand(0), body.getArgument(0));
  }
};

/// Whether score functions need products that have been scaled.
static bool needsScaled(ArrayRef<tile::SoftmaxStepOp> steps) {
  return llvm::any_of(steps, [](tile::SoftmaxStepOp step) {
    StepParts parts(step);
    // A product of 0 or a tiny scale leaves no raw shift.
    float scale = parts.dot.getScale().convertToFloat();
    std::optional<float> shift = parts.getShift();
    // The largest score is that of the largest product.
    if (parts.skip && !(scale > 0))
      return true;
    return !shift || (*shift != 0 && !std::isfinite(*shift / scale));
  });
}

static int64_t countTokens(ArrayRef<int64_t> box) {
  return std::accumulate(box.begin(), box.end(), int64_t{1}, std::multiplies<>());
}

static bool skipAlike(tile::SkipOp a, tile::SkipOp b) {
  if (!a || !b)
    return a == b;
  return a.getBelow() == b.getBelow() && a.getTaken() == b.getTaken() &&
         a.getMarginAttr() == b.getMarginAttr() && a.getRows() == b.getRows();
}

/// Refuses what the copy engine and the matrix instructions cannot do. `first` is the first step of
/// the kernel.
static LogicalResult checkStep(tile::SoftmaxStepOp step, StepParts first) {
  StepParts parts(step);
  if (!parts.isComplete())
    return step.emitOpError("expected scores of loaded queries and keys, and loaded values");
  // tile-to-hopper-1
  if (parts.query != first.query)
    return step.emitOpError("expected one query tile per kernel");
  // tile-to-hopper-7
  if (parts.dot.getScale() != first.dot.getScale())
    return parts.dot.emitOpError("expected one scale per kernel on this target, got ")
           << first.dot.getScale().convertToDouble() << " and "
           << parts.dot.getScale().convertToDouble();
  // tile-to-hopper-8
  if (!skipAlike(parts.skip, first.skip))
    return step.emitOpError("expected all tiles of a kernel to be skipped in one way on this "
                            "target");
  // tile-to-hopper-9
  if (parts.skip && (parts.skip.getRows() != 64 || parts.keys.getBox().size() != 1))
    return parts.skip.emitOpError(
               "expected blocks of 64 queries of a sequence on this target, got ")
           << static_cast<int64_t>(parts.skip.getRows()) << " and " << parts.keys.getBox().size()
           << " axes";
  for (tile::LoadOp load : {parts.query, parts.keys, parts.values}) {
    // tile-to-hopper-2
    Type element = load.getTile().getType().getElementType();
    if (element.getIntOrFloatBitWidth() != 16)
      return load.emitOpError("expected f16 or bf16 elements on this target, got ") << element;
    // tile-to-hopper-3
    int64_t channels = load.getTile().getType().getColumns();
    if (channels % 8 != 0 || channels < 32 || channels > 256)
      return load.emitOpError("expected a head dimension of 32 to 256 in steps of 8 on this "
                              "target, got ")
             << channels;
    // tile-to-hopper-5
    if (load.getBox().size() > 3)
      return load.emitOpError("expected at most three axes on this target, got ")
             << load.getBox().size();
  }
  // tile-to-hopper-4
  int64_t keys = countTokens(first.keys.getBox());
  for (tile::LoadOp load : {parts.keys, parts.values})
    if (countTokens(load.getBox()) != keys)
      return load.emitOpError("expected key tiles of all segments to hold as many keys on this "
                              "target, got ")
             << keys << " and " << countTokens(load.getBox());
  return success();
}

/// Where key tiles come from: heads of a key and a value tensor, seen as a grid.
static SmallVector<Value> sourceOf(StepParts parts) {
  tile::LoadOp keys = parts.keys, values = parts.values;
  SmallVector<Value> source{keys.getSource(), values.getSource(), keys.getBatch(), keys.getHead(),
                            keys.getBase()};
  llvm::append_range(source, keys.getSizes());
  return source;
}

/// Token number of the pair's query or key: base + row-major(coordinates).
static Value emitToken(OpBuilder &builder, Location loc, ValueRange at, ValueRange sizes,
                       Value base) {
  Value token = at.front();
  for (auto [coordinate, size] : llvm::zip_equal(at.drop_front(), sizes.drop_front())) {
    token = arith::MulIOp::create(builder, loc, token, size);
    token = arith::AddIOp::create(builder, loc, token, coordinate);
  }
  return arith::AddIOp::create(builder, loc, base, token);
}

/// Clones `block` without its terminator; returns what the terminator's first operand became.
static Value inlineBlock(OpBuilder &builder, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

/// Writes the element function of a step into `region`: the score function first, then -inf for
/// pairs that are masked or whose key lies outside the grid. With `isScaled` it gets scores, else
/// raw products.
static void buildElements(StepParts &parts, Region &region, bool isScaled) {
  MLIRContext *context = parts.dot.getContext();
  OpBuilder builder(context);
  Location loc = parts.dot.getLoc();
  size_t queryAxes = parts.query.getBox().size(), keyAxes = parts.keys.getBox().size();
  Block *block = builder.createBlock(&region);
  Value score = block->addArgument(builder.getF32Type(), loc);
  for (size_t axis = 0; axis < queryAxes + keyAxes; ++axis)
    block->addArgument(builder.getIndexType(), loc);
  ValueRange queryAt = block->getArguments().slice(1, queryAxes);
  ValueRange keyAt = block->getArguments().drop_front(1 + queryAxes);

  if (!isScaled && *parts.getShift() != 0) {
    float shift = *parts.getShift() / parts.dot.getScale().convertToFloat();
    Value constant =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(shift)).getResult();
    score = arith::AddFOp::create(builder, loc, score, constant);
  } else if (tile::ScoreOp op = isScaled ? parts.score : tile::ScoreOp()) {
    Value query = emitToken(builder, loc, queryAt, op.getQuerySizes(), op.getQueryBase());
    Value key = emitToken(builder, loc, keyAt, op.getKeySizes(), op.getKeyBase());
    score = inlineBlock(builder, op.getBody().front(),
                        {score, op.getBatch(), op.getHead(), query, key});
  }
  if (tile::MaskOp op = parts.mask) {
    SmallVector<Value> coordinates(queryAt);
    llvm::append_range(coordinates, keyAt);
    Value live = inlineBlock(builder, op.getPredicate().front(), coordinates);
    for (auto [coordinate, size] : llvm::zip_equal(keyAt, op.getKeySizes())) {
      Value inside =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, coordinate, size);
      live = arith::AndIOp::create(builder, loc, live, inside);
    }
    Value dead = arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
    score = arith::SelectOp::create(builder, loc, live, score, dead);
  }
  hopper::YieldOp::create(builder, loc, score);
}

/// Clones into `region` what it uses from inside loops of `body` but that depends on nothing there.
/// False when something does depend on a loop.
static bool makeIndependent(Region &region, Region &body) {
  Block &block = region.front();
  auto isLocal = [&](Value value) {
    return !region.isAncestor(value.getParentRegion()) && value.getParentRegion() != &body;
  };
  // Definitions come before uses: walk up from each use, cloning in front of what is there already.
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<OpOperand *> local;
    region.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (isLocal(operand.get()))
          local.push_back(&operand);
    });
    DenseMap<Value, Value> clones;
    for (OpOperand *use : local) {
      Operation *definition = use->get().getDefiningOp();
      if (!definition || !isPure(definition) || definition->getNumRegions() || isTileOp(definition))
        return false;
      Value &clone = clones[use->get()];
      if (!clone) {
        // The region has no parent yet, so the context must come from elsewhere.
        OpBuilder builder(definition->getContext());
        builder.setInsertionPointToStart(&block);
        clone = builder.clone(*definition)->getResult(cast<OpResult>(use->get()).getResultNumber());
      }
      use->set(clone);
      changed = true;
    }
  }
  return true;
}

/// Whether two element functions are the same text over the same captured values.
static bool areSame(Region &a, Region &b) {
  return OperationEquivalence::isRegionEquivalentTo(&a, &b, OperationEquivalence::IgnoreLocations);
}

namespace {
/// Rewrites one attention kernel.
class KernelRewriter {
public:
  KernelRewriter(tile::KernelOp kernel, tile::FinishOp finish) : kernel(kernel), finish(finish) {}
  LogicalResult run();

private:
  LogicalResult collect();
  LogicalResult classify();
  LogicalResult cloneWalk(Operation &op, OpBuilder &builder, IRMapping &mapping);
  LogicalResult cloneWalk(Block &from, OpBuilder &builder, IRMapping &mapping);
  hopper::AttendOp createAttend(OpBuilder &builder);

  tile::KernelOp kernel;
  tile::FinishOp finish;
  tile::StoreOp outputStore, lseStore;
  SmallVector<tile::SoftmaxStepOp> steps;
  DenseMap<Operation *, unsigned> kindOfStep;
  /// What tiles of one kind have in common.
  struct Kind {
    std::unique_ptr<Region> elements;
    SmallVector<Value> source;
    ArrayRef<int64_t> box;
  };
  SmallVector<Kind> kinds;
};
} // namespace

LogicalResult KernelRewriter::collect() {
  kernel.getBody().walk([&](tile::SoftmaxStepOp step) { steps.push_back(step); });
  if (steps.empty())
    return finish.emitOpError("expected at least one softmax step before it");
  StepParts first(steps.front());
  for (tile::SoftmaxStepOp step : steps)
    if (failed(checkStep(step, first)))
      return failure();
  for (Operation *user : finish->getUsers()) {
    auto store = dyn_cast<tile::StoreOp>(user);
    if (!store || store->getBlock() != finish->getBlock())
      return user->emitOpError("expected the final state to be stored at once");
    (store.getTile() == finish.getOutput() ? outputStore : lseStore) = store;
  }
  if (!outputStore)
    return finish.emitOpError("expected its output to be stored");
  return success();
}

LogicalResult KernelRewriter::classify() {
  bool isScaled = needsScaled(steps);
  for (tile::SoftmaxStepOp step : steps) {
    StepParts parts(step);
    if (parts.mask && parts.mask.getPredicate().empty())
      return parts.mask.emitOpError("expected masks to be predicates (lacuna-expand-masks)");
    auto region = std::make_unique<Region>();
    buildElements(parts, *region, isScaled);
    // tile-to-hopper-6: consumers see a tile's place, but no other value of the walk.
    if (!makeIndependent(*region, kernel.getBody()))
      return step.emitOpError("expected masks and score functions of values that the loop over "
                              "key tiles does not change");
    SmallVector<Value> source = sourceOf(parts);
    ArrayRef<int64_t> box = parts.keys.getBox();
    auto *known = llvm::find_if(kinds, [&](const Kind &kind) {
      return kind.source == source && kind.box == box && areSame(*kind.elements, *region);
    });
    kindOfStep[step] = std::distance(kinds.begin(), known);
    if (known == kinds.end())
      kinds.push_back({std::move(region), std::move(source), box});
  }
  return success();
}

/// Clones the scalar part of `op`: loops lose their tiles, steps become hopper.tile.
LogicalResult KernelRewriter::cloneWalk(Operation &op, OpBuilder &builder, IRMapping &mapping) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return mapping.lookupOrDefault(v); });
  };
  if (auto step = dyn_cast<tile::SoftmaxStepOp>(op)) {
    tile::LoadOp keys = StepParts(step).keys, values = StepParts(step).values;
    hopper::TileOp::create(builder, step.getLoc(), kindOfStep[step], keys.getSource(),
                           values.getSource(), mapping.lookupOrDefault(keys.getBatch()),
                           mapping.lookupOrDefault(keys.getHead()), mapped(keys.getAt()),
                           mapped(keys.getSizes()), mapping.lookupOrDefault(keys.getBase()),
                           keys.getBoxAttr());
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && isTileOp(loop)) {
    auto walk = scf::ForOp::create(
        builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
        mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()));
    mapping.map(loop.getInductionVar(), walk.getInductionVar());
    OpBuilder inner = OpBuilder::atBlockTerminator(walk.getBody());
    return cloneWalk(*loop.getBody(), inner, mapping);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && isTileOp(branch)) {
    auto walk =
        scf::IfOp::create(builder, branch.getLoc(), mapping.lookupOrDefault(branch.getCondition()),
                          !branch.getElseRegion().empty());
    OpBuilder inner = walk.getThenBodyBuilder();
    if (failed(cloneWalk(*branch.thenBlock(), inner, mapping)))
      return failure();
    if (branch.getElseRegion().empty())
      return success();
    OpBuilder otherwise = walk.getElseBodyBuilder();
    return cloneWalk(*branch.elseBlock(), otherwise, mapping);
  }
  if (!isTileOp(&op))
    builder.clone(op, mapping);
  return success();
}

LogicalResult KernelRewriter::cloneWalk(Block &from, OpBuilder &builder, IRMapping &mapping) {
  for (Operation &op : from.without_terminator())
    if (failed(cloneWalk(op, builder, mapping)))
      return failure();
  return success();
}

hopper::AttendOp KernelRewriter::createAttend(OpBuilder &builder) {
  StepParts parts(steps.front());
  bool natural = needsScaled(steps);
  tile::LoadOp query = parts.query;
  auto mark = kernel->getAttrOfType<IntegerAttr>(headTileMark);
  int64_t heads = mark ? mark.getInt() : 1;
  joinHeads(kernel, query.getSource(), parts.keys.getSource(), heads);
  return hopper::AttendOp::create(
      builder, finish.getLoc(), query.getSource(), query.getBatch(), query.getHead(), query.getAt(),
      query.getSizes(), query.getBase(), finish.getSink(), outputStore.getTarget(),
      lseStore ? lseStore.getTarget() : Value(), parts.skip ? parts.skip.getBelow() : Value(),
      parts.skip ? parts.skip.getTaken() : Value(), query.getBoxAttr(),
      builder.getI64IntegerAttr(std::max(countTokens(parts.keys.getBox()), leastCopiedKeys)),
      builder.getI64IntegerAttr(parts.values.getTile().getType().getColumns()),
      parts.dot.getScaleAttr(), parts.skip ? parts.skip.getMarginAttr() : FloatAttr(),
      natural ? builder.getUnitAttr() : UnitAttr(), /*consumers=*/IntegerAttr(),
      /*stages=*/IntegerAttr(), /*query_slots=*/IntegerAttr(),
      /*producer_registers=*/IntegerAttr(), /*consumer_registers=*/IntegerAttr(),
      /*ping_pong=*/UnitAttr(), /*ascending=*/UnitAttr(),
      /*blocks=*/builder.getI64IntegerAttr(1), /*heads=*/builder.getI64IntegerAttr(heads),
      kinds.size());
}

LogicalResult KernelRewriter::run() {
  // Attention that sees no key needs no product; its rows are written as they are.
  auto unmarks = kernel.getBody().front().getOps<tile::UnmarkOp>();
  if (finish.getAccumulator().getDefiningOp<tile::BeginOp>()) {
    // tile-to-hopper-10
    if (!unmarks.empty())
      return finish.emitOpError("expected marks of attention that sees a key on this target");
    return success();
  }
  if (failed(collect()) || failed(classify()))
    return failure();
  OpBuilder builder(finish);
  hopper::AttendOp attend = createAttend(builder);
  for (auto &&[kind, region] : llvm::zip_equal(kinds, attend.getElements()))
    region.takeBody(*kind.elements);

  // Scalars of the kernel's own block stay where they are, before the new op; what stands inside
  // loops goes with them.
  Block &body = kernel.getBody().front();
  builder.createBlock(&attend.getWalk());
  IRMapping mapping;
  for (Operation &op : body) {
    if (&op == attend.getOperation())
      break;
    if (!isa<scf::ForOp, scf::IfOp, tile::SoftmaxStepOp>(op) || !isTileOp(&op))
      continue;
    if (failed(cloneWalk(op, builder, mapping)))
      return failure();
  }

  // The tile program is dead now: erase it from the end. Warpgroups unmark their blocks themselves.
  SmallVector<Operation *> dead;
  for (Operation &op : body)
    if (isTileOp(&op) || isa<tile::UnmarkOp>(op))
      dead.push_back(&op);
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  return success();
}

namespace {
struct TileToHopper final : lacuna::impl::TileToHopperPassBase<TileToHopper> {
  void runOnOperation() override {
    SmallVector<std::pair<tile::KernelOp, tile::FinishOp>> kernels;
    getOperation()->walk([&](tile::FinishOp finish) {
      kernels.emplace_back(finish->getParentOfType<tile::KernelOp>(), finish);
    });
    for (auto [kernel, finish] : kernels)
      if (failed(KernelRewriter(kernel, finish).run()))
        return signalPassFailure();
  }
};
} // namespace
