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

/// The branch of a loop that does nothing else but compute whether to take it; null for others.
static scf::IfOp getOnlyBranch(scf::ForOp loop) {
  if (loop.getNumResults())
    return {};
  scf::IfOp branch;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (branch)
      return {};
    if ((branch = dyn_cast<scf::IfOp>(op))) {
      auto isEmpty = [](Region &region) {
        return region.empty() || region.front().without_terminator().empty();
      };
      if (branch.getNumResults() ||
          isEmpty(branch.getThenRegion()) == isEmpty(branch.getElseRegion()))
        return {};
    } else if (!isPure(&op)) {
      return {};
    }
  }
  return branch;
}

LogicalResult ScalarPrinter::printScan(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  scf::IfOp branch = getOnlyBranch(loop);
  Interval lower = interval(loop.getLowerBound()), upper = interval(loop.getUpperBound());
  std::string name = "j" + std::to_string(counter++);
  bind(loop.getInductionVar(), name, lower.low, std::max(lower.low, upper.high));
  std::string type = typeOf(loop.getInductionVar());
  code.open("scan<" + type + ">(" + use(loop.getLowerBound()) + ", " + use(loop.getUpperBound()) +
            ", " + use(loop.getStep()) + ", [&](" + type + " " + name + ") {");
  Block &body = *loop.getBody();
  if (failed(printNeeded(body, branch.getCondition())))
    return failure();
  Block *taken = branch.thenBlock();
  bool inverted = taken->without_terminator().empty();
  if (inverted)
    taken = branch.elseBlock();
  code.line((inverted ? "return !" : "return ") + use(branch.getCondition()) + ";");
  code.close("}, [&](" + type + " " + name + ") {");
  code.reopen();
  SmallVector<Value> roots;
  taken->walk([&](Operation *inner) { llvm::append_range(roots, inner->getOperands()); });
  if (failed(printNeeded(body, roots)) || failed(printBlock(*taken)))
    return failure();
  code.close("});");
  return success();
}

/// An integer that the loop reads at a place that is known before the round; null for none.
static tensor::ExtractOp getListedRead(scf::ForOp loop) {
  if (loop.getNumResults())
    return {};
  for (auto read : loop.getBody()->getOps<tensor::ExtractOp>()) {
    bool isKnown = llvm::all_of(read->getOperands(), [&](Value operand) {
      return operand == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(operand);
    });
    if (isKnown && read.getType().isIntOrIndex() &&
        llvm::is_contained(read.getIndices(), loop.getInductionVar()))
      return read;
  }
  return {};
}

/// Whether a round does nothing but compute, and take branches that compute and say one thing more:
/// then each lane can compute a round, and what is said is said lane by lane.
static bool isLaneWise(scf::ForOp loop) {
  auto isPlain = [](Operation &op) {
    return isPure(&op) && op.getNumRegions() == 0 && !isa<tensor::ExtractOp>(op);
  };
  auto isEmpty = [](Region &region) {
    return region.empty() || region.front().without_terminator().empty();
  };
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch)
      return isPlain(op) || isa<tensor::ExtractOp>(op);
    return !branch.getNumResults() && isEmpty(branch.getElseRegion()) &&
           llvm::count_if(branch.thenBlock()->without_terminator(), std::not_fn(isPlain)) == 1;
  });
}

LogicalResult ScalarPrinter::printLaneWise(scf::IfOp branch) {
  Operation *said = nullptr;
  for (Operation &op : branch.thenBlock()->without_terminator()) {
    if (!isPure(&op))
      said = &op;
    else if (failed(print(op)))
      return failure();
  }
  return lanes(*said, use(branch.getCondition()));
}

LogicalResult ScalarPrinter::printList(Operation &op, Operation &listed) {
  auto loop = cast<scf::ForOp>(op);
  Value read = listed.getResult(0);
  Interval lower = interval(loop.getLowerBound()), upper = interval(loop.getUpperBound());
  std::string name = "j" + std::to_string(counter++), entry = "v" + std::to_string(counter++);
  bind(loop.getInductionVar(), name, lower.low, std::max(lower.low, upper.high));
  std::string type = typeOf(loop.getInductionVar());
  bool isParallel = lanes && isLaneWise(loop);
  code.open((isParallel ? "forLanes<" : "forListed<") + type + ">(" + use(loop.getLowerBound()) +
            ", " + use(loop.getUpperBound()) + ", " + use(loop.getStep()) + ", [&](" + type + " " +
            name + ") {");
  code.line("return " + expression(&listed) + ";");
  code.close("}, [&](" + type + " " + name + ", " + typeOf(read) + " " + entry +
             (isParallel ? ", bool isThere) {" : ") {"));
  code.reopen();
  intervals[read] = interval(read);
  names[read] = entry;
  for (Operation &inner : loop.getBody()->without_terminator()) {
    if (&inner == &listed)
      continue;
    auto branch = dyn_cast<scf::IfOp>(inner);
    if (failed(isParallel && branch ? printLaneWise(branch) : print(inner)))
      return failure();
  }
  code.close("});");
  return success();
}

