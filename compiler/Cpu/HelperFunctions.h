//===- HelperFunctions.h - functions that kernels share -------------------===//
#pragma once

#include "compiler/Cpu/TileBuffers.h"
#include "compiler/Cpu/VectorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace lacuna {

/// The functions that work on whole tiles, each written once per module, shape and type: loops over
/// full and partial tiles run the same ones, and code generation sees each once.
class HelperFunctions {
public:
  HelperFunctions(mlir::ModuleOp module, int64_t width)
      : buffers(width), module(module), symbols(module) {}

  /// queries x keys -> scores: `s[n, m] = scale * sum_d k[n, d] q[d, m]`, for `channels` channels.
  void callDot(VectorBuilder &builder, mlir::Value query, mlir::Value key, mlir::Value scores,
               int64_t channels, float scale);
  /// One step of the online softmax over `keys` keys; scores become probabilities. `finite` says
  /// that no value is NaN or infinite.
  void callStep(VectorBuilder &builder, mlir::Value scores, mlir::Value values, mlir::Value finite,
                mlir::Value accumulator, mlir::Value maximum, mlir::Value sum, int64_t keys);
  /// Turns the state into outputs, in place, and the log-sum-exp. `sink` may be null.
  void callFinish(VectorBuilder &builder, mlir::Value accumulator, mlir::Value maximum,
                  mlir::Value sum, mlir::Value sink, mlir::Value lse);
  /// Merges parts; the targets may be those of a part.
  void callMerge(VectorBuilder &builder, mlir::ValueRange outputs, mlir::ValueRange lses,
                 mlir::Value output, mlir::Value lse);
  /// Sets every element.
  void callFill(VectorBuilder &builder, mlir::Value buffer, float number);
  void callCopy(VectorBuilder &builder, mlir::Value from, mlir::Value to);
  /// Whether no element is NaN or infinite.
  mlir::Value callIsFinite(VectorBuilder &builder, mlir::Value buffer);

  /// A function of this process, with the address of what it works on.
  void callExternal(VectorBuilder &builder, llvm::StringRef name, mlir::Value address);

  /// A box of tokens of one head: scalars as the operands of `tile.load`.
  struct Box {
    mlir::Value batch, head;
    mlir::ValueRange at, sizes;
    mlir::Value base;
    llvm::ArrayRef<int64_t> box;
  };
  /// Fills `target` from a strided tensor; tokens outside the grid become zero.
  void callLoad(VectorBuilder &builder, mlir::Value source, const Box &box, mlir::Value target,
                TileLayout layout);
  /// Writes rows inside the grid.
  void callStore(VectorBuilder &builder, mlir::Value tile, mlir::Value target, const Box &box);

  using WriteBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(VectorBuilder &, mlir::ValueRange)>;
  /// Calls the function that `stem`, `key` and the operands' types stand for, and writes it first
  /// if there is none.
  llvm::SmallVector<mlir::Value> call(VectorBuilder &builder, llvm::StringRef stem,
                                      const llvm::Twine &key, mlir::ValueRange operands,
                                      mlir::TypeRange results, WriteBody body);

  const TileBuffers buffers;

private:
  void callAccumulate(VectorBuilder &builder, mlir::Value probabilities, mlir::Value values,
                      mlir::Value rescale, mlir::Value accumulator, int64_t keys, bool finite);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> functions;
};

} // namespace lacuna
