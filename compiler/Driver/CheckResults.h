//===- CheckResults.h - results against the oracle -------------------------===//
#pragma once

#include "compiler/Driver/BuildReference.h"
#include "lib/Reference/Tolerance.h"

namespace lacuna {

struct CheckOptions {
  /// Draws the rows of a sample.
  uint64_t seed = 0;
  /// Multiply-adds that the oracle may spend on one step before it takes a sample of its rows.
  double budget = 2e9;
  /// Instead of a budget, how many rows of each step to sample; 0: the budget decides.
  int64_t rows = 0;
  /// Query rows of a tile; rows at its borders are always in a sample.
  int64_t tileRows = 64;
  /// 0: one per core.
  unsigned threads = 0;
};

/// One function result.
struct ResultCheck {
  std::string name;
  reference::Comparison comparison;
  /// Of blocks of queries and keys, not of rows.
  bool isMarks = false;
};

struct CheckReport {
  std::vector<ResultCheck> results;
  /// Rows compared and rows there are, over all results that hold an output.
  int64_t checkedRows = 0, allRows = 0;

  bool passes() const;
  /// One line per result that is beyond tolerance, with the worst value; empty if all pass.
  std::string failures() const;
};

/// Names of the function's results for reports and files: the value's name, `.lse` behind it for a
/// log-sum-exp.
std::vector<std::string> resultNames(const ReferenceProgram &program);

/// Compares `results`, one tensor per function result. Their shapes are those of the program.
CheckReport checkResults(const ReferenceProgram &program, llvm::ArrayRef<Tensor> results,
                         const CheckOptions &options);

} // namespace lacuna
