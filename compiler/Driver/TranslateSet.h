//===- TranslateSet.h - set ops to the oracle's sets -----------------------===//
#pragma once

#include "compiler/Driver/TranslateScalar.h"
#include "dialects/Sparsity/Sparsity.h"
#include "lib/Reference/SetExpression.h"

namespace lacuna {

/// Translates the sets of one attend, op by op. Nothing is simplified: what the oracle evaluates is
/// what the spec says.
class SetTranslator {
public:
  SetTranslator(ScalarTranslator &scalars, int64_t heads) : scalars(scalars), heads(heads) {}

  mlir::FailureOr<reference::Set> translate(mlir::Value set);
  /// A domain that `set` or a set below it names; null for plain sequences.
  static mlir::Value findDomain(mlir::Value set);
  /// The segments of a domain.
  mlir::FailureOr<std::vector<reference::Grid>> translateDomain(mlir::Value domain);
  /// How `set` groups keys that are seen as one; null when every key is seen by itself.
  mlir::FailureOr<reference::Columns> translateHierarchy(mlir::Value set);

private:
  template <typename T> using FailureOr = mlir::FailureOr<T>;
  using Set = reference::Set;
  using Number = reference::Number;

  FailureOr<Set> translateOp(mlir::Operation *op);
  FailureOr<std::vector<Set>> translateAll(mlir::ValueRange sets);
  FailureOr<Set> translateWindow(sparsity::WindowOp op);
  FailureOr<Set> translateDilated(sparsity::DilatedOp op);
  FailureOr<Set> translateRows(sparsity::RowsOp op);
  FailureOr<Set> translateColumns(sparsity::ColumnsOp op);
  FailureOr<reference::Dyadic> readDyadic(sparsity::DyadicOp op);
  FailureOr<Set> translateDyadic(sparsity::DyadicOp op);
  FailureOr<Set> translateDocuments(sparsity::DocumentsOp op);
  FailureOr<Set> translateBlocks(sparsity::BlocksOp op);
  FailureOr<Set> translateBitmap(sparsity::BitmapOp op);
  FailureOr<Set> translateRadius(sparsity::RadiusOp op);
  FailureOr<Set> translateAffine(sparsity::AffineOp op);
  FailureOr<Set> translatePerHead(sparsity::PerHeadOp op);
  FailureOr<Set> translateSegments(sparsity::SegmentsOp op);

  /// A number given as an operand or as a constant; nothing when neither is there.
  FailureOr<std::optional<Number>> optionalNumber(mlir::Value operand,
                                                  std::optional<int64_t> constant);
  FailureOr<Number> number(mlir::Value operand, std::optional<int64_t> constant);
  /// Numbers of which some are constants.
  FailureOr<std::vector<Number>> numbers(mlir::ValueRange operands,
                                         mlir::ArrayRef<int64_t> constants);
  FailureOr<std::vector<int64_t>> sizes(mlir::ValueRange operands,
                                        mlir::ArrayRef<int64_t> constants);

  ScalarTranslator &scalars;
  int64_t heads;
  llvm::DenseMap<mlir::Value, Set> translated;
};

} // namespace lacuna
