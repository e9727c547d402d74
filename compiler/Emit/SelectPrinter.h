//===- SelectPrinter.h - kernels of one op that selects, as CUDA C++ ------===//
//
// The device library has the algorithms; what is printed is the call with the
// numbers of the op, the places in memory, and functions for its regions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Emit/KernelPrinter.h"

#include "llvm/Support/FormatVariadic.h"

namespace lacuna {

/// Prints one kernel whose body is one op that selects.
class SelectPrinter : KernelPrinter {
public:
  explicit SelectPrinter(tile::KernelOp kernel)
      : KernelPrinter(kernel), body(/*depth=*/1), scalars(body, sources()) {}
  mlir::FailureOr<KernelCode> print();

private:
  /// Threads of a block: in general, for scores of one list, for choices in a row, and for choices
  /// in all rows of a head.
  static constexpr unsigned defaultThreads = 256, rowThreads = 128, choiceThreads = 256,
                            manyThreads = 512;

  mlir::LogicalResult write(tile::SummarizeOp op);
  mlir::LogicalResult write(tile::FoldOp op);
  mlir::LogicalResult write(tile::ProjectOp op);
  mlir::LogicalResult write(tile::ScoreBlocksOp op);
  mlir::LogicalResult write(tile::RestrictOp op);
  mlir::LogicalResult write(tile::ScoreListOp op);
  mlir::LogicalResult write(tile::RefineOp op);
  mlir::LogicalResult write(tile::ChooseOp op);
  mlir::LogicalResult write(tile::SampleOp op);
  mlir::LogicalResult write(tile::MarginOp op);
  mlir::LogicalResult write(tile::GateOp op);
  mlir::LogicalResult write(tile::LinearStateOp op);
  mlir::LogicalResult write(tile::LinearPrefixOp op);
  mlir::LogicalResult write(tile::LinearFoldOp op);
  mlir::LogicalResult write(tile::LinearReadOp op);
  mlir::LogicalResult write(tile::GatedMergeOp op);

  /// Prints the scalars of the body that `op` and its regions use.
  mlir::LogicalResult writeScalars(mlir::Operation *op, llvm::ArrayRef<int64_t> gridTile);
  /// "a * stride + b * stride": where a place lies in an input or output; leading axes only.
  std::string offsetOf(unsigned argument, llvm::ArrayRef<std::string> indices);
  std::string extentOf(unsigned argument, unsigned axis) {
    return hostField(llvm::formatv("extent{0}_{1}", argument, axis).str(),
                     host.value(argument, axis));
  }
  /// Prints the body of a region whose arguments are ints or floats of these names; returns what it
  /// yields.
  mlir::FailureOr<std::string> writeRegion(mlir::Region &region, llvm::ArrayRef<std::string> names);
  /// Prints `score` where the region says that the pair of `row` and `column` does not count, or is
  /// forced; nothing for an empty region.
  mlir::LogicalResult writeTest(mlir::Region &region, const char *test, llvm::StringRef row,
                                llvm::StringRef score);
  /// The elements along the last axis of an input or output, from those of leading axes on.
  std::string stripOf(llvm::StringRef element, mlir::Value memory,
                      llvm::ArrayRef<std::string> indices);
  /// How many query heads share a key head, as the host knows.
  std::string headsPerKeyHead(unsigned query, unsigned key);
  std::string rowsOf(unsigned argument, llvm::StringRef head);
  /// Prints the scalars of `op` and `row`, the grid's row of which there are as many as `argument`
  /// has; `rows` of them, a host value, share a block.
  mlir::LogicalResult writeWarpRows(mlir::Operation *op, unsigned argument, mlir::Value row,
                                    unsigned rows);
  /// The same for a row of scores: short ones are a warp's, long ones a block's.
  mlir::LogicalResult writeScoreRow(mlir::Operation *op, mlir::Value scores, mlir::Value row);
  /// Prints `use` of `choice`, the row of `table` whose scores `adjust` changes.
  void writeChoice(llvm::StringRef head, llvm::StringRef row, llvm::StringRef use,
                   llvm::StringRef adjust = "AsTheyAre()");
  /// Prints the function `name` that makes a score of a column and a number.
  mlir::LogicalResult writeAdjust(llvm::StringRef name, llvm::StringRef row, llvm::StringRef scale,
                                  mlir::Region &within, mlir::Region &force);
  static llvm::StringRef ruleName(select::Rule rule);
  /// The number of a rule, for a row.
  std::string numberOf(mlir::Value number, std::optional<llvm::APFloat> constant,
                       llvm::ArrayRef<std::string> row);
  static std::string capText(std::optional<uint64_t> cap);
  void writeRefinedRow(tile::RefineOp op, llvm::ArrayRef<std::string> row);
  /// Prints a store where there is memory.
  void writeStore(llvm::StringRef type, mlir::Value memory, llvm::ArrayRef<std::string> place,
                  llvm::StringRef value);
  /// The same as rows of 16-bit elements that a program of linear attention reads.
  std::string linearRowsOf(mlir::Value tensor, llvm::StringRef head);
  std::string linearFloatsOf(mlir::Value memory, llvm::ArrayRef<std::string> indices,
                             unsigned lastAxis);
  void writeTable(mlir::Value scores, llvm::StringRef batch, llvm::StringRef head);
  void writeLists(mlir::Value ids, mlir::Value counts, llvm::StringRef batch);
  mlir::LogicalResult writeProduct(tile::ScoreBlocksOp op);
  mlir::LogicalResult writeFinish(tile::ScoreBlocksOp op);
  void writePlainScores(tile::ScoreBlocksOp op);
  void writeBlockScores(tile::ScoreBlocksOp op, int64_t bytes);

  unsigned blocksTogether(mlir::Operation *op) const;

  /// Host values of extents of inputs and outputs.
  struct Extents {
    SelectPrinter &printer;
    unsigned value(unsigned argument, unsigned axis) const {
      KernelManifest &manifest = printer.code.manifest;
      return argument < manifest.inputs
                 ? printer.KernelPrinter::host.extent(argument, axis)
                 : manifest.outputs[argument - manifest.inputs].extents[axis];
    }
  } host{*this};

  CodeWriter body;
  ScalarPrinter scalars;
  unsigned blockThreads = defaultThreads;
  /// Blocks that share a multiprocessor, where the op says how many.
  std::optional<unsigned> blocksAtOnce;
  llvm::SmallVector<std::string_view> parts;
};

} // namespace lacuna
