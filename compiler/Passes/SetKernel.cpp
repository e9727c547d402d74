//===- SetKernel.cpp - kernels that look at a set and at nothing else -----===//
#include "compiler/Passes/SetKernel.h"

#include "compiler/Passes/Lists.h"

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::Symbol;

Value lacuna::findTokens(Value tokens) {
  while (Operation *definition = tokens.getDefiningOp()) {
    if (auto attend = dyn_cast<attn::AttendOp>(definition))
      tokens = attend.getQuery();
    else if (auto merge = dyn_cast<attn::MergeOp>(definition))
      tokens = merge.getOutputs().front();
    else
      break;
  }
  return tokens;
}

static SetKernel::Side readSide(OpBuilder &builder, Location loc, const IRMapping &map,
                                const Segments &segments, unsigned segment, Value tokens,
                                ArrayRef<int64_t> boxes) {
  SetKernel::Side side;
  side.box = segments.getBox(boxes, segment);
  if (segments.isLoneSequence()) {
    side.sizes = {getExtent(builder, loc, map.lookup(tokens), 2)};
    return side;
  }
  for (OpFoldResult size : segments.getSizes(segment))
    side.sizes.push_back(materialize(builder, loc, size, map));
  return side;
}

FailureOr<std::unique_ptr<SetKernel>> SetKernel::create(attn::AttendOp op, const Segments &segments,
                                                        unsigned querySegment, unsigned keySegment,
                                                        StringRef name, RankedTensorType output) {
  Value set = segments.getSets(querySegment)[keySegment];
  auto type = cast<sparsity::SetType>(set.getType());
  sparsity::FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
  FailureOr<sparsity::Formula> formula = sparsity::buildFormula(set, space);
  if (failed(formula))
    return failure();

  Value queries = findTokens(op.getQuery()), keys = findTokens(op.getKey());
  SmallVector<Value> uses = {set, queries, keys};
  segments.appendValues(uses);
  unsigned rank = segments.getRank(querySegment);
  std::unique_ptr<SetKernel> result(new SetKernel(op, name, uses, output, 2 + rank));
  KernelBuilder &kernel = result->kernel;
  bool isWalked =
      static_cast<bool>(findWalkedList(set, segments.getBox(*op.getQueryTile(), querySegment)));
  result->opaque = formula->hasOpaque() && !isWalked;
  result->set = kernel.inBody(set);

  SmallVector<Value> perHead;
  for (const Symbol &symbol : space.getSymbols()) {
    if (symbol.kind == Symbol::Kind::PerHead)
      perHead.push_back(symbol.value);
    // A monotone term may read memory by batch or head.
    result->perHead |=
        symbol.kind == Symbol::Kind::PerHead || symbol.kind == Symbol::Kind::Monotone;
    result->perBatch |= symbol.kind == Symbol::Kind::Monotone;
  }
  result->perHead |= formula->hasOpaque();
  result->perBatch |= formula->hasOpaque();

  Location loc = op.getLoc();
  OpBuilder &body = kernel.body;
  ArrayRef<int64_t> queryTile = *op.getQueryTile(), keyTile = *op.getKeyTile();
  result->query =
      readSide(body, loc, kernel.getBodyMap(), segments, querySegment, queries, queryTile);
  result->key = readSide(body, loc, kernel.getBodyMap(), segments, keySegment, keys, keyTile);
  for (auto [axis, box] : llvm::enumerate(result->query.box))
    result->query.at.push_back(
        body.createOrFold<arith::MulIOp>(loc, kernel.getGrid(2 + axis), makeIndex(body, loc, box)));
  OpBuilder &plan = kernel.plan;
  result->planQuery =
      readSide(plan, loc, kernel.getPlanMap(), segments, querySegment, queries, queryTile);
  result->planKey = readSide(plan, loc, kernel.getPlanMap(), segments, keySegment, keys, keyTile);
  result->planQueryTensor = kernel.inPlan(queries);
  if (failed(result->requireSizes(op, segments, perHead)) ||
      failed(requireLists(kernel, set, result->planQueryTensor, result->planQuery.sizes)) ||
      failed(requireBitmaps(kernel, set, result->planQueryTensor, result->planQuery.sizes,
                            result->planKey.sizes)))
    return failure();
  return result;
}

LogicalResult SetKernel::requireSizes(attn::AttendOp op, const Segments &segments,
                                      ArrayRef<Value> perHeadTensors) {
  OpBuilder &plan = kernel.plan;
  Location loc = getLoc();
  auto atLeast = [&](Value a, Value b) {
    return plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, a, b);
  };
  Value zero = makeIndex(plan, loc, 0);
  if (!segments.isLoneSequence())
    for (const Side *side : {&planQuery, &planKey})
      for (Value size : side->sizes)
        if (failed(kernel.require(atLeast(size, zero),
                                  "expected sizes of a domain to be at least 0, got {0}", {size})))
          return failure();
  Value heads = getExtent(plan, loc, planQueryTensor, 1);
  for (Value tensor : perHeadTensors) {
    Value length = getExtent(plan, loc, kernel.inPlan(tensor), 0);
    if (failed(kernel.require(atLeast(length, heads),
                              "expected a value for each query head, got {0} values and {1} heads",
                              {length, heads})))
      return failure();
  }
  return success();
}

Value SetKernel::constant(int64_t number) { return makeIndex(getBody(), getLoc(), number); }

Value SetKernel::countBoxes(const Side &side, ArrayRef<int64_t> box) {
  return makeProduct(getBody(), getLoc(), makeBoxCounts(getBody(), getLoc(), side.sizes, box));
}

