//===- VectorBuilder.h - short words for vector code ----------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace lacuna {

/// Builds f32 code on vectors of one width; loops leave the builder behind them.
class VectorBuilder : public mlir::ImplicitLocOpBuilder {
public:
  VectorBuilder(mlir::Location loc, const mlir::OpBuilder &builder, int64_t width)
      : mlir::ImplicitLocOpBuilder(loc, builder), width(width) {}

  int64_t getWidth() const { return width; }
  mlir::VectorType vectorOf(mlir::Type element) { return mlir::VectorType::get(width, element); }

  mlir::Value index(int64_t number);
  mlir::Value scalar(float number);
  mlir::Value splat(float number);
  /// `value` in every lane.
  mlir::Value broadcast(mlir::Value value);

  mlir::Value add(mlir::Value a, mlir::Value b);
  /// a + number, on indices.
  mlir::Value offset(mlir::Value a, int64_t number);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value isLess(mlir::Value a, mlir::Value b);
  mlir::Value isEqual(mlir::Value a, mlir::Value b);
  /// The larger one; `b` when either is NaN.
  mlir::Value maximum(mlir::Value a, mlir::Value b);

  /// A whole vector of a buffer with unit last stride.
  mlir::Value load(mlir::Value buffer, mlir::ValueRange at);
  void store(mlir::Value vector, mlir::Value buffer, mlir::ValueRange at);

  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  /// for (i = lower; i < upper; i += step) carried = body(i, carried).
  llvm::SmallVector<mlir::Value> loop(mlir::Value lower, mlir::Value upper, int64_t step,
                                      mlir::ValueRange init, Body body);
  llvm::SmallVector<mlir::Value> loop(int64_t count, int64_t step, mlir::ValueRange init,
                                      Body body);
  /// A loop that carries nothing.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  void loop(int64_t count, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  /// A branch without results; `otherwise` may be null.
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);

private:
  int64_t width;
};

} // namespace lacuna
