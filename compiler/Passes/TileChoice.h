//===- TileChoice.h - tile shapes of one attend ---------------------------===//
#pragma once

#include "compiler/Analysis/HopperTiles.h"
#include "compiler/Passes/Segments.h"

namespace lacuna {

/// What an attend is of a hierarchy that has been expanded: a level, seen through columns, or, as
/// level -1, the exact part, whose nodes are base blocks.
struct HierarchyPart {
  /// Where nodes lie that the attend sees.
  enum class Side { Before = -1, Both, After };

  int64_t level = 0;
  /// Keys of a node, and columns through which it is seen.
  int64_t nodeKeys = 1, columns = 1;
  Side side = Side::Both;

  static constexpr llvm::StringLiteral attribute = "attn.hierarchy_part";
  bool isExact() const { return level < 0; }
  int64_t columnKeys() const { return nodeKeys / columns; }
  mlir::Attribute write(mlir::MLIRContext *context) const;
  /// The part that `op` says it is; nothing for other attends, and for what no pass wrote.
  static std::optional<HierarchyPart> read(mlir::Operation *op);
};

/// Boxes of all segments, flat: `asked` itself when it has one extent per axis, else even boxes of
/// `asked` (one number) or of `standard` tokens, whose last extent is at least `innermost`.
/// `option` names `asked` in what is emitted.
mlir::FailureOr<llvm::SmallVector<int64_t>>
chooseEvenTile(attn::AttendOp op, const Segments &segments, llvm::ArrayRef<int64_t> asked,
               int64_t standard, llvm::StringRef option, int64_t innermost = 1);

/// Boxes inside the blocks of the set's list, the largest of at most `queries` and `keys` tokens.
/// Nothing when the attend has no list on its only segment.
std::optional<std::pair<Extents, Extents>>
chooseListTiles(attn::AttendOp op, const Segments &segments, int64_t queries, int64_t keys);

/// That tiles which are written or asked for are made of the blocks that are skipped: whole ones
/// along the queries, a single one along the keys. Emits what is not.
mlir::LogicalResult requireSkipTile(attn::AttendOp op, llvm::ArrayRef<int64_t> queryOption,
                                    llvm::ArrayRef<int64_t> keyOption);

/// What tiles of an attend are for on sm_90a. Emits what is wrong with the set.
mlir::FailureOr<HopperProblem> getHopperProblem(attn::AttendOp op);

/// Whether shapes for sm_90a can be compared: one segment of at most three axes.
bool hasHopperModel(const Segments &segments);

/// Compares tile shapes for an attend; the first is the one to take. What the attend has, or else
/// the options ask for, is kept. Emits what is wrong with the set or the options.
mlir::FailureOr<std::vector<HopperCandidate>>
compareHopperTiles(attn::AttendOp op, const Segments &segments, llvm::ArrayRef<int64_t> queryOption,
                   llvm::ArrayRef<int64_t> keyOption);

} // namespace lacuna
