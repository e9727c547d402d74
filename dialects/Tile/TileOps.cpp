//===- TileOps.cpp - verifiers --------------------------------------------===//
#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace lacuna::tile;

LogicalResult KernelOp::verify() { return success(); }
LogicalResult LoadOp::verify() { return success(); }
LogicalResult StoreOp::verify() { return success(); }
LogicalResult DotOp::verify() { return success(); }
LogicalResult ScoreOp::verify() { return success(); }
LogicalResult MaskOp::verify() { return success(); }
LogicalResult BeginOp::verify() { return success(); }
LogicalResult SoftmaxStepOp::verify() { return success(); }
LogicalResult FinishOp::verify() { return success(); }
LogicalResult MergeOp::verify() { return success(); }
LogicalResult RequireOp::verify() { return success(); }
LogicalResult RequireOp::canonicalize(RequireOp op, PatternRewriter &rewriter) { return failure(); }
LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult ClassifyOp::verify() { return success(); }
LogicalResult ForEachOp::verify() { return success(); }

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.cpp.inc"
