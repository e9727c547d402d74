//===- ScalarInterpreter.h - runs integer IR op by op ----------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna::test {

/// Runs the ops that predicates are made of. An op that it does not know, a read outside a tensor
/// and a division by zero fail the test.
class ScalarInterpreter {
public:
  llvm::DenseMap<mlir::Value, int64_t> numbers;
  llvm::DenseMap<mlir::Value, std::vector<int64_t>> tensors;

  /// Runs one op whose operands have values.
  void run(mlir::Operation *op) {
    using namespace mlir;
    if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
      Block *block = at(ifOp.getCondition()) ? ifOp.thenBlock() : ifOp.elseBlock();
      runBlock(*block);
      return forward(block->getTerminator()->getOperands(), op->getResults());
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return runLoop(loop);
    if (op->getNumResults() != 1) {
      ADD_FAILURE() << "unknown op " << op->getName().getStringRef().str();
      return;
    }
    numbers[op->getResult(0)] = evaluate(op);
  }

  void runBlock(mlir::Block &block) {
    for (mlir::Operation &op : block)
      if (!op.hasTrait<mlir::OpTrait::IsTerminator>())
        run(&op);
  }

  int64_t at(mlir::Value value) const {
    auto it = numbers.find(value);
    if (it != numbers.end())
      return it->second;
    llvm::APInt constant;
    if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
      return isBool(value) ? constant.getZExtValue() : constant.getSExtValue();
    ADD_FAILURE() << "a value is missing";
    return 0;
  }

private:
  static bool isBool(mlir::Value value) { return value.getType().isInteger(1); }

  void runLoop(mlir::scf::WhileOp loop) {
    forward(loop.getInits(), loop.getBeforeArguments());
    for (int steps = 0; steps < 1000; ++steps) {
      runBlock(*loop.getBeforeBody());
      mlir::scf::ConditionOp condition = loop.getConditionOp();
      if (!at(condition.getCondition()))
        return forward(condition.getArgs(), loop.getResults());
      forward(condition.getArgs(), loop.getAfterArguments());
      runBlock(*loop.getAfterBody());
      forward(loop.getAfterBody()->getTerminator()->getOperands(), loop.getBeforeArguments());
    }
    ADD_FAILURE() << "a loop does not end";
  }

  void forward(mlir::ValueRange from, mlir::ValueRange to) {
    std::vector<int64_t> values;
    for (mlir::Value value : from)
      values.push_back(at(value));
    for (size_t index = 0; index < values.size(); ++index)
      numbers[to[index]] = values[index];
  }

  int64_t divide(int64_t a, int64_t b, bool rest) {
    if (b == 0) {
      ADD_FAILURE() << "division by zero";
      return 0;
    }
    return rest ? a % b : a / b;
  }

  int64_t extract(mlir::tensor::ExtractOp op) {
    const std::vector<int64_t> &elements = tensors[op.getTensor()];
    int64_t index = at(op.getIndices().front());
    if (index < 0 || index >= static_cast<int64_t>(elements.size())) {
      ADD_FAILURE() << "element " << index << " of " << elements.size();
      return 0;
    }
    return elements[index];
  }

  int64_t evaluate(mlir::Operation *op) {
    using namespace mlir;
    auto x = [&](unsigned index) { return at(op->getOperand(index)); };
    return llvm::TypeSwitch<Operation *, int64_t>(op)
        .Case([&](arith::ConstantOp) { return at(op->getResult(0)); })
        .Case([&](arith::AddIOp) { return x(0) + x(1); })
        .Case([&](arith::SubIOp) { return x(0) - x(1); })
        .Case([&](arith::MulIOp) { return x(0) * x(1); })
        .Case([&](arith::DivSIOp) { return divide(x(0), x(1), false); })
        .Case([&](arith::RemSIOp) { return divide(x(0), x(1), true); })
        .Case([&](arith::DivUIOp) { return divide(x(0), x(1), false); })
        .Case([&](arith::MinSIOp) { return std::min(x(0), x(1)); })
        .Case([&](arith::MaxSIOp) { return std::max(x(0), x(1)); })
        .Case([&](arith::AndIOp) { return x(0) & x(1); })
        .Case([&](arith::OrIOp) { return x(0) | x(1); })
        .Case([&](arith::XOrIOp) { return x(0) ^ x(1); })
        .Case([&](arith::SelectOp) { return x(0) ? x(1) : x(2); })
        .Case([&](arith::IndexCastOp) { return x(0); })
        .Case([&](arith::CmpIOp compare) {
          return int64_t(arith::applyCmpPredicate(compare.getPredicate(), llvm::APInt(64, x(0)),
                                                  llvm::APInt(64, x(1))));
        })
        .Case([&](tensor::DimOp dim) { return int64_t(tensors[dim.getSource()].size()); })
        .Case([&](tensor::ExtractOp load) { return extract(load); })
        .Default([&](Operation *) {
          ADD_FAILURE() << "unknown op " << op->getName().getStringRef().str();
          return int64_t(0);
        });
  }
};

} // namespace lacuna::test
