//===- Tolerance.h - how far from the oracle a result may be ---------------===//
#pragma once

#include "lib/Reference/Attention.h"

namespace lacuna::reference {

/// Half of the spacing around 1, for what a kernel computes in f32 at most.
double unitRoundoff(ElementType type);
/// Below the normal range the spacing is constant: half of it.
double smallestError(ElementType type);

/// Twice the error that a dense attention of the same inputs may have.
///
/// Let `u` be the unit roundoff of the result's type (2^-8 bf16, 2^-11 f16, 2^-24 f32) and `u32`
/// that of f32, `L` the live keys, `D` the channels of a key and `S` the largest sum of |q_c k_c| *
/// scale (or |score| after the score region). A dense kernel with f32 scores and sums errs by
///
///   u |o|                        rounding the output,
///   u A                          rounding probabilities to the element type before the second
///   product, u32 (16 + 4 sqrt(L)) A       exponentials and sums of L terms, 2 u32 (4 + 2 sqrt(D))
///   S A    scores off by u32 (4 + 2 sqrt(D)) S, twice: in a weight and in the sum,
///
/// where `A` is the sum of |p_j v_j|, per channel. Rounding errors of sums grow like the square
/// root of their length; four of those cover the tail.
class Tolerance {
public:
  Tolerance(ElementType type, int64_t keyChannels) : type(type), keyChannels(keyChannels) {}

  double output(const RowResult &row, size_t channel) const;
  double lse(const RowResult &row) const;
  /// Of scores.
  double scores(const RowResult &row) const;

private:
  ElementType type;
  int64_t keyChannels;
};

/// What a comparison found.
struct Comparison {
  int64_t values = 0;
  double maxAbsolute = 0;
  /// Over values whose exact magnitude is at least a thousandth of the largest.
  double maxRelative = 0;
  /// |got - exact| / |exact|, in the Euclidean norm.
  double relativeL2 = 0;
  /// Largest error in units of its tolerance; at most 1 passes.
  double worst = 0;
  /// Values beyond their tolerance, and where the worst one is: batch, head, row (and channel).
  int64_t beyond = 0;
  std::vector<int64_t> where;
  double got = 0, exact = 0;

  bool passes() const { return beyond == 0; }
};

/// Compares sampled rows of `output` (b x h x n x dv) or of `lse` (b x h x n) with the oracle's. An
/// infinity or NaN must meet its like.
Comparison compareOutput(const Tensor &output, const std::vector<RowIndex> &rows,
                         const std::vector<RowResult> &exact, int64_t keyChannels);
Comparison compareLse(const Tensor &lse, const std::vector<RowIndex> &rows,
                      const std::vector<RowResult> &exact, int64_t keyChannels);

} // namespace lacuna::reference
