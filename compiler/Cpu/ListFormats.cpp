//===- ListFormats.cpp - conversions of lists as loops --------------------===//
#include "compiler/Cpu/ListFormats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace lacuna;

namespace {
/// Loops and accesses over the memory of one op.
class FormatLoops {
public:
  FormatLoops(ImplicitLocOpBuilder &builder, const IRMapping &values)
      : b(builder), values(values) {}

  Value index(int64_t number) { return arith::ConstantIndexOp::create(b, number); }
  Value find(Value value) { return values.lookup(value); }
  Value extent(Value memory, unsigned axis) { return memref::DimOp::create(b, memory, axis); }
  Value add(Value a, Value c) { return arith::AddIOp::create(b, a, c); }
  Value least(Value a, Value c) { return arith::MinSIOp::create(b, a, c); }
  Value most(Value a, Value c) { return arith::MaxSIOp::create(b, a, c); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return arith::CmpIOp::create(b, predicate, a, c);
  }
  Value both(Value a, Value c) { return arith::AndIOp::create(b, a, c); }

  Value load(Value memory, ValueRange at) {
    Value number = memref::LoadOp::create(b, memory, at);
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  }
  void store(Value number, Value memory, ValueRange at) {
    Type type = cast<MemRefType>(memory.getType()).getElementType();
    memref::StoreOp::create(b, arith::IndexCastOp::create(b, type, number), memory, at);
  }

