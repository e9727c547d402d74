//===- ListFormatPrinter.cpp - conversions of lists as CUDA C++ -----------===//
#include "compiler/Emit/KernelPrinter.h"

#include "lib/Device/DeviceLibrary.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// Warps of a block that takes all rows of a list.
static constexpr unsigned rowWarps = 16;

namespace {
/// Prints one kernel whose body is a conversion.
class ListFormatPrinter : KernelPrinter {
public:
  explicit ListFormatPrinter(tile::KernelOp kernel) : KernelPrinter(kernel) {}
  FailureOr<KernelCode> print();

private:
  std::string extentOf(Value memory, unsigned axis);
  /// The offset of the element at `at`, which are the first coordinates.
  std::string offset(Value memory, ArrayRef<std::string> at);
  /// The elements along `axis`, with the others at `at`.
  std::string strip(StringRef element, Value memory, unsigned axis, ArrayRef<std::string> at);
  /// The address of one number.
  std::string address(StringRef element, Value memory, ArrayRef<std::string> at) {
    return formatv("(static_cast<{0} *>({1}) + {2})", element, pointerOf(inputOf(memory)),
                   offset(memory, at));
  }
  std::string place(Value row) { return scalars->use(row); }

  std::string call(tile::ListOfMaskOp op);
  std::string call(tile::MaskOfListOp op);
  std::string call(tile::ListOfCsrOp op);
  std::string call(tile::CsrOfListOp op);
  std::string call(tile::ChildrenOp op);
  std::string call(tile::PickOp op);
  std::string call(tile::WithoutOp op);

  ScalarPrinter *scalars = nullptr;
};
} // namespace

std::string ListFormatPrinter::extentOf(Value memory, unsigned axis) {
  unsigned argument = inputOf(memory), inputs = code.manifest.inputs;
  unsigned value = argument < inputs ? host.extent(argument, axis)
                                     : code.manifest.outputs[argument - inputs].extents[axis];
  return hostField(formatv("extent{0}_{1}", argument, axis).str(), value);
}

std::string ListFormatPrinter::offset(Value memory, ArrayRef<std::string> at) {
  std::string text;
  for (auto [axis, coordinate] : llvm::enumerate(at))
    if (!coordinate.empty())
      text += formatv("{0}{1} * {2}", text.empty() ? "" : " + ", coordinate,
                      strideOf(inputOf(memory), axis));
  return text;
}

std::string ListFormatPrinter::strip(StringRef element, Value memory, unsigned axis,
                                     ArrayRef<std::string> at) {
  return formatv("strip<{0}>({1}, {2}, {3}, {4})", element, pointerOf(inputOf(memory)),
                 offset(memory, at), strideOf(inputOf(memory), axis), extentOf(memory, axis));
}

std::string ListFormatPrinter::call(tile::ListOfMaskOp op) {
  std::string batch = place(op.getBatch()), head = place(op.getHead()), row = place(op.getRow());
  bool transposed = op.getTransposed();
  SmallVector<std::string> at = {batch, head, transposed ? "" : row, transposed ? row : ""};
  return formatv("listOfMask<{0}>({1}, {2}, {3});", op.getCut(),
                 strip("const signed char", op.getMask(), transposed ? 2 : 3, at),
                 strip("int", op.getIds(), 3, {batch, head, row}),
                 address("int", op.getCounts(), {batch, head, row}));
}

std::string ListFormatPrinter::call(tile::MaskOfListOp op) {
  SmallVector<std::string> row = {place(op.getBatch()), place(op.getHead()), place(op.getRow())};
  return formatv("maskOfList({0}, *{1}, {2});", strip("const int", op.getIds(), 3, row),
                 address("const int", op.getCounts(), row),
                 strip("signed char", op.getTarget(), 3, row));
}

std::string ListFormatPrinter::call(tile::ListOfCsrOp op) {
  std::string batch = place(op.getBatch()), head = place(op.getHead()), row = place(op.getRow());
  return formatv("listOfCsr<{0}>(*{1}, *{2}, {3}, {4}, {5});", op.getCut(),
                 address("const int", op.getRowPtr(), {batch, head, row}),
                 address("const int", op.getRowPtr(), {batch, head, "(" + row + " + 1)"}),
                 strip("const int", op.getColumns(), 2, {batch, head}),
                 strip("int", op.getIds(), 3, {batch, head, row}),
                 address("int", op.getCounts(), {batch, head, row}));
}

std::string ListFormatPrinter::call(tile::CsrOfListOp op) {
  SmallVector<std::string> list = {place(op.getBatch()), place(op.getHead())};
  unsigned ids = inputOf(op.getIds());
  return formatv("csrOfList<{0}>({1}, {2}, {3}, {4}, {5}, {6}, {7});", rowWarps,
                 address("const int", op.getIds(), list), strideOf(ids, 2), strideOf(ids, 3),
                 extentOf(op.getIds(), 3), strip("const int", op.getCounts(), 2, list),
                 strip("int", op.getRowPtr(), 2, list), strip("int", op.getColumns(), 2, list));
}

std::string ListFormatPrinter::call(tile::ChildrenOp op) {
  SmallVector<std::string> row = {place(op.getBatch()), place(op.getHead()), place(op.getRow())};
  return formatv("childrenOf<{2}>({0}, *{1}, {3}, {4}, {5});",
                 strip("const int", op.getIds(), 3, row), address("const int", op.getCounts(), row),
                 op.getBy(), place(op.getColumns()), strip("int", op.getChildIds(), 3, row),
                 address("int", op.getChildCounts(), row));
}

std::string ListFormatPrinter::call(tile::PickOp op) {
  SmallVector<std::string> row = {place(op.getBatch()), place(op.getHead()), place(op.getRow())};
  return formatv("pickEntries({0}, *{1}, {2}, {3});", strip("const int", op.getIds(), 3, row),
                 address("const int", op.getCounts(), row),
                 strip("const int", op.getPlaces(), 3, row), strip("int", op.getTarget(), 3, row));
}

std::string ListFormatPrinter::call(tile::WithoutOp op) {
  SmallVector<std::string> row = {place(op.getBatch()), place(op.getHead()), place(op.getRow())};
  return formatv("withoutListed({0}, {1}, *{2}, {3});",
                 strip("const float", op.getScores(), 3, row),
                 strip("const int", op.getIds(), 3, row), address("const int", op.getCounts(), row),
                 strip("float", op.getTarget(), 3, row));
}

FailureOr<KernelCode> ListFormatPrinter::print() {
  if (failed(buildPlan()))
    return failure();
  CodeWriter body(/*depth=*/1);
  ScalarPrinter printer(body, sources());
  scalars = &printer;
  writeGridPoint(body, printer, /*tile=*/{1});
  bool isWhole = false;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    std::string text =
        llvm::TypeSwitch<Operation *, std::string>(&op)
            .Case<tile::ListOfMaskOp, tile::MaskOfListOp, tile::ListOfCsrOp, tile::CsrOfListOp,
                  tile::ChildrenOp, tile::PickOp, tile::WithoutOp>(
                [&](auto format) { return call(format); })
            .Default([](Operation *) { return std::string(); });
    if (text.empty() && failed(printer.print(op)))
      return failure();
    if (!text.empty())
      body.line(text);
    isWhole |= isa<tile::CsrOfListOp>(op);
  }
  return finishPlain(isWhole ? 32 * rowWarps : 32, body.str(),
                     {devicePrimitives(), deviceSelectLists()});
}

FailureOr<KernelCode> lacuna::printListFormat(tile::KernelOp kernel) {
  return ListFormatPrinter(kernel).print();
}
