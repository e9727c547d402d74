//===- AttnOps.cpp - syntax -----------------------------------------------===//
#include "dialects/Attn/Attn.h"
#include "dialects/Select/SelectSyntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lacuna::attn;
using lacuna::sparsity::SetType;

//===----------------------------------------------------------------------===//
// attn.attend
//===----------------------------------------------------------------------===//

/// The score region with its five named arguments.
static ParseResult parseScore(OpAsmParser &parser, Region &score) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  if (arguments.size() != 5)
    return parser.emitError(loc, "expected a score region of five arguments (score, batch, head, "
                                 "query position, key position), got ")
           << arguments.size();
  Builder &builder = parser.getBuilder();
  for (auto [index, argument] : llvm::enumerate(arguments))
    argument.type = index == 0 ? Type(builder.getF32Type()) : Type(builder.getIndexType());
  return parser.parseRegion(score, arguments);
}

/// An extent per axis: [64].
static ParseResult parseExtents(OpAsmParser &parser, DenseI64ArrayAttr &extents) {
  Attribute parsed = DenseI64ArrayAttr::parse(parser, {});
  extents = dyn_cast_or_null<DenseI64ArrayAttr>(parsed);
  return success(static_cast<bool>(extents));
}

/// skip query extents key extents (below value : type)? (margin number)?
static ParseResult parseSkip(OpAsmParser &parser, AttendOp::Properties &properties,
                             OpAsmParser::UnresolvedOperand &below, Type &belowType) {
  if (parser.parseKeyword("query") || parseExtents(parser, properties.skip_query) ||
      parser.parseKeyword("key") || parseExtents(parser, properties.skip_key))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("below")) &&
      (parser.parseOperand(below) || parser.parseColonType(belowType)))
    return failure();
  if (failed(parser.parseOptionalKeyword("margin")))
    return success();
  double margin;
  if (parser.parseFloat(margin))
    return failure();
  properties.margin = parser.getBuilder().getF32FloatAttr(static_cast<float>(margin));
  return success();
}

/// Notes which of the optional results have types: marks are bytes.
static void setResults(OperationState &result, ArrayRef<Type> types) {
  auto isMarks = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && shaped.getElementType().isInteger(8);
  };
  bool hasTaken = types.size() > 1 && isMarks(types.back());
  int sizes[] = {types.empty() ? 0 : 1, static_cast<int>(types.size()) - 1 - hasTaken, hasTaken};
  auto &properties = result.getOrAddProperties<AttendOp::Properties>();
  llvm::copy(sizes, properties.resultSegmentSizes.begin());
  result.addTypes(types);
}

/// query , key , value over set (: type)? (sinks value : type)? (scale number)? from_start? skip?
/// (score (args) region)? attr-dict : query, key, value -> output (, lse)? (, taken)?
ParseResult AttendOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::UnresolvedOperand, 3> tensors(3);
  OpAsmParser::UnresolvedOperand set, sinks, below;
  Type setType = SetType::get(parser.getContext(), {1});
  if (parser.parseOperand(tensors[0]) || parser.parseComma() || parser.parseOperand(tensors[1]) ||
      parser.parseComma() || parser.parseOperand(tensors[2]) || parser.parseKeyword("over") ||
      parser.parseOperand(set))
    return failure();

  // Behind the first colon stands either the set's type or, when no clause follows, the query's.
  SmallVector<Type> inputTypes, resultTypes;
  SMLoc typeLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalColon())) {
    Type type;
    if (parser.parseType(type))
      return failure();
    if (isa<SetType>(type))
      setType = type;
    else
      inputTypes.push_back(type);
  }

  Region *score = result.addRegion();
  bool hasSinks = false;
  Type sinksType, belowType;
  auto &properties = result.getOrAddProperties<Properties>();
  if (inputTypes.empty()) {
    hasSinks = succeeded(parser.parseOptionalKeyword("sinks"));
    if (hasSinks && (parser.parseOperand(sinks) || parser.parseColonType(sinksType)))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("scale"))) {
      double scale;
      if (parser.parseFloat(scale))
        return failure();
      result.addAttribute(getScaleAttrName(result.name), builder.getF32FloatAttr(scale));
    }
    if (succeeded(parser.parseOptionalKeyword("from_start")))
      result.addAttribute(getFromStartAttrName(result.name), builder.getUnitAttr());
    if (succeeded(parser.parseOptionalKeyword("skip")) &&
        parseSkip(parser, properties, below, belowType))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("score")) && parseScore(parser, *score))
      return failure();
    typeLoc = parser.getCurrentLocation();
    if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
        parser.parseType(inputTypes.emplace_back()))
      return failure();
  }
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseType(inputTypes.emplace_back()))
      return failure();
  if (parser.parseArrow() || parser.parseTypeList(resultTypes))
    return failure();
  if (inputTypes.size() != 3)
    return parser.emitError(typeLoc, "expected the types of query, key and value, got ")
           << inputTypes.size() << " types";
  if (parser.resolveOperands(tensors, inputTypes, typeLoc, result.operands) ||
      parser.resolveOperand(set, setType, result.operands) ||
      (hasSinks && parser.resolveOperand(sinks, sinksType, result.operands)) ||
      (belowType && parser.resolveOperand(below, belowType, result.operands)))
    return failure();
  int operands[] = {1, 1, 1, 1, hasSinks, belowType ? 1 : 0};
  llvm::copy(operands, properties.operandSegmentSizes.begin());
  SMLoc resultLoc = parser.getCurrentLocation();
  if (resultTypes.empty() || resultTypes.size() > 3)
    return parser.emitError(resultLoc, "expected the types of one to three results, got ")
           << resultTypes.size();
  setResults(result, resultTypes);
  return success();
}

