//===- SelectReducer.h - reductions of scores, on numbers or vectors ------===//
#pragma once

#include "compiler/Cpu/HelperFunctions.h"
#include "dialects/Select/Select.h"

namespace lacuna {

/// One reduction: a state that takes scores one by one, lane by lane on vectors.
class Reducer {
public:
  /// What a state has: a value or the greatest score, a sum of exponentials, how many were added.
  static constexpr int parts = 3, countPart = 2;

  explicit Reducer(select::Reduction kind) : kind(kind) {}

  /// Each part of a state without a score.
  std::array<float, parts> start() const;
  /// The state with `score` added where `live`.
  llvm::SmallVector<mlir::Value> add(VectorBuilder &builder, mlir::ValueRange state,
                                     mlir::Value score, mlir::Value live) const;
  /// The reduction; -inf of nothing.
  mlir::Value finish(VectorBuilder &builder, mlir::ValueRange state) const;

private:
  select::Reduction kind;
};

/// Scores of kinds other than dot, for all pairs of a step: buffers as for `callDot`.
void callPairScores(HelperFunctions &helpers, VectorBuilder &builder, select::ScoreKind kind,
                    mlir::Value query, mlir::Value key, mlir::Value companion, mlir::Value scores,
                    int64_t channels, float scale);

} // namespace lacuna
