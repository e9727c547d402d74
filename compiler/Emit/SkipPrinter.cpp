//===- SkipPrinter.cpp - what consumers skip tiles by as CUDA C++ ---------===//
#include "compiler/Emit/KernelPrinter.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

LogicalResult AttendPrinter::writeSkipRows(CodeWriter &out) {
  ScalarPrinter scalars(out, sources());
  out.open("auto rows = [&](int id) {");
  Value roots[] = {attend.getBatch(), attend.getHead(), attend.getSizes().front()};
  if (failed(writeItemScalars(out, scalars, roots)))
    return failure();
  std::string at = scalars.use(attend.getAt().front());
  std::string batch = scalars.use(attend.getBatch()), head = scalars.use(attend.getHead());
  out.line("SkipRows rows;");
  out.line("#pragma unroll");
  out.open("for (int r = 0; r < 2; ++r) {");
  out.line(formatv("const int q = {0} + consumer.row() + 8 * r;", at));
  out.line(formatv("rows.isOutside[r] = q >= {0};", scalars.use(attend.getSizes().front())));
  out.line("rows.limit[r] = -INFINITY_F32;");
  if (attend.getBelow()) {
    unsigned below = inputOf(attend.getBelow());
    out.line("if (!rows.isOutside[r])");
    out.line(formatv("  rows.limit[r] = static_cast<const float *>({0})[{1} * {2} + {3} * {4} + "
                     "i64(q) * {5}] * log2e;",
                     pointerOf(below), batch, strideOf(below, 0), head, strideOf(below, 1),
                     strideOf(below, 2)));
  }
  out.close();
  unsigned taken = inputOf(attend.getTaken());
  std::string queryBlocks = hostField("queryBlocks", extentOf(taken, 2));
  out.line(formatv("const int block = ({0} + consumer.group * 64) / 64;", at));
  out.line(formatv("rows.marks = block < {0} ? static_cast<signed char *>({1}) + {2} * {3} + {4} * "
                   "{5} + block * {6} : nullptr;",
                   queryBlocks, pointerOf(taken), batch, strideOf(taken, 0), head,
                   strideOf(taken, 1), strideOf(taken, 2)));
  out.line(
      formatv("rows.blocks = static_cast<int>({0});", hostField("keyBlocks", extentOf(taken, 3))));
  out.line(formatv("rows.step = static_cast<int>({0});", strideOf(taken, 3)));
  out.line("return rows;");
  out.close("};");
  return success();
}
