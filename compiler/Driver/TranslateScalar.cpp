//===- TranslateScalar.cpp - scalar IR to the oracle's programs ------------===//
#include "compiler/Driver/TranslateScalar.h"

#include "compiler/Driver/SpecInterface.h"
#include "compiler/Emit/ElementTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using lacuna::reference::Instruction;
using lacuna::reference::Opcode;
using lacuna::reference::ScalarProgram;

namespace lacuna {

ScalarTranslator::ScalarTranslator(Block::BlockArgListType arguments, ArrayRef<Argument> values) {
  for (auto [argument, value] : llvm::zip(arguments, values))
    known.insert({argument, value});
}

/// Bits of an integer or index.
static unsigned widthOf(Type type) {
  return type.isInteger() ? std::min(64u, type.getIntOrFloatBitWidth()) : 64;
}

/// Ops whose operands and result map one to one.
static std::optional<Opcode> plainOpcode(StringRef name) {
  return llvm::StringSwitch<std::optional<Opcode>>(name)
      .Case("arith.addi", Opcode::Add)
      .Case("arith.subi", Opcode::Subtract)
      .Case("arith.muli", Opcode::Multiply)
      .Case("arith.divsi", Opcode::Divide)
      .Case("arith.divui", Opcode::DivideUnsigned)
      .Case("arith.floordivsi", Opcode::FloorDivide)
      .Case("arith.ceildivsi", Opcode::CeilDivide)
      .Case("arith.remsi", Opcode::Remainder)
      .Case("arith.remui", Opcode::RemainderUnsigned)
      .Case("arith.minsi", Opcode::Minimum)
      .Case("arith.maxsi", Opcode::Maximum)
      .Case("arith.minui", Opcode::MinimumUnsigned)
      .Case("arith.maxui", Opcode::MaximumUnsigned)
      .Case("arith.andi", Opcode::And)
      .Case("arith.ori", Opcode::Or)
      .Case("arith.xori", Opcode::Xor)
      .Case("arith.shli", Opcode::ShiftLeft)
      .Case("arith.shrsi", Opcode::ShiftRight)
      .Case("arith.shrui", Opcode::ShiftRightUnsigned)
      .Case("math.absi", Opcode::Absolute)
      .Case("arith.select", Opcode::Select)
      .Case("arith.addf", Opcode::FloatAdd)
      .Case("arith.subf", Opcode::FloatSubtract)
      .Case("arith.mulf", Opcode::FloatMultiply)
      .Case("arith.divf", Opcode::FloatDivide)
      .Case("arith.remf", Opcode::FloatRemainder)
      .Case("arith.negf", Opcode::FloatNegate)
      .Case("arith.minimumf", Opcode::FloatMinimum)
      .Case("arith.maximumf", Opcode::FloatMaximum)
      .Case("arith.minnumf", Opcode::FloatMinimumNumber)
      .Case("arith.maxnumf", Opcode::FloatMaximumNumber)
      .Case("math.fma", Opcode::FusedMultiplyAdd)
      .Case("math.powf", Opcode::Power)
      .Case("math.copysign", Opcode::CopySign)
      .Case("math.absf", Opcode::Abs)
      .Case("math.exp", Opcode::Exp)
      .Case("math.exp2", Opcode::Exp2)
      .Case("math.expm1", Opcode::ExpMinusOne)
      .Case("math.log", Opcode::Log)
      .Case("math.log2", Opcode::Log2)
      .Case("math.log10", Opcode::Log10)
      .Case("math.log1p", Opcode::LogOnePlus)
      .Case("math.sqrt", Opcode::SquareRoot)
      .Case("math.rsqrt", Opcode::ReciprocalSquareRoot)
      .Case("math.sin", Opcode::Sin)
      .Case("math.cos", Opcode::Cos)
      .Case("math.tan", Opcode::Tan)
      .Case("math.tanh", Opcode::Tanh)
      .Case("math.atan", Opcode::Atan)
      .Case("math.atan2", Opcode::Atan2)
      .Case("math.erf", Opcode::Erf)
      .Case("math.floor", Opcode::Floor)
      .Case("math.ceil", Opcode::Ceil)
      .Case("math.round", Opcode::Round)
      .Case("math.roundeven", Opcode::RoundEven)
      .Case("math.trunc", Opcode::Truncate)
      .Case("arith.index_cast", Opcode::Resize)
      .Case("arith.index_castui", Opcode::ResizeUnsigned)
      .Case("arith.extsi", Opcode::Resize)
      .Case("arith.extui", Opcode::ResizeUnsigned)
      .Case("arith.trunci", Opcode::Resize)
      .Case("arith.sitofp", Opcode::ToFloat)
      .Case("arith.uitofp", Opcode::ToFloatUnsigned)
      .Case("arith.fptosi", Opcode::ToInteger)
      .Case("arith.fptoui", Opcode::ToInteger)
      .Default(std::nullopt);
}

/// Fills one program.
struct ScalarTranslator::Builder {
  ScalarTranslator &translator;
  ScalarProgram program;
  llvm::DenseMap<Value, unsigned> registers;

