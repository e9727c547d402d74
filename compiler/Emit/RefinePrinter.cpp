//===- RefinePrinter.cpp - scores of lists as CUDA C++ --------------------===//
#include "compiler/Emit/SelectPrinter.h"

#include "lib/Device/DeviceLibrary.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// Candidates of a row that a warp keeps in registers, and channels of a query row.
static constexpr int64_t mostCandidates = 512, mostChannels = 512;

static StringRef elementOf(Value rows) {
  return elementName(cast<ShapedType>(rows.getType()).getElementType());
}
static int64_t channelsOf(Value rows) { return cast<ShapedType>(rows.getType()).getDimSize(3); }

LogicalResult SelectPrinter::writeAdjust(StringRef name, StringRef row, StringRef scale,
                                         Region &within, Region &force) {
  body.open(formatv("auto {0} = [&](int column, float score) -> float {{", name).str());
  if (!scale.empty())
    body.line(formatv("score *= {0};", scale));
  // What is forced must be within.
  if (failed(writeTest(force, "if ({0})", row, "INFINITY_F32")) ||
      failed(writeTest(within, "if (!({0}))", row, "-INFINITY_F32")))
    return failure();
  body.line("return score;");
  body.close("};");
  return success();
}

LogicalResult SelectPrinter::write(tile::ScoreListOp op) {
  blockThreads = rowThreads;
  if (failed(writeScalars(op, {1})))
    return failure();
  unsigned query = inputOf(op.getQuery()), key = inputOf(op.getKey());
  narrowExtents.insert({query, 2});
  narrowExtents.insert({key, 2});
  SmallVector<std::string> row = {scalars.use(op.getBatch()), scalars.use(op.getHead()),
                                  scalars.use(op.getRow())};
  body.line(formatv("const int keyHead = {0} / static_cast<int>({1});", row[1],
                    headsPerKeyHead(query, key)));
  std::string scale = floatText(op.getScale().convertToDouble());
  if (failed(writeAdjust("finish", row[2], scale, op.getWithin(), op.getForce())))
    return failure();
  body.line(formatv("scoreList<{0}, {1}, {2}>({3}, {4}, {5},", elementOf(op.getQuery()),
                    channelsOf(op.getQuery()), rowThreads / 32, pointerOf(query),
                    offsetOf(query, row), strideOf(query, 3)));
  body.line(formatv("    {0}, {1}, {2}, {3}, {4},", pointerOf(key),
                    offsetOf(key, {row[0], "keyHead"}), strideOf(key, 2), strideOf(key, 3),
                    extentOf(key, 2)));
  unsigned counts = inputOf(op.getCounts());
  body.line(formatv("    {0}, static_cast<const int *>({1})[{2}],",
                    stripOf("const int", op.getIds(), row), pointerOf(counts),
                    offsetOf(counts, row)));
  body.line(formatv("    {0}, finish);", stripOf("float", op.getTarget(), row)));
  parts = {devicePrimitives(), deviceScalars(), deviceRows(), deviceSelectLists(),
           deviceSelectRefine()};
  return success();
}

/// What the choice starts from: `query`, `keys` and `it`.
void SelectPrinter::writeRefinedRow(tile::RefineOp op, ArrayRef<std::string> row) {
  unsigned query = inputOf(op.getQuery()), key = inputOf(op.getKey());
  unsigned lists = inputOf(op.getListCounts());
  body.line(formatv("const int keyHead = {0} / static_cast<int>({1});", row[1],
                    headsPerKeyHead(query, key)));
  body.line(formatv("const GatheredRow<{0}, {1}> query({2}, {3}, {4});", elementOf(op.getQuery()),
                    channelsOf(op.getQuery()), pointerOf(query), offsetOf(query, row),
                    strideOf(query, 3)));
  body.line(formatv("const GatheredKeys keys = {{{0}, {1}, {2}, {3}, {4}};", pointerOf(key),
                    offsetOf(key, {row[0], "keyHead"}), strideOf(key, 2), strideOf(key, 3),
                    extentOf(key, 2)));
  // The extent of the scores, of which there may be no memory.
  using HostOp = HostInstruction::Op;
  HostProgramBuilder &program = KernelPrinter::host;
  unsigned candidates = program.add(HostOp::Mul, program.extent(inputOf(op.getIds()), 3),
                                    program.constant(static_cast<int64_t>(op.getBy())));
  code.manifest.requirements.push_back(
      {program.add(HostOp::LessEqual, candidates,
                   program.constant(static_cast<int64_t>(op.getMost()))),
       "expected lists of at most " + std::to_string(op.getMost()) + " children, got {0}",
       {candidates}});
  body.line(formatv("const RefinedRow it = {{{0}, {1}, {2}, static_cast<const int *>({3})[{4}], "
                    "{5}, static_cast<int>({6}), static_cast<int>({7})};",
                    row[1], row[2], stripOf("const int", op.getIds(), row), pointerOf(lists),
                    offsetOf(lists, row), scalars.use(op.getColumns()),
                    hostField("candidates", candidates), extentOf(inputOf(op.getPicked()), 3)));
}

