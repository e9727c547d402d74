//===- SelectSyntax.h - custom pieces of assembly formats -----------------===//
#pragma once

#include "dialects/Select/Select.h"

namespace lacuna::select {

using UnresolvedOperand = mlir::OpAsmParser::UnresolvedOperand;

/// `4`, `0.5` or `-1`: a constant that need not show that it is no integer.
mlir::ParseResult parseConstant(mlir::OpAsmParser &parser, mlir::FloatAttr &constant);
void printConstant(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::FloatAttr constant);

/// `scale 0.125`, or nothing.
mlir::ParseResult parseScale(mlir::OpAsmParser &parser, mlir::FloatAttr &scale);
void printScale(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::FloatAttr scale);

/// `16`, `%k` (an index) or `%k : tensor<?x8x?xi32>`.
mlir::ParseResult parseRuleNumber(mlir::OpAsmParser &parser,
                                  std::optional<UnresolvedOperand> &operand, mlir::Type &type,
                                  mlir::FloatAttr &constant);
void printRuleNumber(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value operand,
                     mlir::Type type, mlir::FloatAttr constant);

/// The type of a set operand if it is not a plain sequence. Behind it may stand the colon of the
/// op's own types.
mlir::ParseResult parsePairsType(mlir::OpAsmParser &parser, mlir::Type &type);
void printPairsType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type type);

/// `rows 128 by max`, or nothing for blocks of one row.
mlir::ParseResult parseRowBlock(mlir::OpAsmParser &parser, mlir::IntegerAttr &extent,
                                ReductionAttr &by);
void printRowBlock(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr extent,
                   ReductionAttr by);

/// `columns 64 by sum`, or nothing for blocks of one column.
mlir::ParseResult parseColumnBlock(mlir::OpAsmParser &parser, mlir::IntegerAttr &extent,
                                   ReductionAttr &by);
void printColumnBlock(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr extent,
                      ReductionAttr by);

/// `function (%s, %b, %h, %i, %j) { ... }`, or nothing.
mlir::ParseResult parseFunction(mlir::OpAsmParser &parser, mlir::Region &function);
void printFunction(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &function);

} // namespace lacuna::select
