//===- PairRegions.cpp - regions that speak of one pair, on whole tiles ---===//
#include "compiler/Cpu/PairRegions.h"

#include "compiler/Cpu/ScalarLowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace lacuna;

static constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

int64_t PairRegion::countTokens(ArrayRef<int64_t> box) {
  int64_t count = 1;
  for (int64_t extent : box)
    count *= extent;
  return count;
}

bool PairRegion::isVectorizable() {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    if (op.getNumRegions() != 0)
      return false;
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) // i1 has no address of its own.
      return !extract.getType().isInteger(1);
    return op.hasTrait<OpTrait::ConstantLike>() || isa<tensor::DimOp>(op) ||
           OpTrait::hasElementwiseMappableTraits(&op);
  });
}

PairRegion::Place PairRegion::locate(VectorBuilder &b, Value number, bool isQuery, bool lanes) {
  ArrayRef<int64_t> box = isQuery ? axes.queryBox : axes.keyBox;
  Value rest = number;
  auto spread = [&](Value value) { return lanes ? b.broadcast(value) : value; };
  if (lanes)
    rest = b.add(b.broadcast(number), vector::StepOp::create(b, b.vectorOf(b.getIndexType())));
  Place place;
  place.at.resize(box.size());
  for (int64_t axis = int64_t(box.size()) - 1; axis >= 0; --axis) {
    Value local = rest;
    if (axis > 0) {
      Value extent = spread(b.index(box[axis]));
      local = arith::RemUIOp::create(b, rest, extent);
      rest = arith::DivUIOp::create(b, rest, extent);
    }
    place.at[axis] = b.add(spread((isQuery ? axes.queryAt : axes.keyAt)[axis]), local);
  }
  auto restrict = [&](Value value, Value limit) {
    Value below = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value, spread(limit));
    place.inside = place.inside ? arith::AndIOp::create(b, place.inside, below).getResult() : below;
  };
  for (auto [at, size] : llvm::zip_equal(place.at, isQuery ? axes.querySizes : axes.keySizes))
    restrict(at, size);
  // Padding rows of the buffer would fall outside the box's first axis.
  if (lanes && getRows() != buffers.padRows(getRows()))
    restrict(b.add(b.broadcast(number), vector::StepOp::create(b, b.vectorOf(b.getIndexType()))),
             b.index(getRows()));
  return place;
}

Value PairRegion::getToken(VectorBuilder &b, const Place &place, bool isQuery) {
  Value token = isQuery ? queryBase : keyBase, local;
  bool lanes = isa<VectorType>(place.at.front().getType());
  auto spread = [&](Value value) { return lanes ? b.broadcast(value) : value; };
  for (auto [at, size] : llvm::zip_equal(place.at, isQuery ? axes.querySizes : axes.keySizes))
    local = local ? b.add(arith::MulIOp::create(b, local, spread(size)), at) : at;
  return b.add(spread(token), local);
}

void PairRegion::mapPlace(VectorBuilder &b, IRMapping &map, const Place &place, bool isQuery) {
  if (isScore) {
    map.map(block.getArgument(isQuery ? 3 : 4), getToken(b, place, isQuery));
    return;
  }
  if (leading > 0)
    map.map(block.getArgument(0), head);
  unsigned first = leading + (isQuery ? 0 : axes.queryBox.size());
  for (auto [axis, at] : llvm::enumerate(place.at))
    map.map(block.getArgument(first + axis), at);
}

Value PairRegion::getResult(VectorBuilder &b, Value yielded, Value score) {
  bool lanes = isa<VectorType>(score.getType());
  if (isScore)
    return lanes ? b.broadcast(yielded) : yielded;
  Value dead = lanes ? b.splat(minusInfinity) : b.scalar(minusInfinity);
  Value live = lanes ? b.broadcast(yielded) : yielded;
  return arith::SelectOp::create(b, live, score, dead).getResult();
}

//===----------------------------------------------------------------------===//
// On vectors of rows
//===----------------------------------------------------------------------===//

