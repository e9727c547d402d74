//===- ChoicePrinter.cpp - choices among scores as CUDA C++ ---------------===//
#include "compiler/Emit/SelectPrinter.h"

#include "lib/Device/DeviceLibrary.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;
using namespace lacuna::select;

/// Keys of one row that a thread keeps.
static constexpr unsigned keptKeys = 16;

static StringRef nameOf(Rule rule) {
  static constexpr StringRef names[] = {"TopK", "Share", "TopP", "Above", "NearMax", "Deviation"};
  return names[static_cast<unsigned>(rule)];
}

/// The rows of one batch entry, from head `head` on.
void SelectPrinter::writeTable(Value scores, StringRef batch, StringRef head) {
  unsigned argument = inputOf(scores);
  body.line(formatv("const ScoreTable table{{static_cast<const float *>({0}) + {1}, {2}, {3}, {4}, "
                    "static_cast<int>({5})};",
                    pointerOf(argument), offsetOf(argument, {batch.str(), head.str()}),
                    strideOf(argument, 1), strideOf(argument, 2), strideOf(argument, 3),
                    extentOf(argument, 3)));
}

/// Functions that write entries and counts.
void SelectPrinter::writeLists(Value ids, Value counts, StringRef batch) {
  unsigned list = inputOf(ids), count = inputOf(counts);
  body.open("auto ids = [&](i64 head, i64 row, int place, int column) {");
  body.line(formatv("static_cast<int *>({0})[{1}] = column;", pointerOf(list),
                    offsetOf(list, {batch.str(), "head", "row", "place"})));
  body.close("};");
  body.open("auto counts = [&](i64 head, i64 row, int number) {");
  body.line(formatv("static_cast<int *>({0})[{1}] = number;", pointerOf(count),
                    offsetOf(count, {batch.str(), "head", "row"})));
  body.close("};");
}

LogicalResult SelectPrinter::write(tile::ChooseOp op) {
  SmallVector<int64_t> tile(op.getAt().size() > 2 ? op.getAt().size() - 2 : 0, 1);
  if (failed(writeScalars(op, tile)))
    return failure();
  auto at = llvm::map_to_vector(op.getAt(), [&](Value value) { return scalars.use(value); });
  blockThreads = op.getScope() == Scope::Row ? rowThreads : manyThreads;
  writeTable(op.getScores(), at[0], "0");
  unsigned scores = inputOf(op.getScores());
  std::string heads = "0, " + extentOf(scores, 1), rows = "0, " + extentOf(scores, 2);
  if (op.getScope() != Scope::Batch)
    heads = at[1] + ", 1";
  if (op.getScope() == Scope::Row)
    rows = at[2] + ", 1";
  body.line(formatv("const Choice<{0}, {1}> choice(table, {2}, {3});", blockThreads,
                    op.getScope() == Scope::Row ? keptKeys : 0, heads, rows));
  std::string number;
  if (op.getConstant()) {
    number = formatv("{0}", llvm::format("%a", op.getConstant()->convertToDouble())).str();
  } else if (auto tensor = dyn_cast<RankedTensorType>(op.getNumber().getType())) {
    unsigned argument = inputOf(op.getNumber());
    number = formatv("static_cast<double>(readElement<int>({0}, {1}))", pointerOf(argument),
                     offsetOf(argument, at));
  } else {
    number = "static_cast<double>(" + scalars.use(op.getNumber()) + ")";
  }
  writeLists(op.getIds(), op.getCounts(), at[0]);
  body.line(formatv("choose<Rule::{0}>(choice, {1}, {2}, {3}, static_cast<int>({4}), ids, counts);",
                    nameOf(op.getRule()), number, op.getFloor().value_or(0),
                    op.getCap() ? std::to_string(*op.getCap()) : "0x7fffffffffffffffll",
                    extentOf(inputOf(op.getIds()), 3)));
  parts = {devicePrimitives(), deviceScalars(), deviceChoices()};
  return success();
}

