//===- ElementTypes.cpp - types of tensor elements in memory --------------===//
#include "compiler/Emit/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace lacuna;

std::optional<ElementType> lacuna::elementTypeOf(Type type) {
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (type.isInteger(8))
    return ElementType::I8;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(64) || type.isIndex())
    return ElementType::I64;
  return std::nullopt;
}