  /// `carried` after the rounds from `lower` up to `upper`.
  Value loop(Value lower, Value upper, Value carried,
             function_ref<Value(Value round, Value carried)> body) {
    auto rounds = scf::ForOp::create(b, lower, upper, index(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rounds.getBody());
    scf::YieldOp::create(b, body(rounds.getInductionVar(), rounds.getRegionIterArg(0)));
    return rounds.getResult(0);
  }
  void loop(Value lower, Value upper, function_ref<void(Value round)> body) {
    auto rounds = scf::ForOp::create(b, lower, upper, index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rounds.getBody());
    body(rounds.getInductionVar());
  }
  void when(Value condition, function_ref<void()> body) {
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  /// The number of entries that a list has, from 0 to its capacity.
  Value countEntries(Value counts, ValueRange row, Value capacity) {
    return least(most(load(counts, row), index(0)), capacity);
  }
  /// Ends a row of `found` entries, of which those that fit have been stored.
  void finishList(Value ids, Value counts, ValueRange row, Value found, bool cut) {
    Value capacity = extent(ids, 3), kept = least(found, capacity);
    loop(kept, capacity, [&](Value entry) { store(index(-1), ids, with(row, entry)); });
    store(cut ? kept : found, counts, row);
  }
  static SmallVector<Value> with(ValueRange row, Value last) {
    SmallVector<Value> at(row);
    at.push_back(last);
    return at;
  }

private:
  ImplicitLocOpBuilder &b;
  const IRMapping &values;
};
} // namespace

static void emitListOfMask(ImplicitLocOpBuilder &builder, FormatLoops loops,
                           tile::ListOfMaskOp op) {
  Value mask = loops.find(op.getMask()), ids = loops.find(op.getIds());
  Value batch = loops.find(op.getBatch()), head = loops.find(op.getHead()),
        own = loops.find(op.getRow());
  SmallVector<Value> row = {batch, head, own};
  Value entries = loops.extent(mask, op.getTransposed() ? 2 : 3), capacity = loops.extent(ids, 3);
  Value found =
      loops.loop(loops.index(0), entries, loops.index(0), [&](Value entry, Value before) -> Value {
        SmallVector<Value> at = op.getTransposed() ? SmallVector<Value>{batch, head, entry, own}
                                                   : loops.with(row, entry);
        Value isMarked =
            loops.compare(arith::CmpIPredicate::ne, loops.load(mask, at), loops.index(0));
        Value fits = loops.compare(arith::CmpIPredicate::slt, before, capacity);
        loops.when(loops.both(isMarked, fits),
                   [&] { loops.store(entry, ids, loops.with(row, before)); });
        Value one = arith::ExtUIOp::create(builder, builder.getI32Type(), isMarked);
        return loops.add(before, arith::IndexCastOp::create(builder, builder.getIndexType(), one));
      });
  loops.finishList(ids, loops.find(op.getCounts()), row, found, op.getCut());
}

static void emitMaskOfList(FormatLoops loops, tile::MaskOfListOp op) {
  Value ids = loops.find(op.getIds()), target = loops.find(op.getTarget());
  SmallVector<Value> row = {loops.find(op.getBatch()), loops.find(op.getHead()),
                            loops.find(op.getRow())};
  Value columns = loops.extent(target, 3), zero = loops.index(0);
  loops.loop(zero, columns,
             [&](Value column) { loops.store(zero, target, loops.with(row, column)); });
  Value count = loops.countEntries(loops.find(op.getCounts()), row, loops.extent(ids, 3));
  loops.loop(zero, count, [&](Value entry) {
    Value column = loops.load(ids, loops.with(row, entry));
    // Negative ids are large unsigned ones.
    Value isColumn = loops.compare(arith::CmpIPredicate::ult, column, columns);
    loops.when(isColumn, [&] { loops.store(loops.index(1), target, loops.with(row, column)); });
  });
}

static void emitListOfCsr(ImplicitLocOpBuilder &builder, FormatLoops loops, tile::ListOfCsrOp op) {
  Value rowPtr = loops.find(op.getRowPtr()), columns = loops.find(op.getColumns()),
        ids = loops.find(op.getIds());
  Value batch = loops.find(op.getBatch()), head = loops.find(op.getHead()),
        own = loops.find(op.getRow());
  SmallVector<Value> row = {batch, head, own};
  Value entries = loops.extent(columns, 2), zero = loops.index(0);
  auto pointer = [&](Value at) {
    return loops.least(loops.most(loops.load(rowPtr, {batch, head, at}), zero), entries);
  };
  Value first = pointer(own), last = pointer(loops.add(own, loops.index(1)));
  Value found = loops.most(arith::SubIOp::create(builder, last, first), zero);
  loops.loop(zero, loops.least(found, loops.extent(ids, 3)), [&](Value entry) {
    Value column = loops.load(columns, {batch, head, loops.add(first, entry)});
    loops.store(column, ids, loops.with(row, entry));
  });
  loops.finishList(ids, loops.find(op.getCounts()), row, found, op.getCut());
}

static void emitCsrOfList(ImplicitLocOpBuilder &builder, FormatLoops loops, tile::CsrOfListOp op) {
  Value ids = loops.find(op.getIds()), counts = loops.find(op.getCounts()),
        rowPtr = loops.find(op.getRowPtr()), columns = loops.find(op.getColumns());
  Value batch = loops.find(op.getBatch()), head = loops.find(op.getHead());
  Value rows = loops.extent(ids, 2), capacity = loops.extent(ids, 3), zero = loops.index(0);
  Value total = loops.loop(zero, rows, zero, [&](Value own, Value before) -> Value {
    loops.store(before, rowPtr, {batch, head, own});
    SmallVector<Value> row = {batch, head, own};
    Value count = loops.countEntries(counts, row, capacity);
    return loops.loop(zero, count, before, [&](Value entry, Value place) -> Value {
      Value column = loops.load(ids, loops.with(row, entry));
      Value isNamed = loops.compare(arith::CmpIPredicate::sge, column, zero);
      loops.when(isNamed, [&] { loops.store(column, columns, {batch, head, place}); });
      Value one = arith::ExtUIOp::create(builder, builder.getI32Type(), isNamed);
      return loops.add(place, arith::IndexCastOp::create(builder, builder.getIndexType(), one));
    });
  });
  loops.store(total, rowPtr, {batch, head, rows});
  loops.loop(total, loops.extent(columns, 2),
             [&](Value place) { loops.store(loops.index(-1), columns, {batch, head, place}); });
}

static void emitChildren(ImplicitLocOpBuilder &builder, FormatLoops loops, tile::ChildrenOp op) {
  Value ids = loops.find(op.getIds()), childIds = loops.find(op.getChildIds());
  SmallVector<Value> row = {loops.find(op.getBatch()), loops.find(op.getHead()),
                            loops.find(op.getRow())};
  Value zero = loops.index(0), by = loops.index(static_cast<int64_t>(op.getBy()));
  Value columns = loops.find(op.getColumns());
  Value count = loops.countEntries(loops.find(op.getCounts()), row, loops.extent(ids, 3));
  Value found = loops.loop(zero, count, zero, [&](Value entry, Value before) -> Value {
    Value node = loops.load(ids, loops.with(row, entry));
    Value first = arith::MulIOp::create(builder, node, by);
    return loops.loop(zero, by, before, [&](Value step, Value place) -> Value {
      Value child = loops.add(first, step);
      // Children of negative ids are large unsigned ones.
      Value isNode = loops.compare(arith::CmpIPredicate::ult, child, columns);
      loops.when(isNode, [&] { loops.store(child, childIds, loops.with(row, place)); });
      Value one = arith::ExtUIOp::create(builder, builder.getI32Type(), isNode);
      return loops.add(place, arith::IndexCastOp::create(builder, builder.getIndexType(), one));
    });
  });
  loops.finishList(childIds, loops.find(op.getChildCounts()), row, found, /*cut=*/false);
}

static void emitPick(FormatLoops loops, tile::PickOp op) {
  Value ids = loops.find(op.getIds()), places = loops.find(op.getPlaces()),
        target = loops.find(op.getTarget());
  SmallVector<Value> row = {loops.find(op.getBatch()), loops.find(op.getHead()),
                            loops.find(op.getRow())};
  Value count = loops.countEntries(loops.find(op.getCounts()), row, loops.extent(ids, 3));
  loops.loop(loops.index(0), loops.extent(places, 3), [&](Value entry) {
    SmallVector<Value> at = loops.with(row, entry);
    loops.store(loops.index(-1), target, at);
    Value place = loops.load(places, at);
    Value isEntry = loops.compare(arith::CmpIPredicate::ult, place, count);
    loops.when(isEntry, [&] { loops.store(loops.load(ids, loops.with(row, place)), target, at); });
  });
}

static void emitWithout(ImplicitLocOpBuilder &builder, FormatLoops loops, tile::WithoutOp op) {
  Value scores = loops.find(op.getScores()), ids = loops.find(op.getIds()),
        target = loops.find(op.getTarget());
  SmallVector<Value> row = {loops.find(op.getBatch()), loops.find(op.getHead()),
                            loops.find(op.getRow())};
  Value columns = loops.extent(scores, 3), zero = loops.index(0);
  loops.loop(zero, columns, [&](Value column) {
    SmallVector<Value> at = loops.with(row, column);
    memref::StoreOp::create(builder, memref::LoadOp::create(builder, scores, at), target, at);
  });
  Value nothing = arith::ConstantOp::create(
      builder, builder.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  Value count = loops.countEntries(loops.find(op.getCounts()), row, loops.extent(ids, 3));
  loops.loop(zero, count, [&](Value entry) {
    Value column = loops.load(ids, loops.with(row, entry));
    Value isColumn = loops.compare(arith::CmpIPredicate::ult, column, columns);
    loops.when(isColumn,
               [&] { memref::StoreOp::create(builder, nothing, target, loops.with(row, column)); });
  });
}

bool lacuna::emitListFormat(ImplicitLocOpBuilder &builder, Operation &op, const IRMapping &values) {
  FormatLoops loops(builder, values);
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](tile::ListOfMaskOp op) { return emitListOfMask(builder, loops, op), true; })
      .Case([&](tile::MaskOfListOp op) { return emitMaskOfList(loops, op), true; })
      .Case([&](tile::ListOfCsrOp op) { return emitListOfCsr(builder, loops, op), true; })
      .Case([&](tile::CsrOfListOp op) { return emitCsrOfList(builder, loops, op), true; })
      .Case([&](tile::ChildrenOp op) { return emitChildren(builder, loops, op), true; })
      .Case([&](tile::PickOp op) { return emitPick(loops, op), true; })
      .Case([&](tile::WithoutOp op) { return emitWithout(builder, loops, op), true; })
      .Default([](Operation *) { return false; });
}
