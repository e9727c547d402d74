//===- ExpandLists.cpp - loops over what a list names ---------------------===//
#include "compiler/Passes/Lists.h"
#include "compiler/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace lacuna {
#define GEN_PASS_DEF_EXPANDLISTSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using sparsity::BlocksOp;

namespace {
/// Rewrites one loop over a set with a list: first the tiles of what is live without it, then those
/// that each entry adds.
class ListWriter {
public:
  ListWriter(tile::ForEachOp loop, BlocksOp list)
      : loop(loop), list(list), builder(loop), loc(loop.getLoc()) {}

  void run();

private:
  Value number(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  /// What `block` adds to `others`.
  Value add(Value block, Value others) {
    return sparsity::SubtractOp::create(builder, loc,
                                        withBlock(builder, loop.getSet(), list, block), others);
  }
  /// The block coordinates of block number `block`.
  SmallVector<Value> delinearize(Value block);
  /// The loop over `set`; what masks ask for is `maskSet`.
  SmallVector<Value> emitLoop(Value set, Value maskSet, ValueRange carried);
  /// Whether no key tile reaches over the border of a block.
  bool areTilesInside() {
    return llvm::all_of(llvm::zip(list.getKey(), loop.getKeyBox()), [](auto extents) {
      auto [block, tile] = extents;
      return block % tile == 0;
    });
  }

  tile::ForEachOp loop;
  BlocksOp list;
  OpBuilder builder;
  Location loc;
};
} // namespace

SmallVector<Value> ListWriter::delinearize(Value block) {
  ArrayRef<int64_t> extents = list.getKey();
  SmallVector<Value> at(extents.size());
  for (size_t axis = extents.size(); axis-- > 1;) {
    Value count =
        arith::CeilDivSIOp::create(builder, loc, loop.getKeySizes()[axis], number(extents[axis]));
    // An axis without tokens has no block, and nothing may be divided by their number.
    count = arith::MaxSIOp::create(builder, loc, count, number(1));
    Value rest = arith::FloorDivSIOp::create(builder, loc, block, count);
    at[axis] = arith::SubIOp::create(builder, loc, block,
                                     arith::MulIOp::create(builder, loc, rest, count));
    block = rest;
  }
  at[0] = block;
  return at;
}

SmallVector<Value> ListWriter::emitLoop(Value set, Value maskSet, ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getSet(), set);
  auto copy = cast<tile::ForEachOp>(builder.clone(*loop, mapping));
  copy.getInitMutable().assign(carried);
  copy.walk([&](Operation *op) {
    if (auto mask = dyn_cast<tile::MaskOp>(op); mask && mask.getSet() == set)
      mask.getSetMutable().assign(maskSet);
  });
  return llvm::to_vector_of<Value>(copy.getResults());
}

void ListWriter::run() {
  auto type = cast<sparsity::SetType>(loop.getSet().getType());
  Value others = withoutList(builder, loop.getSet(), list);
  SmallVector<Value> carried = emitLoop(others, others, llvm::to_vector(loop.getInit()));

  sparsity::PairContext pair;
  pair.batch = loop.getBatch();
  pair.head = loop.getHead();
  pair.query = llvm::to_vector(loop.getQueryAt());
  pair.querySizes = llvm::to_vector(loop.getQuerySizes());
  pair.keySizes = llvm::to_vector(loop.getKeySizes());
  SmallVector<Value> place = list.emitListIndex(builder, loc, pair);
  Value count = list.emitCount(builder, loc, place);
  // Where no tile stands outside of a block, masks need not know the block.
  Value inside;
  if (areTilesInside())
    inside = add(sparsity::AllOp::create(builder, loc, type, /*domain=*/Value()), others);

  auto entries = scf::ForOp::create(builder, loc, number(0), count, number(1), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entries.getBody());
  Value block = list.emitBlock(builder, loc, place, entries.getInductionVar(), pair);
  Value keys = sparsity::KeyBlockOp::create(builder, loc, type, delinearize(block), list.getKey());
  Value added = add(keys, others);
  SmallVector<Value> next = emitLoop(added, inside ? inside : added, entries.getRegionIterArgs());
  // A loop without carried values has its terminator already.
  if (!next.empty())
    scf::YieldOp::create(builder, loc, next);
  loop.getResults().replaceAllUsesWith(entries.getResults());
  loop.erase();
}

namespace {
struct ExpandLists final : lacuna::impl::ExpandListsPassBase<ExpandLists> {
  void runOnOperation() override {
    SmallVector<std::pair<tile::ForEachOp, BlocksOp>> loops;
    getOperation()->walk([&](tile::ForEachOp loop) {
      // Where there is a table of classes the list has been looked up for it.
      if (loop.getClasses() || loop.getAscending())
        return;
      // A table has a class for every tile, also for those that no list names: what nobody has
      // written would be read.
      if (!loop.getOps<tile::ClassifyOp>().empty())
        return;
      if (BlocksOp list = findWalkedList(loop.getSet(), loop.getQueryBox()))
        loops.emplace_back(loop, list);
    });
    for (auto [loop, list] : loops)
      ListWriter(loop, list).run();
  }
};
} // namespace