void AttendOp::print(OpAsmPrinter &printer) {
  printer << " " << getQuery() << ", " << getKey() << ", " << getValue() << " over " << getSet();
  if (getSet().getType() != SetType::get(getContext(), {1}))
    printer << " : " << getSet().getType();
  if (getSinks())
    printer << " sinks " << getSinks() << " : " << getSinks().getType();
  if (FloatAttr scale = getScaleAttr()) {
    printer << " scale ";
    printer.printFloat(scale.getValue());
  }
  if (getFromStart())
    printer << " from_start";
  if (hasSkip()) {
    printer << " skip query ";
    getSkipQueryAttr().print(printer);
    printer << " key ";
    if (getSkipKeyAttr())
      getSkipKeyAttr().print(printer);
    if (getBelow())
      printer << " below " << getBelow() << " : " << getBelow().getType();
    if (FloatAttr margin = getMarginAttr()) {
      printer << " margin ";
      printer.printFloat(margin.getValue());
    }
  }
  if (!getScore().empty()) {
    printer << " score (";
    llvm::interleaveComma(getScore().getArguments(), printer);
    printer << ") ";
    printer.printRegion(getScore(), /*printEntryBlockArgs=*/false);
  }
  SmallVector<StringRef> written = {getScaleAttrName(), getFromStartAttrName(),
                                    getOperandSegmentSizeAttr(), getResultSegmentSizeAttr()};
  if (hasSkip())
    written.append({getSkipQueryAttrName(), getSkipKeyAttrName(), getMarginAttrName()});
  printer.printOptionalAttrDict((*this)->getAttrs(), written);
  printer << " : " << getQuery().getType() << ", " << getKey().getType() << ", "
          << getValue().getType() << " -> ";
  llvm::interleaveComma(getResultTypes(), printer);
}

AttendOp AttendOp::withResults(OpBuilder &builder, bool hasLse, bool hasTaken) {
  RankedTensorType output = getOutput().getType();
  ArrayRef<int64_t> shape = output.getShape();
  SmallVector<Type> types = {output};
  if (hasLse)
    types.push_back(RankedTensorType::get(shape.drop_back(), builder.getF32Type()));
  if (hasTaken) {
    auto count = [](int64_t tokens, int64_t block) {
      return ShapedType::isDynamic(tokens) ? tokens : llvm::divideCeilSigned(tokens, block);
    };
    int64_t queries = count(shape[2], getSkipQuery()->front());
    int64_t keys = count(getKey().getType().getDimSize(2), getSkipKey()->front());
    types.push_back(
        RankedTensorType::get({shape[0], shape[1], queries, keys}, builder.getI8Type()));
  }
  OperationState state(getLoc(), (*this)->getName(), (*this)->getOperands(), {},
                       (*this)->getDiscardableAttrDictionary().getValue());
  state.getOrAddProperties<Properties>() = getProperties();
  setResults(state, types);
  state.addRegion()->takeBody(getScore());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  return cast<AttendOp>(builder.create(state));
}

//===----------------------------------------------------------------------===//
// attn.merge
//===----------------------------------------------------------------------===//

/// (output , lse) , ... attr-dict : output type , lse type
ParseResult MergeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> outputs, lses;
  Type outputType, lseType;
  auto parsePart = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseOperand(outputs.emplace_back()) ||
                   parser.parseComma() || parser.parseOperand(lses.emplace_back()) ||
                   parser.parseRParen());
  };
  if (parser.parseCommaSeparatedList(parsePart) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(outputType) ||
      parser.parseComma() || parser.parseType(lseType) ||
      parser.resolveOperands(outputs, outputType, result.operands) ||
      parser.resolveOperands(lses, lseType, result.operands))
    return failure();
  result.addTypes({outputType, lseType});
  return success();
}

void MergeOp::print(OpAsmPrinter &printer) {
  printer << " ";
  llvm::interleaveComma(llvm::zip_equal(getOutputs(), getLses()), printer, [&](auto part) {
    printer << "(" << std::get<0>(part) << ", " << std::get<1>(part) << ")";
  });
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getOutput().getType() << ", " << getLse().getType();
}

using lacuna::select::parsePairsType;
using lacuna::select::printPairsType;

#define GET_OP_CLASSES
#include "dialects/Attn/AttnOps.cpp.inc"