/// Elements of `source` at per-lane places; lanes outside the grid or the tensor give 0 and touch
/// no memory.
Value PairRegion::emitGather(VectorBuilder &b, Value source, ValueRange at, Value inside) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, source);
  auto type = cast<MemRefType>(source.getType());
  Value linear, mask = inside;
  for (auto [axis, index] : llvm::enumerate(at)) {
    Value lanes = b.broadcast(index), size = b.broadcast(metadata.getSizes()[axis]);
    Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lanes, size);
    mask = arith::AndIOp::create(b, mask, fits);
    Value term = arith::MulIOp::create(b, lanes, b.broadcast(metadata.getStrides()[axis]));
    linear = linear ? b.add(linear, term) : term;
  }
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1});
  auto flatType = MemRefType::get({ShapedType::kDynamic}, type.getElementType(), layout);
  // Negative strides reach below the offset, so the flat view's size has no meaning.
  Value flat = memref::ReinterpretCastOp::create(
      b, flatType, metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{OpFoldResult(b.index(1))}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  VectorType result = b.vectorOf(type.getElementType());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(result));
  Value first = b.index(0);
  return vector::GatherOp::create(b, result, flat, ValueRange{first}, linear, mask, zero)
      .getResult();
}

void PairRegion::cloneVectorOp(VectorBuilder &b, Operation &op, IRMapping &map, Value inside) {
  SmallVector<Value> operands;
  bool lanes = false;
  for (Value operand : op.getOperands()) {
    operands.push_back(map.lookup(operand));
    lanes |= isa<VectorType>(operands.back().getType());
  }
  if (!lanes) {
    // Never fails: isVectorizable has looked at each op.
    (void)cloneScalarOp(b, op, map);
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    map.map(extract.getResult(),
            emitGather(b, operands.front(), ArrayRef(operands).drop_front(), inside));
    return;
  }
  for (Value &operand : operands)
    operand = b.broadcast(operand);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    // A lane outside the grid must not divide by a zero that no real row has.
    auto type = cast<VectorType>(operands[1].getType());
    Value one = arith::ConstantOp::create(b, b.getOneAttr(type));
    operands[1] = arith::SelectOp::create(b, inside, operands[1], one);
  }
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(b.vectorOf(type));
  OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
  Operation *clone = b.create(state);
  map.map(op.getResults(), clone->getResults());
}

void PairRegion::emitVectors(VectorBuilder &b, Value scores) {
  // What depends on keys stays in the loop over keys; what depends on rows alone goes before it.
  DenseSet<Value> ofKeys;
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (isScore ? number == 0 || number == 4 : number >= leading + axes.queryBox.size())
      ofKeys.insert(argument);
  }
  SmallVector<Operation *> outer, inner;
  for (Operation &op : block.without_terminator()) {
    bool isOfKeys = llvm::any_of(op.getOperands(), [&](Value v) { return ofKeys.contains(v); });
    (isOfKeys ? inner : outer).push_back(&op);
    if (isOfKeys)
      ofKeys.insert(op.getResults().begin(), op.getResults().end());
  }
  Value yielded = block.getTerminator()->getOperand(0);
  int64_t rows = cast<MemRefType>(scores.getType()).getDimSize(1);
  b.loop(rows, buffers.width, [&](Value row) {
    IRMapping map = mapping;
    Place query = locate(b, row, /*isQuery=*/true, /*lanes=*/true);
    if (isScore) {
      map.map(block.getArgument(1), batch);
      map.map(block.getArgument(2), head);
    }
    mapPlace(b, map, query, /*isQuery=*/true);
    for (Operation *op : outer)
      cloneVectorOp(b, *op, map, query.inside);
    b.loop(getKeys(), 1, [&](Value number) {
      Place key = locate(b, number, /*isQuery=*/false, /*lanes=*/false);
      auto then = [&] {
        Value score = b.load(scores, {number, row});
        if (isScore)
          map.map(block.getArgument(0), score);
        mapPlace(b, map, key, /*isQuery=*/false);
        for (Operation *op : inner)
          cloneVectorOp(b, *op, map, query.inside);
        b.store(getResult(b, map.lookup(yielded), score), scores, {number, row});
      };
      auto otherwise = [&] { b.store(b.splat(minusInfinity), scores, {number, row}); };
      if (isScore)
        b.branch(key.inside, then);
      else
        b.branch(key.inside, then, otherwise);
    });
  });
}

