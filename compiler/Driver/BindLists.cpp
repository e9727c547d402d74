//===- BindLists.cpp - lists and bitmaps that no file gives ---------------===//
#include "compiler/Driver/SpecBinder.h"
#include "compiler/Driver/TranslateSet.h"
#include "compiler/Emit/ElementTypes.h"
#include "lib/Support/Text.h"

#include <cmath>

using namespace mlir;

namespace lacuna {

template <typename Op> FailureOr<int64_t> Binder::countBlocks(Op op, bool isQuery) {
  std::vector<int64_t> tokens;
  if (Value domain = op.getDomain()) {
    ScalarTranslator scalars(function.getArguments(), spec.arguments);
    auto grids = SetTranslator(scalars, /*heads=*/0).translateDomain(domain);
    if (failed(grids))
      return failure();
    tokens = grids->front().sizes;
  } else {
    FailureOr<int64_t> length = sizes.lookup(isQuery ? "nq" : "nk", op.getLoc());
    if (failed(length))
      return failure();
    tokens = {*length};
  }
  int64_t blocks = 1;
  for (auto [length, extent] : llvm::zip(tokens, isQuery ? op.getQuery() : op.getKey()))
    blocks *= llvm::divideCeilSigned(length, extent);
  return blocks;
}

template <typename Op>
FailureOr<std::vector<int64_t>> Binder::rowsOf(Op op, RankedTensorType type) {
  auto extent = [&](unsigned axis, StringRef size, int64_t share) -> FailureOr<int64_t> {
    if (!type.isDynamicDim(axis))
      return type.getDimSize(axis);
    FailureOr<int64_t> found = sizes.lookup(size, op.getLoc());
    return failed(found) ? found : FailureOr<int64_t>(*found / share);
  };
  FailureOr<int64_t> batch = extent(0, "b", 1),
                     heads = extent(1, "hq", static_cast<int64_t>(op.getGroup())),
                     queries = countBlocks(op, /*isQuery=*/true);
  if (failed(batch) || failed(heads) || failed(queries))
    return failure();
  return std::vector<int64_t>{*batch, *heads, *queries};
}

std::optional<double> Binder::shareOf(unsigned index) {
  const std::string *text = given(name(index));
  std::optional<ListRequest> request = text ? parseListRequest(*text) : std::nullopt;
  if (request && request->kind == ListRequest::Kind::Share)
    return request->share;
  auto declared = function.getArgAttrOfType<FloatAttr>(index, "lacuna.share");
  return declared && !request ? std::optional(declared.getValueAsDouble()) : std::nullopt;
}

FailureOr<int64_t> Binder::capacityOf(unsigned index, sparsity::BlocksOp op, int64_t lists,
                                      std::optional<size_t> values) {
  RankedTensorType type = op.getIds().getType();
  if (!type.isDynamicDim(3))
    return type.getDimSize(3);
  if (values)
    return lists == 0 ? 0 : static_cast<int64_t>(*values) / lists;
  FailureOr<int64_t> blocks = countBlocks(op, /*isQuery=*/false);
  if (failed(blocks))
    return failure();
  auto ids = dyn_cast<BlockArgument>(op.getIds());
  std::optional<double> share = ids ? shareOf(ids.getArgNumber()) : std::nullopt;
  if (!share)
    return error(index) << "expected lists for '" << name(index)
                        << "': give --set ids=10% or values in row-major order, declare "
                           "lacuna.share, or put a .npy file into the --inputs folder";
  return std::max<int64_t>(std::min<int64_t>(*blocks, 1),
                           std::llround(*share * static_cast<double>(*blocks)));
}

LogicalResult Binder::bindList(unsigned index, ListArgument list) {
  sparsity::BlocksOp op = list.op;
  RankedTensorType type = op.getIds().getType();
  FailureOr<std::vector<int64_t>> rows = rowsOf(op, type);
  FailureOr<std::optional<std::vector<double>>> values = valuesOf(index);
  if (failed(rows) || failed(values))
    return failure();
  std::vector<int64_t> &shape = *rows;
  const int64_t lists = shape[0] * shape[1] * shape[2];
  // The capacity is that of the ids, which are bound first when counts follow them.
  std::optional<size_t> elements;
  if (!list.isCounts && *values)
    elements = (*values)->size();
  FailureOr<int64_t> capacity = 0;
  auto ids = dyn_cast<BlockArgument>(op.getIds());
  const Tensor *bound =
      list.isCounts && ids ? std::get_if<Tensor>(&spec.arguments[ids.getArgNumber()]) : nullptr;
  if (bound && bound->shape.size() == 4)
    capacity = bound->shape[3];
  else
    capacity = capacityOf(index, op, lists, elements);
  if (failed(capacity))
    return failure();
  if (!list.isCounts)
    shape.push_back(*capacity);
  int64_t total = list.isCounts ? lists : lists * *capacity;
  if (*values && static_cast<int64_t>((*values)->size()) != total)
    return error(index) << "expected " << total << " values for '" << name(index) << "' of shape "
                        << shapeText(shape) << ", got " << (*values)->size();
  Random random(options.seed, index);
  const std::string *text = given(name(index));
  std::optional<ListRequest> request = text ? parseListRequest(*text) : std::nullopt;
  auto wanted = list.isCounts ? ListRequest::Kind::Ragged : ListRequest::Kind::Share;
  bool isUnderstood = request && request->kind == wanted;
  if (text && !*values && !isUnderstood)
    return error(index) << "expected " << (list.isCounts ? "ragged" : "a share of 0% to 100%")
                        << " or values in row-major order for '" << name(index) << "', got '"
                        << *text << "'";
  // A share says how long lists are, and here they have a length.
  if (isUnderstood && !list.isCounts && !type.isDynamicDim(3))
    return error(index) << "expected a run-time capacity for a share of the blocks, got " << type;
  if (!*values && list.isCounts)
    *values = isUnderstood
                  ? drawCounts(lists, *capacity, random)
                  : std::vector<double>(static_cast<size_t>(lists), static_cast<double>(*capacity));
  if (!*values) {
    FailureOr<int64_t> blocks = countBlocks(op, /*isQuery=*/false);
    if (failed(blocks))
      return failure();
    *values = drawIds(lists, *capacity, *blocks, random);
  }
  ElementType element = *elementTypeOf(
      cast<RankedTensorType>(function.getArgument(index).getType()).getElementType());
  return allocate(index, element, shape, *values);
}

LogicalResult Binder::bindBitmap(unsigned index, sparsity::BitmapOp op) {
  FailureOr<std::vector<int64_t>> shape = rowsOf(op, op.getMask().getType());
  FailureOr<int64_t> columns = countBlocks(op, /*isQuery=*/false);
  FailureOr<std::optional<std::vector<double>>> values = valuesOf(index);
  if (failed(shape) || failed(columns) || failed(values))
    return failure();
  const int64_t rows = (*shape)[0] * (*shape)[1] * (*shape)[2];
  shape->push_back(*columns);
  if (*values && static_cast<int64_t>((*values)->size()) != rows * *columns)
    return error(index) << "expected " << rows * *columns << " values for '" << name(index)
                        << "' of shape " << shapeText(*shape) << ", got " << (*values)->size();
  if (!*values) {
    std::optional<double> share = shareOf(index);
    if (!share)
      return error(index) << "expected a bitmap for '" << name(index)
                          << "': give --set mask=10% or bytes in row-major order, declare "
                             "lacuna.share, or put a .npy file into the --inputs folder";
    Random random(options.seed, index);
    *values = drawBitmap(rows, *columns, *share, random);
  }
  return allocate(index, ElementType::I8, *shape, *values);
}

template FailureOr<int64_t> Binder::countBlocks(sparsity::BlocksOp, bool);

} // namespace lacuna
