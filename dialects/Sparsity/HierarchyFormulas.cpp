//===- HierarchyFormulas.cpp - dyadic levels and documents as formulas ----===//
#include "dialects/Sparsity/SparsityInternal.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace lacuna::sparsity;

//===----------------------------------------------------------------------===//
// dyadic
//===----------------------------------------------------------------------===//

namespace {
/// The regions of one hierarchy around a query.
struct Hierarchy {
  mutable DyadicOp op; // Accessors of ops are not const.
  AffineExpr position, key;

  int64_t nodeSize(int64_t level) const {
    int64_t size = op.getBase();
    for (int64_t step = 0; step < level; ++step)
      size *= static_cast<int64_t>(op.getFanout());
    return size;
  }

  /// First key of the query's own node of `level`.
  AffineExpr ownNode(int64_t level) const {
    int64_t size = nodeSize(level);
    return position.floorDiv(size) * size;
  }

  /// The query's own node of `level` and the two next to it.
  Formula neighbours(int64_t level) const {
    int64_t size = nodeSize(level);
    AffineExpr own = ownNode(level);
    return Formula::between(own - size, key, own + (2 * size - 1));
  }

  /// Keys of the levels from `first` to `last`, the exact part included; the union of consecutive
  /// levels telescopes.
  Formula levels(int64_t first, int64_t last, bool isTop) const {
    if (op.getPartition() == Partition::Fenwick) {
      Formula result = Formula::less(key, ownNode(first));
      return isTop ? result : result & Formula::lessEqual(ownNode(last + 1), key);
    }
    Formula result = !neighbours(first);
    return isTop ? result : result & neighbours(last + 1);
  }
};
} // namespace

Formula DyadicOp::buildFormula(FormulaSpace &space) {
  Hierarchy h{*this, space.position(0, getFromStart()), space.key(0)};
  bool past = getCausal() || getPartition() == Partition::Fenwick;
  Formula order = past ? Formula::lessEqual(h.key, h.position) : Formula::always();
  if (!getOnly())
    return order; // The levels tile what the order allows.

  Formula exact = Formula::never();
  if (getPartition() == Partition::Distance)
    exact = h.neighbours(0);
  else
    exact = Formula::between(h.ownNode(0), h.key, h.ownNode(0) + (h.nodeSize(0) - 1));
  if (Number near{getNear(), getNearValueAttr()}) {
    AffineExpr width = near.getExpr(space);
    exact = exact | Formula::between(h.position - width, h.key, h.position + width);
  }
  int64_t first = (*getOnly())[0], last = (*getOnly())[1];
  Formula result = first < 0 ? exact : Formula::never();
  if (last >= 0) {
    bool isTop = getLevels() && last == static_cast<int64_t>(*getLevels()) - 1;
    Formula far = h.levels(std::max<int64_t>(first, 0), last, isTop);
    result = result | (first < 0 ? far : far & !exact);
  }
  return order & result;
}

//===----------------------------------------------------------------------===//
// documents
//===----------------------------------------------------------------------===//

namespace {
enum DocumentTerm : unsigned { FirstKey, EndKey, LastCausalKey };

/// Emits the interval of keys of one query. Offsets that decrease give some interval; no access
/// leaves the tensors whatever they hold.
class DocumentEmitter {
public:
  DocumentEmitter(DocumentsOp op, OpBuilder &builder, Location loc, const PairContext &pair)
      : op(op), emit(builder, loc), pair(pair) {}

