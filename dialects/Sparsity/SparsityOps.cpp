//===- SparsityOps.cpp - verifiers and type inference ---------------------===//
#include "dialects/Sparsity/Sparsity.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace lacuna::sparsity;

//===----------------------------------------------------------------------===//
// Custom syntax
//===----------------------------------------------------------------------===//

/// `(255)`, `(%left)` or `(%left : tensor<?xi32>)`: a number that is constant, given at run time
/// (index by default), or one per head.
static ParseResult parseNumber(OpAsmParser &parser,
                               std::optional<OpAsmParser::UnresolvedOperand> &operand, Type &type,
                               IntegerAttr &constant) {
  if (parser.parseLParen())
    return failure();
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    if (failed(*isNumber))
      return failure();
    constant = parser.getBuilder().getI64IntegerAttr(number);
    return parser.parseRParen();
  }
  operand.emplace();
  if (parser.parseOperand(*operand))
    return failure();
  type = parser.getBuilder().getIndexType();
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
    return failure();
  return parser.parseRParen();
}

static void printNumber(OpAsmPrinter &printer, Operation *, Value operand, Type type,
                        IntegerAttr constant) {
  printer << "(";
  if (constant)
    printer << constant.getInt();
  else
    printer << operand;
  if (!constant && !type.isIndex())
    printer << " : " << type;
  printer << ")";
}

/// The type of a set without set operands: the domain's if there is one, else the spelled type, else
/// a sequence.
static ParseResult parseSetType(OpAsmParser &parser, Type &set, Type domain) {
  MLIRContext *context = parser.getContext();
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(set);
  if (auto domainType = dyn_cast_or_null<DomainType>(domain))
    set = SetType::get(context, domainType.getSegments());
  else
    set = SetType::get(context, {1});
  return success();
}

static void printSetType(OpAsmPrinter &printer, Operation *, Type set, Type domain) {
  MLIRContext *context = set.getContext();
  SetType implied = SetType::get(context, {1});
  if (auto domainType = dyn_cast_or_null<DomainType>(domain))
    implied = SetType::get(context, domainType.getSegments());
  if (set != implied)
    printer << ": " << set;
}

/// The one type of an algebra op's operands and result; a sequence when not spelled.
static ParseResult parseAlgebraType(OpAsmParser &parser, Type &set) {
  return parseSetType(parser, set, {});
}

static void printAlgebraType(OpAsmPrinter &printer, Operation *op, Type set) {
  printSetType(printer, op, set, {});
}

/// The result type of ops over a sequence.
static void inferSequence(MLIRContext *context, SmallVectorImpl<Type> &types) {
  types.push_back(SetType::get(context, {1}));
}

/// The domain with one segment of as many axes as there are sizes.
static void inferDomain(MLIRContext *context, ArrayRef<int64_t> sizes,
                        SmallVectorImpl<Type> &types) {
  types.push_back(DomainType::get(context, {static_cast<int64_t>(sizes.size())}));
}

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

#define LACUNA_SEQUENCE_SET(op)                                                                    \
  LogicalResult op::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,       \
                                     SmallVectorImpl<Type> &types) {                               \
    inferSequence(context, types);                                                                 \
    return success();                                                                              \
  }
LACUNA_SEQUENCE_SET(WindowOp)
#undef LACUNA_SEQUENCE_SET

LogicalResult SequenceDomainOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                                 Adaptor adaptor, SmallVectorImpl<Type> &types) {
  inferDomain(context, adaptor.getStaticSizes(), types);
  return success();
}

LogicalResult GridOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  inferDomain(context, adaptor.getStaticSizes(), types);
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Sparsity/SparsityOps.cpp.inc"
