//===- AddedConstant.cpp - score functions that add a number --------------===//
#include "dialects/Attn/AddedConstant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

std::optional<float> lacuna::attn::getAddedConstant(Value result, Value score) {
  auto add = result.getDefiningOp<arith::AddFOp>();
  if (!add)
    return std::nullopt;
  for (auto [sum, constant] :
       {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())})
    if (APFloat value(0.0f);
        sum == score && matchPattern(constant, m_ConstantFloat(&value)) && value.isFinite())
      return value.convertToFloat();
  return std::nullopt;
}
