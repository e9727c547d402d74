//===- ChoicePrinter.cpp - choices among scores as CUDA C++ ---------------===//
#include "compiler/Emit/SelectPrinter.h"

#include "lib/Device/DeviceLibrary.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;
using namespace lacuna::select;

/// Rows of up to so many columns are a warp's, as KeptRows.cuh has it.
static constexpr int64_t warpColumns = 512;

StringRef SelectPrinter::ruleName(Rule rule) {
  static constexpr StringRef names[] = {"TopK", "Share", "TopP", "Above", "NearMax", "Deviation"};
  return names[static_cast<unsigned>(rule)];
}

std::string SelectPrinter::numberOf(Value number, std::optional<APFloat> constant,
                                    ArrayRef<std::string> row) {
  if (constant)
    return formatv("{0}", llvm::format("%a", constant->convertToDouble())).str();
  if (!isa<RankedTensorType>(number.getType()))
    return "static_cast<double>(" + scalars.use(number) + ")";
  unsigned argument = inputOf(number);
  return formatv("static_cast<double>(readElement<int>({0}, {1}))", pointerOf(argument),
                 offsetOf(argument, row))
      .str();
}

std::string SelectPrinter::capText(std::optional<uint64_t> cap) {
  return cap ? std::to_string(*cap) : "0x7fffffffffffffffll";
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

LogicalResult SelectPrinter::writeWarpRows(Operation *op, unsigned argument, Value row,
                                           unsigned rows) {
  blockThreads = choiceThreads;
  unsigned &grid = code.manifest.grid[2];
  grid = KernelPrinter::host.add(HostInstruction::Op::CeilDiv, grid, rows);
  if (failed(writeScalars(op, {1})))
    return failure();
  std::string each = "static_cast<int>(" + hostField("rowsPerBlock", rows) + ")";
  body.line(formatv("const int row = {0} * {1} + static_cast<int>(threadIdx.x / 32) % {1};",
                    scalars.use(row), each));
  body.line(formatv("if (row >= {0})", extentOf(argument, 2)));
  body.line("  return;");
  scalars.bind(row, "row", 0, ScalarPrinter::limit);
  return success();
}

LogicalResult SelectPrinter::writeScoreRow(Operation *op, Value scores, Value row) {
  using HostOp = HostInstruction::Op;
  HostProgramBuilder &program = KernelPrinter::host;
  unsigned columns = host.value(inputOf(scores), 3);
  unsigned isShort = program.add(HostOp::LessEqual, columns, program.constant(warpColumns));
  unsigned rows =
      program.select(isShort, program.constant(choiceThreads / 32), program.constant(1));
  return writeWarpRows(op, inputOf(scores), row, rows);
}

void SelectPrinter::writeChoice(StringRef head, StringRef row, StringRef use, StringRef adjust) {
  body.open(formatv("withRow<{0}>(table, {1}, {2}, {3}, [&](const auto &choice) {{", choiceThreads,
                    head, row, adjust)
                .str());
  body.line(use);
  body.close("});");
}

LogicalResult SelectPrinter::write(tile::ChooseOp op) {
  bool isRow = op.getScope() == Scope::Row;
  SmallVector<int64_t> tile(op.getAt().size() > 2 ? op.getAt().size() - 2 : 0, 1);
  blockThreads = manyThreads;
  if (isRow ? failed(writeScoreRow(op, op.getScores(), op.getAt()[2]))
            : failed(writeScalars(op, tile)))
    return failure();
  auto at = llvm::map_to_vector(op.getAt(), [&](Value value) { return scalars.use(value); });
  writeTable(op.getScores(), at[0], "0");
  std::string number = numberOf(op.getNumber(), op.getConstant(), at);
  writeLists(op.getIds(), op.getCounts(), at[0]);
  std::string choose =
      formatv("choose<Rule::{0}>(choice, {1}, {2}, {3}, static_cast<int>({4}), ids, counts);",
              ruleName(op.getRule()), number, op.getFloor().value_or(0), capText(op.getCap()),
              extentOf(inputOf(op.getIds()), 3));
  unsigned scores = inputOf(op.getScores());
  bool isRestricted = !op.getWithin().empty() || !op.getForce().empty();
  if (isRestricted) {
    narrowExtents.insert({scores, 2});
    narrowExtents.insert({scores, 3});
    if (failed(writeAdjust("restrict", at[2], "", op.getWithin(), op.getForce())))
      return failure();
  }
  if (isRow) {
    std::string adjust = isRestricted ? "restrict" : "AsTheyAre()";
    if (op.getRestricted()) {
      std::string place = offsetOf(inputOf(op.getRestricted()), {at[0], at[1], at[2], "column"});
      choose = formatv("storeAdjusted(choice, table, table.rowAt({0}, {1}), {2}, [&](int column, "
                       "float score) {{ static_cast<float *>({3})[{4}] = score; });\n{5}",
                       at[1], at[2], adjust, pointerOf(inputOf(op.getRestricted())), place, choose)
                   .str();
    }
    writeChoice(at[1], at[2], choose, adjust);
  } else {
    std::string heads = op.getScope() == Scope::Batch ? "0, " + extentOf(scores, 1) : at[1] + ", 1";
    body.line(formatv("const Choice<{0}> choice(table, {1}, 0, {2});", blockThreads, heads,
                      extentOf(scores, 2)));
    body.line(choose);
  }
  parts = {devicePrimitives(), deviceScalars(), deviceTeams(), deviceChoices(), deviceKeptRows()};
  return success();
}

LogicalResult SelectPrinter::write(tile::SampleOp op) {
  if (failed(writeScoreRow(op, op.getScores(), op.getRow())))
    return failure();
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              row = scalars.use(op.getRow());
  writeTable(op.getScores(), batch, "0");
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
  writeChoice(head, row,
              formatv("sample(choice, {0}, static_cast<u32>({1}), static_cast<u32>({2}), "
                      "static_cast<u32>({3}), static_cast<u64>({4}), table.columns, entry, count);",
                      llvm::format("%a", op.getNumber().convertToDouble()), batch, head, row, seed)
                  .str());
  parts = {devicePrimitives(), deviceScalars(),  deviceTeams(),
           deviceChoices(),    deviceKeptRows(), deviceDraws()};
  return success();
}

LogicalResult SelectPrinter::write(tile::MarginOp op) {
  if (failed(writeScoreRow(op, op.getScores(), op.getRow())))
    return failure();
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              row = scalars.use(op.getRow());
  unsigned target = inputOf(op.getTarget());
  writeTable(op.getScores(), batch, "0");
  body.line(formatv("float &margin = static_cast<float *>({0})[{1}];", pointerOf(target),
                    offsetOf(target, {batch, head, row})));
  writeChoice(head, row, formatv("storeMargin(choice, {0}, margin);", op.getNumber()).str());
  parts = {devicePrimitives(), deviceScalars(),  deviceTeams(),
           deviceChoices(),    deviceKeptRows(), deviceDraws()};
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
                    "static_cast<int>({4})};",
                    pointerOf(values), offsetOf(values, {batch}), strideOf(values, 1),
                    strideOf(values, 2), extentOf(values, 2)));
  body.line(formatv("const Choice<{0}, LeastFirst> choice(table, 0, 1, 0, {1});", manyThreads,
                    extentOf(values, 1)));
  body.line(formatv("const i64 chosen = countChosen<Rule::Share>(choice, {0});",
                    llvm::format("%a", op.getShare().convertToDouble())));
  body.open("auto visit = [&](i64, i64 head, int row, bool isLow) {");
  body.line("if (row < table.columns)");
  body.line(formatv("  static_cast<int *>({0})[{1}] = isLow ? {2} : {3};", pointerOf(target),
                    offsetOf(target, {batch, "head", "row"}), op.getLow(), op.getHigh()));
  body.close("};");
  body.line("choice.forChosen(choice.findCount(chosen), visit, [](i64, i64) {});");
  parts = {devicePrimitives(), deviceScalars(), deviceTeams(), deviceChoices()};
  return success();
}
