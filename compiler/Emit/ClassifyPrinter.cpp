//===- ClassifyPrinter.cpp - kernels of tile classes as CUDA C++ ----------===//
//
// Sets that no formula bounds are looked at pair by pair, once per launch. A
// block takes the query tile of one point of the grid and visits its key tiles
// one after the other; its threads share the pairs of each.
//
//===----------------------------------------------------------------------===//
#include "compiler/Emit/KernelPrinter.h"

#include "lib/Device/DeviceLibrary.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// Threads of a block.
static constexpr unsigned threads = 256;

namespace {
/// Prints one kernel of classes.
class ClassifyPrinter : KernelPrinter {
public:
  explicit ClassifyPrinter(tile::KernelOp kernel) : KernelPrinter(kernel) {}
  FailureOr<KernelCode> print();

private:
  LogicalResult writeClassify(CodeWriter &out, ScalarPrinter &scalars, tile::ClassifyOp op);
  void writeStore(CodeWriter &out, ScalarPrinter &scalars, memref::StoreOp op);

  unsigned counter = 0;
};
} // namespace

static int64_t countTokens(ArrayRef<int64_t> box) {
  return std::accumulate(box.begin(), box.end(), int64_t{1}, std::multiplies<>());
}

LogicalResult ClassifyPrinter::writeClassify(CodeWriter &out, ScalarPrinter &scalars,
                                             tile::ClassifyOp op) {
  if (op.getPredicate().empty())
    return op.emitOpError("expected a predicate, which lacuna-expand-masks writes");
  Block &block = op.getPredicate().front();
  int64_t rows = countTokens(op.getQueryBox()), keys = countTokens(op.getKeyBox());
  std::string name = "class" + std::to_string(counter++);
  out.line(formatv("bool {0}Any = false, {0}All = true;", name));
  out.open(
      formatv("for (int pair = threadIdx.x; pair < {0}; pair += {1}) {{", rows * keys, threads));
  out.line(formatv("const int row = pair / {0}, column = pair % {0};", keys));
  unsigned argument = 0;
  auto side = [&](StringRef letter, StringRef number, ValueRange at, ValueRange sizes,
                  ArrayRef<int64_t> box) {
    std::string inside;
    for (size_t axis = 0; axis < box.size(); ++axis) {
      std::string coordinate = (letter + Twine(axis)).str();
      out.line(formatv("const int {0} = {1};", coordinate,
                       boxCoordinate(scalars.use(at[axis]), number, "", box, axis)));
      scalars.bind(block.getArgument(argument++), coordinate, -ScalarPrinter::limit - 256,
                   ScalarPrinter::limit + 256);
      inside += formatv("{0}{1} < {2}", axis ? " && " : "", coordinate, scalars.use(sizes[axis]));
    }
    return inside;
  };
  std::string isRow = side("q", "row", op.getQueryAt(), op.getQuerySizes(), op.getQueryBox());
  std::string isKey = side("k", "column", op.getKeyAt(), op.getKeySizes(), op.getKeyBox());
  // Rows outside the grid do not count; keys outside are dead.
  out.line("if (!(" + isRow + "))");
  out.line("  continue;");
  for (Operation &inner : block.without_terminator())
    if (failed(scalars.print(inner)))
      return failure();
  out.line(formatv("const bool live = {0} && {1};",
                   scalars.use(block.getTerminator()->getOperand(0)), isKey));
  out.line(formatv("{0}Any |= live;", name));
  out.line(formatv("{0}All &= live;", name));
  out.close();
  out.line(formatv("const bool {0}Some = __syncthreads_or({0}Any), {0}Full = "
                   "__syncthreads_and({0}All);",
                   name));
  out.line(formatv("const int {0} = {0}Some ? {0}Full ? 2 : 1 : 0;", name));
  scalars.bind(op.getTileClass(), name, 0, 2);
  return success();
}

void ClassifyPrinter::writeStore(CodeWriter &out, ScalarPrinter &scalars, memref::StoreOp op) {
  unsigned argument = inputOf(op.getMemRef());
  std::string offset;
  for (auto [axis, index] : llvm::enumerate(op.getIndices()))
    offset +=
        formatv("{0}{1} * {2}", axis ? " + " : "", scalars.use(index), strideOf(argument, axis));
  out.line("if (threadIdx.x == 0)");
  out.line(formatv("  static_cast<signed char *>({0})[{1}] = static_cast<signed char>({2});",
                   pointerOf(argument), offset, scalars.use(op.getValue())));
}

FailureOr<KernelCode> ClassifyPrinter::print() {
  if (failed(buildPlan()))
    return failure();
  CodeWriter body(/*depth=*/1);
  ScalarPrinter scalars(body, sources());
  SmallVector<int64_t> box;
  kernel.getBody().walk([&](tile::ClassifyOp op) { box.assign(op.getQueryBox()); });
  writeGridPoint(body, scalars, box);
  scalars.fallback = [&](Operation &op) -> LogicalResult {
    if (auto classify = dyn_cast<tile::ClassifyOp>(op))
      return writeClassify(body, scalars, classify);
    auto store = dyn_cast<memref::StoreOp>(op);
    if (!store)
      return failure();
    writeStore(body, scalars, store);
    return success();
  };
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (failed(scalars.print(op)))
      return failure();
  return finishPlain(threads, body.str(), {devicePrimitives(), deviceScalars()});
}

FailureOr<KernelCode> lacuna::printClassify(tile::KernelOp kernel) {
  return ClassifyPrinter(kernel).print();
}
