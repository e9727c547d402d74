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

/// Live pairs by the bounds of `yield`, as an expression; the bounds have been printed.
static std::string liveBits(hopper::YieldOp yield, ScalarPrinter &scalars,
                            ArrayRef<int64_t> keyBox) {
  SmallVector<std::string> axes;
  int64_t inner = 1;
  for (size_t axis = keyBox.size(); axis-- > 0;) {
    // Both bounds of one type.
    Value low = yield.getLower()[axis], high = yield.getUpper()[axis];
    std::string type = scalars.isWide(low) || scalars.isWide(high) ? "i64" : "int";
    std::string shape =
        axis + 1 == keyBox.size()
            ? formatv("innerAxis<Config::keys, {0}, {1}>", keyBox[axis], type).str()
            : formatv("outerAxis<Config::keys, {0}, {1}, {2}>", keyBox[axis], inner, type).str();
    axes.push_back(
        formatv("{0}(at[{1}], {2}, {3})", shape, axis, scalars.use(low), scalars.use(high)));
    inner *= keyBox[axis];
  }
  return llvm::join(axes, " &\n    ");
}

LogicalResult AttendPrinter::writeRow(CodeWriter &out, ScalarPrinter &scalars, Block &block,
                                      const llvm::SmallPtrSetImpl<Operation *> &perRow) {
  ArrayRef<int64_t> queryBox = attend.getQueryBox();
  for (size_t axis = 0; axis < queryBox.size(); ++axis) {
    std::string name = formatv("q{0}", axis).str();
    out.line("const int " + name + " = " +
             boxCoordinate(scalars.use(attend.getAt()[axis]), "row", "", queryBox, axis) + ";");
    scalars.bind(block.getArgument(1 + axis), name, 0, ScalarPrinter::limit + 256);
  }
  for (Operation &op : block.without_terminator())
    if (perRow.contains(&op) && failed(scalars.print(op)))
      return failure();
  return success();
}

LogicalResult AttendPrinter::writeKind(CodeWriter &out, ScalarPrinter &scalars, Block &block,
                                       ArrayRef<int64_t> keyBox) {
  ArrayRef<int64_t> queryBox = attend.getQueryBox();
  auto yield = cast<hopper::YieldOp>(block.getTerminator());
  bool isIdentity = yield.getScore() == block.getArgument(0);
  // What depends on the row alone is computed once a row, not once a pair.
  llvm::SmallPtrSet<Operation *, 16> perRow = findRowOps(block, queryBox.size());
  out.line("#pragma unroll");
  out.open("for (int r = 0; r < 2; ++r) {");
  out.line("const int row = consumer.row() + 8 * r;");
  if (failed(writeRow(out, scalars, block, perRow)))
    return failure();
  if (!isIdentity) {
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
    out.line("score = " + scalars.use(yield.getScore()) + ";");
    out.close();
  }
  if (!yield.getLower().empty())
    out.line("hide<Config::keys>(" + liveBits(yield, scalars, keyBox) + ",\n    r, scores);");
  out.close();
  return success();
}

LogicalResult AttendPrinter::writeElements(CodeWriter &out, ScalarPrinter &scalars) {
  out.open(
      "auto elements = [&](int kind, const int (&at)[3], float (&scores)[Config::keys / 2]) {");
  if (attend.getNatural()) {
    out.line("#pragma unroll");
    out.line("for (int i = 0; i < Config::keys / 2; ++i)");
    out.line("  scores[i] *= " + floatText(attend.getScale().convertToDouble()) + ";");
  }
  for (auto [kind, region] : llvm::enumerate(attend.getElements())) {
    Block &block = region.front();
    auto yield = cast<hopper::YieldOp>(block.getTerminator());
    // The identity needs no code.
    if (yield.getScore() == block.getArgument(0) && yield.getLower().empty())
      continue;
    // No tile of the walk needs it: nothing to say either.
    ArrayRef<int64_t> keyBox = attend.getKeyBox(kind);
    if (keyBox.empty())
      continue;
    out.open(formatv("if (kind == {0}) {{", kind));
    if (failed(writeKind(out, scalars, block, keyBox)))
      return failure();
    out.close();
  }
  out.close("};");
  return success();
}
