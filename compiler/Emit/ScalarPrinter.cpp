//===- ScalarPrinter.cpp - scalar IR as C++ statements --------------------===//
#include "compiler/Emit/ScalarPrinter.h"

#include "compiler/Emit/LineDirectives.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace mlir;
using namespace lacuna;

std::string ScalarPrinter::typeOf(Value value) {
  Type type = value.getType();
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isInteger(1))
    return "bool";
  Interval range = interval(value);
  return range.low >= INT32_MIN && range.high <= INT32_MAX ? "int" : "i64";
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static std::string floatLiteral(const APFloat &value) {
  if (value.isInfinity())
    return value.isNegative() ? "-INFINITY_F32" : "INFINITY_F32";
  if (value.isNaN())
    return "__int_as_float(0x7fc00000)";
  // Hexadecimal literals lose nothing.
  return floatText(value.convertToDouble());
}

std::string ScalarPrinter::use(Value value) {
  if (auto it = names.find(value); it != names.end())
    return it->second;
  APInt number;
  APFloat real(0.0f);
  if (matchPattern(value, m_ConstantInt(&number))) {
    if (value.getType().isInteger(1))
      return number.isZero() ? "false" : "true";
    std::string text = std::to_string(number.getSExtValue());
    if (!number.isSignedIntN(32))
      text += "ll";
    return number.isNegative() ? "(" + text + ")" : text;
  }
  if (matchPattern(value, m_ConstantFloat(&real)))
    return floatLiteral(real);
  if (auto argument = dyn_cast<BlockArgument>(value); argument && sources.scalar) {
    std::string name = sources.scalar(argument.getArgNumber());
    names[value] = name;
    return name;
  }
  return "";
}

static StringRef functionOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.tanh", "tanhf")
      .Case("math.exp", "expf")
      .Case("math.exp2", "exp2f")
      .Case("math.log", "logf")
      .Case("math.log2", "log2f")
      .Case("math.log1p", "log1pf")
      .Case("math.sqrt", "sqrtf")
      .Case("math.rsqrt", "rsqrtf")
      .Case("math.absf", "fabsf")
      .Case("math.sin", "sinf")
      .Case("math.cos", "cosf")
      .Case("math.erf", "erff")
      .Case("math.powf", "powf")
      .Case("math.floor", "floorf")
      .Case("math.ceil", "ceilf")
      .Case("math.fma", "fmaf")
      .Cases({"arith.maxnumf", "arith.maximumf"}, "fmaxf")
      .Cases({"arith.minnumf", "arith.minimumf"}, "fminf")
      .Default("");
}

static StringRef infixOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Cases({"arith.addi", "arith.addf"}, "+")
      .Cases({"arith.subi", "arith.subf"}, "-")
      .Cases({"arith.muli", "arith.mulf"}, "*")
      .Cases({"arith.divsi", "arith.divui", "arith.divf"}, "/")
      .Cases({"arith.remsi", "arith.remui"}, "%")
      .Case("arith.andi", "&")
      .Case("arith.ori", "|")
      .Case("arith.xori", "^")
      .Default("");
}

static StringRef compareOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return "==";
  case arith::CmpIPredicate::ne:
    return "!=";
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return "<";
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return "<=";
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return ">";
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return ">=";
  }
  llvm_unreachable("all predicates are handled");
}

/// C++ comparisons are ordered but for "!="; empty for predicates that need more.
static StringRef compareOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return "==";
  case arith::CmpFPredicate::OGT:
    return ">";
  case arith::CmpFPredicate::OGE:
    return ">=";
  case arith::CmpFPredicate::OLT:
    return "<";
  case arith::CmpFPredicate::OLE:
    return "<=";
  case arith::CmpFPredicate::UNE:
    return "!=";
  default:
    return "";
  }
}

/// The type of a value's bits as an unsigned number.
static StringRef unsignedTypeOf(Type type) {
  return type.isInteger(8)    ? "unsigned char"
         : type.isInteger(16) ? "unsigned short"
         : type.isInteger(32) ? "u32"
                              : "u64";
}

/// Unsigned arithmetic on values that may be negative, which the signed form of values that are not
/// would get wrong; nothing for other ops.
std::string ScalarPrinter::unsignedExpression(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  bool isUnsigned =
      isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, arith::ExtUIOp, arith::UIToFPOp>(
          op) ||
      (compare && compare.getPredicate() >= arith::CmpIPredicate::ult);
  auto mayBeNegative = [&](Value value) { return interval(value).low < 0; };
  if (!isUnsigned || llvm::none_of(op->getOperands(), mayBeNegative))
    return {};
  auto operand = [&](unsigned i) {
    Value value = op->getOperand(i);
    return llvm::formatv("static_cast<{0}>({1})", unsignedTypeOf(value.getType()), use(value))
        .str();
  };
  if (compare)
    return llvm::formatv("{0} {1} {2}", operand(0), compareOf(compare.getPredicate()), operand(1));
  std::string text = operand(0);
  if (isa<arith::CeilDivUIOp>(op))
    text = llvm::formatv("{0} / {1} + ({0} % {1} != 0)", text, operand(1));
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    text += (isa<arith::DivUIOp>(op) ? " / " : " % ") + operand(1);
  return llvm::formatv("static_cast<{0}>({1})", typeOf(op->getResult(0)), text);
}

