//===- SparsitySyntax.cpp - custom pieces of assembly formats -------------===//
#include "dialects/Sparsity/SparsitySyntax.h"

using namespace mlir;
using namespace lacuna;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

ParseResult sparsity::parseCount(OpAsmParser &parser, std::optional<UnresolvedOperand> &operand,
                                 Type &type, IntegerAttr &constant) {
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    if (failed(*isNumber))
      return failure();
    constant = parser.getBuilder().getI64IntegerAttr(number);
    return success();
  }
  operand.emplace();
  if (parser.parseOperand(*operand))
    return failure();
  type = parser.getBuilder().getIndexType();
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(type);
  return success();
}

static void printOperand(OpAsmPrinter &printer, Value operand) {
  printer << operand;
  if (!operand.getType().isIndex())
    printer << " : " << operand.getType();
}

void sparsity::printCount(OpAsmPrinter &printer, Operation *, Value operand, Type,
                          IntegerAttr constant) {
  if (constant)
    printer << constant.getInt();
  else
    printOperand(printer, operand);
}

ParseResult sparsity::parseNumber(OpAsmParser &parser, std::optional<UnresolvedOperand> &operand,
                                  Type &type, IntegerAttr &constant) {
  return failure(parser.parseLParen() || parseCount(parser, operand, type, constant) ||
                 parser.parseRParen());
}

void sparsity::printNumber(OpAsmPrinter &printer, Operation *op, Value operand, Type type,
                           IntegerAttr constant) {
  printer << "(";
  printCount(printer, op, operand, type, constant);
  printer << ")";
}

/// `[3, 17]`.
static ParseResult parseConstants(OpAsmParser &parser, DenseI64ArrayAttr &list) {
  SmallVector<int64_t> numbers;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(numbers.emplace_back()); }))
    return failure();
  list = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printConstants(OpAsmPrinter &printer, ArrayRef<int64_t> list) {
  printer << "[";
  llvm::interleaveComma(list, printer);
  printer << "]";
}

/// Whether a list starts here; the bracket is left for the list's own parser.
static bool isBracketNext(OpAsmParser &parser) {
  return *parser.getCurrentLocation().getPointer() == '[';
}

ParseResult sparsity::parseCountOrList(OpAsmParser &parser,
                                       std::optional<UnresolvedOperand> &operand, Type &type,
                                       IntegerAttr &constant, DenseI64ArrayAttr &list) {
  if (isBracketNext(parser))
    return parseConstants(parser, list);
  return parseCount(parser, operand, type, constant);
}

void sparsity::printCountOrList(OpAsmPrinter &printer, Operation *op, Value operand, Type type,
                                IntegerAttr constant, DenseI64ArrayAttr list) {
  if (list)
    return printConstants(printer, list);
  printCount(printer, op, operand, type, constant);
}

ParseResult sparsity::parseNumberList(OpAsmParser &parser,
                                      SmallVectorImpl<UnresolvedOperand> &operands,
                                      SmallVectorImpl<Type> &types, DenseI64ArrayAttr &constants) {
  SmallVector<int64_t> numbers;
  auto parseOne = [&]() -> ParseResult {
    std::optional<UnresolvedOperand> operand;
    Type type;
    IntegerAttr constant;
    if (parseCount(parser, operand, type, constant))
      return failure();
    if (operand) {
      operands.push_back(*operand);
      types.push_back(type);
    }
    numbers.push_back(constant ? constant.getInt() : ShapedType::kDynamic);
    return success();
  };
  if (isBracketNext(parser)
          ? parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne)
          : parseOne())
    return failure();
  constants = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

/// The numbers, constants and operands in order.
static void printNumbers(OpAsmPrinter &printer, OperandRange operands,
                         ArrayRef<int64_t> constants) {
  auto operand = operands.begin();
  llvm::interleaveComma(constants, printer, [&](int64_t constant) {
    if (ShapedType::isDynamic(constant) && operand != operands.end())
      printOperand(printer, *operand++);
    else
      printer << constant;
  });
}

void sparsity::printNumberList(OpAsmPrinter &printer, Operation *, OperandRange operands, TypeRange,
                               DenseI64ArrayAttr constants) {
  bool brackets = constants.size() != 1;
  printer << (brackets ? "[" : "");
  printNumbers(printer, operands, constants);
  printer << (brackets ? "]" : "");
}

ParseResult sparsity::parseSymbolList(OpAsmParser &parser,
                                      SmallVectorImpl<UnresolvedOperand> &operands,
                                      SmallVectorImpl<Type> &types, DenseI64ArrayAttr &constants) {
  if (isBracketNext(parser))
    return parseNumberList(parser, operands, types, constants);
  constants = parser.getBuilder().getDenseI64ArrayAttr({});
  return success();
}

