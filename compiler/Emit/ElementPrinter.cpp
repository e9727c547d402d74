//===- ElementPrinter.cpp - masks and score functions of consumers --------===//
#include "compiler/Emit/KernelPrinter.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

std::string lacuna::boxCoordinate(StringRef origin, StringRef high, StringRef low,
                                  ArrayRef<int64_t> box, size_t axis) {
  int64_t stride = 1;
  for (size_t inner = axis + 1; inner < box.size(); ++inner)
    stride *= box[inner];
  std::string text = (origin + " + ").str();
  if (box.size() == 1)
    text += high.str();
  else
    text += formatv("{0} / {1} % {2}", high, stride, box[axis]).str();
  if (axis + 1 == box.size() && !low.empty())
    text += (" + " + low).str();
  return text;
}

/// Ops of an element function that depend on no key coordinate and not on the score.
static llvm::SmallPtrSet<Operation *, 16> findRowOps(Block &block, size_t queryAxes) {
  llvm::SmallPtrSet<Operation *, 16> result;
  auto isRowValue = [&](Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() != &block ||
             (argument.getArgNumber() >= 1 && argument.getArgNumber() <= queryAxes);
    Operation *op = value.getDefiningOp();
    return op->getBlock() != &block || result.contains(op);
  };
  for (Operation &op : block.without_terminator()) {
    bool perRow = true;
    op.walk([&](Operation *inner) { perRow &= llvm::all_of(inner->getOperands(), isRowValue); });
    if (perRow)
      result.insert(&op);
  }
  return result;
}

LogicalResult AttendPrinter::writeElements(CodeWriter &out, ScalarPrinter &scalars) {
  bool natural = attend.getNatural();
  ArrayRef<int64_t> queryBox = attend.getQueryBox(), keyBox = attend.getKeyBox();
  out.open(
      "auto elements = [&](int kind, const int (&at)[3], float (&scores)[Config::keys / 2]) {");
  if (natural) {
    out.line("#pragma unroll");
    out.line("for (int i = 0; i < Config::keys / 2; ++i)");
    out.line("  scores[i] *= " + floatText(attend.getScale().convertToDouble()) + ";");
  }
  for (auto [kind, region] : llvm::enumerate(attend.getElements())) {
    Block &block = region.front();
    // The identity needs no code.
    if (block.getTerminator()->getOperand(0) == block.getArgument(0))
      continue;
    out.open(formatv("if (kind == {0}) {{", kind));
    // What depends on the row alone is computed once a row, not once a pair.
    llvm::SmallPtrSet<Operation *, 16> perRow = findRowOps(block, queryBox.size());
    out.line("#pragma unroll");
    out.open("for (int r = 0; r < 2; ++r) {");
    out.line("const int row = consumer.row() + 8 * r;");
    for (size_t axis = 0; axis < queryBox.size(); ++axis) {
      std::string name = formatv("q{0}", axis).str();
      out.line("const int " + name + " = " +
               boxCoordinate(scalars.use(attend.getAt()[axis]), "row", "", queryBox, axis) + ";");
      scalars.bind(block.getArgument(1 + axis), name, 0, ScalarPrinter::limit + 256);
    }
    for (Operation &op : block.without_terminator())
      if (perRow.contains(&op) && failed(scalars.print(op)))
        return failure();
    out.line("#pragma unroll");
    out.open("for (int c = 0; c < Config::keys / 4; ++c) {");
    out.line("const int low = consumer.lane() % 4 * 2 + c % 2;");
    out.line("float &score = scores[c / 2 * 4 + 2 * r + c % 2];");
    scalars.bind(block.getArgument(0), "score");
    for (size_t axis = 0; axis < keyBox.size(); ++axis) {
      std::string name = formatv("k{0}", axis).str();
      out.line("const int " + name + " = " +
               boxCoordinate(formatv("at[{0}]", axis).str(), "c / 2 * 8", "low", keyBox, axis) +
               ";");
      scalars.bind(block.getArgument(1 + queryBox.size() + axis), name, -ScalarPrinter::limit - 256,
                   ScalarPrinter::limit + 256);
    }
    for (Operation &op : block.without_terminator())
      if (!perRow.contains(&op) && failed(scalars.print(op)))
        return failure();
    out.line("score = " + scalars.use(block.getTerminator()->getOperand(0)) + ";");
    out.close();
    out.close();
    out.close();
  }
  out.close("};");
  return success();
}
