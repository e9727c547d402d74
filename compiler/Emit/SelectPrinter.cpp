//===- SelectPrinter.cpp - summaries and scores as CUDA C++ ---------------===//
#include "compiler/Emit/SelectPrinter.h"

#include "lib/Device/DeviceLibrary.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace lacuna;
using llvm::formatv;
using namespace lacuna::select;

/// Shared memory that one block may have.
static constexpr int64_t sharedLimit = 227 * 1024;
/// Means that fit static shared memory beside the rest.
static constexpr int64_t mostMeans = 8192;
static constexpr int64_t scoreTile = 128, scorePitch = 129, plainPitch = 136;

static Type elementOf(Value memory) { return cast<ShapedType>(memory.getType()).getElementType(); }

//===----------------------------------------------------------------------===//
// What all ops need
//===----------------------------------------------------------------------===//

std::string SelectPrinter::offsetOf(unsigned argument, ArrayRef<std::string> indices) {
  std::string offset;
  for (auto [axis, index] : llvm::enumerate(indices))
    offset += formatv("{0}{1} * {2}", axis ? " + " : "", index, strideOf(argument, axis)).str();
  return offset;
}

LogicalResult SelectPrinter::writeScalars(Operation *op, ArrayRef<int64_t> gridTile) {
  writeGridPoint(body, scalars, gridTile);
  SetVector<Value> roots(op->operand_begin(), op->operand_end());
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, roots);
  return scalars.printNeeded(*op->getBlock(), roots.getArrayRef());
}

FailureOr<std::string> SelectPrinter::writeRegion(Region &region, ArrayRef<std::string> names) {
  Block &block = region.front();
  for (auto [argument, name] : llvm::zip_equal(block.getArguments(), names))
    scalars.bind(argument, name, 0, ScalarPrinter::limit);
  for (Operation &inner : block.without_terminator())
    if (failed(scalars.print(inner)))
      return failure();
  return scalars.use(block.getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

static StringRef nameOf(Summary kind) {
  static constexpr StringRef names[] = {"Mean",  "Sum",    "Min",  "Max",        "Variance",
                                        "First", "Radius", "Norm", "Similarity", "Count"};
  return names[static_cast<unsigned>(kind)];
}

LogicalResult SelectPrinter::write(tile::SummarizeOp op) {
  ArrayRef<int64_t> box = op.getBox();
  int64_t rows = std::accumulate(box.begin(), box.end(), int64_t{1}, std::multiplies<>());
  int64_t first = op.getChannels()[0], channels = op.getChannels()[1] - first;
  if (op.getKind() == Summary::Similarity) {
    code.manifest.sharedBytes = static_cast<unsigned>(4 * rows);
    if (4 * rows > sharedLimit)
      return op.emitOpError("expected blocks of at most ")
             << sharedLimit / 4 << " tokens for similarity on sm_90a, got " << rows;
  }
  if ((op.getKind() == Summary::Variance || op.getKind() == Summary::Radius) &&
      channels > mostMeans)
    return op.emitOpError("expected at most ")
           << mostMeans << " channels for " << stringifySummary(op.getKind()) << " on sm_90a, got "
           << channels;
  if (failed(writeScalars(op, box)))
    return failure();
  // A thread reads up to eight times 16 bytes.
  int64_t lanes =
      llvm::divideCeil(channels * elementOf(op.getSource()).getIntOrFloatBitWidth(), 128);
  lanes = std::min<int64_t>(llvm::PowerOf2Ceil(lanes), 32);
  blockThreads = static_cast<unsigned>(std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(rows * lanes, 8)), 32, defaultThreads));
  unsigned source = inputOf(op.getSource()), target = inputOf(op.getTarget());
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead());
  body.open("auto token = [&](int row) -> i64 {");
  BoxPlace place = writeBoxPlace(body, scalars, "t", "row", op.getAt(), op.getSizes(), op.getBox());
  body.line(formatv("return {0} ? {1} : -1;", place.inside, place.number));
  body.close("};");
  if (box.size() == 1) {
    // Rows may stand for several tokens each.
    int64_t unit = static_cast<int64_t>(op.getUnit().value_or(1));
    std::string tokens = scalars.use(op.getTokens() ? op.getTokens() : op.getSizes()[0]);
    body.line(formatv("const float count = static_cast<float>(min(i64({0}), i64({1}) - i64({2}) * "
                      "{3}));",
                      rows * unit, tokens, scalars.use(op.getAt()[0]), unit));
  } else {
    body.line(formatv("const float count = static_cast<float>(countTokens<{0}>({1}, token));",
                      blockThreads, rows));
  }
  SmallVector<std::string> row = {batch, head, scalars.use(op.getBlock())};
  body.open("auto keep = [&](int channel, float value) {");
  if (op.getPartial()) {
    unsigned partial = inputOf(op.getPartial());
    body.line(formatv("static_cast<float *>({0})[{1} + channel * {2}] = value;", pointerOf(partial),
                      offsetOf(partial, row), strideOf(partial, 3)));
  }
  body.close("};");
  body.line(formatv("summarize<Summary::{0}, {1}, {2}, {3}, {4}, {5}>(", nameOf(op.getKind()),
                    elementName(elementOf(op.getSource())), elementName(elementOf(op.getTarget())),
                    first, channels, blockThreads));
  body.line(formatv("    {0}, {1}, {2}, {3}, {4}, token, count, {5},", pointerOf(source),
                    offsetOf(source, {batch, head}), strideOf(source, 2), strideOf(source, 3), rows,
                    pointerOf(target)));
  body.line(formatv("    {0}, {1}, keep);", offsetOf(target, row), strideOf(target, 3)));
  parts = {devicePrimitives(), deviceScalars(), deviceRows(), deviceTeams(), deviceSummaries()};
  return success();
}

