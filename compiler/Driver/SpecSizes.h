//===- SpecSizes.h - what each extent of a spec's tensors is called --------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <string>
#include <vector>

namespace lacuna {

/// Names the extents of tensors by the role that they play in attn ops, and knows their sizes.
class SpecSizes {
public:
  SpecSizes(mlir::func::FuncOp function, mlir::ArrayRef<std::pair<std::string, std::string>> given);

  /// b, n, nq, nk, hq, hkv, d, dv.
  static mlir::ArrayRef<llvm::StringRef> names();
  static bool isSizeName(llvm::StringRef name);
  /// Whether an argument has a dynamic extent that takes the size `name`.
  bool hasDynamicExtent(llvm::StringRef name);

  /// Notes the sizes that a concrete shape of argument `index` implies; a size that is known
  /// already must agree.
  mlir::LogicalResult learn(unsigned index, mlir::ArrayRef<int64_t> shape);
  /// The size called `name`: known, given, declared, or implied by a domain.
  mlir::FailureOr<int64_t> lookup(llvm::StringRef name, mlir::Location loc);
  /// A concrete shape for argument `index`.
  mlir::FailureOr<std::vector<int64_t>> shapeOf(unsigned index, mlir::RankedTensorType type);

  /// The length of sequences that nothing else says: the tokens of a domain.
  void setImpliedLength(int64_t length) { impliedLength = length; }

  const std::map<std::string, int64_t> &getLearned() const { return learned; }

private:
  mlir::FailureOr<std::optional<int64_t>> find(llvm::StringRef name, mlir::Location loc);
  mlir::FailureOr<std::optional<int64_t>> findGiven(llvm::StringRef name, mlir::Location loc);
  mlir::FailureOr<std::optional<int64_t>> findDeclared(llvm::StringRef name);

  /// Whether an attend has `argument`, of `extent` keys, beside an argument of another length.
  bool hasPartnerUnlike(mlir::BlockArgument argument, int64_t extent) const;

  mlir::func::FuncOp function;
  mlir::ArrayRef<std::pair<std::string, std::string>> given;
  /// Per argument, the size name of each axis; empty where it has none.
  std::vector<std::vector<std::string>> roles;
  std::map<std::string, int64_t> learned;
  /// Keys or values that arguments have.
  llvm::DenseMap<mlir::Value, int64_t> keyLengths;
  std::optional<int64_t> impliedLength;
};

} // namespace lacuna