  Value run(unsigned term) {
    OpBuilder &builder = emit.builder;
    Value last =
        emit.sub(emit.min(size(op.getQueryOffsets()), size(op.getKeyOffsets())), emit.constant(1));
    Value some = emit.compare(arith::CmpIPredicate::sge, last, emit.constant(0));
    // Outside of the branch, where terms of the same query share one search.
    Value count = countOffsets(last);
    auto ifOp = scf::IfOp::create(builder, emit.loc, TypeRange{builder.getIndexType()}, some,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(ifOp.elseBlock());
    Value nothing = emit.constant(term == LastCausalKey ? -1 : 0);
    scf::YieldOp::create(builder, emit.loc, nothing);
    builder.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(builder, emit.loc, emitTerm(term, last, count));
    return ifOp.getResult(0);
  }

private:
  Value size(Value tensor) {
    return emit.builder.createOrFold<tensor::DimOp>(emit.loc, tensor, emit.constant(0));
  }

  Value load(Value tensor, Value at) {
    Value element = tensor::ExtractOp::create(emit.builder, emit.loc, tensor, at);
    if (element.getType().isIndex())
      return element;
    return arith::IndexCastOp::create(emit.builder, emit.loc, emit.builder.getIndexType(), element);
  }

  Value loadKeyOffset(Value at) {
    return emit.clamp(load(op.getKeyOffsets(), at), emit.constant(0), pair.keySizes[0]);
  }

  /// Number of query offsets, among those up to `last`, that are not greater than the query. A
  /// greater query has at least as many, even among offsets in disorder.
  Value countOffsets(Value last) {
    OpBuilder &builder = emit.builder;
    Location loc = emit.loc;
    Value one = emit.constant(1), two = emit.constant(2);
    auto loop = scf::WhileOp::create(
        builder, loc, TypeRange{builder.getIndexType(), builder.getIndexType()},
        ValueRange{emit.constant(0), emit.add(last, one)},
        [&](OpBuilder &, Location, ValueRange range) {
          Value open = emit.compare(arith::CmpIPredicate::slt, range[0], range[1]);
          scf::ConditionOp::create(builder, loc, open, range);
        },
        [&](OpBuilder &, Location, ValueRange range) {
          Value sum = emit.add(range[0], range[1]);
          Value middle = builder.createOrFold<arith::DivUIOp>(loc, sum, two);
          Value offset = load(op.getQueryOffsets(), middle);
          Value reached = emit.compare(arith::CmpIPredicate::sle, offset, pair.query[0]);
          Value lower = emit.select(reached, emit.add(middle, one), range[0]);
          Value upper = emit.select(reached, range[1], middle);
          scf::YieldOp::create(builder, loc, ValueRange{lower, upper});
        });
    return loop.getResult(0);
  }

  Value emitTerm(unsigned term, Value last, Value count) {
    Value zero = emit.constant(0), one = emit.constant(1);
    // Document count - 1; before the first and after the last, both ends are the same offset.
    Value at = emit.clamp(emit.sub(count, one), zero, last), next = emit.min(count, last);
    if (term == FirstKey)
      return loadKeyOffset(at);
    if (term == EndKey)
      return loadKeyOffset(next);
    Value first = loadKeyOffset(at), end = loadKeyOffset(next);
    Value aligned = op.getFromStart() ? at : next;
    Value limit = emit.sub(load(op.getKeyOffsets(), aligned), load(op.getQueryOffsets(), aligned));
    // Clamped to the document, the limit never decreases from one document to the next.
    return emit.clamp(emit.add(limit, pair.query[0]), emit.sub(first, one), emit.sub(end, one));
  }

  DocumentsOp op;
  IndexEmitter emit;
  const PairContext &pair;
};
} // namespace

Formula DocumentsOp::buildFormula(FormulaSpace &space) {
  AffineExpr key = space.key(0);
  AffineExpr first = space.monotone(*this, FirstKey, 0);
  if (getCausal())
    return Formula::between(first, key, space.monotone(*this, LastCausalKey, 0));
  return Formula::lessEqual(first, key) & Formula::less(key, space.monotone(*this, EndKey, 0));
}

Value DocumentsOp::emitTerm(OpBuilder &builder, Location loc, unsigned term,
                            const PairContext &pair) {
  return DocumentEmitter(*this, builder, loc, pair).run(term);
}
