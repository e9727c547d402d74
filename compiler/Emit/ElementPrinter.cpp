//===- ElementPrinter.cpp - masks and score functions of consumers --------===//
#include "compiler/Emit/KernelPrinter.h"

#include "dialects/Attn/AddedConstant.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
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

/// An element function taken apart by what its ops depend on.
struct AttendPrinter::ElementParts {
  ElementParts(Block &block, size_t queryAxes);
  Block &block;
  hopper::RowValues ofRow;
  /// Row ops that read memory or loop: once an item, into an array over the thread's rows. With
  /// them, what they are computed from.
  llvm::SetVector<Operation *> lookups, lookupChain;
  /// The other row ops: once a tile.
  llvm::SetVector<Operation *> perTile;

private:
  void addWithOperands(Operation *op, llvm::SetVector<Operation *> &chain, bool stopAtLookups);
};

static bool looksUp(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<scf::WhileOp, scf::ForOp, tensor::ExtractOp>(inner) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

AttendPrinter::ElementParts::ElementParts(Block &block, size_t queryAxes)
    : block(block), ofRow(block, queryAxes) {
  for (Operation &op : block.without_terminator())
    if (ofRow.contains(&op) && looksUp(&op))
      lookups.insert(&op);
  for (Operation *op : lookups)
    addWithOperands(op, lookupChain, /*stopAtLookups=*/false);
  for (Operation &op : block)
    if (!ofRow.contains(&op))
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *used = operand.getDefiningOp(); used && ofRow.contains(used))
            addWithOperands(used, perTile, /*stopAtLookups=*/true);
      });
}

/// Adds row ops in front of those that use them.
void AttendPrinter::ElementParts::addWithOperands(Operation *op,
                                                  llvm::SetVector<Operation *> &chain,
                                                  bool stopAtLookups) {
  if (chain.contains(op) || (stopAtLookups && lookups.contains(op)))
    return;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *used = operand.getDefiningOp(); used && used != op && ofRow.contains(used))
        addWithOperands(used, chain, stopAtLookups);
  });
  chain.insert(op);
}

/// Live pairs by the bounds of `yield`, as an expression; the bounds have been printed.
static std::string liveBits(hopper::YieldOp yield, ScalarPrinter &scalars,
                            ArrayRef<int64_t> keyBox) {
  SmallVector<std::string> axes;
  int64_t inner = 1;
  for (size_t axis = keyBox.size(); axis-- > 0;) {
    // Both bounds of one type.
    Value low = yield.getLower()[axis], high = yield.getUpper()[axis];
    std::string type =
        scalars.typeOf(low) == "i64" || scalars.typeOf(high) == "i64" ? "i64" : "int";
    std::string shape;
    if (axis + 1 == keyBox.size() && keyBox[axis] % 8 == 0)
      shape = formatv("innerAxis<Config::keys, {0}, {1}>", keyBox[axis], type).str();
    else
      shape = formatv("{0}<Config::keys, {1}, {2}, {3}>", inner % 8 ? "shortAxis" : "outerAxis",
                      keyBox[axis], inner, type)
                  .str();
    axes.push_back(
        formatv("{0}(at[{1}], {2}, {3})", shape, axis, scalars.use(low), scalars.use(high)));
    inner *= keyBox[axis];
  }
  return llvm::join(axes, " &\n    ");
}

void AttendPrinter::writeRowCoordinates(CodeWriter &out, ScalarPrinter &scalars, Block &block) {
  ArrayRef<int64_t> queryBox = attend.getQueryBox();
  out.line(attend.getHeads() == 1
               ? "const int row = consumer.row() + 8 * r;"
               : "const int row = " + rowInHead("(consumer.row() + 8 * r)") + ";");
  for (size_t axis = 0; axis < queryBox.size(); ++axis) {
    std::string name = formatv("q{0}", axis).str();
    out.line("const int " + name + " = " +
             boxCoordinate(scalars.use(attend.getAt()[axis]), "row", "", queryBox, axis) + ";");
    scalars.bind(block.getArgument(1 + axis), name, 0, ScalarPrinter::limit + 256);
  }
}

