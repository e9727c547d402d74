//===- SparsitySyntax.h - custom pieces of assembly formats ---------------===//
#pragma once

#include "dialects/Sparsity/Sparsity.h"

namespace lacuna::sparsity {

using UnresolvedOperand = mlir::OpAsmParser::UnresolvedOperand;

/// `255`, `%left` or `%left : tensor<?xi32>`: a number that is constant, given at run time (index
/// by default), or one per head.
mlir::ParseResult parseCount(mlir::OpAsmParser &parser, std::optional<UnresolvedOperand> &operand,
                             mlir::Type &type, mlir::IntegerAttr &constant);
void printCount(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value operand,
                mlir::Type type, mlir::IntegerAttr constant);

/// The same in parentheses.
mlir::ParseResult parseNumber(mlir::OpAsmParser &parser, std::optional<UnresolvedOperand> &operand,
                              mlir::Type &type, mlir::IntegerAttr &constant);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value operand,
                 mlir::Type type, mlir::IntegerAttr constant);

/// A number, or a list of constants.
mlir::ParseResult parseCountOrList(mlir::OpAsmParser &parser,
                                   std::optional<UnresolvedOperand> &operand, mlir::Type &type,
                                   mlir::IntegerAttr &constant, mlir::DenseI64ArrayAttr &list);
void printCountOrList(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value operand,
                      mlir::Type type, mlir::IntegerAttr constant, mlir::DenseI64ArrayAttr list);

/// `[2, %r, %h : tensor<?xi32>]`; a single number may stand without brackets. Operands stand in the
/// constants as ShapedType::kDynamic.
mlir::ParseResult parseNumberList(mlir::OpAsmParser &parser,
                                  llvm::SmallVectorImpl<UnresolvedOperand> &operands,
                                  llvm::SmallVectorImpl<mlir::Type> &types,
                                  mlir::DenseI64ArrayAttr &constants);
void printNumberList(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange operands,
                     mlir::TypeRange types, mlir::DenseI64ArrayAttr constants);

/// The same with brackets always, or nothing for no number.
mlir::ParseResult parseSymbolList(mlir::OpAsmParser &parser,
                                  llvm::SmallVectorImpl<UnresolvedOperand> &operands,
                                  llvm::SmallVectorImpl<mlir::Type> &types,
                                  mlir::DenseI64ArrayAttr &constants);
void printSymbolList(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange operands,
                     mlir::TypeRange types, mlir::DenseI64ArrayAttr constants);

/// The type of a set without set operands: the domain's if there is one, else the spelled type,
/// else a sequence.
mlir::ParseResult parseSetType(mlir::OpAsmParser &parser, mlir::Type &set, mlir::Type domain);
void printSetType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type set,
                  mlir::Type domain);

/// The one type of an algebra op's operands and result; a sequence when not spelled.
mlir::ParseResult parseAlgebraType(mlir::OpAsmParser &parser, mlir::Type &set);
void printAlgebraType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type set);

/// The same where the operands' types are not inferred.
mlir::ParseResult parseAlgebraTypes(mlir::OpAsmParser &parser, mlir::Type &set,
                                    llvm::ArrayRef<UnresolvedOperand> sets,
                                    llvm::SmallVectorImpl<mlir::Type> &types);
void printAlgebraTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type set,
                       mlir::OperandRange sets, mlir::TypeRange types);

/// `%class`, `%class : tensor<?xi32>` or `[0, 1, 1]`.
mlir::ParseResult parseClasses(mlir::OpAsmParser &parser, std::optional<UnresolvedOperand> &operand,
                               mlir::Type &type, mlir::DenseI64ArrayAttr &list);
void printClasses(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value operand,
                  mlir::Type type, mlir::DenseI64ArrayAttr list);

/// `(%b, %h, %i, %j) { ... }`: a region with arguments of type index.
mlir::ParseResult parsePredicate(mlir::OpAsmParser &parser, mlir::Region &region);
void printPredicate(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &region);

/// `[[%a, %b], [%c, %d]]`: rows of equal length.
mlir::ParseResult parseSetRows(mlir::OpAsmParser &parser,
                               llvm::SmallVectorImpl<UnresolvedOperand> &sets);
void printSetRows(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange sets);

/// Nothing: the entries' types follow from the domain's.
mlir::ParseResult parseSegmentTypes(mlir::OpAsmParser &parser, mlir::Type domain,
                                    llvm::ArrayRef<UnresolvedOperand> sets,
                                    llvm::SmallVectorImpl<mlir::Type> &types);
void printSegmentTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type domain,
                       mlir::OperandRange sets, mlir::TypeRange types);

} // namespace lacuna::sparsity