/// The right-hand side for a pure scalar op, or nothing.
std::string ScalarPrinter::expression(Operation *op) {
  if (std::string text = unsignedExpression(op); !text.empty())
    return text;
  Value result = op->getResult(0);
  std::string type = typeOf(result);
  // Widen before computing and narrow after it; library functions get one type.
  bool isWide = llvm::any_of(op->getOperands(), [&](Value v) { return typeOf(v) == "i64"; });
  std::string working = type == "int" && isWide ? "i64" : type;
  auto operand = [&](unsigned i) {
    std::string text = use(op->getOperand(i));
    bool differs = working == "i64" && typeOf(op->getOperand(i)) == "int";
    return differs ? "static_cast<i64>(" + text + ")" : text;
  };
  auto narrow = [&](const std::string &text) {
    return working == type ? text : "static_cast<" + type + ">(" + text + ")";
  };
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return llvm::formatv("{0} {1} {2}", use(compare.getLhs()), compareOf(compare.getPredicate()),
                         use(compare.getRhs()));
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    StringRef sign = compareOf(compare.getPredicate());
    return sign.empty()
               ? std::string()
               : llvm::formatv("{0} {1} {2}", use(compare.getLhs()), sign, use(compare.getRhs()))
                     .str();
  }
  if (isa<arith::SelectOp>(op))
    return narrow(llvm::formatv("{0} ? {1} : {2}", use(op->getOperand(0)), operand(1), operand(2)));
  StringRef function =
      llvm::TypeSwitch<Operation *, StringRef>(op)
          .Case<arith::MinSIOp>([](auto) { return "min"; })
          .Case<arith::MaxSIOp>([](auto) { return "max"; })
          .Case<arith::FloorDivSIOp>([](auto) { return "floorDiv"; })
          .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([](auto) { return "ceilDiv"; })
          .Default([](Operation *) { return ""; });
  if (!function.empty())
    return narrow(llvm::formatv("{0}({1}, {2})", function, operand(0), operand(1)));
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp,
          arith::UIToFPOp, arith::FPToSIOp>(op))
    return llvm::formatv("static_cast<{0}>({1})", type, use(op->getOperand(0)));
  if (isa<arith::NegFOp>(op))
    return "-" + use(op->getOperand(0));
  if (StringRef infix = infixOf(op); !infix.empty())
    return narrow(llvm::formatv("{0} {1} {2}", operand(0), infix, operand(1)));
  if (function = functionOf(op); !function.empty()) {
    std::string arguments;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      arguments += (i ? ", " : "") + use(op->getOperand(i));
    return (function + "(" + arguments + ")").str();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto source = dyn_cast<BlockArgument>(dim.getSource());
    if (std::optional<int64_t> axis = dim.getConstantIndex(); source && axis)
      return sources.extent(source.getArgNumber(), *axis);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<std::string> indices;
    for (Value index : extract.getIndices())
      indices.push_back(use(index));
    if (auto source = dyn_cast<BlockArgument>(extract.getTensor()))
      return sources.element(source.getArgNumber(), indices);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

LogicalResult ScalarPrinter::define(Value value, const Twine &expression) {
  std::string name = "v" + std::to_string(counter++);
  code.line("const " + typeOf(value) + " " + name + " = " + expression + ";");
  names[value] = name;
  return success();
}

LogicalResult ScalarPrinter::printBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(print(op)))
      return failure();
  return success();
}

LogicalResult ScalarPrinter::print(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return success();
  PlaceScope place(code, op.getLoc());
  if (isa<scf::ForOp>(op))
    return printFor(op);
  if (isa<scf::IfOp>(op))
    return printIf(op);
  if (isa<scf::WhileOp>(op))
    return printWhile(op);
  if (op.getNumResults() == 1) {
    std::string text = expression(&op);
    if (!text.empty())
      return define(op.getResult(0), text);
  }
  if (fallback && succeeded(fallback(op)))
    return success();
  return op.emitOpError("expected an operation that CUDA C++ has");
}

LogicalResult ScalarPrinter::printNeeded(Block &block, ArrayRef<Value> roots) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> pending(roots);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &block || !needed.insert(op))
      continue;
    op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  }
  for (Operation &op : block)
    if (needed.contains(&op) && failed(print(op)))
      return failure();
  return success();
}
