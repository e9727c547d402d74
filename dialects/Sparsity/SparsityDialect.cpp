//===- SparsityDialect.cpp - registration, types --------------------------===//
#include "dialects/Sparsity/Sparsity.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lacuna::sparsity;

#include "dialects/Sparsity/SparsityDialect.cpp.inc"
#include "dialects/Sparsity/SparsityEnums.cpp.inc"
#include "dialects/Sparsity/SparsityInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Sparsity/SparsityTypes.cpp.inc"

void SparsityDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Sparsity/SparsityTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Sparsity/SparsityOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// domain-1: every segment has one to four axes.
static LogicalResult verifySegments(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<int64_t> segments) {
  if (segments.empty())
    return emitError() << "expected at least one segment";
  for (int64_t rank : segments)
    if (rank < 1 || rank > 4)
      return emitError() << "expected each segment to have one to four axes, got " << rank;
  return success();
}

LogicalResult DomainType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> segments) {
  return verifySegments(emitError, segments);
}

LogicalResult SetType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> query, ArrayRef<int64_t> key) {
  if (failed(verifySegments(emitError, query)))
    return failure();
  return verifySegments(emitError, key);
}

static ParseResult parseSegments(AsmParser &parser, SmallVectorImpl<int64_t> &segments) {
  return parser.parseCommaSeparatedList(
      [&] { return parser.parseInteger(segments.emplace_back()); });
}

Type SetType::parse(AsmParser &parser) {
  SmallVector<int64_t> query, key;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseSegments(parser, query))
    return {};
  if (succeeded(parser.parseOptionalKeyword("to"))) {
    if (parseSegments(parser, key))
      return {};
  } else {
    key = query;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SetType>(loc, parser.getContext(), query, key);
}

void SetType::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getQuery(), printer);
  if (getQuery() != getKey()) {
    printer << " to ";
    llvm::interleaveComma(getKey(), printer);
  }
  printer << ">";
}
