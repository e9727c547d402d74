//===- HostProgramBuilder.cpp - scalar IR as a host program ---------------===//
#include "compiler/Emit/HostProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lacuna;

using HostOp = HostInstruction::Op;

unsigned HostProgramBuilder::emit(HostInstruction instruction) {
  for (auto [index, known] : llvm::enumerate(program.code))
    if (known.op == instruction.op && known.a == instruction.a && known.b == instruction.b &&
        known.c == instruction.c)
      return index;
  program.code.push_back(instruction);
  return program.code.size() - 1;
}

unsigned HostProgramBuilder::constant(int64_t number) { return emit({HostOp::Constant, number}); }
unsigned HostProgramBuilder::extent(unsigned tensor, unsigned axis) {
  return emit({HostOp::Extent, tensor, axis});
}
unsigned HostProgramBuilder::stride(unsigned tensor, unsigned axis) {
  return emit({HostOp::Stride, tensor, axis});
}
unsigned HostProgramBuilder::scalar(unsigned argument) { return emit({HostOp::Scalar, argument}); }
unsigned HostProgramBuilder::add(HostOp op, unsigned a, unsigned b) { return emit({op, a, b}); }

unsigned HostProgramBuilder::select(unsigned condition, unsigned yes, unsigned no) {
  return emit({HostOp::Select, condition, yes, no});
}

unsigned HostProgramBuilder::product(ArrayRef<unsigned> values) {
  if (values.empty())
    return constant(1);
  unsigned result = values.front();
  for (unsigned value : values.drop_front())
    result = add(HostOp::Mul, result, value);
  return result;
}

/// The host operation of a two-operand op; unsigned ones and quotients are of sizes, where all
/// rounding rules but "up" agree.
static std::optional<HostOp> binaryOp(Operation *op) {
  return TypeSwitch<Operation *, std::optional<HostOp>>(op)
      .Case<arith::AddIOp>([](auto) { return HostOp::Add; })
      .Case<arith::SubIOp>([](auto) { return HostOp::Sub; })
      .Case<arith::MulIOp>([](auto) { return HostOp::Mul; })
      .Case<arith::DivUIOp, arith::FloorDivSIOp>([](auto) { return HostOp::FloorDiv; })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([](auto) { return HostOp::CeilDiv; })
      .Case<arith::RemUIOp>([](auto) { return HostOp::Mod; })
      .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return HostOp::Min; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return HostOp::Max; })
      .Case<arith::AndIOp>([](auto) { return HostOp::And; })
      .Case<arith::OrIOp>([](auto) { return HostOp::Or; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<unsigned> HostProgramBuilder::value(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<unsigned> result;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    result = constant(value.getType().isInteger(1) ? number.getZExtValue() : number.getSExtValue());
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getType().isIndex())
      result = scalar(argument.getArgNumber());
  } else if (auto dim = value.getDefiningOp<tensor::DimOp>()) {
    auto source = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (source && axis)
      result = extent(source.getArgNumber(), *axis);
  } else if (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
    result = this->value(cast.getIn());
  } else if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    auto condition = this->value(select.getCondition());
    auto yes = this->value(select.getTrueValue()), no = this->value(select.getFalseValue());
    if (condition && yes && no)
      result = this->select(*condition, *yes, *no);
  } else if (auto compare = value.getDefiningOp<arith::CmpIOp>()) {
    auto a = this->value(compare.getLhs()), b = this->value(compare.getRhs());
    if (a && b) {
      auto negate = [&](unsigned v) { return add(HostOp::Equal, v, constant(0)); };
      switch (compare.getPredicate()) {
      case arith::CmpIPredicate::eq:
        result = add(HostOp::Equal, *a, *b);
        break;
      case arith::CmpIPredicate::ne:
        result = negate(add(HostOp::Equal, *a, *b));
        break;
      case arith::CmpIPredicate::slt:
      case arith::CmpIPredicate::ult:
        result = add(HostOp::Less, *a, *b);
        break;
      case arith::CmpIPredicate::sle:
      case arith::CmpIPredicate::ule:
        result = add(HostOp::LessEqual, *a, *b);
        break;
      case arith::CmpIPredicate::sgt:
      case arith::CmpIPredicate::ugt:
        result = add(HostOp::Less, *b, *a);
        break;
      case arith::CmpIPredicate::sge:
      case arith::CmpIPredicate::uge:
        result = add(HostOp::LessEqual, *b, *a);
        break;
      }
    }
  } else if (Operation *op = value.getDefiningOp()) {
    if (std::optional<HostOp> kind = binaryOp(op)) {
      auto a = this->value(op->getOperand(0)), b = this->value(op->getOperand(1));
      if (a && b)
        result = add(*kind, *a, *b);
    }
  }
  if (result)
    known[value] = *result;
  return result;
}