  Builder(ScalarTranslator &translator, Block::BlockArgListType arguments)
      : translator(translator), program(arguments.size()) {
    for (BlockArgument argument : arguments)
      registers[argument] = argument.getArgNumber();
  }

  unsigned integer(int64_t value) {
    return program.append({.opcode = Opcode::Integer, .inputs = {}, .constant = {value, 0}});
  }
  unsigned number(double value) {
    return program.append({.opcode = Opcode::Float, .inputs = {}, .constant = {0, value}});
  }
  unsigned apply(Opcode opcode, std::vector<unsigned> inputs, unsigned width = 64,
                 unsigned sourceWidth = 64) {
    return program.append({opcode, std::move(inputs), width, sourceWidth});
  }
  unsigned negate(unsigned bit) { return apply(Opcode::Xor, {bit, integer(1)}, 1); }

  FailureOr<unsigned> translate(Value value);
  FailureOr<unsigned> translateOp(Operation *op, Value value);
  FailureOr<unsigned> translateConstant(arith::ConstantOp op);
  FailureOr<unsigned> translateArgument(Value value, const Argument &argument);
  FailureOr<std::vector<unsigned>> translateOperands(ValueRange operands);
  FailureOr<unsigned> translateExtract(tensor::ExtractOp op);
  FailureOr<unsigned> translateDim(tensor::DimOp op);
  unsigned compareIntegers(arith::CmpIPredicate predicate, unsigned a, unsigned b, unsigned width);
  unsigned compareFloats(arith::CmpFPredicate predicate, unsigned a, unsigned b);
  FailureOr<unsigned> translateAffine(affine::AffineApplyOp op);
  unsigned translateExpr(AffineExpr expr, unsigned dims, ArrayRef<unsigned> operands);
};

FailureOr<unsigned> ScalarTranslator::Builder::translate(Value value) {
  if (auto found = registers.find(value); found != registers.end())
    return found->second;
  FailureOr<unsigned> result = failure();
  if (auto argument = translator.known.find(value); argument != translator.known.end())
    result = translateArgument(value, argument->second);
  else if (Operation *op = value.getDefiningOp())
    result = translateOp(op, value);
  else
    return emitError(value.getLoc(), "expected a value that depends on function arguments only");
  if (succeeded(result))
    registers[value] = *result;
  return result;
}

FailureOr<unsigned> ScalarTranslator::Builder::translateArgument(Value value,
                                                                 const Argument &argument) {
  if (const auto *given = std::get_if<int64_t>(&argument))
    return integer(*given);
  if (const auto *given = std::get_if<double>(&argument))
    return number(*given);
  return emitError(value.getLoc(), "expected a scalar, got a tensor");
}

FailureOr<std::vector<unsigned>> ScalarTranslator::Builder::translateOperands(ValueRange operands) {
  std::vector<unsigned> inputs;
  for (Value operand : operands) {
    FailureOr<unsigned> input = translate(operand);
    if (failed(input))
      return failure();
    inputs.push_back(*input);
  }
  return inputs;
}

FailureOr<unsigned> ScalarTranslator::Builder::translateConstant(arith::ConstantOp op) {
  if (auto attr = dyn_cast<IntegerAttr>(op.getValue()))
    return integer(attr.getType().isInteger(1) ? attr.getValue().getZExtValue()
                                               : attr.getValue().getSExtValue());
  if (auto attr = dyn_cast<FloatAttr>(op.getValue()))
    return number(attr.getValueAsDouble());
  return op.emitError("expected a scalar constant, got ") << op.getType();
}

FailureOr<unsigned> ScalarTranslator::Builder::translateExtract(tensor::ExtractOp op) {
  FailureOr<Tensor> tensor = translator.evaluateTensor(op.getTensor());
  FailureOr<std::vector<unsigned>> inputs = translateOperands(op.getIndices());
  if (failed(tensor) || failed(inputs))
    return failure();
  Instruction instruction{Opcode::Extract, *inputs};
  instruction.tensor = program.addTensor(*tensor);
  return program.append(instruction);
}

FailureOr<unsigned> ScalarTranslator::Builder::translateDim(tensor::DimOp op) {
  FailureOr<Tensor> tensor = translator.evaluateTensor(op.getSource());
  FailureOr<int64_t> axis = translator.evaluateInteger(op.getIndex());
  if (failed(tensor) || failed(axis))
    return failure();
  if (*axis < 0 || *axis >= tensor->rank())
    return op.emitError("expected an axis below ") << tensor->rank() << ", got " << *axis;
  return integer(tensor->shape[static_cast<size_t>(*axis)]);
}

unsigned ScalarTranslator::Builder::compareIntegers(arith::CmpIPredicate predicate, unsigned a,
                                                    unsigned b, unsigned width) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return apply(Opcode::Equal, {a, b}, 1, width);
  case arith::CmpIPredicate::ne:
    return apply(Opcode::NotEqual, {a, b}, 1, width);
  case arith::CmpIPredicate::slt:
    return apply(Opcode::Less, {a, b}, 1, width);
  case arith::CmpIPredicate::sle:
    return apply(Opcode::LessEqual, {a, b}, 1, width);
  case arith::CmpIPredicate::sgt:
    return apply(Opcode::Less, {b, a}, 1, width);
  case arith::CmpIPredicate::sge:
    return apply(Opcode::LessEqual, {b, a}, 1, width);
  case arith::CmpIPredicate::ult:
    return apply(Opcode::LessUnsigned, {a, b}, 1, width);
  case arith::CmpIPredicate::ule:
    return apply(Opcode::LessEqualUnsigned, {a, b}, 1, width);
  case arith::CmpIPredicate::ugt:
    return apply(Opcode::LessUnsigned, {b, a}, 1, width);
  case arith::CmpIPredicate::uge:
    return apply(Opcode::LessEqualUnsigned, {b, a}, 1, width);
  }
  return integer(0);
}

