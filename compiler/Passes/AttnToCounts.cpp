//===- AttnToCounts.cpp - how many pairs and tiles attention would visit --===//
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/SetKernel.h"

namespace lacuna {
#define GEN_PASS_DEF_ATTNTOCOUNTSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using tile::TileClass;

static SmallVector<Value> plusOne(SetKernel &kernel, ValueRange carried) {
  return {kernel.getBody().createOrFold<arith::AddIOp>(kernel.getLoc(), carried[0],
                                                       kernel.constant(1))};
}

/// Live pairs of the query tile: the loops of a tile of one query and one key visit each once.
static Value countPairs(SetKernel &kernel) {
  SmallVector<int64_t> queryBox(kernel.getQuery().box.size(), 1);
  SmallVector<int64_t> keyBox(kernel.getKey().box.size(), 1);
  auto perRow = [&](ValueRange at, ValueRange carried) {
    return kernel.forEachKey(TileClass::Live, at, queryBox, keyBox, carried,
                             [&](ValueRange, ValueRange count) { return plusOne(kernel, count); });
  };
  return kernel.forEachQuery(kernel.constant(0), perRow).front();
}

/// Tiles of a class of a set with a formula.
static Value countTiles(SetKernel &kernel, TileClass tileClass) {
  return kernel
      .forEachKey(tileClass, kernel.getQuery().at, kernel.getQuery().box, kernel.getKey().box,
                  kernel.constant(0),
                  [&](ValueRange, ValueRange count) { return plusOne(kernel, count); })
      .front();
}

/// Live and full tiles of a set with opaque terms: each tile of the hull is classified.
static SmallVector<Value> classifyTiles(SetKernel &kernel) {
  OpBuilder &body = kernel.getBody();
  Location loc = kernel.getLoc();
  auto visit = [&](ValueRange keyAt, ValueRange counts) -> SmallVector<Value> {
    Value tileClass = kernel.classify(keyAt);
    auto plus = [&](Value count, arith::CmpIPredicate predicate, int64_t than) {
      Value other = arith::ConstantIntOp::create(body, loc, than, 8);
      Value holds = arith::CmpIOp::create(body, loc, predicate, tileClass, other);
      Value one = arith::IndexCastUIOp::create(body, loc, body.getIndexType(), holds);
      return arith::AddIOp::create(body, loc, count, one).getResult();
    };
    return {plus(counts[0], arith::CmpIPredicate::ne, 0),
            plus(counts[1], arith::CmpIPredicate::eq, 2)};
  };
  Value zero = kernel.constant(0);
  return kernel.forEachKey(TileClass::Live, kernel.getQuery().at, kernel.getQuery().box,
                           kernel.getKey().box, {zero, zero}, visit);
}

/// Pairs of the query tile with all keys, live or not.
static Value countAllPairs(SetKernel &kernel) {
  OpBuilder &body = kernel.getBody();
  Location loc = kernel.getLoc();
  SmallVector<int64_t> single(kernel.getKey().box.size(), 1);
  Value pairs = kernel.countBoxes(kernel.getKey(), single);
  const SetKernel::Side &query = kernel.getQuery();
  for (auto [at, size, box] : llvm::zip_equal(query.at, query.sizes, query.box)) {
    Value rest = body.createOrFold<arith::SubIOp>(loc, size, at);
    Value rows = body.createOrFold<arith::MinSIOp>(loc, rest, kernel.constant(box));
    pairs = body.createOrFold<arith::MulIOp>(loc, pairs, rows);
  }
  return pairs;
}

static FailureOr<tile::LaunchOp> countSet(attn::AttendOp op, const Segments &segments,
                                          unsigned querySegment, unsigned keySegment,
                                          StringRef name) {
  Builder types(op.getContext());
  constexpr int64_t open = ShapedType::kDynamic, columns = 5;
  auto output = RankedTensorType::get({open, open, open, columns}, types.getI64Type());
  auto kernel = SetKernel::create(op, segments, querySegment, keySegment, name, output);
  if (failed(kernel))
    return failure();
  SetKernel &study = **kernel;
  SmallVector<Value> counts = {countPairs(study)};
  if (study.isOpaque())
    llvm::append_range(counts, classifyTiles(study));
  else
    counts.append({countTiles(study, TileClass::Live), countTiles(study, TileClass::Full)});
  counts.append({countAllPairs(study), study.countBoxes(study.getKey(), study.getKey().box)});

  OpBuilder &body = study.getBody();
  Location loc = study.getLoc();
  Value tile = study.linear(study.getQuery(), study.getQuery().at, study.getQuery().box);
  for (auto [column, count] : llvm::enumerate(counts)) {
    Value number = arith::IndexCastOp::create(body, loc, body.getI64Type(), count);
    memref::StoreOp::create(body, loc, number, study.getOutput(),
                            ValueRange{study.getBatch(), study.getHead(), tile,
                                       study.constant(static_cast<int64_t>(column))});
  }
  return study.finish({SetKernel::Extent::QueryTiles, SetKernel::Extent(columns)});
}

namespace {
struct AttnToCounts final : lacuna::impl::AttnToCountsPassBase<AttnToCounts> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(replaceAttends(function, countSet)))
        return signalPassFailure();
  }
};
} // namespace
