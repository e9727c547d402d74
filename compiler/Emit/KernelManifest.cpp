//===- KernelManifest.cpp - what a host must know to launch a kernel ------===//
#include "compiler/Emit/KernelPrinter.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// A pair of maps takes 256 of the 32,764 bytes that a kernel's parameters may have.
static constexpr size_t mostSegments = 64;

/// A box of `rows` elements at the end of `box`: whole inner axes and a part of one more.
static SmallVector<int64_t> trailingBox(ArrayRef<int64_t> box, int64_t rows) {
  SmallVector<int64_t> result(box.size(), 1);
  for (size_t axis = box.size(); axis-- > 0 && rows > 1;) {
    result[axis] = std::min(box[axis], rows);
    rows /= result[axis];
  }
  return result;
}

LogicalResult AttendPrinter::findAttend() {
  for (Operation &op : kernel.getBody().front())
    if (auto found = dyn_cast<hopper::AttendOp>(op)) {
      if (attend)
        return found.emitOpError("expected one attention per kernel");
      attend = found;
    }
  if (!attend)
    return kernel.emitOpError("expected attention at the top level of a kernel");
  if (!attend.getConsumers())
    return attend.emitOpError("expected a planned pipeline (lacuna-hopper-assign-roles)");
  return findSegments();
}

/// Whether two tiles are boxes of one grid of one head.
static bool shareSource(hopper::TileOp a, hopper::TileOp b) {
  return a.getKey() == b.getKey() && a.getValue() == b.getValue() && a.getBatch() == b.getBatch() &&
         a.getHead() == b.getHead() && a.getBase() == b.getBase() && a.getBox() == b.getBox() &&
         llvm::equal(a.getSizes(), b.getSizes());
}

