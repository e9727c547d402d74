//===- RowPrinter.cpp - kernels of rows as CUDA C++ -----------------------===//
//
// Merging reads and writes every row once: a warp takes a row, a block the rows
// of one point of the grid. Attention that sees no key is written the same way.
//
//===----------------------------------------------------------------------===//
#include "compiler/Emit/KernelPrinter.h"

#include "lib/Device/DeviceLibrary.h"

#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// Warps of a block.
static constexpr unsigned warps = 8;

namespace {
/// Prints one kernel of rows.
class RowPrinter : KernelPrinter {
public:
  explicit RowPrinter(tile::KernelOp kernel) : KernelPrinter(kernel) {}
  FailureOr<KernelCode> print();

private:
  LogicalResult collect();
  LogicalResult writeBody(CodeWriter &out);
  void writeRow(CodeWriter &out, ScalarPrinter &scalars);
  /// Offset of the row in a tensor of this number.
  std::string rowOffset(unsigned argument);

  /// Prints what `tile` needs and returns the name of its value: of a number for a tile of row
  /// values, of a lane's channels for a matrix.
  FailureOr<std::string> use(CodeWriter &out, ScalarPrinter &scalars, Value tile);
  FailureOr<std::string> useMerge(CodeWriter &out, ScalarPrinter &scalars, tile::MergeOp merge);
  std::string fresh(StringRef name) { return (name + Twine(counter++)).str(); }

  SmallVector<tile::StoreOp> stores;
  /// Whose tile all stores write.
  tile::StoreOp first;
  DenseMap<Value, std::string> names;
  std::string batch, head;
  unsigned counter = 0;
};
} // namespace

static bool isMatrix(Value tile) {
  return cast<tile::TileType>(tile.getType()).getShape().size() == 2;
}

/// Whether a load or a store moves the same rows as `first`.
template <typename OpT> static bool movesSameRows(OpT op, tile::StoreOp first) {
  return op.getBatch() == first.getBatch() && op.getHead() == first.getHead() &&
         op.getBase() == first.getBase() && op.getBox() == first.getBox() &&
         llvm::equal(op.getAt(), first.getAt()) && llvm::equal(op.getSizes(), first.getSizes());
}

LogicalResult RowPrinter::collect() {
  Block &body = kernel.getBody().front();
  llvm::append_range(stores, body.getOps<tile::StoreOp>());
  if (stores.empty())
    return kernel.emitOpError("expected a kernel of attention, of merging or of classes");
  first = stores.front();
  auto check = [&](auto op) -> LogicalResult {
    if (movesSameRows(op, first))
      return success();
    return op.emitOpError("expected one box of rows per kernel");
  };
  for (tile::StoreOp store : stores)
    if (failed(check(store)))
      return failure();
  for (auto load : body.getOps<tile::LoadOp>())
    if (failed(check(load)))
      return failure();
  return success();
}

std::string RowPrinter::rowOffset(unsigned argument) {
  return formatv("{0} * {1} + {2} * {3} + token * {4}", batch, strideOf(argument, 0), head,
                 strideOf(argument, 1), strideOf(argument, 2));
}

FailureOr<std::string> RowPrinter::useMerge(CodeWriter &out, ScalarPrinter &scalars,
                                            tile::MergeOp merge) {
  // The weights are those of the row; a matrix comes later, inside the loop over channels.
  SmallVector<std::string> parts;
  for (Value lse : merge.getLses()) {
    FailureOr<std::string> name = use(out, scalars, lse);
    if (failed(name))
      return failure();
    parts.push_back(*name);
  }
  std::string name = fresh("lse");
  out.line(
      formatv("const float {0}Parts[{1}] = {{{2}};", name, parts.size(), llvm::join(parts, ", ")));
  out.line(formatv("float {0}Weights[{1}];", name, parts.size()));
  out.line(formatv("const float {0} = mergeWeights({0}Parts, {0}Weights);", name));
  names[merge.getLse()] = name;
  return name;
}

