//===- FootprintLoops.cpp - the loops of one tile.for_each ----------------===//
#include "compiler/Passes/FootprintLoops.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::Formula;
using lacuna::sparsity::FormulaSpace;
using lacuna::sparsity::PairContext;
using tile::TileClass;

/// Boxes beyond this share one copy of the loop's body.
static constexpr size_t maxCopies = 2;

/// Whether a key box may fit into `full`; false when some extent of `full` is a number that is too
/// small.
static bool canBeFull(const TileBox &full, ArrayRef<int64_t> keyBox, unsigned dims,
                      unsigned symbols) {
  for (auto [range, tokens] : llvm::zip_equal(full.ranges, keyBox))
    for (AffineExpr lower : range.lower)
      for (AffineExpr upper : range.upper)
        if (auto extent =
                dyn_cast<AffineConstantExpr>(simplifyAffineExpr(upper - lower, dims, symbols));
            extent && extent.getValue() < tokens)
          return false;
  return true;
}

namespace {

/// Writes the loops that stand for one `tile.for_each`.
class LoopWriter {
public:
  LoopWriter(tile::ForEachOp loop, const Formula &formula, const FormulaSpace &space,
             const Footprint &footprint, bool unaligned)
      : loop(loop), formula(formula), space(space), footprint(footprint), unaligned(unaligned),
        builder(loop), loc(loop.getLoc()) {}

  void run();

private:
  Value number(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value expand(AffineExpr expr) {
    return affine::expandAffineExpr(builder, loc, expr, dims, symbols);
  }
  Value isNonNegative(AffineExpr expr) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, expand(expr), number(0));
  }
  Value isEach(ArrayRef<AffineExpr> exprs);
  Value isAny(ArrayRef<Condition> conditions);
  template <typename OpT> Value reduce(ArrayRef<AffineExpr> exprs);

  Value firstTile(unsigned axis);
  void emitSymbols();
  Value truth() { return arith::ConstantIntOp::create(builder, loc, 1, 1); }
  Value choose(ArrayRef<TileBox> boxes, function_ref<Value(const TileBox &)> say);
  Value emitConditions(const TileBox &box);
  SmallVector<Value> emitBoxes(ArrayRef<TileBox> boxes);
  using BodyFn = function_ref<SmallVector<Value>(Value, ValueRange)>;
  SmallVector<Value> emitLoop(Value lower, Value upper, int64_t step, ValueRange carried,
                              BodyFn body);
  SmallVector<Value> emitOnce(Value lower, Value upper, ArrayRef<TileBox> boxes, unsigned axis,
                              ValueRange carried);
  SmallVector<Value> emitAxis(ArrayRef<TileBox> boxes, unsigned axis, ValueRange carried);
  SmallVector<Value> emitVisit(ArrayRef<TileBox> boxes, ValueRange carried);
  /// The body of the loop; without its masks for a tile of live pairs only.
  SmallVector<Value> emitBody(ValueRange carried, bool isFull = false);
  SmallVector<Value> emitEitherBody(ValueRange carried);
  Value emitClass();
  Value emitClassTest();
  Value isInside(const TileBox &box);
  Value emitPairTest();
  Value emitFullTest(const TileBox &full);
  /// Whether some unaligned tile may be full.
  bool hasFull() {
    return footprint.full.size() == 1 &&
           canBeFull(footprint.full.front(), loop.getKeyBox(),
                     loop.getQueryBox().size() + loop.getKeyBox().size(), footprint.symbols.size());
  }
  void runUnaligned();

