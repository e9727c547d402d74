//===- PairRegions.h - regions that speak of one pair, on whole tiles -----===//
#pragma once

#include "compiler/Cpu/HelperFunctions.h"

#include "mlir/IR/IRMapping.h"

namespace lacuna {

/// A region whose block arguments describe one pair, evaluated for every pair of a tile. Query
/// coordinates become vectors and key coordinates scalars; a region with ops that have no vector
/// form is run pair by pair instead.
class PairRegion {
public:
  /// The boxes as in `tile.mask`. `mapping` knows the values that the region captures.
  struct Axes {
    llvm::SmallVector<mlir::Value> queryAt, querySizes, keyAt, keySizes;
    llvm::ArrayRef<int64_t> queryBox, keyBox;
  };
  PairRegion(const TileBuffers &buffers, Axes axes, mlir::Region &region,
             const mlir::IRMapping &mapping)
      : buffers(buffers), axes(std::move(axes)), block(region.front()), mapping(mapping) {}

  /// Overwrites scores with the region's score. `queryBase` and `keyBase` number the tokens.
  mlir::LogicalResult emitScore(VectorBuilder &builder, mlir::Value scores, mlir::Value batch,
                                mlir::Value head, mlir::Value queryBase, mlir::Value keyBase);
  /// Sets the scores of dead pairs, and of keys outside the grid, to -inf.
  mlir::LogicalResult emitMask(VectorBuilder &builder, mlir::Value scores);
  /// Sets `dead` to -inf where the region, whose first argument is the head, says no.
  mlir::LogicalResult emitLive(VectorBuilder &builder, mlir::Value dead, mlir::Value head);
  /// The class of the tile (0, 1 or 2 as i8) from scores that were 0 before `emitMask`.
  mlir::Value emitClass(VectorBuilder &builder, mlir::Value scores);

private:
  /// Coordinates of one row or key, or of a vector of rows, and whether they are in the grid.
  struct Place {
    llvm::SmallVector<mlir::Value> at;
    mlir::Value inside;
  };

  int64_t getRows() const { return countTokens(axes.queryBox); }
  int64_t getKeys() const { return countTokens(axes.keyBox); }
  static int64_t countTokens(llvm::ArrayRef<int64_t> box);
  bool isVectorizable();
  /// The place of row or key `number` of its box; with `lanes`, of that many rows from there.
  Place locate(VectorBuilder &builder, mlir::Value number, bool isQuery, bool lanes);
  mlir::Value getToken(VectorBuilder &builder, const Place &place, bool isQuery);
  mlir::LogicalResult emit(VectorBuilder &builder, mlir::Value scores);
  void emitVectors(VectorBuilder &builder, mlir::Value scores);
  mlir::LogicalResult emitScalars(VectorBuilder &builder, mlir::Value scores);
  /// Maps the block's arguments that speak of queries, or of keys.
  void mapPlace(VectorBuilder &builder, mlir::IRMapping &map, const Place &place, bool isQuery);
  /// The new score, given what the block yields.
  mlir::Value getResult(VectorBuilder &builder, mlir::Value yielded, mlir::Value score);
  /// Clones `op`, on vectors where one of its operands is one.
  void cloneVectorOp(VectorBuilder &builder, mlir::Operation &op, mlir::IRMapping &map,
                     mlir::Value inside);
  mlir::Value emitGather(VectorBuilder &builder, mlir::Value source, mlir::ValueRange at,
                         mlir::Value inside);

  const TileBuffers &buffers;
  Axes axes;
  mlir::Block &block;
  const mlir::IRMapping &mapping;
  bool isScore = false;
  /// Arguments of a mask's region before the coordinates.
  unsigned leading = 0;
  /// Of score regions only.
  mlir::Value batch, head, queryBase, keyBase;
};

} // namespace lacuna
