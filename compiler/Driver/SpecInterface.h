//===- SpecInterface.h - a spec's arguments, and values for them -----------===//
//
// What a spec asks of its caller: names, types and declared defaults; and how
// `--set` and .npy files turn into concrete arguments. docs/command-line.md
// has the rules.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace lacuna {

/// What the caller of a tool says about a spec's arguments.
struct BindOptions {
  /// `--set` in order: size, argument or shape by name.
  std::vector<std::pair<std::string, std::string>> given;
  /// Where random inputs start.
  uint64_t seed = 0;
  /// Folder with `<argument>.npy` files that replace random tensors; empty for none.
  std::string inputs;
  /// Leave float tensors without memory: for tools that only ask which pairs are live. Integer
  /// tensors keep their values.
  bool withoutData = false;
  /// Refuse lists that do not keep what they promise.
  bool checkInputs = false;
};

/// `left=255,n=4096` as pairs, appended to `pairs`; false when a part has no name or no value.
bool parseAssignments(llvm::StringRef text,
                      std::vector<std::pair<std::string, std::string>> &pairs);

/// Concrete arguments of a spec.
struct BoundSpec {
  mlir::func::FuncOp function;
  /// The argument's name in the text, or its number.
  std::vector<std::string> names;
  /// One per function argument; tensors view `storage`, or nothing (`BindOptions::withoutData`).
  std::vector<Argument> arguments;
  std::vector<OwnedTensor> storage;
  /// What a run of the function returned, borrowed; empty before one.
  std::vector<Tensor> results;
  /// Sizes that were used: b, n, nq, nk, hq, hkv, d, dv.
  std::map<std::string, int64_t> sizes;
  uint64_t seed = 0;
};

/// What the text calls the function's results: "o" for the first result of an op, "o.lse",
/// "ids.counts" or "ids.weights" for others, the result's number without a name.
std::vector<std::string> namesOfResults(mlir::func::FuncOp function);

/// Finds a value for every argument of `function`: from `--set`, then from files, then from
/// declared defaults. After a mistake the diagnostic is emitted.
mlir::FailureOr<BoundSpec> bindSpec(mlir::func::FuncOp function, const BindOptions &options);

} // namespace lacuna
