//===- ResultNames.cpp - what a spec's results are called ------------------===//
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/SpecInterface.h"
#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"

using namespace mlir;

namespace lacuna {

/// What tells a result from the first one of its op.
static StringRef suffixOf(OpResult result) {
  if (auto attend = dyn_cast<attn::AttendOp>(result.getOwner());
      attend && result == attend.getTaken())
    return ".taken";
  if (isa<attn::AttendOp, attn::MergeOp, attn::LinearReadOp>(result.getOwner()))
    return ".lse";
  if (attn::isLinear(result.getOwner()))
    return ".norms";
  if (isa<select::CsrOfListOp>(result.getOwner()))
    return ".columns";
  return result.getResultNumber() == 1 ? ".counts" : ".weights";
}

std::vector<std::string> namesOfResults(func::FuncOp function) {
  std::vector<std::string> names;
  auto end = dyn_cast<func::ReturnOp>(function.getBody().back().getTerminator());
  if (!end)
    return names;
  for (Value value : end.getOperands()) {
    auto result = dyn_cast<OpResult>(value);
    std::string name = valueName(result ? Value(result.getOwner()->getResult(0)) : value);
    if (name.empty())
      name = std::to_string(names.size());
    else if (result && result.getResultNumber() > 0)
      name += suffixOf(result);
    names.push_back(std::move(name));
  }
  return names;
}

} // namespace lacuna
