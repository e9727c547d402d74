//===- HopperDialect.cpp - registration and verifiers ---------------------===//
#include "dialects/Hopper/Hopper.h"

#include "lib/Device/SharedLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace lacuna::hopper;

#include "dialects/Hopper/HopperDialect.cpp.inc"

void HopperDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Hopper/HopperOps.cpp.inc"
      >();
}

static int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

int64_t AttendOp::getRowsOfHead() { return product(getQueryBox()); }

int64_t AttendOp::getRows() { return getRowsOfHead() * static_cast<int64_t>(getHeads()); }

/// Three bits of a gathered key's place say which element function it has.
static constexpr size_t mostGatheredKinds = 8;

bool AttendOp::isGathered() {
  int64_t piece = getPieceKeys();
  if (piece < lacuna::leastCopiedKeys)
    return true;
  // Small boxes that share tiles: sixteen copies a tile and matrix keep one warp busier than rows
  // do four.
  if (piece > lacuna::mostGatheredKeys || piece == static_cast<int64_t>(getKeys()) || getTaken() ||
      getElements().size() > mostGatheredKinds)
    return false;
  TileOp first;
  return !getWalk()
              .walk([&](TileOp tile) {
                first = first ? first : tile;
                bool isSame =
                    tile.getBox().size() == 1 && tile.getKey() == first.getKey() &&
                    tile.getValue() == first.getValue() && tile.getBatch() == first.getBatch() &&
                    tile.getHead() == first.getHead() && tile.getBase() == first.getBase();
                return isSame ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

ArrayRef<int64_t> AttendOp::getKeyBox(unsigned kind) {
  ArrayRef<int64_t> box;
  getWalk().walk([&](TileOp tile) {
    if (tile.getKind() != kind)
      return WalkResult::advance();
    box = tile.getBox();
    return WalkResult::interrupt();
  });
  return box;
}

/// Whether any 16 rows of `box` that start at a multiple of 16 are a box themselves: warps store
/// their rows of the output with one copy.
static bool hasBoxesOf16(ArrayRef<int64_t> box) {
  int64_t rows = 16;
  for (int64_t extent : llvm::reverse(box)) {
    if (extent % rows == 0)
      return true;
    if (rows % extent != 0)
      return false;
    rows /= extent;
  }
  return rows == 1;
}

/// What one tile of the walk must agree on with its attend.
static LogicalResult verifyTile(AttendOp attend, TileOp tile) {
  // hopper-attend-5
  if (tile.getKind() >= attend.getElements().size())
    return tile.emitOpError("expected a kind with an element function, got ")
           << tile.getKind() << " of " << attend.getElements().size();
  // hopper-attend-6
  int64_t piece = attend.getPieceKeys(), keys = product(tile.getBox());
  if (keys != piece)
    return tile.emitOpError("expected ") << piece << " keys in every tile, got " << keys;
  // hopper-attend-18
  bool isAligned = attend.isGathered() || piece % 8 == 0;
  if (static_cast<int64_t>(attend.getKeys()) % piece != 0 ||
      (piece < static_cast<int64_t>(attend.getKeys()) && !isAligned))
    return tile.emitOpError("expected tiles of ")
           << attend.getKeys() << " keys or of a part of them in steps of 8, got " << piece;
  // hopper-attend-4
  size_t arguments = 1 + attend.getQueryBox().size() + tile.getBox().size();
  Region &region = attend.getElements()[tile.getKind()];
  if (region.getNumArguments() != arguments)
    return attend.emitOpError("expected element functions of a score and ")
           << arguments - 1 << " coordinates, got " << region.getNumArguments() << " arguments";
  // hopper-attend-8
  if (tile.getBox() != attend.getKeyBox(tile.getKind()))
    return tile.emitOpError("expected one box for all tiles of a kind, got [")
           << tile.getBox() << "] and [" << attend.getKeyBox(tile.getKind()) << "]";
  if (!attend.isGathered())
    return success();
  // hopper-attend-20
  if (tile.getBox().size() != 1)
    return tile.emitOpError("expected boxes of fewer than 16 keys on a sequence only, got ")
           << tile.getBox().size() << " axes";
  // hopper-attend-21
  if (attend.getElements().size() > mostGatheredKinds)
    return attend.emitOpError("expected at most ")
           << mostGatheredKinds << " element functions where keys are gathered, got "
           << attend.getElements().size();
  return success();
}

RowValues::RowValues(Block &block, size_t queryAxes) : block(block), queryAxes(queryAxes) {
  for (Operation &op : block.without_terminator()) {
    bool isRow = true;
    op.walk([&](Operation *inner) {
      isRow &= llvm::all_of(inner->getOperands(), [&](Value value) { return contains(value); });
    });
    if (isRow)
      ops.insert(&op);
  }
}

bool RowValues::contains(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != &block ||
           (argument.getArgNumber() >= 1 && argument.getArgNumber() <= queryAxes);
  Operation *op = value.getDefiningOp();
  return op->getBlock() != &block || ops.contains(op);
}

static LogicalResult verifyBounds(YieldOp yield, size_t queryAxes) {
  size_t axes = yield->getBlock()->getNumArguments() - 1 - queryAxes;
  if (yield.getLower().empty() && yield.getUpper().empty())
    return success();
  // hopper-yield-1
  if (yield.getLower().size() != axes || yield.getUpper().size() != axes)
    return yield.emitOpError("expected a lower and an upper bound for each of ")
           << axes << " key axes, got " << yield.getLower().size() << " and "
           << yield.getUpper().size();
  RowValues ofRow(*yield->getBlock(), queryAxes);
  for (Value bound : yield->getOperands().drop_front())
    // hopper-yield-2
    if (!ofRow.contains(bound))
      return yield.emitOpError("expected bounds that depend on neither the key nor the score");
  return success();
}

int64_t AttendOp::getPieceKeys() {
  auto keys = static_cast<int64_t>(getKeys());
  getWalk().walk([&](TileOp tile) {
    keys = std::max<int64_t>(product(tile.getBox()), 1);
    return WalkResult::interrupt();
  });
  return keys;
}

int64_t AttendOp::getSharedBytes() {
  return lacuna::sharedMemoryBytes({getRows(), static_cast<int64_t>(getKeys()),
                                    cast<RankedTensorType>(getQuery().getType()).getDimSize(3),
                                    static_cast<int64_t>(getValueDim()),
                                    static_cast<int64_t>(*getQuerySlots()),
                                    static_cast<int64_t>(*getStages()), isGathered()});
}

/// Which warpgroups there are, and the registers of their threads.
static LogicalResult verifyRoles(AttendOp op) {
  auto producer = op.getProducerRegisters(), consumer = op.getConsumerRegisters();
  for (auto registers : {producer, consumer})
    // hopper-attend-11
    if (registers && (*registers % 8 != 0 || *registers < 24 || *registers > 256))
      return op.emitOpError("expected 24 to 256 registers per thread in steps of 8, got ")
             << static_cast<int64_t>(*registers);
  if (!op.getConsumers())
    return success();
  // hopper-attend-3
  auto consumers = static_cast<int64_t>(*op.getConsumers());
  if (consumers * 64 != op.getRows())
    return op.emitOpError("expected one consumer warpgroup per 64 rows, got ")
           << consumers << " for " << op.getRows() << " rows";
  // hopper-attend-12
  if (consumers > 3)
    return op.emitOpError("expected at most 192 query rows, three consumer warpgroups, got ")
           << op.getRows();
  // hopper-attend-13
  if (op.getPingPong() && consumers == 1)
    return op.emitOpError("expected at least two consumer warpgroups to take turns, got 1");
  if (!producer || !consumer)
    return success();
  // hopper-attend-14
  int64_t available = lacuna::registersAtLaunch(consumers, static_cast<int64_t>(op.getBlocks()));
  int64_t ofProducer = *producer, ofConsumer = *consumer, all = ofProducer + consumers * ofConsumer;
  if (all > available)
    return op.emitOpError("expected at most ")
           << available << " registers for the threads of all warpgroups, as many as a launch of "
           << consumers + 1 << " gives them, got " << all << ": " << ofProducer
           << " of the producer and " << ofConsumer << " of " << consumers << " consumers";
  return success();
}

/// Whether the rings fit into shared memory.
static LogicalResult verifyRings(AttendOp op) {
  int64_t headDim = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(3);
  auto valueDim = static_cast<int64_t>(op.getValueDim());
  for (int64_t channels : {headDim, valueDim})
    // hopper-attend-15
    if (channels < 8 || channels > 256 || channels % 8 != 0)
      return op.emitOpError("expected head dimensions of 8 to 256 in steps of 8, got ")
             << headDim << " and " << valueDim;
  if (!op.getStages() || !op.getQuerySlots())
    return success();
  auto stages = static_cast<int64_t>(*op.getStages());
  auto slots = static_cast<int64_t>(*op.getQuerySlots());
  // hopper-attend-16
  if (stages < 1 || stages > 64 || slots < 1 || slots > 64)
    return op.emitOpError("expected 1 to 64 stages and query slots, got ")
           << stages << " and " << slots;
  // hopper-attend-17
  int64_t limit = lacuna::sharedMemoryLimitOf(static_cast<int64_t>(op.getBlocks()));
  if (int64_t bytes = op.getSharedBytes(); bytes > limit)
    return op.emitOpError("expected rings that fit in ")
           << limit << " bytes of shared memory, got " << bytes << " for " << slots
           << " query slots and " << stages << " stages";
  return success();
}

LogicalResult AttendOp::verify() {
  // hopper-attend-1
  if (getRows() < 1 || getRows() % 64 != 0)
    return emitOpError("expected a multiple of 64 query rows, one warpgroup each, got ")
           << getRows();
  // hopper-attend-2
  if (auto keys = static_cast<int64_t>(getKeys()); keys < 1 || keys % 16 != 0 || keys > 256)
    return emitOpError("expected a multiple of 16 keys per tile, at most 256, got ") << keys;
  // hopper-attend-22: a map has an axis for heads beside at most two others and the batch's.
  auto heads = static_cast<int64_t>(getHeads());
  if (heads < 1 || heads > 256 || (heads > 1 && getQueryBox().size() > 2))
    return emitOpError("expected 1 to 256 heads in a tile, and one head on grids of three axes, "
                       "got ")
           << heads << " on " << getQueryBox().size() << " axes";
  // hopper-attend-19
  if (auto blocks = static_cast<int64_t>(getBlocks()); blocks < 1 || blocks > 8)
    return emitOpError("expected 1 to 8 blocks on a multiprocessor, got ") << blocks;
  if (failed(verifyRoles(*this)) || failed(verifyRings(*this)))
    return failure();
  // hopper-attend-23
  if (getTaken() ? !getBelow() && !getMargin() : getBelow() || getMargin())
    return emitOpError("expected limits of rows or a margin, and marks of what is taken, or none");
  // hopper-attend-24
  if (getTaken() && (getQueryBox().size() != 1 || getHeads() != 1 ||
                     getPieceKeys() != static_cast<int64_t>(getKeys())))
    return emitOpError("expected whole tiles of one axis and head where tiles are skipped");
  // hopper-attend-10
  size_t axes = getQueryBox().size();
  if (getAt().size() != axes || getSizes().size() != axes)
    return emitOpError("expected a query coordinate and size for each of ")
           << axes << " axes, got " << getAt().size() << " and " << getSizes().size();
  // hopper-attend-9
  SmallVector<int64_t> rows(getQueryBox());
  rows.insert(rows.begin(), static_cast<int64_t>(getHeads()));
  if (!hasBoxesOf16(rows))
    return emitOpError("expected 16 rows in a row of the query box to be a box, got box [")
           << getQueryBox() << "]";
  for (Region &region : getElements()) {
    // hopper-attend-7
    if (region.front().empty() || !isa<YieldOp>(region.front().back()))
      return emitOpError("expected each element function to end with hopper.yield");
    // hopper-attend-4
    if (region.getNumArguments() < 2 + axes)
      return emitOpError("expected element functions of a score, ")
             << axes << " query coordinates and those of a key, got " << region.getNumArguments()
             << " arguments";
    if (failed(verifyBounds(cast<YieldOp>(region.front().back()), axes)))
      return failure();
  }
  WalkResult result =
      getWalk().walk([&](TileOp tile) { return WalkResult(verifyTile(*this, tile)); });
  return failure(result.wasInterrupted());
}

LogicalResult TileOp::verify() {
  // hopper-tile-1
  if (getAt().size() != getBox().size() || getSizes().size() != getBox().size())
    return emitOpError("expected a coordinate and a size for each of ")
           << getBox().size() << " axes, got " << getAt().size() << " and " << getSizes().size();
  // hopper-tile-2
  for (int64_t extent : getBox())
    if (extent < 1)
      return emitOpError("expected a box of positive extents, got ") << extent;
  // hopper-tile-3: consumers find coordinates of keys eight at a time.
  if (getBox().size() > 1 && getBox().back() % 8 != 0 && 8 % getBox().back() != 0)
    return emitOpError("expected 1, 2, 4 or a multiple of 8 keys along the innermost axis, got ")
           << getBox().back();
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Hopper/HopperOps.cpp.inc"