LogicalResult AttendPrinter::findSegments() {
  WalkResult result = attend.getWalk().walk([&](hopper::TileOp tile) {
    unsigned kind = tile.getKind();
    for (KeySegment &segment : segments) {
      bool known = llvm::is_contained(segment.kinds, kind);
      if (shareSource(segment.tile, tile)) {
        if (!known)
          segment.kinds.push_back(kind);
        return WalkResult::advance();
      }
      if (known) {
        tile.emitOpError("expected all tiles of a kind to come from one grid of one key head");
        return WalkResult::interrupt();
      }
    }
    segments.push_back({tile, {kind}, {}, {}});
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (segments.empty())
    return attend.emitOpError("expected the walk to name at least one tile");
  if (segments.size() > mostSegments)
    return attend.emitOpError("expected at most ")
           << mostSegments << " segments of keys on this target, got " << segments.size();
  return success();
}

unsigned AttendPrinter::extentOf(unsigned argument, unsigned axis) {
  KernelManifest &manifest = code.manifest;
  return argument < manifest.inputs ? host.extent(argument, axis)
                                    : manifest.outputs[argument - manifest.inputs].extents[axis];
}

/// Adds one axis for head and batch. Both strides are multiples of their greatest common divisor,
/// which is the distance of neighbours; in any layout without gaps between heads it is the smaller
/// of the two.
void AttendPrinter::foldHeads(Map &map, TensorMapRecipe &recipe, unsigned argument) {
  using HostOp = HostInstruction::Op;
  unsigned zero = host.constant(0), one = host.constant(1);
  // The stride of an axis of one element or none means nothing.
  auto strideOf = [&](unsigned axis) {
    unsigned single = host.add(HostOp::LessEqual, extentOf(argument, axis), one);
    return host.select(single, zero, host.stride(argument, axis));
  };
  unsigned batchStride = strideOf(0), headStride = strideOf(1);
  unsigned smallest = host.add(HostOp::Min, batchStride, headStride);
  code.manifest.requirements.push_back(
      {host.add(HostOp::LessEqual, zero, smallest),
       describe(argument) + ": expected strides of batch and head of at least 0, got {0} and {1}",
       {batchStride, headStride}});
  unsigned distance = host.add(HostOp::Max, host.add(HostOp::Gcd, batchStride, headStride), one);
  unsigned batchStep = host.add(HostOp::FloorDiv, batchStride, distance);
  unsigned headStep = host.add(HostOp::FloorDiv, headStride, distance);
  auto reach = [&](unsigned axis, unsigned step) {
    return host.add(HostOp::Mul, host.add(HostOp::Sub, extentOf(argument, axis), one), step);
  };
  unsigned last = host.add(HostOp::Add, reach(0, batchStep), reach(1, headStep));
  unsigned heads = host.add(HostOp::Mul, extentOf(argument, 0), extentOf(argument, 1));
  unsigned any = host.add(HostOp::Less, zero, heads);
  unsigned extent = host.select(any, host.add(HostOp::Add, last, one), zero);
  code.manifest.requirements.push_back(
      {host.add(HostOp::LessEqual, extent, host.constant(INT32_MAX)),
       describe(argument) +
           ": expected heads of all batches within 2147483647 times the greatest common "
           "divisor of their strides, got strides {0} and {1}",
       {batchStride, headStride}});
  recipe.axes.push_back({extent, distance, 1});
  map.headStep = hostField(map.name + "HeadStep", headStep);
  map.batchStep = hostField(map.name + "BatchStep", batchStep);
}

/// Adds the map of `tensor` from row `base` on, seen as (channels, grid axes from the innermost,
/// head, batch); with three grid axes head and batch are one axis.
FailureOr<AttendPrinter::Map> AttendPrinter::addMap(StringRef name, Value tensor, ValueRange sizes,
                                                    Value base, ArrayRef<int64_t> box,
                                                    int64_t heads) {
  using HostOp = HostInstruction::Op;
  unsigned argument = inputOf(tensor);
  Map map{name.str(), "", ""};
  TensorMapRecipe recipe;
  recipe.tensor = argument;
  recipe.swizzle = TensorMapRecipe::Swizzle::Bytes128;
  recipe.axes.push_back({extentOf(argument, 3), host.constant(1), 64});
  unsigned tokenStride = host.stride(argument, 2);
  std::optional<unsigned> first = host.value(base);
  if (!first)
    return attend.emitOpError("expected segments to start where the host can compute it");
  if (!matchPattern(base, m_Zero()))
    recipe.base = host.add(HostOp::Mul, *first, tokenStride);
  for (size_t axis = sizes.size(); axis-- > 0;) {
    std::optional<unsigned> size = host.value(sizes[axis]);
    if (!size)
      return attend.emitOpError("expected grid sizes that the host can compute");
    recipe.axes.push_back({*size, tokenStride, static_cast<unsigned>(box[axis])});
    tokenStride = host.add(HostOp::Mul, tokenStride, *size);
  }
  if (sizes.size() < 3) {
    recipe.axes.push_back(
        {extentOf(argument, 1), host.stride(argument, 1), static_cast<unsigned>(heads)});
    recipe.axes.push_back({extentOf(argument, 0), host.stride(argument, 0), 1});
  } else {
    foldHeads(map, recipe, argument);
  }
  code.manifest.maps.push_back(std::move(recipe));
  mapNames.push_back(map.name + "Map");
  return map;
}

LogicalResult AttendPrinter::buildMaps() {
  auto add = [&](Map &map, const Twine &name, Value tensor, ValueRange sizes, Value base,
                 ArrayRef<int64_t> box, int64_t heads = 1) {
    FailureOr<Map> added = addMap(name.str(), tensor, sizes, base, box, heads);
    if (succeeded(added))
      map = *added;
    return LogicalResult(added);
  };
  // Rows of a tile in order: those of a head after those of the head before.
  auto heads = static_cast<int64_t>(attend.getHeads());
  SmallVector<int64_t> rows(attend.getQueryBox());
  rows.insert(rows.begin(), heads);
  SmallVector<int64_t> stored = trailingBox(rows, 16);
  if (failed(add(queryMap, "query", attend.getQuery(), attend.getSizes(), attend.getBase(),
                 attend.getQueryBox(), heads)) ||
      failed(add(outputMap, "output", attend.getOutput(), attend.getSizes(), attend.getBase(),
                 ArrayRef(stored).drop_front(), stored.front())))
    return failure();
  for (auto [index, segment] : llvm::enumerate(segments)) {
    std::string number = segments.size() > 1 ? std::to_string(index) : "";
    hopper::TileOp tile = segment.tile;
    if (failed(add(segment.keys, "key" + number, tile.getKey(), tile.getSizes(), tile.getBase(),
                   tile.getBox())) ||
        failed(add(segment.values, "value" + number, tile.getValue(), tile.getSizes(),
                   tile.getBase(), tile.getBox())))
      return failure();
  }
  return success();
}

/// What the printed index arithmetic relies on.
void AttendPrinter::addLimits() {
  using HostOp = HostInstruction::Op;
  narrowExtents.insert({inputOf(attend.getQuery()), 2});
  for (KeySegment &segment : segments)
    narrowExtents.insert({inputOf(segment.tile.getKey()), 2});
  // Rows are found by products of 32 bits.
  if (attend.isGathered())
    for (Value tensor : {segments.front().tile.getKey(), segments.front().tile.getValue()}) {
      unsigned stride = host.stride(inputOf(tensor), 2);
      code.manifest.requirements.push_back(
          {host.add(HostOp::LessEqual, stride, host.constant(INT32_MAX)),
           formatv("{0}: expected at most {1} elements from one token to the next, got {{0}",
                   describe(inputOf(tensor)), INT32_MAX)
               .str(),
           {stride}});
    }
  unsigned items = host.product(code.manifest.grid);
  code.manifest.requirements.push_back(
      {host.add(HostOp::LessEqual, items, host.constant(INT32_MAX)),
       formatv("expected at most {0} query tiles of all heads, got {{0}", INT32_MAX).str(),
       {items}});
}