  tile::ForEachOp loop;
  const Formula &formula;
  const FormulaSpace &space;
  const Footprint &footprint;
  bool unaligned;
  OpBuilder builder;
  Location loc;
  PairContext context;
  /// Where several boxes share a nest: whether it is the turn of each but the last.
  SmallVector<Value> isBox;
  /// Tile coordinates: the query's, then the key's as far as they are known.
  SmallVector<Value> dims, symbols;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value LoopWriter::isEach(ArrayRef<AffineExpr> exprs) {
  Value result;
  for (AffineExpr expr : exprs) {
    Value holds = isNonNegative(expr);
    result = result ? arith::AndIOp::create(builder, loc, result, holds).getResult() : holds;
  }
  return result;
}

Value LoopWriter::isAny(ArrayRef<Condition> conditions) {
  Value result;
  for (const Condition &condition : conditions) {
    Value holds = isEach(condition);
    // A condition without constraints always holds.
    if (!holds)
      holds = truth();
    result = result ? arith::OrIOp::create(builder, loc, result, holds).getResult() : holds;
  }
  return result;
}

template <typename OpT> Value LoopWriter::reduce(ArrayRef<AffineExpr> exprs) {
  Value result;
  for (AffineExpr expr : exprs) {
    Value value = expand(expr);
    result = result ? OpT::create(builder, loc, result, value).getResult() : value;
  }
  return result;
}

/// The query tile's coordinate in tiles. `query_at` is a multiple of the box.
Value LoopWriter::firstTile(unsigned axis) {
  Value at = loop.getQueryAt()[axis];
  int64_t box = loop.getQueryBox()[axis];
  if (box == 1)
    return at;
  APInt factor;
  if (auto product = at.getDefiningOp<arith::MulIOp>())
    if (matchPattern(product.getRhs(), m_ConstantInt(&factor)) && factor == box)
      return product.getLhs();
  return builder.createOrFold<arith::DivUIOp>(loc, at, number(box));
}

void LoopWriter::emitSymbols() {
  context.batch = loop.getBatch();
  context.head = loop.getHead();
  context.querySizes = llvm::to_vector(loop.getQuerySizes());
  context.keySizes = llvm::to_vector(loop.getKeySizes());
  PairContext first = context, last = context;
  first.query = llvm::to_vector(loop.getQueryAt());
  // Only a symbol at the last row needs it; made on demand below.
  auto lastRow = [&](unsigned axis) -> Value {
    Value end = arith::AddIOp::create(builder, loc, first.query[axis],
                                      number(loop.getQueryBox()[axis] - 1));
    Value size = arith::SubIOp::create(builder, loc, context.querySizes[axis], number(1));
    return arith::MinSIOp::create(builder, loc, end, size);
  };
  for (const TileSymbol &symbol : footprint.symbols) {
    bool atLast = symbol.at == TileSymbol::At::LastRow;
    if (atLast && last.query.empty())
      for (unsigned axis = 0; axis < first.query.size(); ++axis)
        last.query.push_back(lastRow(axis));
    symbols.push_back(sparsity::emitSymbol(builder, loc, space.getSymbols()[symbol.symbol],
                                           atLast ? last : first));
  }
}

/// The key tile's class in the table.
Value LoopWriter::emitClass() {
  auto linear = [&](ValueRange tiles, ValueRange sizes, ArrayRef<int64_t> box) {
    Value result;
    for (auto [tile, size, tokens] : llvm::zip_equal(tiles, sizes, box)) {
      Value count = arith::CeilDivSIOp::create(builder, loc, size, number(tokens));
      result = result ? arith::AddIOp::create(
                            builder, loc, arith::MulIOp::create(builder, loc, result, count), tile)
                            .getResult()
                      : tile;
    }
    return result;
  };
  ValueRange tiles(dims);
  unsigned queryRank = loop.getQueryBox().size();
  // An extent of 1 serves all batches or heads.
  auto clamp = [&](Value index, unsigned axis) -> Value {
    Value extent = tensor::DimOp::create(builder, loc, loop.getClasses(), axis);
    Value last = arith::SubIOp::create(builder, loc, extent, number(1));
    return arith::MinSIOp::create(builder, loc, index, last);
  };
  Value indices[] = {clamp(loop.getBatch(), 0), clamp(loop.getHead(), 1),
                     linear(tiles.take_front(queryRank), loop.getQuerySizes(), loop.getQueryBox()),
                     linear(tiles.drop_front(queryRank), loop.getKeySizes(), loop.getKeyBox())};
  return tensor::ExtractOp::create(builder, loc, loop.getClasses(), indices);
}

/// Whether the key tile has the wanted class in the table.
Value LoopWriter::emitClassTest() {
  Value found = emitClass();
  TileClass wanted = loop.getTileClass();
  int64_t code = wanted == TileClass::Full ? 2 : wanted == TileClass::Partial ? 1 : 0;
  Value expected = arith::ConstantIntOp::create(builder, loc, code, 8);
  return arith::CmpIOp::create(
      builder, loc, wanted == TileClass::Live ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq,
      found, expected);
}

/// The exact predicate of the one pair of a tile of one query and one key.
Value LoopWriter::emitPairTest() {
  PairContext pair = context;
  unsigned queryRank = loop.getQueryBox().size();
  pair.query.assign(dims.begin(), dims.begin() + queryRank);
  pair.key.assign(dims.begin() + queryRank, dims.end());
  return sparsity::emitPredicate(builder, loc, formula, space, pair);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> LoopWriter::emitBody(ValueRange carried, bool isFull) {
  unsigned queryRank = loop.getQueryBox().size();
  IRMapping map;
  for (auto [axis, box] : llvm::enumerate(loop.getKeyBox())) {
    Value tile = dims[queryRank + axis];
    bool isToken = unaligned || box == 1;
    Value first = isToken ? tile : arith::MulIOp::create(builder, loc, tile, number(box));
    map.map(loop.getBody().getArgument(axis), first);
  }
  map.map(loop.getBody().getArguments().drop_front(loop.getKeyBox().size()), carried);
  Block &body = loop.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (auto mask = dyn_cast<tile::MaskOp>(op); mask && isFull)
      map.map(mask.getResult(), map.lookupOrDefault(mask.getScores()));
    else
      builder.clone(op, map);
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  return results;
}

/// Whether the key tile lies in `box`.
Value LoopWriter::isInside(const TileBox &box) {
  unsigned queryRank = loop.getQueryBox().size();
  Condition conditions(box.guards);
  for (auto [axis, range] : llvm::enumerate(box.ranges)) {
    AffineExpr at = getAffineDimExpr(queryRank + axis, loop.getContext());
    for (AffineExpr lower : range.lower)
      conditions.push_back(at - lower);
    for (AffineExpr upper : range.upper)
      conditions.push_back(upper - at - 1);
  }
  Value test = isEach(conditions), more = emitConditions(box);
  return more ? arith::AndIOp::create(builder, loc, test, more).getResult() : test;
}

/// The body of a loop whose order must not depend on which tiles are full: that is asked tile by
/// tile.
SmallVector<Value> LoopWriter::emitEitherBody(ValueRange carried) {
  Value isFull;
  if (loop.getClasses())
    isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, emitClass(),
                                   arith::ConstantIntOp::create(builder, loc, 2, 8));
  else
    for (const TileBox &box : footprint.full) {
      Value inside = isInside(box);
      isFull = isFull ? arith::OrIOp::create(builder, loc, isFull, inside).getResult() : inside;
    }
  if (!isFull)
    return emitBody(carried);
  auto branch = scf::IfOp::create(builder, loc, carried.getTypes(), isFull,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, emitBody(carried, /*isFull=*/true));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, emitBody(carried));
  return llvm::to_vector_of<Value>(branch.getResults());
}

