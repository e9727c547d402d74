//===- Select.h - the one header of the select dialect --------------------===//
#pragma once

#include "dialects/Sparsity/Sparsity.h"

#include "dialects/Select/SelectDialect.h.inc"
#include "dialects/Select/SelectEnums.h.inc"

#define GET_OP_CLASSES
#include "dialects/Select/SelectOps.h.inc"