/// Prints what the rows of a thread look up, once an item.
LogicalResult AttendPrinter::writeLookups(CodeWriter &out, ScalarPrinter &scalars,
                                          const ElementParts &parts) {
  if (parts.lookups.empty())
    return success();
  // Another lookup of the same chain reads them where they were printed.
  SmallVector<Value> results;
  for (Operation *op : parts.lookups)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !parts.lookupChain.contains(parts.block.findAncestorOpInBlock(*user));
          }))
        results.push_back(result);
  SmallVector<std::string> names;
  for (Value result : results) {
    names.push_back(formatv("lookup{0}", lookupCount++).str());
    out.line(scalars.typeOf(result) + " " + names.back() + "[2];");
  }
  out.line("#pragma unroll");
  out.open("for (int r = 0; r < 2; ++r) {");
  writeRowCoordinates(out, scalars, parts.block);
  for (Operation *op : parts.lookupChain)
    if (failed(scalars.print(*op)))
      return failure();
  for (auto [result, name] : llvm::zip_equal(results, names))
    out.line(name + "[r] = " + scalars.use(result) + ";");
  out.close();
  for (auto [result, name] : llvm::zip_equal(results, names))
    scalars.rename(result, name + "[r]");
  return success();
}

/// The pairs of a row in a tile of gathered keys, as far as these are of a kind.
LogicalResult AttendPrinter::writeGatheredPairs(CodeWriter &out, ScalarPrinter &scalars,
                                                const ElementParts &parts, size_t kind) {
  Block &block = parts.block;
  auto yield = cast<hopper::YieldOp>(block.getTerminator());
  out.line("#pragma unroll");
  out.open("for (int c = 0; c < Config::keys / 4; ++c) {");
  out.line("const u32 place = places[c / 2 * 8 + consumer.lane() % 4 * 2 + c % 2];");
  out.line("float &score = scores[c / 2 * 4 + 2 * r + c % 2];");
  out.line("const int k0 = static_cast<int>(place & placeMask);");
  out.line(formatv("const bool isOther = place >> placeBits != {0};", kind));
  scalars.bind(block.getArgument(0), "score");
  scalars.bind(block.getArgument(1 + attend.getQueryBox().size()), "k0", 0,
               ScalarPrinter::limit + 256);
  if (!yield.keepsScore())
    for (Operation &op : block.without_terminator())
      if (!parts.ofRow.contains(&op) && failed(scalars.print(op)))
        return failure();
  std::string score = yield.keepsScore() ? "score" : scalars.use(yield.getScore());
  if (!yield.getLower().empty())
    score = formatv("k0 >= {0} && k0 < {1} ? {2} : -INFINITY_F32",
                    scalars.use(yield.getLower().front()), scalars.use(yield.getUpper().front()),
                    score);
  out.line("score = isOther ? score : " + score + ";");
  out.close();
  return success();
}

