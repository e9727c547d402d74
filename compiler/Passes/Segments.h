//===- Segments.h - the segments that an attend's tokens fall into --------===//
#pragma once

#include "dialects/Attn/Attn.h"

#include "mlir/IR/IRMapping.h"

namespace lacuna {

/// Number of tokens in a box.
int64_t countTokens(llvm::ArrayRef<int64_t> box);

/// `size` as a value at `builder`; a value of the function is found through `map`.
mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, mlir::OpFoldResult size,
                        const mlir::IRMapping &map);

/// Appends the sizes of each segment of `domain`; fails when no domain op defines it.
mlir::LogicalResult
appendSegments(mlir::Value domain,
               llvm::SmallVectorImpl<llvm::SmallVector<mlir::OpFoldResult>> &segments);

/// The domain of one attend: segments that follow each other in the tokens, and the sets between
/// them. Queries and keys have the same segments.
class Segments {
public:
  /// Finds the domain of `op`'s set, and the sets between its segments; emits what is missing.
  mlir::LogicalResult read(attn::AttendOp op);
  /// Finds the domain only, which is there before `lacuna-split-segments` has run.
  mlir::LogicalResult readDomain(attn::AttendOp op);

  unsigned size() const { return ranks.size(); }
  /// A sequence on its own: its sizes are the token counts of the tensors.
  bool isLoneSequence() const { return sizes.empty(); }
  unsigned getRank(unsigned segment) const { return ranks[segment]; }
  llvm::ArrayRef<mlir::OpFoldResult> getSizes(unsigned segment) const { return sizes[segment]; }
  /// The part of `boxes`, flat in segment order, that belongs to `segment`.
  llvm::ArrayRef<int64_t> getBox(llvm::ArrayRef<int64_t> boxes, unsigned segment) const;
  /// The sets between a query segment and each key segment.
  llvm::ArrayRef<mlir::Value> getSets(unsigned querySegment) const;
  /// Adds the run-time sizes to `values`.
  void appendValues(llvm::SmallVectorImpl<mlir::Value> &values) const;

private:
  mlir::LogicalResult readSets(attn::AttendOp op);

  llvm::SmallVector<int64_t> ranks;
  llvm::SmallVector<llvm::SmallVector<mlir::OpFoldResult>> sizes;
  /// Row by row: query segment, then key segment.
  llvm::SmallVector<mlir::Value> sets;
};

} // namespace lacuna
