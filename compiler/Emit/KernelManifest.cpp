//===- KernelManifest.cpp - what a host must know to launch a kernel ------===//
#include "compiler/Emit/KernelPrinter.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

ElementType lacuna::elementType(Type type) {
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
  return ElementType::I64;
}

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
    return kernel.emitOpError("expected an attention kernel; merging and classifying kernels have "
                              "no CUDA form yet");
  if (!attend.getConsumers())
    return attend.emitOpError("expected a planned pipeline (lacuna-plan-hopper)");
  attend.getWalk().walk([&](hopper::TileOp tile) {
    if (!firstTile)
      firstTile = tile;
  });
  if (!firstTile)
    return attend.emitOpError("expected the walk to name at least one tile");
  return success();
}

std::string KernelPrinter::field(StringRef name, ArgumentField field) {
  for (auto &[known, existing] : fields)
    if (known == name)
      return "args." + known;
  fields.emplace_back(name.str(), field);
  return ("args." + name).str();
}

LogicalResult KernelPrinter::buildPlan() {
  KernelManifest &manifest = code.manifest;
  manifest.symbol = kernel.getSymName().str();
  manifest.inputs = kernel.getInputs();
  Block &plan = kernel.getPlan().front();
  auto hostValue = [&](Value value, Operation *at) -> FailureOr<unsigned> {
    if (std::optional<unsigned> result = host.value(value))
      return *result;
    at->emitOpError("expected values that the host can compute from sizes and scalars");
    return failure();
  };
  for (auto require : plan.getOps<tile::RequireOp>()) {
    FailureOr<unsigned> condition = hostValue(require.getCondition(), require);
    if (failed(condition))
      return failure();
    Requirement requirement{*condition, require.getMessage().str(), {}};
    for (Value value : require.getValues()) {
      FailureOr<unsigned> shown = hostValue(value, require);
      if (failed(shown))
        return failure();
      requirement.values.push_back(*shown);
    }
    manifest.requirements.push_back(std::move(requirement));
  }
  auto terminator = cast<tile::PlanOp>(plan.getTerminator());
  for (Value extent : terminator.getGrid()) {
    FailureOr<unsigned> value = hostValue(extent, terminator);
    if (failed(value))
      return failure();
    manifest.grid.push_back(*value);
  }
  size_t next = 0;
  for (BlockArgument output : kernel.getOutputArguments()) {
    auto type = cast<MemRefType>(output.getType());
    KernelManifest::Output &shape = manifest.outputs.emplace_back();
    shape.type = elementType(type.getElementType());
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      FailureOr<unsigned> value = hostValue(terminator.getShapes()[next++], terminator);
      if (failed(value))
        return failure();
      shape.extents.push_back(*value);
    }
  }
  return success();
}

/// Adds the map of `tensor` seen as (channels, grid axes from the innermost, head, batch); with
/// three grid axes head and batch are one axis.
LogicalResult AttendPrinter::addMap(StringRef name, Value tensor, ValueRange sizes,
                                    ArrayRef<int64_t> box) {
  using HostOp = HostInstruction::Op;
  KernelManifest &manifest = code.manifest;
  unsigned argument = inputOf(tensor);
  bool isOutput = argument >= manifest.inputs;
  unsigned one = host.constant(1);
  auto extent = [&](unsigned axis) {
    return isOutput ? manifest.outputs[argument - manifest.inputs].extents[axis]
                    : host.extent(argument, axis);
  };
  auto stride = [&](unsigned axis) {
    if (!isOutput)
      return host.stride(argument, axis);
    unsigned result = one;
    for (unsigned inner = axis + 1; inner < 4; ++inner)
      result = host.add(HostOp::Mul, result, extent(inner));
    return result;
  };
  TensorMapRecipe recipe;
  recipe.tensor = argument;
  recipe.swizzle = TensorMapRecipe::Swizzle::Bytes128;
  recipe.axes.push_back({extent(3), one, 64});
  unsigned tokenStride = stride(2);
  for (size_t axis = sizes.size(); axis-- > 0;) {
    std::optional<unsigned> size = host.value(sizes[axis]);
    if (!size)
      return attend.emitOpError("expected grid sizes that the host can compute");
    // A map needs positive extents; an empty axis is never walked.
    recipe.axes.push_back(
        {host.add(HostOp::Max, *size, one), tokenStride, static_cast<unsigned>(box[axis])});
    tokenStride = host.add(HostOp::Mul, tokenStride, *size);
  }
  if (sizes.size() < 3) {
    recipe.axes.push_back({host.add(HostOp::Max, extent(1), one), stride(1), 1});
    recipe.axes.push_back({host.add(HostOp::Max, extent(0), one), stride(0), 1});
  } else {
    unsigned whole = host.add(HostOp::Mul, extent(0), extent(1));
    recipe.axes.push_back({host.add(HostOp::Max, whole, one), stride(1), 1});
    unsigned folded =
        host.add(HostOp::Equal, stride(0), host.add(HostOp::Mul, stride(1), extent(1)));
    unsigned single = host.add(HostOp::LessEqual, extent(0), one);
    manifest.requirements.push_back(
        {host.add(HostOp::Or, folded, single),
         name.str() + ": expected a batch stride of heads times the head stride for grids of three "
                      "axes, got {0}",
         {stride(0)}});
  }
  manifest.maps.push_back(std::move(recipe));
  mapNames.push_back((name + "Map").str());
  return success();
}

LogicalResult AttendPrinter::buildMaps() {
  SmallVector<int64_t> storeBox = trailingBox(attend.getQueryBox(), 16);
  return failure(
      failed(addMap("query", attend.getQuery(), attend.getSizes(), attend.getQueryBox())) ||
      failed(addMap("key", firstTile.getKey(), firstTile.getSizes(), attend.getKeyBox())) ||
      failed(addMap("value", firstTile.getValue(), firstTile.getSizes(), attend.getKeyBox())) ||
      failed(addMap("output", attend.getOutput(), attend.getSizes(), storeBox)));
}

/// What the printed index arithmetic relies on.
void AttendPrinter::addLimits() {
  using HostOp = HostInstruction::Op;
  auto require = [&](unsigned value, int64_t limit, StringRef what) {
    code.manifest.requirements.push_back(
        {host.add(HostOp::LessEqual, value, host.constant(limit)),
         formatv("expected {0} of at most {1}, got {{0}", what, limit).str() + "",
         {value}});
  };
  for (Value tensor : {attend.getQuery(), firstTile.getKey()})
    require(host.extent(inputOf(tensor), 2), ScalarPrinter::limit, "a sequence length");
  require(host.product(code.manifest.grid), INT32_MAX, "a number of query tiles times heads");
}