LogicalResult AttendPrinter::writeKind(CodeWriter &out, ScalarPrinter &scalars,
                                       const ElementParts &parts, size_t kind,
                                       ArrayRef<int64_t> keyBox) {
  Block &block = parts.block;
  auto yield = cast<hopper::YieldOp>(block.getTerminator());
  // What depends on the row alone is computed once a row, not once a pair.
  out.line("#pragma unroll");
  out.open("for (int r = 0; r < 2; ++r) {");
  writeRowCoordinates(out, scalars, block);
  for (Operation *op : parts.perTile)
    if (failed(scalars.print(*op)))
      return failure();
  if (attend.isGathered()) {
    if (failed(writeGatheredPairs(out, scalars, parts, kind)))
      return failure();
    out.close();
    return success();
  }
  if (!yield.keepsScore() && !getOffset(kind)) {
    // Where eight neighbouring keys lie in one row, only the innermost coordinate tells them apart.
    bool isShort = keyBox.back() % 8 != 0;
    out.line("#pragma unroll");
    out.open("for (int c = 0; c < Config::keys / 4; ++c) {");
    out.line("const int low = consumer.lane() % 4 * 2 + c % 2;");
    out.line("float &score = scores[c / 2 * 4 + 2 * r + c % 2];");
    scalars.bind(block.getArgument(0), "score");
    for (size_t axis = 0; axis < keyBox.size(); ++axis) {
      std::string name = formatv("k{0}", axis).str();
      out.line("const int " + name + " = " +
               boxCoordinate(formatv("at[{0}]", axis).str(),
                             isShort ? "(c / 2 * 8 + low)" : "c / 2 * 8", isShort ? "" : "low",
                             keyBox, axis) +
               ";");
      scalars.bind(block.getArgument(1 + attend.getQueryBox().size() + axis), name,
                   -ScalarPrinter::limit - 256, ScalarPrinter::limit + 256);
    }
    for (Operation &op : block.without_terminator())
      if (!parts.ofRow.contains(&op) && failed(scalars.print(op)))
        return failure();
    out.line("score = " + scalars.use(yield.getScore()) + ";");
    out.close();
  }
  if (!yield.getLower().empty())
    out.line("hide<Config::keys>(" + liveBits(yield, scalars, keyBox) + ",\n    r, scores);");
  out.close();
  return success();
}

std::optional<float> AttendPrinter::getOffset(unsigned kind) {
  // Rules that leave out blocks look at whole scores.
  if (attend.isGathered() || attend.getTaken() || attend.getKeyBox(kind).empty())
    return std::nullopt;
  Block &block = attend.getElements()[kind].front();
  auto yield = cast<hopper::YieldOp>(block.getTerminator());
  return attn::getAddedConstant(yield.getScore(), block.getArgument(0));
}

bool AttendPrinter::hasOffsets() {
  return llvm::any_of(llvm::seq<unsigned>(0, attend.getElements().size()),
                      [&](unsigned kind) { return getOffset(kind).has_value(); });
}

bool AttendPrinter::changesScores(unsigned kind) {
  Block &block = attend.getElements()[kind].front();
  auto yield = cast<hopper::YieldOp>(block.getTerminator());
  return !yield.isIdentity() && !attend.getKeyBox(kind).empty();
}

LogicalResult AttendPrinter::writeElements(CodeWriter &out, ScalarPrinter &scalars) {
  struct Kind {
    size_t number;
    ElementParts parts;
  };
  std::vector<Kind> kinds;
  for (auto [number, region] : llvm::enumerate(attend.getElements())) {
    if (changesScores(number))
      kinds.push_back({number, ElementParts(region.front(), attend.getQueryBox().size())});
  }
  for (const Kind &kind : kinds)
    if (failed(writeLookups(out, scalars, kind.parts)))
      return failure();
  const bool isGathered = attend.isGathered();
  out.open(isGathered ? "return [=, &consumer, &args](int kinds, const u32 *places, float "
                        "(&scores)[Config::keys / 2]) {"
                      : "return [=, &consumer, &args](int kind, const int (&at)[3], float "
                        "(&scores)[Config::keys / 2]) {");
  if (hasOffsets())
    out.line("float offset = 0.f;");
  if (attend.getNatural()) {
    out.line("#pragma unroll");
    out.line("for (int i = 0; i < Config::keys / 2; ++i)");
    out.line("  scores[i] *= " + floatText(attend.getScale().convertToDouble()) + ";");
  }
  for (const Kind &kind : kinds) {
    out.open(formatv(isGathered ? "if (kinds >> {0} & 1) {{" : "if (kind == {0}) {{", kind.number));
    std::optional<float> offset = getOffset(kind.number);
    auto yield = cast<hopper::YieldOp>(kind.parts.block.getTerminator());
    if (offset)
      out.line("offset = " + floatText(*offset) + ";");
    if (!offset || !yield.getLower().empty())
      if (failed(writeKind(out, scalars, kind.parts, kind.number, attend.getKeyBox(kind.number))))
        return failure();
    out.close();
  }
  if (hasOffsets())
    out.line("return offset;");
  out.close("};");
  return success();
}
