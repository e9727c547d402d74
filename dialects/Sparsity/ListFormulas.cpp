//===- ListFormulas.cpp - sets that memory lists --------------------------===//
#include "dialects/Sparsity/SparsityInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace lacuna::sparsity;

/// Number of the block that the coordinates lie in, in row-major order over the blocks of a grid.
static Value emitBlockNumber(IndexEmitter emit, ValueRange at, ValueRange sizes,
                             ArrayRef<int64_t> block) {
  Value number;
  for (auto [coordinate, size, extent] : llvm::zip_equal(at, sizes, block)) {
    Value place = emit.floorDiv(coordinate, emit.constant(extent));
    if (!number) {
      number = place;
      continue;
    }
    Value rounded = emit.add(size, emit.constant(extent - 1));
    number = emit.add(emit.mul(number, emit.floorDiv(rounded, emit.constant(extent))), place);
  }
  return number;
}

static Value toIndex(IndexEmitter emit, Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(emit.builder, emit.loc, emit.builder.getIndexType(), value);
}

//===----------------------------------------------------------------------===//
// blocks
//===----------------------------------------------------------------------===//

/// Batch entry, list and query block of a query in memory of `type`.
template <typename Op>
static SmallVector<Value> emitPlace(IndexEmitter emit, Op op, RankedTensorType type,
                                    const PairContext &pair) {
  Value zero = emit.constant(0);
  Value head = emit.floorDiv(pair.head, emit.constant(static_cast<int64_t>(op.getGroup())));
  return {type.getDimSize(0) == 1 ? zero : pair.batch, type.getDimSize(1) == 1 ? zero : head,
          emitBlockNumber(emit, pair.query, pair.querySizes, op.getQuery())};
}

SmallVector<Value> BlocksOp::emitListIndex(OpBuilder &builder, Location loc,
                                           const PairContext &pair) {
  return emitPlace(IndexEmitter(builder, loc), *this, getIds().getType(), pair);
}

Value BlocksOp::emitCount(OpBuilder &builder, Location loc, ValueRange list) {
  IndexEmitter emit(builder, loc);
  Value count = toIndex(emit, tensor::ExtractOp::create(builder, loc, getCounts(), list));
  Value capacity = builder.createOrFold<tensor::DimOp>(loc, getIds(), emit.constant(3));
  return emit.clamp(count, emit.constant(0), capacity);
}

Value BlocksOp::emitBlock(OpBuilder &builder, Location loc, ValueRange list, Value entry,
                          const PairContext &pair) {
  IndexEmitter emit(builder, loc);
  SmallVector<Value> place(list);
  place.push_back(entry);
  Value id = toIndex(emit, tensor::ExtractOp::create(builder, loc, getIds(), place));
  Value blocks = emit.constant(1);
  for (auto [size, extent] : llvm::zip_equal(pair.keySizes, getKey())) {
    Value rounded = emit.add(size, emit.constant(extent - 1));
    blocks = emit.mul(blocks, emit.floorDiv(rounded, emit.constant(extent)));
  }
  return emit.clamp(id, emit.constant(-1), blocks);
}

Formula BlocksOp::buildFormula(FormulaSpace &) { return Formula::opaque(*this, 0); }

/// Looks for the key's block in the list. Attention itself walks the list and asks this only where
/// an algebra of lists leaves no other way.
Value BlocksOp::emitTerm(OpBuilder &builder, Location loc, unsigned, const PairContext &pair) {
  IndexEmitter emit(builder, loc);
  SmallVector<Value> list = emitListIndex(builder, loc, pair);
  Value wanted = emitBlockNumber(emit, pair.key, pair.keySizes, getKey());
  Value never = arith::ConstantIntOp::create(builder, loc, 0, 1);
  auto loop = scf::ForOp::create(builder, loc, emit.constant(0), emitCount(builder, loc, list),
                                 emit.constant(1), never);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value block = emitBlock(builder, loc, list, loop.getInductionVar(), pair);
  Value isHere = emit.compare(arith::CmpIPredicate::eq, block, wanted);
  Value found = arith::OrIOp::create(builder, loc, loop.getRegionIterArgs().front(), isHere);
  scf::YieldOp::create(builder, loc, found);
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// bitmap
//===----------------------------------------------------------------------===//

Formula BitmapOp::buildFormula(FormulaSpace &) { return Formula::opaque(*this, 0); }

/// One byte for a pair. Keys beyond the last have none, but are dead whatever is read for them.
Value BitmapOp::emitTerm(OpBuilder &builder, Location loc, unsigned, const PairContext &pair) {
  IndexEmitter emit(builder, loc);
  SmallVector<Value> place = emitPlace(emit, *this, getMask().getType(), pair);
  place.push_back(emitBlockNumber(emit, pair.key, pair.keySizes, getKey()));
  Value byte = tensor::ExtractOp::create(builder, loc, getMask(), place);
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 8);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, byte, zero);
}

//===----------------------------------------------------------------------===//
// key_block
//===----------------------------------------------------------------------===//

Formula KeyBlockOp::buildFormula(FormulaSpace &space) {
  Formula result = Formula::always();
  for (auto [axis, at, size] : llvm::enumerate(getAt(), getSizes())) {
    AffineExpr first = space.scalar(at) * size;
    result = result & Formula::between(first, space.key(axis), first + (size - 1));
  }
  return result;
}
