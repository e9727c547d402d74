//===- TileBuffers.h - how tiles lie in memory on a CPU -------------------===//
//
// A tile is a buffer of f32. Vectors run over query rows, so what is indexed by
// query rows has them last:
//
//   queries, accumulators   channels x rows
//   scores, probabilities   keys x rows
//   row values              rows
//   keys, values            keys x channels
//
// Rows are padded to whole vectors, keys and channels to whole register blocks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Tile/Tile.h"

#include "llvm/Support/MathExtras.h"

namespace lacuna {

/// Which axis of a matrix tile lies last.
enum class TileLayout { RowsLast, ChannelsLast };

/// Sizes that follow from the width of a vector.
class TileBuffers {
public:
  explicit TileBuffers(int64_t width) : width(width) {}

  /// Rows in memory: pairs of vectors, or one.
  int64_t padRows(int64_t rows) const {
    return rows <= width ? width : int64_t(llvm::alignTo(rows, 2 * width));
  }
  /// Row vectors that a register block has.
  int64_t vectorsPerBlock(int64_t rows) const { return padRows(rows) == width ? 1 : 2; }
  /// Keys or channels that a register block has: with two vectors of rows the accumulators take
  /// half of the registers.
  int64_t getBlock() const { return width >= 16 ? 8 : 4; }
  int64_t padBlock(int64_t count) const { return llvm::alignTo(count, getBlock()); }
  int64_t padChannels(int64_t channels) const {
    return llvm::alignTo(channels, std::max(width, getBlock()));
  }

  /// The buffer of a tile. Scores count as rows x keys.
  mlir::MemRefType getType(tile::TileType type, TileLayout layout) const {
    mlir::Type f32 = mlir::Float32Type::get(type.getContext());
    int64_t rows = type.getRows();
    if (type.getShape().size() == 1)
      return mlir::MemRefType::get({padRows(rows)}, f32);
    if (layout == TileLayout::RowsLast)
      return mlir::MemRefType::get({padBlock(type.getColumns()), padRows(rows)}, f32);
    return mlir::MemRefType::get({padBlock(rows), padChannels(type.getColumns())}, f32);
  }

  int64_t width;
};

} // namespace lacuna