/// What the box of this round says, out of what each box says.
Value LoopWriter::choose(ArrayRef<TileBox> boxes, function_ref<Value(const TileBox &)> say) {
  SmallVector<Value> values;
  for (const TileBox &box : boxes)
    values.push_back(say(box));
  Value result = values.back();
  for (size_t index = boxes.size() - 1; index-- > 0;)
    result = arith::SelectOp::create(builder, loc, isBox[index], values[index], result);
  return result;
}

/// What bounds do not say about visits of `box`; null when they say it all.
Value LoopWriter::emitConditions(const TileBox &box) {
  Value test = isEach(box.conditions);
  auto require = [&](Value more) {
    test = test ? arith::AndIOp::create(builder, loc, test, more).getResult() : more;
  };
  if (!box.anyOf.empty())
    require(isAny(box.anyOf));
  if (!box.noneOf.empty())
    require(arith::XOrIOp::create(builder, loc, isAny(box.noneOf), truth()));
  return test;
}

SmallVector<Value> LoopWriter::emitVisit(ArrayRef<TileBox> boxes, ValueRange carried) {
  Value test;
  bool hasConditions = llvm::any_of(boxes, [](const TileBox &box) {
    return !box.conditions.empty() || !box.anyOf.empty() || !box.noneOf.empty();
  });
  if (hasConditions)
    test = choose(boxes, [&](const TileBox &box) {
      Value conditions = emitConditions(box);
      return conditions ? conditions : truth();
    });
  auto require = [&](Value more) {
    test = test ? arith::AndIOp::create(builder, loc, test, more).getResult() : more;
  };
  auto isOne = [](int64_t tokens) { return tokens == 1; };
  bool wantsFull = loop.getTileClass() == TileClass::Full;
  if (loop.getClasses())
    require(emitClassTest());
  else if (unaligned && (wantsFull || loop.getTileClass() == TileClass::Partial)) {
    if (hasFull()) {
      Value isFull = emitFullTest(footprint.full.front());
      require(wantsFull ? isFull : arith::XOrIOp::create(builder, loc, isFull, truth()));
    }
  } else if (!footprint.exact && loop.getTileClass() != TileClass::Full &&
             llvm::all_of(loop.getQueryBox(), isOne) && llvm::all_of(loop.getKeyBox(), isOne)) {
    require(emitPairTest());
  }
  auto emit = [&] { return loop.getAscending() ? emitEitherBody(carried) : emitBody(carried); };
  if (!test)
    return emit();
  auto branch = scf::IfOp::create(builder, loc, carried.getTypes(), test,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, emit());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, carried);
  return llvm::to_vector_of<Value>(branch.getResults());
}