FailureOr<std::string> RowPrinter::use(CodeWriter &out, ScalarPrinter &scalars, Value tile) {
  if (auto it = names.find(tile); it != names.end())
    return it->second;
  Operation *op = tile.getDefiningOp();
  std::string name = fresh(isMatrix(tile) ? "channels" : "value");
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    unsigned argument = inputOf(load.getSource());
    StringRef element = elementName(load.getTile().getType().getElementType());
    if (isMatrix(tile)) {
      out.line(formatv("float {0}[lanes];", name));
      out.line(formatv("readChannels<{0}, channelCount>({1}, {2}, {3}, channel, {4});", element,
                       pointerOf(argument), rowOffset(argument), strideOf(argument, 3), name));
    } else {
      out.line(formatv("const float {0} = readElement<{1}>({2}, {3});", name, element,
                       pointerOf(argument), rowOffset(argument)));
    }
  } else if (auto merge = dyn_cast<tile::MergeOp>(op)) {
    if (tile == merge.getLse())
      return useMerge(out, scalars, merge);
    std::string weights = names.lookup(merge.getLse()) + "Weights";
    out.line(formatv("float {0}[lanes] = {{};", name));
    for (auto [index, part] : llvm::enumerate(merge.getOutputs())) {
      FailureOr<std::string> channels = use(out, scalars, part);
      if (failed(channels))
        return failure();
      out.line(formatv("addPart({0}[{1}], {2}, {3});", weights, index, *channels, name));
    }
  } else if (auto finish = dyn_cast<tile::FinishOp>(op);
             finish && finish.getAccumulator().getDefiningOp<tile::BeginOp>()) {
    // No key was seen.
    if (tile == finish.getOutput())
      out.line(formatv("float {0}[lanes] = {{};", name));
    else
      out.line(formatv("const float {0} = {1};", name,
                       finish.getSink() ? scalars.use(finish.getSink()) : "-INFINITY_F32"));
  } else {
    op->emitOpError("expected rows to be loaded or merged");
    return failure();
  }
  names[tile] = name;
  return name;
}

/// Names the row's coordinates and token; goes on to the next row when it lies outside.
void RowPrinter::writeRow(CodeWriter &out, ScalarPrinter &scalars) {
  BoxPlace place =
      writeBoxPlace(out, scalars, "q", "row", first.getAt(), first.getSizes(), first.getBox());
  out.line("if (!(" + place.inside + "))");
  out.line("  continue;");
  out.line(formatv("const i64 token = {0} + {1};", scalars.use(first.getBase()), place.number));
}

LogicalResult RowPrinter::writeBody(CodeWriter &out) {
  Block &body = kernel.getBody().front();
  ScalarPrinter scalars(out, sources());
  ArrayRef<int64_t> box = first.getBox();
  writeGridPoint(out, scalars, box);
  SmallVector<Value> roots{first.getBatch(), first.getHead(), first.getBase()};
  llvm::append_range(roots, first.getAt());
  llvm::append_range(roots, first.getSizes());
  for (auto finish : body.getOps<tile::FinishOp>())
    if (finish.getSink())
      roots.push_back(finish.getSink());
  if (failed(scalars.printNeeded(body, roots)))
    return failure();
  batch = scalars.use(first.getBatch());
  head = scalars.use(first.getHead());

  int64_t rows = std::accumulate(box.begin(), box.end(), int64_t{1}, std::multiplies<>());
  out.open(formatv("for (int row = threadIdx.x / 32; row < {0}; row += {1}) {{", rows, warps));
  writeRow(out, scalars);
  // Row values first: they hold the weights of the channels.
  for (auto merge : body.getOps<tile::MergeOp>())
    if (failed(use(out, scalars, merge.getLse())))
      return failure();
  for (bool matrices : {false, true})
    for (tile::StoreOp store : stores) {
      if (isMatrix(store.getTile()) != matrices)
        continue;
      unsigned argument = inputOf(store.getTarget());
      StringRef element =
          elementName(cast<MemRefType>(store.getTarget().getType()).getElementType());
      if (!matrices) {
        FailureOr<std::string> value = use(out, scalars, store.getTile());
        if (failed(value))
          return failure();
        out.line("if (threadIdx.x % 32 == 0)");
        out.line(formatv("  static_cast<{0} *>({1})[{2}] = {3};", element, pointerOf(argument),
                         rowOffset(argument), *value));
        continue;
      }
      out.line(formatv("constexpr int lanes = Chunk<{0}>::size, channelCount = {1};", element,
                       store.getTile().getType().getColumns()));
      out.open("for (int channel = threadIdx.x % 32 * lanes; channel < channelCount; "
               "channel += 32 * lanes) {");
      FailureOr<std::string> channels = use(out, scalars, store.getTile());
      if (failed(channels))
        return failure();
      out.line(formatv("writeChannels<{0}, channelCount>({1}, {2}, {3}, channel, {4});", element,
                       pointerOf(argument), rowOffset(argument), strideOf(argument, 3), *channels));
      out.close();
    }
  out.close();
  return success();
}

FailureOr<KernelCode> RowPrinter::print() {
  if (failed(collect()) || failed(buildPlan()))
    return failure();
  CodeWriter body(/*depth=*/1);
  if (failed(writeBody(body)))
    return failure();
  return finishPlain(32 * warps, body.str(), {devicePrimitives(), deviceScalars(), deviceRows()});
}

FailureOr<KernelCode> lacuna::printRows(tile::KernelOp kernel) {
  return RowPrinter(kernel).print();
}
