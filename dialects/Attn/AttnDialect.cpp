//===- AttnDialect.cpp - registration -------------------------------------===//
#include "dialects/Attn/Attn.h"

using namespace mlir;
using namespace lacuna::attn;

#include "dialects/Attn/AttnDialect.cpp.inc"
#include "dialects/Attn/AttnEnums.cpp.inc"

void AttnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Attn/AttnOps.cpp.inc"
      >();
}