Value SetKernel::linear(const Side &side, ValueRange at, ArrayRef<int64_t> box) {
  return makeBoxNumber(getBody(), getLoc(), at, side.sizes, box);
}

SmallVector<Value> SetKernel::forEachKey(tile::TileClass tileClass, ValueRange at,
                                         ArrayRef<int64_t> queryBox, ArrayRef<int64_t> keyBox,
                                         ValueRange init, Visit visit) {
  OpBuilder &body = getBody();
  Location loc = getLoc();
  auto loop =
      tile::ForEachOp::create(body, loc, init.getTypes(), tileClass, set, getBatch(), getHead(), at,
                              query.sizes, key.sizes, Value(), init, queryBox, keyBox);
  {
    OpBuilder::InsertionGuard guard(body);
    Block *block = body.createBlock(&loop.getBody());
    for (size_t axis = 0; axis < keyBox.size(); ++axis)
      block->addArgument(body.getIndexType(), loc);
    for (Value value : init)
      block->addArgument(value.getType(), loc);
    auto arguments = block->getArguments();
    tile::YieldOp::create(body, loc,
                          visit(ValueRange(arguments).take_front(keyBox.size()),
                                ValueRange(arguments).drop_front(keyBox.size())));
  }
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> SetKernel::forEachQuery(ValueRange init, VisitRow visit) {
  OpBuilder &body = getBody();
  Location loc = getLoc();
  SmallVector<Value> lower = query.at, upper, step(query.at.size(), constant(1));
  for (auto [at, size, box] : llvm::zip_equal(query.at, query.sizes, query.box)) {
    Value end = body.createOrFold<arith::AddIOp>(loc, at, constant(box));
    upper.push_back(body.createOrFold<arith::MinSIOp>(loc, end, size));
  }
  scf::LoopNest nest = scf::buildLoopNest(
      body, loc, lower, upper, step, init,
      [&](OpBuilder &inner, Location, ValueRange at, ValueRange carried) -> scf::ValueVector {
        OpBuilder::InsertionGuard guard(body);
        body.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        return visit(at, carried);
      });
  return nest.results;
}

Value SetKernel::classify(ValueRange keyAt) {
  OpBuilder &body = getBody();
  return tile::ClassifyOp::create(body, getLoc(), body.getI8Type(), getBatch(), getHead(), set,
                                  query.at, query.sizes, keyAt, key.sizes, query.box, key.box);
}

tile::LaunchOp SetKernel::finish(ArrayRef<Extent> shape) {
  OpBuilder &plan = kernel.plan;
  Location loc = getLoc();
  auto tilesOf = [&](const Side &side) { return makeBoxCounts(plan, loc, side.sizes, side.box); };
  Value one = makeIndex(plan, loc, 1);
  // No batch or no head at all leaves nothing to study, whatever the set.
  auto served = [&](unsigned axis, bool each) {
    Value extent = getExtent(plan, loc, planQueryTensor, axis);
    return each ? extent : plan.createOrFold<arith::MinSIOp>(loc, extent, one);
  };
  auto materializeExtent = [&](Extent extent) {
    switch (extent) {
    case Extent::QueryTiles:
      return makeProduct(plan, loc, tilesOf(planQuery));
    case Extent::KeyTiles:
      return makeProduct(plan, loc, tilesOf(planKey));
    case Extent::Queries:
      return makeProduct(plan, loc, planQuery.sizes);
    case Extent::Keys:
      return makeProduct(plan, loc, planKey.sizes);
    }
    return makeIndex(plan, loc, static_cast<int64_t>(extent));
  };
  SmallVector<Value> grid = {served(0, perBatch), served(1, perHead)}, shapes = grid;
  for (Extent extent : shape)
    shapes.push_back(materializeExtent(extent));
  llvm::append_range(grid, tilesOf(planQuery));
  kernel.finish(grid, shapes);
  return kernel.launch({});
}

LogicalResult lacuna::replaceAttends(
    func::FuncOp function,
    llvm::function_ref<FailureOr<tile::LaunchOp>(attn::AttendOp, const Segments &, unsigned,
                                                 unsigned, StringRef)>
        study) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a single block around attention, got ")
           << function.getBody().getBlocks().size() << " blocks";
  Block &block = function.getBody().front();
  SmallVector<Value> results;
  unsigned count = 0;
  for (auto op : llvm::to_vector(block.getOps<attn::AttendOp>())) {
    if (!op.getQueryTile() || !op.getKeyTile())
      return op.emitOpError("expected tile shapes, which lacuna-assign-tiles chooses");
    Segments segments;
    if (failed(segments.read(op)))
      return failure();
    std::string name = (function.getSymName() + "_set_" + Twine(count++)).str();
    for (unsigned q = 0; q < segments.size(); ++q)
      for (unsigned k = 0; k < segments.size(); ++k) {
        std::string part =
            segments.size() == 1 ? name : (name + "_" + Twine(q) + "_" + Twine(k)).str();
        FailureOr<tile::LaunchOp> launch = study(op, segments, q, k, part);
        if (failed(launch))
          return failure();
        llvm::append_range(results, launch->getResults());
      }
  }
  auto terminator = cast<func::ReturnOp>(block.getTerminator());
  terminator.getOperandsMutable().assign(results);
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             function.getFunctionType().getInputs(),
                                             ValueRange(results).getTypes()));
  // The results have no names or attributes of the former ones.
  function.removeResAttrsAttr();
  eraseDeadOps(block);
  return success();
}
