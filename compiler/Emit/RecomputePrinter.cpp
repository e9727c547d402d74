//===- RecomputePrinter.cpp - the pairs of one row, one by one ------------===//
#include "compiler/Emit/KernelPrinter.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

bool AttendPrinter::isMasked() {
  return llvm::any_of(llvm::seq<unsigned>(0, attend.getElements().size()),
                      [&](unsigned kind) { return changesScores(kind); });
}

std::string AttendPrinter::rowPointer(ScalarPrinter &scalars, Value tensor, StringRef batch,
                                      StringRef head, Value base, StringRef token) {
  unsigned input = inputOf(tensor);
  return formatv("static_cast<const unsigned short *>({0}) + {1} * {2} + {3} * {4} + ({5} + {6}) * "
                 "{7}",
                 pointerOf(input), batch, strideOf(input, 0), head, strideOf(input, 1),
                 scalars.use(base), token, strideOf(input, 2))
      .str();
}

/// Prints what `kind` makes of `score` and `live`, of a pair inside the tensors.
LogicalResult AttendPrinter::writeKind(CodeWriter &out, ScalarPrinter &scalars, unsigned kind) {
  Block &block = attend.getElements()[kind].front();
  out.open(formatv("if (kind == {0}) {{", kind));
  scalars.bind(block.getArgument(0), "score");
  for (Operation &op : block.without_terminator())
    if (failed(scalars.print(op)))
      return failure();
  auto yield = cast<hopper::YieldOp>(block.getTerminator());
  std::string bounds;
  for (size_t axis = 0; axis < yield.getLower().size(); ++axis)
    bounds += formatv("{0}k{1} >= {2} && k{1} < {3}", axis ? " && " : "", axis,
                      scalars.use(yield.getLower()[axis]), scalars.use(yield.getUpper()[axis]))
                  .str();
  if (!yield.keepsScore())
    out.line("score = " + scalars.use(yield.getScore()) + ";");
  if (!bounds.empty())
    out.line("live = " + bounds + ";");
  out.close();
  return success();
}

/// Prints `live`, `score` and `values` of the pair of the row and key number `key` of a tile.
LogicalResult AttendPrinter::writePair(CodeWriter &out, ScalarPrinter &scalars,
                                       KeySegment &segment) {
  hopper::TileOp tile = segment.tile;
  ArrayRef<int64_t> box = tile.getBox();
  size_t queryAxes = attend.getQueryBox().size();
  std::string token, inside;
  for (size_t axis = 0; axis < box.size(); ++axis) {
    std::string name = formatv("k{0}", axis).str(), size = scalars.use(tile.getSizes()[axis]);
    out.line("const int " + name + " = " +
             boxCoordinate(formatv("a{0}", axis).str(), "key", "", box, axis) + ";");
    inside += formatv("{0}{1} >= 0 && {1} < {2}", axis ? " && " : "", name, size).str();
    token = axis ? formatv("({0}) * {1} + {2}", token, size, name).str() : "i64(" + name + ")";
    for (unsigned kind : segment.kinds)
      scalars.bind(attend.getElements()[kind].getArgument(1 + queryAxes + axis), name,
                   -ScalarPrinter::limit - 256, ScalarPrinter::limit + 256);
  }
  out.open("if (" + inside + ") {");
  auto row = [&](Value tensor) {
    return rowPointer(scalars, tensor, scalars.use(tile.getBatch()), scalars.use(tile.getHead()),
                      tile.getBase(), token);
  };
  out.line("score = dotRows<Config::Element, Config::headDim>(query, " + row(tile.getKey()) + ");");
  if (attend.getNatural())
    out.line("score *= " + floatText(attend.getScale().convertToDouble()) + ";");
  out.line("values = " + row(tile.getValue()) + ";");
  out.line("live = true;");
  for (unsigned kind : segment.kinds)
    if (changesScores(kind) && failed(writeKind(out, scalars, kind)))
      return failure();
  out.line("live = live && score != -INFINITY_F32;");
  out.close();
  return success();
}

LogicalResult AttendPrinter::writeRecompute(CodeWriter &out, ScalarPrinter &scalars) {
  if (!isMasked()) {
    out.line("auto recompute = [](int row, auto &&visit) {};");
    return success();
  }
  ArrayRef<int64_t> queryBox = attend.getQueryBox();
  out.open("auto recompute = [&](int row, auto &&visit) {");
  std::string token, inside;
  for (size_t axis = 0; axis < queryBox.size(); ++axis) {
    std::string name = formatv("q{0}", axis).str(), size = scalars.use(attend.getSizes()[axis]);
    out.line(
        "const int " + name + " = " +
        boxCoordinate(scalars.use(attend.getAt()[axis]), rowInHead("row"), "", queryBox, axis) +
        ";");
    inside += formatv("{0}{1} >= {2}", axis ? " || " : "", name, size).str();
    token = axis ? formatv("({0}) * {1} + {2}", token, size, name).str() : "i64(" + name + ")";
    for (Region &region : attend.getElements())
      scalars.bind(region.getArgument(1 + axis), name, 0, ScalarPrinter::limit + 256);
  }
  out.line("if (" + inside + ")");
  out.line("  return;");
  out.line("const unsigned short *query = " +
           rowPointer(scalars, attend.getQuery(), scalars.use(attend.getBatch()),
                      headOfRow(scalars, "row"), attend.getBase(), token) +
           ";");
  if (attend.getTaken())
    out.line("const SkipRows marked = rows(id);");
  if (attend.isGathered()) {
    // A lane has a piece of its own.
    out.open("walk(args, item, [&](int kind, bool isHere, int a0) {");
    out.line("#pragma unroll 1");
    out.open("for (int key = 0; key < Config::pieceKeys; ++key) {");
  } else {
    out.open("walk(args, item, [&](int kind, int a0, int a1, int a2) {");
    if (attend.getTaken()) {
      out.line("if (!marked.isTaken(a0 / Config::keys))");
      out.line("  return;");
    }
    out.line("#pragma unroll 1");
    out.open(
        "for (int key = consumer.lane(); key < (Config::pieceKeys + 31) / 32 * 32; key += 32) {");
  }
  out.line("bool live = false;");
  out.line("float score = 0.f;");
  out.line("const unsigned short *values = nullptr;");
  for (KeySegment &segment : segments) {
    std::string kinds;
    for (unsigned kind : segment.kinds)
      kinds += formatv("{0}kind == {1}", kinds.empty() ? "" : " || ", kind).str();
    out.open(attend.isGathered()    ? "if (isHere) {"
             : segments.size() == 1 ? "if (key < Config::pieceKeys) {"
                                    : "if (key < Config::pieceKeys && (" + kinds + ")) {");
    if (failed(writePair(out, scalars, segment)))
      return failure();
    out.close();
  }
  out.line("visit(live, score, values);");
  out.close();
  out.close("});");
  out.close("};");
  return success();
}