LogicalResult ScalarPrinter::printFor(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  if (isWarp && getOnlyBranch(loop))
    return printScan(op);
  if (tensor::ExtractOp listed = isWarp ? getListedRead(loop) : tensor::ExtractOp())
    return printList(op, *listed);
  SmallVector<std::string> carried;
  for (auto [init, argument, result] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    std::string name = "v" + std::to_string(counter++);
    bind(argument, name, -unbounded, unbounded);
    bind(result, name, -unbounded, unbounded);
    code.line(typeOf(argument) + " " + name + " = " + use(init) + ";");
    carried.push_back(name);
  }
  Interval lower = interval(loop.getLowerBound()), upper = interval(loop.getUpperBound());
  // Not "i", which would make the type i64 of number 64.
  std::string name = "j" + std::to_string(counter++);
  bind(loop.getInductionVar(), name, lower.low, std::max(lower.low, upper.high));
  std::string type = typeOf(loop.getInductionVar());
  code.open("for (" + type + " " + name + " = " + use(loop.getLowerBound()) + "; " + name + " < " +
            use(loop.getUpperBound()) + "; " + name + " += " + use(loop.getStep()) + ") {");
  if (failed(printBlock(*loop.getBody())))
    return failure();
  auto yields = loop.getBody()->getTerminator()->getOperands();
  SmallVector<std::string> next;
  for (Value value : yields) {
    next.push_back("n" + std::to_string(counter++));
    code.line("const auto " + next.back() + " = " + use(value) + ";");
  }
  for (auto [target, value] : llvm::zip_equal(carried, next))
    code.line(target + " = " + value + ";");
  code.close();
  return success();
}

LogicalResult ScalarPrinter::printIf(Operation &op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<std::string> targets;
  for (Value result : branch.getResults()) {
    std::string name = "v" + std::to_string(counter++);
    intervals[result] = {-unbounded, unbounded};
    code.line(typeOf(result) + " " + name + ";");
    names[result] = name;
    targets.push_back(name);
  }
  auto printBranch = [&](Block &block) -> LogicalResult {
    if (failed(printBlock(block)))
      return failure();
    for (auto [target, value] : llvm::zip(targets, block.getTerminator()->getOperands()))
      code.line(target + " = " + use(value) + ";");
    return success();
  };
  code.open("if (" + use(branch.getCondition()) + ") {");
  if (failed(printBranch(*branch.thenBlock())))
    return failure();
  code.close();
  if (!branch.getElseRegion().empty()) {
    code.open("else {");
    if (failed(printBranch(*branch.elseBlock())))
      return failure();
    code.close();
  }
  return success();
}

LogicalResult ScalarPrinter::printWhile(Operation &op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<std::string> state;
  for (auto [init, argument] : llvm::zip_equal(loop.getInits(), loop.getBeforeArguments())) {
    std::string name = "v" + std::to_string(counter++);
    intervals[argument] = {-unbounded, unbounded};
    code.line(typeOf(argument) + " " + name + " = " + use(init) + ";");
    names[argument] = name;
    state.push_back(name);
  }
  auto condition = cast<scf::ConditionOp>(loop.getBeforeBody()->getTerminator());
  SmallVector<std::string> outcome;
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    std::string name = "v" + std::to_string(counter++);
    bind(argument, name, -unbounded, unbounded);
    bind(result, name, -unbounded, unbounded);
    code.line(typeOf(result) + " " + name + ";");
    outcome.push_back(name);
  }
  code.open("while (true) {");
  if (failed(printBlock(*loop.getBeforeBody())))
    return failure();
  for (auto [target, value] : llvm::zip_equal(outcome, condition.getArgs()))
    code.line(target + " = " + use(value) + ";");
  code.line("if (!(" + use(condition.getCondition()) + "))");
  code.line("  break;");
  if (failed(printBlock(*loop.getAfterBody())))
    return failure();
  SmallVector<std::string> next;
  for (Value value : loop.getAfterBody()->getTerminator()->getOperands()) {
    next.push_back("n" + std::to_string(counter++));
    code.line("const auto " + next.back() + " = " + use(value) + ";");
  }
  for (auto [target, value] : llvm::zip_equal(state, next))
    code.line(target + " = " + value + ";");
  code.close();
  return success();
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