LogicalResult SelectPrinter::write(tile::SampleOp op) {
  blockThreads = rowThreads;
  if (failed(writeScalars(op, {1})))
    return failure();
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              row = scalars.use(op.getRow());
  writeTable(op.getScores(), batch, "0");
  body.line(formatv("const Choice<{0}, {1}> choice(table, {2}, 1, {3}, 1);", rowThreads, keptKeys,
                    head, row));
  unsigned ids = inputOf(op.getIds()), counts = inputOf(op.getCounts()),
           weights = inputOf(op.getWeights());
  body.open("auto entry = [&](int place, int column, float weight) {");
  body.line(formatv("static_cast<int *>({0})[{1}] = column;", pointerOf(ids),
                    offsetOf(ids, {batch, head, row, "place"})));
  body.line(formatv("static_cast<float *>({0})[{1}] = weight;", pointerOf(weights),
                    offsetOf(weights, {batch, head, row, "place"})));
  body.close("};");
  body.open("auto count = [&](int number) {");
  body.line(formatv("static_cast<int *>({0})[{1}] = number;", pointerOf(counts),
                    offsetOf(counts, {batch, head, row})));
  body.close("};");
  // The seed is not an index: all of its bits count.
  std::string seed = scalars.use(op.getSeed());
  if (auto argument = dyn_cast<BlockArgument>(op.getSeed());
      argument && argument.getArgNumber() < code.manifest.inputs)
    seed = hostField(formatv("seed{0}", argument.getArgNumber()).str(),
                     KernelPrinter::host.scalar(argument.getArgNumber()));
  body.line(formatv("sample(choice, {0}, static_cast<u32>({1}), static_cast<u32>({2}), "
                    "static_cast<u32>({3}), static_cast<u64>({4}), entry, count);",
                    llvm::format("%a", op.getNumber().convertToDouble()), batch, head, row, seed));
  parts = {devicePrimitives(), deviceScalars(), deviceChoices()};
  return success();
}

LogicalResult SelectPrinter::write(tile::MarginOp op) {
  blockThreads = rowThreads;
  if (failed(writeScalars(op, {1})))
    return failure();
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              row = scalars.use(op.getRow());
  unsigned target = inputOf(op.getTarget());
  writeTable(op.getScores(), batch, "0");
  body.line(formatv("const Choice<{0}, {1}> choice(table, {2}, 1, {3}, 1);", rowThreads, keptKeys,
                    head, row));
  body.line(formatv("const float margin = marginOf(choice, {0});", op.getNumber()));
  body.line("if (threadIdx.x == 0)");
  body.line(formatv("  static_cast<float *>({0})[{1}] = margin;", pointerOf(target),
                    offsetOf(target, {batch, head, row})));
  parts = {devicePrimitives(), deviceScalars(), deviceChoices()};
  return success();
}

LogicalResult SelectPrinter::write(tile::GateOp op) {
  if (failed(writeScalars(op, {})))
    return failure();
  blockThreads = manyThreads;
  unsigned values = inputOf(op.getValues()), target = inputOf(op.getTarget());
  std::string batch = scalars.use(op.getBatch());
  // Heads are the rows of the table and rows its columns.
  body.line(formatv("const ScoreTable table{{static_cast<const float *>({0}) + {1}, 0, {2}, {3}, "
                    "static_cast<int>({4}), true};",
                    pointerOf(values), offsetOf(values, {batch}), strideOf(values, 1),
                    strideOf(values, 2), extentOf(values, 2)));
  body.line(
      formatv("const Choice<{0}> choice(table, 0, 1, 0, {1});", manyThreads, extentOf(values, 1)));
  body.line(formatv("const i64 chosen = countChosen<Rule::Share>(choice, {0});",
                    llvm::format("%a", op.getShare().convertToDouble())));
  body.open("auto visit = [&](i64, i64 head, int row, bool isLow) {");
  body.line("if (row < table.columns)");
  body.line(formatv("  static_cast<int *>({0})[{1}] = isLow ? {2} : {3};", pointerOf(target),
                    offsetOf(target, {batch, "head", "row"}), op.getLow(), op.getHigh()));
  body.close("};");
  body.line("choice.forChosen(choice.findCount(chosen), visit, [](i64, i64) {});");
  parts = {devicePrimitives(), deviceScalars(), deviceChoices()};
  return success();
}