/// Stores `value` in `memory` at `place`, where there is memory.
void SelectPrinter::writeStore(StringRef type, Value memory, ArrayRef<std::string> place,
                               StringRef value) {
  if (memory)
    body.line(formatv("static_cast<{0} *>({1})[{2}] = {3};", type, pointerOf(inputOf(memory)),
                      offsetOf(inputOf(memory), place), value));
}

LogicalResult SelectPrinter::write(tile::RefineOp op) {
  if (static_cast<int64_t>(op.getMost()) > mostCandidates)
    return op.emitOpError("expected at most ")
           << mostCandidates << " candidates of a row on sm_90a, got "
           << static_cast<int64_t>(op.getMost());
  if (channelsOf(op.getQuery()) > mostChannels)
    return op.emitOpError("expected at most ")
           << mostChannels << " channels of a row on sm_90a, got " << channelsOf(op.getQuery());
  unsigned rows = KernelPrinter::host.constant(choiceThreads / 32);
  if (failed(writeWarpRows(op, inputOf(op.getQuery()), op.getRow(), rows)))
    return failure();
  narrowExtents.insert({inputOf(op.getQuery()), 2});
  narrowExtents.insert({inputOf(op.getKey()), 2});
  SmallVector<std::string> row = {scalars.use(op.getBatch()), scalars.use(op.getHead()),
                                  scalars.use(op.getRow())};
  writeRefinedRow(op, row);
  std::string scale = floatText(op.getScale().convertToDouble());
  if (failed(writeAdjust("adjust", row[2], scale, op.getWithin(), op.getForce())))
    return failure();
  auto at = [&](StringRef place) {
    SmallVector<std::string> result = row;
    result.push_back(place.str());
    return result;
  };
  body.open("auto between = [&](int entry, int child, float score) {");
  writeStore("int", op.getChildIds(), at("entry"), "child");
  writeStore("float", op.getScores(), at("entry"), "score");
  body.close("};");
  body.open("auto ids = [&](int place, int entry, int child) {");
  writeStore("int", op.getPicked(), at("place"), "child");
  writeStore("int", op.getPlaces(), at("place"), "entry");
  body.close("};");
  body.open("auto counts = [&](int chosen) {");
  writeStore("int", op.getCounts(), row, "chosen");
  body.close("};");
  body.line(formatv(
      "const int found = refineRow<Rule::{0}, {1}, {2}, {3}, {4}>(it, query, keys, {5}, {6}, {7}, "
      "adjust, between, ids, counts);",
      ruleName(op.getRule()), op.getBy(), op.getMost(), choiceThreads / 32,
      op.getChildIds() || op.getScores(), numberOf(op.getNumber(), op.getConstant(), row),
      op.getFloor().value_or(0), capText(op.getCap())));
  body.open("if (threadIdx.x % 32 == 0) {");
  writeStore("int", op.getChildCounts(), row, "found");
  body.close();
  parts = {devicePrimitives(), deviceScalars(), deviceRows(),     deviceSelectLists(),
           deviceTeams(),      deviceChoices(), deviceKeptRows(), deviceRefinedRows()};
  return success();
}