unsigned ScalarTranslator::Builder::compareFloats(arith::CmpFPredicate predicate, unsigned a,
                                                  unsigned b) {
  // An ordered relation, or the negation of its opposite, which a NaN satisfies.
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return integer(0);
  case arith::CmpFPredicate::AlwaysTrue:
    return integer(1);
  case arith::CmpFPredicate::OEQ:
    return apply(Opcode::FloatEqual, {a, b}, 1);
  case arith::CmpFPredicate::OLT:
    return apply(Opcode::FloatLess, {a, b}, 1);
  case arith::CmpFPredicate::OLE:
    return apply(Opcode::FloatLessEqual, {a, b}, 1);
  case arith::CmpFPredicate::OGT:
    return apply(Opcode::FloatLess, {b, a}, 1);
  case arith::CmpFPredicate::OGE:
    return apply(Opcode::FloatLessEqual, {b, a}, 1);
  case arith::CmpFPredicate::UNO:
    return apply(Opcode::FloatUnordered, {a, b}, 1);
  case arith::CmpFPredicate::ORD:
    return negate(apply(Opcode::FloatUnordered, {a, b}, 1));
  case arith::CmpFPredicate::UNE:
    return negate(apply(Opcode::FloatEqual, {a, b}, 1));
  case arith::CmpFPredicate::UGE:
    return negate(apply(Opcode::FloatLess, {a, b}, 1));
  case arith::CmpFPredicate::UGT:
    return negate(apply(Opcode::FloatLessEqual, {a, b}, 1));
  case arith::CmpFPredicate::ULE:
    return negate(apply(Opcode::FloatLess, {b, a}, 1));
  case arith::CmpFPredicate::ULT:
    return negate(apply(Opcode::FloatLessEqual, {b, a}, 1));
  case arith::CmpFPredicate::ONE: {
    unsigned less = apply(Opcode::FloatLess, {a, b}, 1);
    return apply(Opcode::Or, {less, apply(Opcode::FloatLess, {b, a}, 1)}, 1);
  }
  case arith::CmpFPredicate::UEQ: {
    unsigned unordered = apply(Opcode::FloatUnordered, {a, b}, 1);
    return apply(Opcode::Or, {unordered, apply(Opcode::FloatEqual, {a, b}, 1)}, 1);
  }
  }
  return integer(0);
}

