//===- SetKernel.h - kernels that look at a set and at nothing else -------===//
//
// Counting and drawing ask which pairs and tiles are live, with the loops that
// attention itself would run but without queries, keys or values.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Passes/KernelBuilder.h"
#include "compiler/Passes/Segments.h"

namespace lacuna {

/// The kernel of one query segment against one key segment of an attend: a grid point is a query
/// tile of one head. When the set is the same for all batches or heads the grid has one of them.
class SetKernel {
public:
  /// A run of tokens in one region: its first coordinates, the extents of its grid, and its box.
  struct Side {
    llvm::SmallVector<mlir::Value> at, sizes;
    llvm::ArrayRef<int64_t> box;
  };

  /// Emits what is wrong with the set.
  static mlir::FailureOr<std::unique_ptr<SetKernel>>
  create(attn::AttendOp op, const Segments &segments, unsigned querySegment, unsigned keySegment,
         llvm::StringRef name, mlir::RankedTensorType output);

  mlir::OpBuilder &getBody() { return kernel.body; }
  mlir::Location getLoc() const { return kernel.getLoc(); }
  mlir::Value getOutput() { return kernel.getOutput(0); }
  mlir::Value getBatch() { return kernel.getGrid(0); }
  mlir::Value getHead() { return kernel.getGrid(1); }
  const Side &getQuery() const { return query; }
  const Side &getKey() const { return key; }
  /// Whether the set's formula has opaque terms, so that its tiles must be classified.
  bool isOpaque() const { return opaque; }

  mlir::Value constant(int64_t number);
  /// Number of boxes along all axes.
  mlir::Value countBoxes(const Side &side, llvm::ArrayRef<int64_t> box);
  /// Row-major number, in the whole segment, of the box that starts at `at`.
  mlir::Value linear(const Side &side, mlir::ValueRange at, llvm::ArrayRef<int64_t> box);

  using Visit = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange keyAt,
                                                                  mlir::ValueRange carried)>;
  /// Visits the key boxes of a class for the query box at `at`; returns the carried values.
  llvm::SmallVector<mlir::Value> forEachKey(tile::TileClass tileClass, mlir::ValueRange at,
                                            llvm::ArrayRef<int64_t> queryBox,
                                            llvm::ArrayRef<int64_t> keyBox, mlir::ValueRange init,
                                            Visit visit);
  using VisitRow = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange at,
                                                                     mlir::ValueRange carried)>;
  /// Visits every query of the tile.
  llvm::SmallVector<mlir::Value> forEachQuery(mlir::ValueRange init, VisitRow visit);
  /// The class of a pair of tiles, an i8 (see `tile.classify`).
  mlir::Value classify(mlir::ValueRange keyAt);

  /// An extent of the output after batch and head; numbers stand for themselves.
  enum class Extent : int64_t { QueryTiles = -4, KeyTiles, Queries, Keys };
  /// Ends the kernel and launches it.
  tile::LaunchOp finish(llvm::ArrayRef<Extent> shape);

private:
  SetKernel(attn::AttendOp op, llvm::StringRef name, mlir::ValueRange uses,
            mlir::RankedTensorType output, unsigned gridRank)
      : kernel(op, name, uses, output, gridRank) {}

  mlir::LogicalResult requireSizes(attn::AttendOp op, const Segments &segments,
                                   llvm::ArrayRef<mlir::Value> perHead);

  KernelBuilder kernel;
  Side query, key, planQuery, planKey;
  mlir::Value planQueryTensor;
  mlir::Value set;
  bool opaque = false, perHead = false, perBatch = false;
};

/// A function argument with the first three extents of `tokens`. Results of attention have those of
/// their queries.
mlir::Value findTokens(mlir::Value tokens);

/// Replaces every attend of `function` by what `study` launches for each pair of its segments, and
/// the function's results by the results of those launches, in order.
mlir::LogicalResult replaceAttends(
    mlir::func::FuncOp function,
    llvm::function_ref<mlir::FailureOr<tile::LaunchOp>(attn::AttendOp op, const Segments &segments,
                                                       unsigned querySegment, unsigned keySegment,
                                                       llvm::StringRef name)>
        study);

} // namespace lacuna
