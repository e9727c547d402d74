//===- AttnToMap.cpp - the class of every tile, or of every pair ----------===//
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/SetKernel.h"

namespace lacuna {
#define GEN_PASS_DEF_ATTNTOMAPPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using tile::TileClass;

/// Stores a class at (row, column) of the map.
static void storeClass(SetKernel &kernel, Value row, Value column, Value tileClass) {
  memref::StoreOp::create(kernel.getBody(), kernel.getLoc(), tileClass, kernel.getOutput(),
                          ValueRange{kernel.getBatch(), kernel.getHead(), row, column});
}

static Value classNumber(SetKernel &kernel, int64_t number) {
  return arith::ConstantIntOp::create(kernel.getBody(), kernel.getLoc(), number, 8);
}

/// Nothing is live until a loop has visited it.
static void clearRow(SetKernel &kernel, Value row) {
  OpBuilder &body = kernel.getBody();
  Location loc = kernel.getLoc();
  Value columns = memref::DimOp::create(body, loc, kernel.getOutput(), 3);
  auto loop = scf::ForOp::create(body, loc, kernel.constant(0), columns, kernel.constant(1));
  OpBuilder::InsertionGuard guard(body);
  body.setInsertionPointToStart(loop.getBody());
  storeClass(kernel, row, loop.getInductionVar(), classNumber(kernel, 0));
}

/// Visits the key boxes of a class and stores `number`, or what classification says.
static void drawLoop(SetKernel &kernel, TileClass tileClass, ValueRange at, ArrayRef<int64_t> query,
                     ArrayRef<int64_t> key, Value row, std::optional<int64_t> number) {
  kernel.forEachKey(tileClass, at, query, key, ValueRange(),
                    [&](ValueRange keyAt, ValueRange) -> SmallVector<Value> {
                      Value column = kernel.linear(kernel.getKey(), keyAt, key);
                      Value drawn = number ? classNumber(kernel, *number) : kernel.classify(keyAt);
                      storeClass(kernel, row, column, drawn);
                      return {};
                    });
}

static void drawTiles(SetKernel &kernel) {
  const SetKernel::Side &query = kernel.getQuery(), &key = kernel.getKey();
  Value row = kernel.linear(query, query.at, query.box);
  clearRow(kernel, row);
  if (kernel.isOpaque()) {
    drawLoop(kernel, TileClass::Live, query.at, query.box, key.box, row, std::nullopt);
    return;
  }
  drawLoop(kernel, TileClass::Partial, query.at, query.box, key.box, row, 1);
  drawLoop(kernel, TileClass::Full, query.at, query.box, key.box, row, 2);
}

static void drawPairs(SetKernel &kernel) {
  SmallVector<int64_t> queryBox(kernel.getQuery().box.size(), 1);
  SmallVector<int64_t> keyBox(kernel.getKey().box.size(), 1);
  kernel.forEachQuery({}, [&](ValueRange at, ValueRange) -> SmallVector<Value> {
    Value row = kernel.linear(kernel.getQuery(), at, queryBox);
    clearRow(kernel, row);
    drawLoop(kernel, TileClass::Live, at, queryBox, keyBox, row, 2);
    return {};
  });
}

static FailureOr<tile::LaunchOp> drawSet(attn::AttendOp op, const Segments &segments,
                                         unsigned querySegment, unsigned keySegment, StringRef name,
                                         bool elements) {
  Builder types(op.getContext());
  auto output =
      RankedTensorType::get(SmallVector<int64_t>(4, ShapedType::kDynamic), types.getI8Type());
  auto kernel = SetKernel::create(op, segments, querySegment, keySegment, name, output);
  if (failed(kernel))
    return failure();
  elements ? drawPairs(**kernel) : drawTiles(**kernel);
  using Extent = SetKernel::Extent;
  return (*kernel)->finish({elements ? Extent::Queries : Extent::QueryTiles,
                            elements ? Extent::Keys : Extent::KeyTiles});
}

namespace {
struct AttnToMap final : lacuna::impl::AttnToMapPassBase<AttnToMap> {
  using AttnToMapPassBase::AttnToMapPassBase;

  void runOnOperation() override {
    auto draw = [&](attn::AttendOp op, const Segments &segments, unsigned query, unsigned key,
                    StringRef name) { return drawSet(op, segments, query, key, name, elements); };
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(replaceAttends(function, draw)))
        return signalPassFailure();
  }
};
} // namespace
