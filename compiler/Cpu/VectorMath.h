//===- VectorMath.h - exponentials on vectors -----------------------------===//
#pragma once

#include "compiler/Cpu/VectorBuilder.h"

namespace lacuna {

/// exp(x - shift), with a relative error of about 1e-7 for `x <= shift`. Where x is -inf the result
/// is exactly 0; everywhere else it is above 0, so that a 0 marks a masked pair (differences below
/// -87 count as -87). NaN stays NaN. `shift` must not be -inf.
mlir::Value emitExpDifference(VectorBuilder &builder, mlir::Value x, mlir::Value shift);

/// `value`, or 0 where it is -inf: a shift for emitExpDifference.
mlir::Value emitFiniteShift(VectorBuilder &builder, mlir::Value value);

/// The natural logarithm; log(0) is -inf.
mlir::Value emitLog(VectorBuilder &builder, mlir::Value value);

} // namespace lacuna
