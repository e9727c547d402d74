//===- ItemOrderPrinter.cpp - in which order items with lists are taken ---===//
//
// How many entries the lists of an item have says how long it takes, and so in which order items
// are best taken: lib/Device/ItemOrder.cuh.
//
//===----------------------------------------------------------------------===//
#include "compiler/Emit/KernelPrinter.h"

#include "lib/Device/SharedLayout.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// Whether values depend on what is read from tensors.
static bool dependOnReads(ArrayRef<Value> roots) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> pending(roots);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<tensor::ExtractOp>(op))
      return true;
    op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  }
  return false;
}

/// The loops of a walk that read an entry a round, as many as tensors say.
static SmallVector<scf::ForOp> findListLoops(Block &walk) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : walk.getOps<scf::ForOp>()) {
    auto isEntry = [&](tensor::ExtractOp read) {
      return llvm::is_contained(read.getIndices(), loop.getInductionVar());
    };
    if (llvm::any_of(loop.getBody()->getOps<tensor::ExtractOp>(), isEntry) &&
        dependOnReads({loop.getLowerBound(), loop.getUpperBound()}))
      loops.push_back(loop);
  }
  return loops;
}

bool AttendPrinter::hasLists() { return !findListLoops(attend.getWalk().front()).empty(); }

/// The function that counts the rounds of an item's loops.
LogicalResult AttendPrinter::writeLength(CodeWriter &out) {
  out.line("/// Rounds of the loops of an item, which its time grows with.");
  out.open("__device__ __forceinline__ u32 lengthOf(const Arguments &args, const Item &item) {");
  ScalarPrinter scalars(out, sources());
  bindGrid(scalars);
  Block &walk = attend.getWalk().front(), &body = kernel.getBody().front();
  SmallVector<Value> bounds;
  for (auto loop : walk.getOps<scf::ForOp>())
    bounds.append({loop.getLowerBound(), loop.getUpperBound()});
  if (failed(scalars.printNeeded(body, bounds)) || failed(scalars.printNeeded(walk, bounds)))
    return failure();
  out.line("u32 length = 0;");
  for (auto loop : walk.getOps<scf::ForOp>())
    out.line(formatv("length += static_cast<u32>(max(i64({0}) - i64({1}), i64(0)));",
                     scalars.use(loop.getUpperBound()), scalars.use(loop.getLowerBound())));
  out.line("return length;");
  out.close();
  return success();
}

/// How many long items shared memory has room for beside the pipeline; 0 where items keep their
/// order.
int64_t AttendPrinter::getLongItems() {
  constexpr int64_t most = 1024, fewest = 256;
  // All warps of a gathering producer are at work from the start, and walks along several axes
  // leave no registers.
  if (!hasLists() || attend.isGathered() || attend.getQueryBox().size() > 1)
    return 0;
  int64_t blocks = static_cast<int64_t>(attend.getBlocks());
  int64_t room = sharedMemoryLimitOf(blocks) - attend.getSharedBytes();
  for (int64_t capacity = most; capacity >= fewest; capacity /= 2)
    if (longItemsBytes(capacity) <= room)
      return capacity;
  return 0;
}