//===----------------------------------------------------------------------===//
// Pair by pair
//===----------------------------------------------------------------------===//

LogicalResult PairRegion::emitScalars(VectorBuilder &b, Value scores) {
  LogicalResult result = success();
  b.loop(getKeys(), 1, [&](Value number) {
    Place key = locate(b, number, /*isQuery=*/false, /*lanes=*/false);
    b.loop(getRows(), 1, [&](Value row) {
      Place query = locate(b, row, /*isQuery=*/true, /*lanes=*/false);
      Value real = arith::AndIOp::create(b, key.inside, query.inside);
      auto then = [&] {
        IRMapping map = mapping;
        Value score = memref::LoadOp::create(b, scores, ValueRange{number, row});
        if (isScore) {
          map.map(block.getArgument(0), score);
          map.map(block.getArgument(1), batch);
          map.map(block.getArgument(2), head);
        }
        mapPlace(b, map, query, /*isQuery=*/true);
        mapPlace(b, map, key, /*isQuery=*/false);
        for (Operation &op : block.without_terminator())
          if (succeeded(result))
            result = cloneScalarOp(b, op, map);
        if (failed(result))
          return;
        Value yielded = map.lookup(block.getTerminator()->getOperand(0));
        memref::StoreOp::create(b, getResult(b, yielded, score), scores, ValueRange{number, row});
      };
      auto otherwise = [&] {
        memref::StoreOp::create(b, b.scalar(minusInfinity), scores, ValueRange{number, row});
      };
      if (isScore)
        b.branch(real, then);
      else
        b.branch(real, then, otherwise);
    });
  });
  return result;
}

LogicalResult PairRegion::emit(VectorBuilder &b, Value scores) {
  if (!isVectorizable())
    return emitScalars(b, scores);
  emitVectors(b, scores);
  return success();
}

LogicalResult PairRegion::emitScore(VectorBuilder &b, Value scores, Value batchOfTile,
                                    Value headOfTile, Value queryTokens, Value keyTokens) {
  isScore = true;
  batch = batchOfTile;
  head = headOfTile;
  queryBase = queryTokens;
  keyBase = keyTokens;
  return emit(b, scores);
}

LogicalResult PairRegion::emitLive(VectorBuilder &b, Value dead, Value headOfTile) {
  leading = 1;
  head = headOfTile;
  return emit(b, dead);
}

LogicalResult PairRegion::emitMask(VectorBuilder &b, Value scores) { return emit(b, scores); }

Value PairRegion::emitClass(VectorBuilder &b, Value scores) {
  VectorType bits = b.vectorOf(b.getI1Type());
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(bits));
  Value every = arith::ConstantOp::create(b, b.getOneAttr(bits));
  int64_t rows = cast<MemRefType>(scores.getType()).getDimSize(1);
  auto visitRows = [&](Value row, ValueRange carried) -> SmallVector<Value> {
    Value inside = locate(b, row, /*isQuery=*/true, /*lanes=*/true).inside;
    Value outside = arith::XOrIOp::create(b, inside, every);
    return b.loop(getKeys(), 1, carried, [&](Value key, ValueRange seen) -> SmallVector<Value> {
      Value live = b.isEqual(b.load(scores, {key, row}), b.splat(0));
      Value liveRow = arith::AndIOp::create(b, live, inside);
      Value liveOrNone = arith::OrIOp::create(b, live, outside);
      return {arith::OrIOp::create(b, seen[0], liveRow).getResult(),
              arith::AndIOp::create(b, seen[1], liveOrNone).getResult()};
    });
  };
  SmallVector<Value> seen = b.loop(rows, buffers.width, {none, every}, visitRows);
  Value any = vector::ReductionOp::create(b, vector::CombiningKind::OR, seen[0]);
  Value all = vector::ReductionOp::create(b, vector::CombiningKind::AND, seen[1]);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 8).getResult();
  };
  Value some = arith::SelectOp::create(b, all, number(2), number(1));
  return arith::SelectOp::create(b, any, some, number(0)).getResult();
}
