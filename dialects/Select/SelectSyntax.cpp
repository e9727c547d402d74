//===- SelectSyntax.cpp - custom pieces of assembly formats ---------------===//
#include "dialects/Select/SelectSyntax.h"

#include <cmath>

using namespace mlir;
using namespace lacuna;
using namespace lacuna::select;
using lacuna::sparsity::SetType;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Whether digits without a fraction stand here; nothing is consumed.
static bool isWholeNumberNext(OpAsmParser &parser) {
  const char *text = parser.getCurrentLocation().getPointer();
  if (*text == '-')
    ++text;
  if (!llvm::isDigit(*text))
    return false;
  while (llvm::isDigit(*text))
    ++text;
  return *text != '.' && *text != 'x';
}

/// A number with or without a fraction as a constant of `type`. It shows no type of its own: a
/// colon behind it belongs to the op.
static ParseResult parseFloating(OpAsmParser &parser, FloatAttr &constant, Type type) {
  double number = 0;
  if (isWholeNumberNext(parser)) {
    int64_t whole = 0;
    if (parser.parseInteger(whole))
      return failure();
    number = static_cast<double>(whole);
  } else if (parser.parseFloat(number)) {
    return failure();
  }
  constant = FloatAttr::get(type, number);
  return success();
}

/// Whole numbers without a fraction, as long as each has one spelling.
static void printFloating(OpAsmPrinter &printer, FloatAttr constant) {
  double number = constant.getValueAsDouble();
  if (number == std::floor(number) && std::abs(number) < 1e15 && !constant.getValue().isNegZero())
    printer << static_cast<int64_t>(number);
  else
    printer.printFloat(constant.getValue());
}

ParseResult select::parseConstant(OpAsmParser &parser, FloatAttr &constant) {
  return parseFloating(parser, constant, parser.getBuilder().getF64Type());
}

void select::printConstant(OpAsmPrinter &printer, Operation *, FloatAttr constant) {
  printFloating(printer, constant);
}

ParseResult select::parseScale(OpAsmParser &parser, FloatAttr &scale) {
  if (failed(parser.parseOptionalKeyword("scale")))
    return success();
  return parseFloating(parser, scale, parser.getBuilder().getF32Type());
}

void select::printScale(OpAsmPrinter &printer, Operation *, FloatAttr scale) {
  if (!scale)
    return;
  printer << " scale ";
  printFloating(printer, scale);
}

ParseResult select::parseRuleNumber(OpAsmParser &parser, std::optional<UnresolvedOperand> &operand,
                                    Type &type, FloatAttr &constant) {
  UnresolvedOperand value;
  OptionalParseResult isOperand = parser.parseOptionalOperand(value);
  if (!isOperand.has_value())
    return parseConstant(parser, constant);
  if (failed(*isOperand))
    return failure();
  operand = value;
  type = parser.getBuilder().getIndexType();
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(type);
  return success();
}

void select::printRuleNumber(OpAsmPrinter &printer, Operation *, Value operand, Type type,
                             FloatAttr constant) {
  if (constant)
    return printFloating(printer, constant);
  printer << operand;
  if (!type.isIndex())
    printer << " : " << type;
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// Whether `: !sparsity.set...` stands here; nothing is consumed.
static bool isSetTypeNext(OpAsmParser &parser) {
  // The buffer ends with a zero, at which every comparison stops.
  const char *text = parser.getCurrentLocation().getPointer();
  if (*text != ':')
    return false;
  do
    ++text;
  while (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n');
  for (char expected : StringRef("!sparsity.set"))
    if (*text++ != expected)
      return false;
  return true;
}

ParseResult select::parsePairsType(OpAsmParser &parser, Type &type) {
  type = SetType::get(parser.getContext(), {1});
  if (isSetTypeNext(parser))
    return parser.parseColonType(type);
  return success();
}

void select::printPairsType(OpAsmPrinter &printer, Operation *, Type type) {
  if (type != SetType::get(type.getContext(), {1}))
    printer << " : " << type;
}

static ParseResult parseBlock(OpAsmParser &parser, StringRef keyword, IntegerAttr &extent,
                              ReductionAttr &by) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  if (parser.parseAttribute(extent, parser.getBuilder().getI64Type()) || parser.parseKeyword("by"))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Reduction> reduction = symbolizeReduction(name);
  if (!reduction)
    return parser.emitError(loc, "expected sum, mean, max or log_sum_exp, got ") << name;
  by = ReductionAttr::get(parser.getContext(), *reduction);
  return success();
}

static void printBlock(OpAsmPrinter &printer, StringRef keyword, IntegerAttr extent,
                       ReductionAttr by) {
  // A group of heads is reduced as its rows are, also when each of them is a block.
  if (extent.getInt() == 1 && by.getValue() == select::Reduction::Sum)
    return;
  printer << " " << keyword << " " << extent.getInt() << " by "
          << stringifyReduction(by.getValue());
}

ParseResult select::parseRowBlock(OpAsmParser &parser, IntegerAttr &extent, ReductionAttr &by) {
  return parseBlock(parser, "rows", extent, by);
}

void select::printRowBlock(OpAsmPrinter &printer, Operation *, IntegerAttr extent,
                           ReductionAttr by) {
  printBlock(printer, "rows", extent, by);
}

ParseResult select::parseColumnBlock(OpAsmParser &parser, IntegerAttr &extent, ReductionAttr &by) {
  return parseBlock(parser, "columns", extent, by);
}

void select::printColumnBlock(OpAsmPrinter &printer, Operation *, IntegerAttr extent,
                              ReductionAttr by) {
  printBlock(printer, "columns", extent, by);
}

ParseResult select::parseFunction(OpAsmParser &parser, Region &function) {
  if (failed(parser.parseOptionalKeyword("function")))
    return success();
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  // A wrong number of arguments is left to the verifier, which names the rule.
  Builder &builder = parser.getBuilder();
  for (auto [index, argument] : llvm::enumerate(arguments))
    argument.type = index == 0 ? Type(builder.getF32Type()) : Type(builder.getIndexType());
  return parser.parseRegion(function, arguments);
}

void select::printFunction(OpAsmPrinter &printer, Operation *, Region &function) {
  if (function.empty())
    return;
  printer << " function (";
  llvm::interleaveComma(function.getArguments(), printer, [&](BlockArgument argument) {
    printer.printRegionArgument(argument, /*argAttrs=*/{}, /*omitType=*/true);
  });
  printer << ") ";
  printer.printRegion(function, /*printEntryBlockArgs=*/false);
}