unsigned ScalarTranslator::Builder::translateExpr(AffineExpr expr, unsigned dims,
                                                  ArrayRef<unsigned> operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return integer(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[dims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  unsigned a = translateExpr(binary.getLHS(), dims, operands);
  unsigned b = translateExpr(binary.getRHS(), dims, operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return apply(Opcode::Add, {a, b});
  case AffineExprKind::Mul:
    return apply(Opcode::Multiply, {a, b});
  case AffineExprKind::FloorDiv:
    return apply(Opcode::FloorDivide, {a, b});
  case AffineExprKind::CeilDiv:
    return apply(Opcode::CeilDivide, {a, b});
  default: { // Mod: a - b * floor(a / b)
    unsigned quotient = apply(Opcode::FloorDivide, {a, b});
    return apply(Opcode::Subtract, {a, apply(Opcode::Multiply, {b, quotient})});
  }
  }
}

FailureOr<unsigned> ScalarTranslator::Builder::translateAffine(affine::AffineApplyOp op) {
  FailureOr<std::vector<unsigned>> inputs = translateOperands(op.getMapOperands());
  if (failed(inputs))
    return failure();
  AffineMap map = op.getAffineMap();
  return translateExpr(map.getResult(0), map.getNumDims(), *inputs);
}

FailureOr<unsigned> ScalarTranslator::Builder::translateOp(Operation *op, Value value) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return translateConstant(constant);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return translateExtract(extract);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return translateDim(dim);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return translateAffine(apply);
  bool compares = isa<arith::CmpIOp, arith::CmpFOp>(op);
  bool forwards = isa<arith::ExtFOp, arith::TruncFOp>(op);
  std::optional<Opcode> opcode = plainOpcode(op->getName().getStringRef());
  if (!compares && !forwards && !opcode)
    return op->emitError("expected a scalar op that the oracle knows, got '")
           << op->getName() << "'";
  FailureOr<std::vector<unsigned>> inputs = translateOperands(op->getOperands());
  if (failed(inputs))
    return failure();
  if (forwards)
    return (*inputs)[0];
  unsigned sourceWidth = widthOf(op->getOperand(0).getType());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareIntegers(compare.getPredicate(), (*inputs)[0], (*inputs)[1], sourceWidth);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareFloats(compare.getPredicate(), (*inputs)[0], (*inputs)[1]);
  return apply(*opcode, *inputs, widthOf(value.getType()), sourceWidth);
}

FailureOr<ScalarProgram> ScalarTranslator::translateRegion(Region &region) {
  Block &block = region.front();
  Builder builder(*this, block.getArguments());
  Operation *terminator = block.getTerminator();
  FailureOr<unsigned> result = builder.translate(terminator->getOperand(0));
  if (failed(result))
    return failure();
  builder.program.setResult(*result);
  return builder.program;
}

FailureOr<int64_t> ScalarTranslator::evaluateInteger(Value value) {
  Builder builder(*this, {});
  FailureOr<unsigned> result = builder.translate(value);
  if (failed(result))
    return failure();
  builder.program.setResult(*result);
  return builder.program.run({}).integer;
}

FailureOr<double> ScalarTranslator::evaluateFloat(Value value) {
  Builder builder(*this, {});
  FailureOr<unsigned> result = builder.translate(value);
  if (failed(result))
    return failure();
  builder.program.setResult(*result);
  return builder.program.run({}).number;
}

/// The elements of a constant, in row-major order.
static void fillFromAttribute(Tensor &tensor, DenseElementsAttr elements) {
  std::vector<double> values;
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &value : elements.getValues<APFloat>()) {
      bool loses;
      APFloat wide = value;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
      values.push_back(wide.convertToDouble());
    }
  else
    for (const APInt &value : elements.getValues<APInt>())
      values.push_back(static_cast<double>(value.getSExtValue()));
  Tensor flat = tensor;
  flat.shape = {static_cast<int64_t>(values.size())};
  flat.strides = {1};
  for (size_t index = 0; index < values.size(); ++index)
    flat.set({static_cast<int64_t>(index)}, values[index]);
}

FailureOr<Tensor> ScalarTranslator::evaluateTensor(Value value) {
  if (auto found = known.find(value); found != known.end())
    if (const auto *tensor = std::get_if<Tensor>(&found->second))
      return *tensor;
  if (auto cast = value.getDefiningOp<tensor::CastOp>())
    return evaluateTensor(cast.getSource());
  if (auto found = constantViews.find(value); found != constantViews.end())
    return found->second;
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  std::optional<ElementType> type =
      elements ? elementTypeOf(elements.getElementType()) : std::nullopt;
  if (!type)
    return emitError(value.getLoc(), "expected a tensor that is a function argument or a constant");
  OwnedTensor &owner = constants.emplace_back(*type, elements.getType().getShape().vec());
  fillFromAttribute(owner.view(), elements);
  return constantViews[value] = owner.view();
}

FailureOr<std::vector<int64_t>> ScalarTranslator::evaluateIntegers(Value value) {
  FailureOr<Tensor> tensor = evaluateTensor(value);
  if (failed(tensor))
    return failure();
  std::vector<int64_t> integers, at(tensor->shape.size(), 0);
  integers.reserve(static_cast<size_t>(tensor->elements()));
  for (int64_t left = tensor->elements(); left > 0; --left) {
    integers.push_back(static_cast<int64_t>(tensor->at(at)));
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == tensor->shape[axis];)
      at[axis] = 0;
  }
  return integers;
}

} // namespace lacuna
