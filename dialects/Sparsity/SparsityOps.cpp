//===- SparsityOps.cpp - result types, and the generated definitions ------===//
#include "dialects/Sparsity/Sparsity.h"
#include "dialects/Sparsity/SparsitySyntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace lacuna::sparsity;

/// The type of sets over `domain`, or over a sequence when there is none.
static LogicalResult inferSet(MLIRContext *context, std::optional<Location> loc, Value domain,
                              SmallVectorImpl<Type> &types) {
  if (!domain) {
    types.push_back(SetType::get(context, {1}));
    return success();
  }
  auto type = dyn_cast<DomainType>(domain.getType());
  if (!type)
    return emitOptionalError(loc, "expected a domain, got ", domain.getType());
  types.push_back(SetType::get(context, type.getSegments()));
  return success();
}

#define LACUNA_SEQUENCE_SET(op)                                                                    \
  LogicalResult op::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor,   \
                                     SmallVectorImpl<Type> &types) {                               \
    return inferSet(context, loc, {}, types);                                                      \
  }
LACUNA_SEQUENCE_SET(WindowOp)
LACUNA_SEQUENCE_SET(PrefixOp)
LACUNA_SEQUENCE_SET(SuffixOp)
LACUNA_SEQUENCE_SET(RowsOp)
LACUNA_SEQUENCE_SET(ColumnsOp)
LACUNA_SEQUENCE_SET(SlashesOp)
LACUNA_SEQUENCE_SET(StrideOp)
LACUNA_SEQUENCE_SET(DilatedOp)
LACUNA_SEQUENCE_SET(DyadicOp)
LACUNA_SEQUENCE_SET(DocumentsOp)
#undef LACUNA_SEQUENCE_SET

#define LACUNA_DOMAIN_SET(op)                                                                      \
  LogicalResult op::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,            \
                                     Adaptor adaptor, SmallVectorImpl<Type> &types) {              \
    return inferSet(context, loc, adaptor.getDomain(), types);                                     \
  }
LACUNA_DOMAIN_SET(CausalOp)
LACUNA_DOMAIN_SET(BlockDiagonalOp)
LACUNA_DOMAIN_SET(RadiusOp)
LACUNA_DOMAIN_SET(BandsOp)
LACUNA_DOMAIN_SET(BlocksOp)
LACUNA_DOMAIN_SET(BitmapOp)
LACUNA_DOMAIN_SET(SegmentsOp)
#undef LACUNA_DOMAIN_SET

/// One segment with as many axes as there are sizes.
static LogicalResult inferDomain(MLIRContext *context, std::optional<Location> loc, StringRef name,
                                 size_t rank, size_t least, size_t most,
                                 SmallVectorImpl<Type> &types) {
  // domain-2
  if (rank < least || rank > most)
    return emitOptionalError(loc, "'sparsity.", name, "' op expected ", least,
                             least == most ? "" : " to " + std::to_string(most),
                             most == 1 ? " size" : " sizes", ", got ", rank);
  types.push_back(DomainType::get(context, {static_cast<int64_t>(rank)}));
  return success();
}

LogicalResult SequenceDomainOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                                 Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferDomain(context, loc, "sequence", adaptor.getStaticSizes().size(), 1, 1, types);
}

LogicalResult GridOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferDomain(context, loc, "grid", adaptor.getStaticSizes().size(), 2, 4, types);
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> segments;
  for (Value domain : adaptor.getDomains()) {
    auto type = dyn_cast<DomainType>(domain.getType());
    if (!type)
      return emitOptionalError(loc, "expected domains, got ", domain.getType());
    llvm::append_range(segments, type.getSegments());
  }
  // domain-4
  if (segments.empty())
    return emitOptionalError(loc, "'sparsity.concat' op expected at least one domain");
  types.push_back(DomainType::get(context, segments));
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Sparsity/SparsityOps.cpp.inc"