void sparsity::printSymbolList(OpAsmPrinter &printer, Operation *, OperandRange operands, TypeRange,
                               DenseI64ArrayAttr constants) {
  if (constants.empty())
    return;
  printer << " [";
  printNumbers(printer, operands, constants);
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The type of a set over `domain`, or over a sequence.
static sparsity::SetType impliedType(MLIRContext *context, Type domain) {
  if (auto domainType = dyn_cast_or_null<sparsity::DomainType>(domain))
    return sparsity::SetType::get(context, domainType.getSegments());
  return sparsity::SetType::get(context, {1});
}

ParseResult sparsity::parseSetType(OpAsmParser &parser, Type &set, Type domain) {
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(set);
  set = impliedType(parser.getContext(), domain);
  return success();
}

void sparsity::printSetType(OpAsmPrinter &printer, Operation *, Type set, Type domain) {
  if (set != impliedType(set.getContext(), domain))
    printer << " : " << set;
}

ParseResult sparsity::parseAlgebraType(OpAsmParser &parser, Type &set) {
  return parseSetType(parser, set, {});
}

void sparsity::printAlgebraType(OpAsmPrinter &printer, Operation *op, Type set) {
  printSetType(printer, op, set, {});
}

ParseResult sparsity::parseAlgebraTypes(OpAsmParser &parser, Type &set,
                                        ArrayRef<UnresolvedOperand> sets,
                                        SmallVectorImpl<Type> &types) {
  if (parseAlgebraType(parser, set))
    return failure();
  types.assign(sets.size(), set);
  return success();
}

void sparsity::printAlgebraTypes(OpAsmPrinter &printer, Operation *op, Type set, OperandRange,
                                 TypeRange) {
  printAlgebraType(printer, op, set);
}

//===----------------------------------------------------------------------===//
// Regions and tables
//===----------------------------------------------------------------------===//

ParseResult sparsity::parseClasses(OpAsmParser &parser, std::optional<UnresolvedOperand> &operand,
                                   Type &type, DenseI64ArrayAttr &list) {
  if (isBracketNext(parser))
    return parseConstants(parser, list);
  operand.emplace();
  if (parser.parseOperand(*operand))
    return failure();
  Builder &builder = parser.getBuilder();
  type = RankedTensorType::get({ShapedType::kDynamic}, builder.getIndexType());
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(type);
  return success();
}

void sparsity::printClasses(OpAsmPrinter &printer, Operation *, Value operand, Type type,
                            DenseI64ArrayAttr list) {
  if (list)
    return printConstants(printer, list);
  printer << operand;
  Type usual = RankedTensorType::get({ShapedType::kDynamic}, IndexType::get(type.getContext()));
  if (type != usual)
    printer << " : " << type;
}

ParseResult sparsity::parsePredicate(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getIndexType();
  return parser.parseRegion(region, arguments);
}

void sparsity::printPredicate(OpAsmPrinter &printer, Operation *, Region &region) {
  printer << "(";
  if (!region.empty())
    llvm::interleaveComma(region.getArguments(), printer, [&](BlockArgument argument) {
      printer.printRegionArgument(argument, /*argAttrs=*/{}, /*omitType=*/true);
    });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

ParseResult sparsity::parseSetRows(OpAsmParser &parser, SmallVectorImpl<UnresolvedOperand> &sets) {
  std::optional<size_t> width;
  auto parseRow = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    size_t before = sets.size();
    if (parser.parseOperandList(sets, OpAsmParser::Delimiter::Square))
      return failure();
    size_t count = sets.size() - before;
    if (width && *width != count)
      return parser.emitError(loc, "expected rows of equal length, got ")
             << *width << " and " << count;
    width = count;
    return success();
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseRow);
}

void sparsity::printSetRows(OpAsmPrinter &printer, Operation *op, OperandRange sets) {
  size_t count = cast<DomainType>(cast<SegmentsOp>(op).getDomain().getType()).getSegments().size();
  printer << "[";
  for (size_t first = 0; first < sets.size(); first += count) {
    printer << (first == 0 ? "[" : ", [");
    llvm::interleaveComma(sets.slice(first, std::min(count, sets.size() - first)), printer);
    printer << "]";
  }
  printer << "]";
}

ParseResult sparsity::parseSegmentTypes(OpAsmParser &parser, Type domain,
                                        ArrayRef<UnresolvedOperand> sets,
                                        SmallVectorImpl<Type> &types) {
  auto domainType = dyn_cast<DomainType>(domain);
  if (!domainType)
    return parser.emitError(parser.getNameLoc(), "expected a domain type, got ") << domain;
  ArrayRef<int64_t> ranks = domainType.getSegments();
  // A wrong count is left to the verifier, which names the rule.
  for (size_t index = 0; index < sets.size(); ++index)
    types.push_back(SetType::get(parser.getContext(),
                                 {ranks[std::min(index / ranks.size(), ranks.size() - 1)]},
                                 {ranks[index % ranks.size()]}));
  return success();
}

void sparsity::printSegmentTypes(OpAsmPrinter &, Operation *, Type, OperandRange, TypeRange) {}