LogicalResult SelectPrinter::write(tile::FoldOp op) {
  if (failed(writeScalars(op, {1})))
    return failure();
  unsigned source = inputOf(op.getSource()), target = inputOf(op.getTarget());
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              row = scalars.use(op.getRow());
  body.line(formatv(
      "foldRow<{0}, {1}, {2}, {3}, {13}>({4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12});",
      elementName(elementOf(op.getSource())),
      cast<ShapedType>(op.getSource().getType()).getDimSize(3), op.getBy(),
      op.getReversed() ? "true" : "false", pointerOf(source), offsetOf(source, {batch, head}),
      strideOf(source, 2), strideOf(source, 3), extentOf(source, 2), row, pointerOf(target),
      offsetOf(target, {batch, head, row}), strideOf(target, 3), blockThreads));
  parts = {devicePrimitives(), deviceScalars(), deviceRows(), deviceTeams(), deviceSummaries()};
  return success();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

static StringRef nameOf(ScoreKind kind) {
  static constexpr StringRef names[] = {"Dot", "Box", "Ball", "Quadratic"};
  return names[static_cast<unsigned>(kind)];
}
static StringRef nameOf(Reduction kind) {
  static constexpr StringRef names[] = {"Sum", "Mean", "Max", "LogSumExp"};
  return names[static_cast<unsigned>(kind)];
}

/// The rows of one head of an input, from its first on.
std::string SelectPrinter::rowsOf(unsigned argument, StringRef head) {
  return formatv("ScoreRows{{{0}, {1}, {2}, {3}, {4}}", pointerOf(argument),
                 offsetOf(argument, {"batch", head.str()}), strideOf(argument, 2),
                 strideOf(argument, 3), extentOf(argument, 2));
}

std::string SelectPrinter::headsPerKeyHead(unsigned query, unsigned key) {
  using HostOp = HostInstruction::Op;
  HostProgramBuilder &program = KernelPrinter::host;
  unsigned one = program.constant(1);
  unsigned ratio = program.add(HostOp::Max,
                               program.add(HostOp::FloorDiv, program.extent(query, 1),
                                           program.add(HostOp::Max, program.extent(key, 1), one)),
                               one);
  return hostField("queryHeadsPerKeyHead", ratio);
}

/// The function that leaves raw products in shared memory.
LogicalResult SelectPrinter::writeProduct(tile::ScoreBlocksOp op) {
  unsigned query = inputOf(op.getQuery()), key = inputOf(op.getKey());
  std::string element = elementName(elementOf(op.getQuery())).str();
  int64_t channels = cast<ShapedType>(op.getQuery().getType()).getDimSize(3);
  body.open("auto product = [&](int member, i64 row, i64 column, auto &&put) {");
  body.line(formatv("const int queryHead = {0} * {1} + member, keyHead = queryHead / "
                    "static_cast<int>({2});",
                    scalars.use(op.getHead()), op.getGroup(), headsPerKeyHead(query, key)));
  body.line("const " + rowsOf(query, "queryHead").insert(0, "ScoreRows queries = ") + ";");
  body.line("const " + rowsOf(key, "keyHead").insert(0, "ScoreRows keys = ") + ";");
  if (op.getKind() == ScoreKind::Dot && element != "float") {
    body.line(formatv("multiplyTile<{0}, {1}>(queries, row, keys, column, shared, put);", element,
                      channels));
  } else {
    std::string others = "keys";
    if (op.getCompanion()) {
      if (elementOf(op.getCompanion()) != elementOf(op.getKey()))
        return op.emitOpError("expected a companion of the keys' element type on sm_90a, got ")
               << elementOf(op.getCompanion()) << " and " << elementOf(op.getKey());
      body.line("const " +
                rowsOf(inputOf(op.getCompanion()), "keyHead").insert(0, "ScoreRows companions = ") +
                ";");
      others = "companions";
    }
    body.line(formatv("combineTile<Score::{0}, {1}, {2}>(queries, row, keys, {3}, column, {4}, "
                      "shared, put);",
                      nameOf(op.getKind()), element, channels, others,
                      floatText(op.getScale().convertToDouble())));
  }
  body.close("};");
  return success();
}

/// The function that makes a score of a raw product, and says whether the pair counts.
LogicalResult SelectPrinter::writeFinish(tile::ScoreBlocksOp op) {
  narrowExtents.insert({inputOf(op.getQuery()), 2});
  narrowExtents.insert({inputOf(op.getKey()), 2});
  body.open("auto finish = [&](int member, i64 wideRow, i64 wideColumn, float &score) -> bool {");
  body.line("const int row = static_cast<int>(wideRow), column = static_cast<int>(wideColumn);");
  body.line(formatv("const int queryHead = {0} * {1} + member;", scalars.use(op.getHead()),
                    op.getGroup()));
  if (!op.getLive().empty()) {
    FailureOr<std::string> live = writeRegion(op.getLive(), {"queryHead", "row", "column"});
    if (failed(live))
      return failure();
    body.line("if (!(" + *live + "))");
    body.line("  return false;");
  }
  body.line(formatv("score *= {0};", floatText(op.getScale().convertToDouble())));
  if (!op.getFunction().empty()) {
    FailureOr<std::string> score =
        writeRegion(op.getFunction(), {"score", "batch", "queryHead", "row", "column"});
    if (failed(score))
      return failure();
    body.line("score = " + *score + ";");
  }
  auto rowValue = [&](Value tensor) {
    unsigned argument = inputOf(tensor);
    return formatv("readElement<float>({0}, {1})", pointerOf(argument),
                   offsetOf(argument, {"batch", "queryHead", "row"}))
        .str();
  };
  if (op.getLse()) {
    body.line("const float lse = " + rowValue(op.getLse()) + ";");
    body.line("score = lse == -INFINITY_F32 ? 0.f : exp2Fast((score - lse) * log2e);");
  }
  if (op.getWeights())
    body.line("score *= " + rowValue(op.getWeights()) + ";");
  body.line("return true;");
  body.close("};");
  return success();
}

/// Whether every score is a result.
static bool isPlain(tile::ScoreBlocksOp op) {
  return op.getRows() == 1 && op.getColumns() == 1 && op.getGroup() == 1 &&
         llvm::all_equal({op.getTile()[0], op.getTile()[1], scoreTile});
}

/// Shared memory of a program, as the device library has it.
static int64_t scoreBytes(tile::ScoreBlocksOp op) {
  if (isPlain(op))
    return scoreTile * plainPitch * 4;
  auto rows = static_cast<int64_t>(op.getRows()), columns = static_cast<int64_t>(op.getColumns());
  bool isLong = columns == 0 || columns > scoreTile;
  bool isDirect = !isLong && op.getGroup() == 1 && rows <= scoreTile;
  int64_t blocks = op.getTile()[0] / rows * (isLong ? 1 : op.getTile()[1] / columns);
  return scoreTile * scorePitch * 4 + (isDirect ? 0 : 8 * blocks) + (isLong ? 8 * scoreTile : 0);
}

/// The end of a kernel of scores that are results as they are.
void SelectPrinter::writePlainScores(tile::ScoreBlocksOp op) {
  unsigned target = inputOf(op.getTarget());
  body.line(formatv("float *target = static_cast<float *>({0}) + {1};", pointerOf(target),
                    offsetOf(target, {"batch", scalars.use(op.getHead())})));
  body.line(formatv("plainScores(shared, {0}, {1}, {2}, {3}, target, {4}, {5}, product, finish);",
                    scalars.use(op.getRowAt()), extentOf(inputOf(op.getQuery()), 2),
                    scalars.use(op.getColumnAt()), extentOf(inputOf(op.getKey()), 2),
                    strideOf(target, 2), strideOf(target, 3)));
}

/// The end of one that reduces blocks of scores.
void SelectPrinter::writeBlockScores(tile::ScoreBlocksOp op, int64_t bytes) {
  unsigned target = inputOf(op.getTarget());
  int64_t tileRows = op.getTile()[0], tileColumns = op.getTile()[1];
  body.line(formatv("typedef ScoreBlocks<Reduction::{0}, {1}, Reduction::{2}, {3}, {4}, {5}, {6}> "
                    "Blocks;",
                    nameOf(op.getRowReduction()), op.getRows(), nameOf(op.getColumnReduction()),
                    op.getColumns(), tileRows, tileColumns, op.getGroup()));
  body.line(formatv("static_assert(Blocks::sharedBytes == {0}, \"\");", bytes));
  body.open("auto store = [&](i64 row, i64 column, float score) {");
  SmallVector<std::string> place{"batch", scalars.use(op.getHead()), "row"};
  if (op.getColumns() != 0)
    place.push_back("column");
  body.line(formatv("static_cast<float *>({0})[{1}] = score;", pointerOf(target),
                    offsetOf(target, place)));
  body.close("};");
  body.line(formatv("scoreBlocks<Blocks, {0}, {1}, {2}, {3}, {4}>(shared, {5}, {6}, {7}, {8}, "
                    "product, finish, store);",
                    op.getRows(), op.getColumns(), tileRows, tileColumns, op.getGroup(),
                    scalars.use(op.getRowAt()), extentOf(inputOf(op.getQuery()), 2),
                    scalars.use(op.getColumnAt()), extentOf(inputOf(op.getKey()), 2)));
}

LogicalResult SelectPrinter::write(tile::ScoreBlocksOp op) {
  int64_t bytes = scoreBytes(op);
  if (bytes > sharedLimit)
    return op.emitOpError("expected scores that fit ")
           << sharedLimit << " bytes of shared memory on sm_90a, got " << bytes;
  code.manifest.sharedBytes = static_cast<unsigned>(bytes);
  if (failed(writeScalars(op, op.getTile())))
    return failure();
  body.line("extern __shared__ float shared[];");
  if (failed(writeProduct(op)) || failed(writeFinish(op)))
    return failure();
  parts = {devicePrimitives(), deviceScalars(), deviceRows(), deviceMatrices(), deviceScores()};
  if (isPlain(op)) {
    parts.push_back(devicePlainScores());
    writePlainScores(op);
  } else {
    writeBlockScores(op, bytes);
  }
  return success();
}

LogicalResult SelectPrinter::writeTest(Region &region, const char *test, StringRef row,
                                       StringRef score) {
  if (region.empty())
    return success();
  FailureOr<std::string> holds = writeRegion(region, {row.str(), "column"});
  if (failed(holds))
    return failure();
  body.line(formatv(test, *holds));
  body.line("  score = " + score.str() + ";");
  return success();
}

LogicalResult SelectPrinter::write(tile::RestrictOp op) {
  if (failed(writeScalars(op, {1})))
    return failure();
  unsigned source = inputOf(op.getSource()), target = inputOf(op.getTarget());
  narrowExtents.insert({source, 2});
  narrowExtents.insert({source, 3});
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              row = scalars.use(op.getRow());
  body.open(formatv("for (int column = threadIdx.x; column < {0}; column += {1}) {{",
                    extentOf(source, 3), defaultThreads)
                .str());
  body.line(formatv("float score = readElement<float>({0}, {1});", pointerOf(source),
                    offsetOf(source, {batch, head, row, "column"})));
  // What is forced must be within.
  if (failed(writeTest(op.getForce(), "if ({0})", row, "INFINITY_F32")) ||
      failed(writeTest(op.getWithin(), "if (!({0}))", row, "-INFINITY_F32")))
    return failure();
  body.line(formatv("static_cast<float *>({0})[{1}] = score;", pointerOf(target),
                    offsetOf(target, {batch, head, row, "column"})));
  body.close();
  parts = {devicePrimitives(), deviceScalars()};
  return success();
}

std::string SelectPrinter::stripOf(StringRef element, Value memory, ArrayRef<std::string> indices) {
  unsigned argument = inputOf(memory);
  auto last = static_cast<unsigned>(indices.size());
  return formatv("strip<{0}>({1}, {2}, {3}, {4})", element, pointerOf(argument),
                 offsetOf(argument, indices), strideOf(argument, last), extentOf(argument, last));
}

/// How many blocks share a multiprocessor. Left alone, the assembler saves registers for more
/// blocks than there are, and spills.
unsigned SelectPrinter::blocksTogether(Operation *op) const {
  if (auto scores = dyn_cast<tile::ScoreBlocksOp>(op))
    // A second tensor of keys has products of its own, which need the registers of both.
    return isPlain(scores) && scores.getKind() == select::ScoreKind::Dot ? 2 : 1;
  if (blockThreads == manyThreads)
    return 1;
  if (isa<tile::SummarizeOp>(op))
    return 512 / blockThreads;
  // Means and deviations are sums of f64.
  if (auto choice = dyn_cast<tile::ChooseOp>(op))
    return choice.getRule() == Rule::Deviation ? 2 : 3;
  if (auto refined = dyn_cast<tile::RefineOp>(op))
    return refined.getRule() == Rule::Deviation ? 2 : 3;
  return isa<tile::SampleOp, tile::MarginOp>(op) ? 3 : 4;
}

FailureOr<KernelCode> SelectPrinter::print() {
  if (failed(buildPlan()))
    return failure();
  Operation *found = nullptr;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!isa<tile::TileDialect>(op.getDialect()))
      continue;
    if (found)
      return op.emitOpError("expected one op that selects per kernel");
    found = &op;
  }
  if (!found)
    return kernel.emitOpError("expected its op that selects at the top level");
  LogicalResult written =
      llvm::TypeSwitch<Operation *, LogicalResult>(found)
          .Case<tile::SummarizeOp, tile::FoldOp, tile::ProjectOp, tile::ScoreBlocksOp,
                tile::RestrictOp, tile::ScoreListOp, tile::RefineOp, tile::ChooseOp, tile::SampleOp,
                tile::MarginOp, tile::GateOp, tile::LinearStateOp, tile::LinearPrefixOp,
                tile::LinearFoldOp, tile::LinearReadOp, tile::GatedMergeOp>(
              [&](auto op) { return write(op); })
          .Default([](Operation *op) {
            return op->emitOpError("expected to stand alone in its kernel");
          });
  if (failed(written))
    return failure();
  return finishPlain(blockThreads, body.str(), parts, blocksAtOnce.value_or(blocksTogether(found)));
}

FailureOr<KernelCode> lacuna::printSelect(tile::KernelOp kernel) {
  return SelectPrinter(kernel).print();
}
