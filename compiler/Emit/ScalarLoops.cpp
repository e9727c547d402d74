//===- ScalarLoops.cpp - loops and branches as C++ statements --------------===//
#include "compiler/Emit/ScalarPrinter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <algorithm>
#include <functional>

using namespace mlir;
using namespace lacuna;

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

/// Names a loop's variable.
std::string ScalarPrinter::bindRound(scf::ForOp loop) {
  Interval lower = interval(loop.getLowerBound()), upper = interval(loop.getUpperBound());
  // Not "i", which would make the type i64 of number 64.
  std::string name = "j" + std::to_string(counter++);
  bind(loop.getInductionVar(), name, lower.low, std::max(lower.low, upper.high));
  return name;
}

LogicalResult ScalarPrinter::printScan(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  scf::IfOp branch = getOnlyBranch(loop);
  std::string name = bindRound(loop);
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
/// then each lane can compute a round, and what is said is said lane by lane. With `says`, a round
/// may say things outside of branches; with `nests`, in loops, too.
static bool isLaneWise(scf::ForOp loop, bool says, bool nests) {
  auto isPlain = [](Operation &op) {
    return isPure(&op) && op.getNumRegions() == 0 && !isa<tensor::ExtractOp>(op);
  };
  auto isEmpty = [](Region &region) {
    return region.empty() || region.front().without_terminator().empty();
  };
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    if (auto inner = dyn_cast<scf::ForOp>(op); nests && inner && !inner.getNumResults())
      return getConstantIntValue(inner.getStep()) == 1 &&
             llvm::all_of(inner.getBody()->without_terminator(), [&](Operation &said) {
               return isPlain(said) || (said.getNumRegions() == 0 && said.getNumResults() == 0);
             });
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch)
      return isPlain(op) || isa<tensor::ExtractOp>(op) ||
             (says && op.getNumRegions() == 0 && op.getNumResults() == 0);
    auto inside = branch.thenBlock()->without_terminator();
    return !branch.getNumResults() && isEmpty(branch.getElseRegion()) &&
           llvm::count_if(inside, std::not_fn(isPlain)) == 1 &&
           llvm::none_of(inside, [](Operation &inner) { return inner.getNumRegions() > 0; });
  });
}

LogicalResult ScalarPrinter::printLaneWise(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::string name = bindRound(loop), type = typeOf(loop.getInductionVar());
    code.open("forRounds<" + type + ">(" + use(loop.getLowerBound()) + ", " +
              use(loop.getUpperBound()) + ", isThere, [&](" + type + " " + name +
              ", bool isThere) {");
    for (Operation &inner : loop.getBody()->without_terminator())
      if (failed(printLaneWise(inner)))
        return failure();
    code.close("});");
    return success();
  }
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch)
    return isPure(&op) ? print(op) : lanes(op, "");
  Operation *said = nullptr;
  for (Operation &op : branch.thenBlock()->without_terminator()) {
    if (!isPure(&op))
      said = &op;
    else if (failed(print(op)))
      return failure();
  }
  return lanes(*said, use(branch.getCondition()));
}

/// Whether lanes take the loops inside a round along, too: the bounds of two fit into a producer's
/// registers.
static bool mayNest(scf::ForOp loop) {
  return llvm::count_if(loop.getBody()->without_terminator(),
                        [](Operation &op) { return op.getNumRegions() > 0; }) <= 2;
}

/// A loop whose rounds are spread over the lanes.
LogicalResult ScalarPrinter::printSpread(scf::ForOp loop) {
  std::string name = bindRound(loop), type = typeOf(loop.getInductionVar());
  code.open("forSpread<" + type + ">(" + use(loop.getLowerBound()) + ", " +
            use(loop.getUpperBound()) + ", " + use(loop.getStep()) + ", [&](" + type + " " + name +
            ", bool isThere) {");
  for (Operation &inner : loop.getBody()->without_terminator())
    if (failed(printLaneWise(inner)))
      return failure();
  code.close("});");
  return success();
}

LogicalResult ScalarPrinter::printList(Operation &op, Operation &listed) {
  auto loop = cast<scf::ForOp>(op);
  Value read = listed.getResult(0);
  std::string name = bindRound(loop), entry = "v" + std::to_string(counter++);
  std::string type = typeOf(loop.getInductionVar());
  bool isParallel = lanes && isLaneWise(loop, isSpread, isSpread && mayNest(loop));
  std::string walker = isParallel ? (isSpread ? "forLanesAhead<" : "forLanes<") : "forListed<";
  code.open(walker + type + ">(" + use(loop.getLowerBound()) + ", " + use(loop.getUpperBound()) +
            ", " + use(loop.getStep()) + ", [&](" + type + " " + name + ") {");
  code.line("return " + expression(&listed) + ";");
  code.close("}, [&](" + type + " " + name + ", " + typeOf(read) + " " + entry +
             (isParallel ? ", bool isThere) {" : ") {"));
  code.reopen();
  intervals[read] = interval(read);
  names[read] = entry;
  for (Operation &inner : loop.getBody()->without_terminator()) {
    if (&inner == &listed)
      continue;
    if (failed(isParallel ? printLaneWise(inner) : print(inner)))
      return failure();
  }
  code.close("});");
  return success();
}

LogicalResult ScalarPrinter::printFor(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  tensor::ExtractOp listed = isWarp ? getListedRead(loop) : tensor::ExtractOp();
  if (isSpread && lanes && !listed && !loop.getNumResults() &&
      isLaneWise(loop, /*says=*/true, /*nests=*/false))
    return printSpread(loop);
  // A scan reads the entry again at each hit, which costs as much as a piece of few keys.
  if (isSpread && lanes && listed && isLaneWise(loop, /*says=*/true, mayNest(loop)))
    return printList(op, *listed);
  if (isWarp && getOnlyBranch(loop))
    return printScan(op);
  if (listed)
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
  std::string name = bindRound(loop), type = typeOf(loop.getInductionVar());
  // Ends of a walk are minima of minima: runtime/Jit/AssemblerFaults.h. Tiles of one entry of a
  // list are few, and not worth unrolling.
  std::string start = use(loop.getLowerBound()), end = use(loop.getUpperBound()), last = end;
  auto isMinimum = [](Value bound) {
    return isa_and_present<arith::MinSIOp, arith::MaxSIOp>(bound.getDefiningOp());
  };
  if (isWarp && loop->getParentOfType<scf::ForOp>()) {
    code.line("#pragma unroll 1");
  } else if (isWarp) {
    if (isMinimum(loop.getLowerBound()))
      start = "settled(" + start + ")";
    if (isMinimum(loop.getUpperBound())) {
      last = "j" + std::to_string(counter++);
      start += ", " + last + " = settled(" + end + ")";
    }
  }
  code.open("for (" + type + " " + name + " = " + start + "; " + name + " < " + last + "; " + name +
            " += " + use(loop.getStep()) + ") {");
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
