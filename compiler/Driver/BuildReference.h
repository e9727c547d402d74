//===- BuildReference.h - a spec as a computation of the oracle ------------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "compiler/Driver/TranslateScalar.h"
#include "lib/Reference/Attention.h"
#include "lib/Reference/Select.h"

namespace lacuna {

/// The attends, merges and select ops of a function with bound arguments, evaluated row by row on
/// demand. It is built from the spec as parsed; no pass has touched it. A function with select ops
/// must have been run and return what they compute (`exposeSelections`): what reads such a value is
/// compared given the value of the run.
class ReferenceProgram {
public:
  /// Null after a diagnostic. Views the tensors of `spec`, which must outlive it.
  static std::unique_ptr<ReferenceProgram> build(const BoundSpec &spec);

  /// What one function result holds.
  struct FunctionResult {
    /// Which step computes it, or which selection.
    unsigned step;
    bool isLse;
    mlir::Location loc;
    bool isSelection = false;
    /// Of the results of a selection.
    unsigned number = 0;
    std::string name = {};
    /// Which blocks an attend did not skip.
    bool isMarks = false;
  };
  llvm::ArrayRef<FunctionResult> getResults() const { return results; }

  /// One operand pair of attn.merge: a value that a step computes, or a tensor that is given.
  struct Part {
    mlir::Value output, lse;
    std::optional<Tensor> givenOutput, givenLse;
  };

  struct Step {
    mlir::Operation *op;
    /// attn.attend; absent for attn.merge.
    std::optional<reference::Attend> attend;
    std::vector<Part> parts;
    /// batch x heads x queries x value channels.
    std::vector<int64_t> shape;
    /// The whole output, when another attend reads it.
    OwnedTensor whole;
    OwnedTensor wholeLse;
    /// The largest number of multiply-adds and pair tests that a row takes.
    double costPerRow = 0;
    /// Channels of a key, for the tolerance.
    int64_t keyChannels = 0;
  };
  llvm::ArrayRef<Step> getSteps() const { return steps; }

  /// A select op.
  struct Selection {
    mlir::Operation *op;
    std::unique_ptr<reference::SelectOracle> oracle;
  };
  llvm::ArrayRef<Selection> getSelections() const { return selections; }

  /// Exact rows of a step's result.
  std::vector<reference::RowResult>
  evaluate(unsigned step, llvm::ArrayRef<reference::RowIndex> rows, unsigned threads) const;

  /// Exact number of live pairs of all attends; nothing when more than `limit` pairs would have to
  /// be tested.
  std::optional<int64_t> countLivePairs(int64_t limit, unsigned threads) const;

private:
  explicit ReferenceProgram(const BoundSpec &spec);

  mlir::LogicalResult addAttend(mlir::Operation *op);
  mlir::LogicalResult readSkip(mlir::Operation *op, reference::Attend &attend);
  mlir::LogicalResult addMerge(mlir::Operation *op);
  mlir::LogicalResult addSelection(mlir::Operation *op);
  mlir::LogicalResult addReturn(mlir::Operation *op);
  /// A tensor that attends read: an argument, a constant, or the whole result of a step.
  mlir::FailureOr<Tensor> tensorOf(mlir::Value value);
  reference::RowResult rowOf(const Step &step, const reference::RowIndex &row) const;
  reference::RowResult partOf(const Part &part, const reference::RowIndex &row) const;

  ScalarTranslator scalars;
  std::vector<Step> steps;
  std::vector<Selection> selections;
  /// Which step or selection computes a value.
  llvm::DenseMap<mlir::Value, unsigned> producers;
  std::vector<FunctionResult> results;
};

} // namespace lacuna
