//===- SelectDialect.cpp - registration -----------------------------------===//
#include "dialects/Select/SelectSyntax.h"
#include "dialects/Sparsity/SparsitySyntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace lacuna::select;

#include "dialects/Select/SelectDialect.cpp.inc"
#include "dialects/Select/SelectEnums.cpp.inc"

void SelectDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Select/SelectOps.cpp.inc"
      >();
}

std::pair<int64_t, int64_t> SummarizeOp::getChannelRange() {
  if (auto channels = getChannels())
    return {(*channels)[0], (*channels)[1]};
  return {0, getTokens().getType().getDimSize(3)};
}

using lacuna::sparsity::parseNumber;
using lacuna::sparsity::printNumber;

#define GET_OP_CLASSES
#include "dialects/Select/SelectOps.cpp.inc"