SmallVector<Value> LoopWriter::emitLoop(Value lower, Value upper, int64_t step, ValueRange carried,
                                        BodyFn body) {
  auto nest = scf::ForOp::create(builder, loc, lower, upper, number(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(nest.getBody());
  SmallVector<Value> next = body(nest.getInductionVar(), nest.getRegionIterArgs());
  // A loop without carried values has its terminator already.
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector_of<Value>(nest.getResults());
}

/// What a loop of at most one round does.
SmallVector<Value> LoopWriter::emitOnce(Value lower, Value upper, ArrayRef<TileBox> boxes,
                                        unsigned axis, ValueRange carried) {
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
  auto branch = scf::IfOp::create(builder, loc, carried.getTypes(), isThere,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  dims.push_back(lower);
  SmallVector<Value> next = emitAxis(boxes, axis + 1, carried);
  dims.pop_back();
  scf::YieldOp::create(builder, loc, next);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, carried);
  return llvm::to_vector_of<Value>(branch.getResults());
}

SmallVector<Value> LoopWriter::emitAxis(ArrayRef<TileBox> boxes, unsigned axis,
                                        ValueRange carried) {
  if (axis == loop.getKeyBox().size())
    return emitVisit(boxes, carried);
  Value lower = choose(
      boxes, [&](const TileBox &box) { return reduce<arith::MaxSIOp>(box.ranges[axis].lower); });
  Value upper = choose(boxes, [&](const TileBox &box) {
    Value end = reduce<arith::MinSIOp>(box.ranges[axis].upper);
    // A guard that does not hold leaves the outermost loop nothing to do.
    Value guard = axis == 0 ? isEach(box.guards) : Value();
    return guard ? arith::SelectOp::create(builder, loc, guard, end, lower).getResult() : end;
  });
  int64_t step = unaligned ? loop.getKeyBox()[axis] : 1;
  // An entry of a list that is as large as a tile.
  if (boxes.size() == 1 && loop->getParentOfType<scf::ForOp>() &&
      isAtMostOne(boxes.front().ranges[axis], step))
    return emitOnce(lower, upper, boxes, axis, carried);
  return emitLoop(lower, upper, step, carried, [&](Value tile, ValueRange inner) {
    dims.push_back(tile);
    SmallVector<Value> next = emitAxis(boxes, axis + 1, inner);
    dims.pop_back();
    return next;
  });
}

/// One nest per box while there are few. More of them share one nest, and so one copy of the body,
/// in an outer loop over boxes.
SmallVector<Value> LoopWriter::emitBoxes(ArrayRef<TileBox> boxes) {
  SmallVector<Value> carried = llvm::to_vector(loop.getInit());
  if (boxes.size() <= maxCopies) {
    for (const TileBox &box : boxes)
      carried = emitAxis(box, 0, carried);
    return carried;
  }
  return emitLoop(number(0), number(boxes.size()), 1, carried, [&](Value round, ValueRange inner) {
    for (size_t index = 0; index + 1 < boxes.size(); ++index)
      isBox.push_back(
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, round, number(index)));
    return emitAxis(boxes, 0, inner);
  });
}

/// Whether all keys of the box at the token coordinates lie in `full`, the box of keys that every
/// row sees.
Value LoopWriter::emitFullTest(const TileBox &full) {
  unsigned queryRank = loop.getQueryBox().size();
  Value result = isEach(full.guards);
  for (auto [axis, range] : llvm::enumerate(full.ranges)) {
    AffineExpr at = getAffineDimExpr(queryRank + axis, loop.getContext());
    SmallVector<AffineExpr> conditions;
    for (AffineExpr lower : range.lower)
      conditions.push_back(at - lower);
    for (AffineExpr upper : range.upper)
      conditions.push_back(upper - at - loop.getKeyBox()[axis]);
    Value inside = isEach(conditions);
    result = result ? arith::AndIOp::create(builder, loc, result, inside).getResult() : inside;
  }
  return result;
}

/// The loop from the corner of the footprint. Which tiles are full is tested tile by tile.
void LoopWriter::runUnaligned() {
  SmallVector<Value> carried = llvm::to_vector(loop.getInit());
  bool wantsFull = loop.getTileClass() == TileClass::Full;
  bool isNever = wantsFull && !hasFull();
  if (!isNever)
    carried = emitAxis(footprint.live, 0, carried);
  loop.getResults().replaceAllUsesWith(carried);
  loop.erase();
}

void LoopWriter::run() {
  for (unsigned axis = 0; axis < loop.getQueryBox().size(); ++axis)
    dims.push_back(firstTile(axis));
  emitSymbols();
  if (unaligned) {
    runUnaligned();
    return;
  }
  bool wantsFull = loop.getTileClass() == TileClass::Full;
  bool wantsPartial = loop.getTileClass() == TileClass::Partial;
  // Classes speak about all tiles of the hull.
  const std::vector<TileBox> &boxes = loop.getClasses() ? footprint.live
                                      : wantsFull       ? footprint.full
                                      : wantsPartial    ? footprint.partial
                                                        : footprint.live;
  SmallVector<Value> carried = emitBoxes(boxes);
  loop.getResults().replaceAllUsesWith(carried);
  loop.erase();
}

void lacuna::writeLoops(tile::ForEachOp loop, const Formula &formula, const FormulaSpace &space,
                        const Footprint &footprint, bool unaligned) {
  LoopWriter(loop, formula, space, footprint, unaligned).run();
}
