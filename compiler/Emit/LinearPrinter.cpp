//===- LinearPrinter.cpp - linear attention as CUDA C++ -------------------===//
#include "compiler/Emit/SelectPrinter.h"

#include "lib/Device/DeviceLibrary.h"

using namespace mlir;
using namespace lacuna;
using attn::Feature;
using llvm::formatv;

/// Channels that products on the tensor cores take.
static constexpr int64_t channelStep = 8, mostChannels = 256;

static ShapedType typeOf(Value memory) { return cast<ShapedType>(memory.getType()); }

static StringRef nameOf(Feature feature) {
  static constexpr StringRef names[] = {"Softmax", "Relu", "Elu", "Exp", "Identity"};
  return names[static_cast<unsigned>(feature)];
}

/// What products of features take: 16-bit tokens, and channels in eights.
static LogicalResult verifyProduct(Operation *op, Value tokens, Value states) {
  Type element = typeOf(tokens).getElementType();
  if (!element.isF16() && !element.isBF16())
    return op->emitOpError("expected f16 or bf16 tokens for linear attention on sm_90a, got ")
           << element;
  int64_t channels = typeOf(states).getDimSize(3), places = typeOf(states).getDimSize(4);
  if (channels % channelStep == 0 && places % channelStep == 0 && channels <= mostChannels &&
      places <= mostChannels)
    return success();
  return op->emitOpError("expected key and value channels up to ")
         << mostChannels << " in steps of " << channelStep
         << " for linear attention on sm_90a, got " << channels << " and " << places;
}

std::string SelectPrinter::linearRowsOf(Value tensor, StringRef head) {
  unsigned argument = inputOf(tensor);
  return formatv("LinearRows{{{0}, {1}, {2}, {3}, {4}}", pointerOf(argument),
                 offsetOf(argument, {"batch", head.str()}), strideOf(argument, 2),
                 strideOf(argument, 3), extentOf(argument, 2));
}

std::string SelectPrinter::linearFloatsOf(Value memory, ArrayRef<std::string> indices,
                                          unsigned lastAxis) {
  unsigned argument = inputOf(memory);
  return formatv("LinearFloats{{{0}, {1}, {2}}", pointerOf(argument), offsetOf(argument, indices),
                 strideOf(argument, lastAxis));
}

LogicalResult SelectPrinter::write(tile::LinearStateOp op) {
  if (failed(verifyProduct(op, op.getKey(), op.getStates())) || failed(writeScalars(op, {1, 1})))
    return failure();
  int64_t channels = typeOf(op.getStates()).getDimSize(3);
  int64_t places = typeOf(op.getStates()).getDimSize(4);
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              block = scalars.use(op.getBlock()), column = scalars.use(op.getColumn());
  unsigned states = inputOf(op.getStates()), norms = inputOf(op.getNorms());
  std::string shape =
      formatv("Feature::{0}, {1}, {2}, {3}", nameOf(op.getFeature()),
              elementName(typeOf(op.getKey()).getElementType()), channels, op.getWidth());
  body.line("extern __shared__ __align__(16) unsigned char shared[];");
  // As BlockState of the device library has it.
  int64_t keyRows = channels > 128 ? 32 : 64;
  auto pitch = [](int64_t columns) {
    columns = llvm::alignTo(columns, 16);
    return columns / 8 % 2 == 0 ? columns + 8 : columns;
  };
  int64_t bytes = std::max<int64_t>(
      4 * keyRows * (pitch(channels) + pitch(static_cast<int64_t>(op.getWidth()))),
      defaultThreads * 32);
  code.manifest.sharedBytes = static_cast<unsigned>(bytes);
  body.line(formatv("static_assert(BlockState<{0}>::sharedBytes == {1}, \"\");", shape, bytes));
  body.line(formatv("const i64 first = i64({0}) * {1};", block, op.getSize()));
  body.line(formatv("const i64 end = min(first + {0}, {1});", op.getSize(),
                    extentOf(inputOf(op.getKey()), 2)));
  body.open("auto put = [&](int channel, int place, float a, float b) {");
  body.line(formatv("float *to = static_cast<float *>({0}) + {1};", pointerOf(states),
                    offsetOf(states, {batch, head, block, "channel"})));
  std::string step = strideOf(states, 4);
  body.line(formatv("to += ({0} + place) * {1};", column, step));
  body.line(formatv("if ({0} == 1 && reinterpret_cast<u64>(to) % 8 == 0) {{", step));
  body.line("  *reinterpret_cast<float2 *>(to) = make_float2(a, b);");
  body.line("  return;");
  body.line("}");
  body.line("to[0] = a;");
  body.line(formatv("to[{0}] = b;", step));
  body.close("};");
  body.open("auto putNorm = [&](int channel, float sum) {");
  body.line(formatv("static_cast<float *>({0})[{1}] = sum;", pointerOf(norms),
                    offsetOf(norms, {batch, head, block, "channel"})));
  body.close("};");
  body.line(formatv("linearState<{0}>(shared, {1}, {2}, first, end, static_cast<int>({3}), "
                    "static_cast<int>(min(i64({4}), {5} - i64({3}))), put, putNorm);",
                    shape, linearRowsOf(op.getKey(), head), linearRowsOf(op.getValue(), head),
                    column, op.getWidth(), places));
  parts = {devicePrimitives(), deviceScalars(), deviceRows(), deviceMatrices(),
           deviceLinearStates()};
  blocksAtOnce = channels > 128 ? 1 : 2;
  return success();
}

LogicalResult SelectPrinter::write(tile::LinearPrefixOp op) {
  int64_t rows = typeOf(op.getStates()).getDimSize(3),
          columns = typeOf(op.getStates()).getDimSize(4);
  blockThreads = static_cast<unsigned>(std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(std::max(rows, columns), 4)), 32, rowThreads));
  if (failed(writeScalars(op, {1})))
    return failure();
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              row = scalars.use(op.getRow());
  auto call = [&](Value source, Value target, ArrayRef<std::string> at, int64_t length) {
    unsigned from = inputOf(source), to = inputOf(target);
    auto last = static_cast<unsigned>(at.size());
    body.line(formatv("prefixRows<{0}>({1}, {2}, {3}, {4}, {5}, {6});", blockThreads,
                      linearFloatsOf(source, at, last), strideOf(from, 2), extentOf(from, 2),
                      linearFloatsOf(target, at, last), strideOf(to, 2), length));
  };
  body.open(formatv("if ({0} < {1}) {{", row, rows).str());
  call(op.getStates(), op.getSums(), {batch, head, "0", row}, columns);
  body.close("} else {");
  body.reopen();
  call(op.getNorms(), op.getNormSums(), {batch, head, "0"}, rows);
  body.close();
  parts = {devicePrimitives(), deviceScalars(), deviceRows(), deviceMatrices(),
           deviceLinearStates()};
  blocksAtOnce = 1024 / blockThreads;
  return success();
}

LogicalResult SelectPrinter::write(tile::LinearFoldOp op) {
  if (failed(writeScalars(op, {1})))
    return failure();
  int64_t rows = typeOf(op.getStates()).getDimSize(3),
          columns = typeOf(op.getStates()).getDimSize(4);
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              place = scalars.use(op.getC());
  unsigned states = inputOf(op.getStates()), sums = inputOf(op.getSums());
  body.line(formatv("const i64 first = i64({0}) * {1};", place, op.getBy()));
  body.line(
      formatv("const i64 count = min(i64({0}), {1} - first);", op.getBy(), extentOf(states, 2)));
  int64_t groups = llvm::divideCeil(columns, 4);
  auto call = [&](Value source, Value target, unsigned last, StringRef row, StringRef targetRow,
                  StringRef column, int64_t length) {
    body.line(formatv(
        "sumRows({0}, {1}, {2}, count, {3}, {4}, {5}, {6});",
        linearFloatsOf(source, {batch, head, "first"}, last), row, strideOf(inputOf(source), 2),
        linearFloatsOf(target, {batch, head, place}, last), targetRow, column, length));
  };
  body.open(formatv("for (int group = threadIdx.x; group < {0}; group += {1}) {{", rows * groups,
                    blockThreads)
                .str());
  body.line(formatv("const i64 row = group / {0}, column = group % {0} * 4;", groups));
  call(op.getStates(), op.getSums(), 4, "row * " + strideOf(states, 3),
       "row * " + strideOf(sums, 3), "column", columns);
  body.close();
  body.line(formatv("for (int column = 4 * threadIdx.x; column < {0}; column += 4 * {1})", rows,
                    blockThreads));
  call(op.getNorms(), op.getNormSums(), 3, "0", "0", "column", rows);
  parts = {devicePrimitives(), deviceScalars(), deviceRows(), deviceMatrices(),
           deviceLinearStates()};
  return success();
}

LogicalResult SelectPrinter::write(tile::LinearReadOp op) {
  if (failed(verifyProduct(op, op.getQuery(), op.getStates())) || failed(writeScalars(op, {1, 1})))
    return failure();
  int64_t channels = typeOf(op.getStates()).getDimSize(3);
  int64_t places = typeOf(op.getStates()).getDimSize(4), rows = op.getTile()[0];
  int64_t width = op.getTile()[1];
  unsigned query = inputOf(op.getQuery()), states = inputOf(op.getStates());
  unsigned norms = inputOf(op.getNorms()), output = inputOf(op.getOutput()),
           lse = inputOf(op.getLse());
  narrowExtents.insert({query, 2});
  narrowExtents.insert({states, 2});
  std::string head = scalars.use(op.getHead()), first = scalars.use(op.getFirst()),
              row = scalars.use(op.getRow()), column = scalars.use(op.getColumn());
  StringRef element = elementName(typeOf(op.getQuery()).getElementType());
  // As StateRead of the device library has it.
  int64_t readRows = llvm::alignTo(rows, 16);
  int64_t bytes = channels * (width + 4) * 4 + readRows * (channels + 8) * 2 +
                  (channels + readRows + defaultThreads / 32) * 4;
  code.manifest.sharedBytes = static_cast<unsigned>(bytes);
  body.line("extern __shared__ __align__(16) unsigned char shared[];");
  body.line(formatv("typedef StateRead<{0}, {1}, {2}> Read;", channels, width, rows));
  body.line(formatv("static_assert(Read::sharedBytes == {0}, \"\");", bytes));
  body.line("float *state = reinterpret_cast<float *>(shared);");
  body.line("auto *features = reinterpret_cast<unsigned short *>(shared + Read::stateBytes);");
  body.line(
      "float *norms = reinterpret_cast<float *>(shared + Read::stateBytes + Read::rowBytes);");
  body.line(formatv("float *factors = norms + {0};", channels));
  body.line("u32 *words = reinterpret_cast<u32 *>(factors + Read::rows);");
  body.line(formatv("const int stateHead = {0} / static_cast<int>({1});", head,
                    headsPerKeyHead(query, states)));
  body.line(formatv("const int columns = static_cast<int>(min(i64({0}), {1} - i64({2})));", width,
                    places, column));
  body.open("auto member = [&](int state) -> bool {");
  FailureOr<std::string> isMember = writeRegion(op.getMember(), {first, "state"});
  if (failed(isMember))
    return failure();
  body.line("return " + *isMember + ";");
  body.close("};");
  body.line(formatv("sumStates<Read, {0}, {1}>(state, norms, words, {2}, {3}, {4}, {5}, {6}, "
                    "static_cast<int>({9}), static_cast<int>({7}), {8}, columns, member);",
                    channels, width, linearFloatsOf(op.getStates(), {"batch", "stateHead"}, 4),
                    strideOf(states, 2), strideOf(states, 3),
                    linearFloatsOf(op.getNorms(), {"batch", "stateHead"}, 3), strideOf(norms, 2),
                    scalars.use(op.getTo()), column, scalars.use(op.getFrom())));
  body.line("__syncthreads();");
  body.open("auto putLse = [&](i64 row, float value) {");
  body.line(formatv("if ({0} == 0)", column));
  body.line(formatv("  static_cast<float *>({0})[{1}] = value;", pointerOf(lse),
                    offsetOf(lse, {"batch", head, "row"})));
  body.close("};");
  body.line(formatv("weighRows<Read, Feature::{0}, {1}, {2}, {3}>({4}, {5}, {6}, norms, features, "
                    "factors, putLse);",
                    nameOf(op.getFeature()), element, channels,
                    op.getUndivided() ? "true" : "false", linearRowsOf(op.getQuery(), head), row,
                    rows));
  body.line("__syncthreads();");
  body.open("auto put = [&](int place, int channel, float a, float b) {");
  body.line(formatv("const i64 row = i64({0}) + place;", row));
  body.line(
      formatv("if (place >= {0} || row >= {1} || channel >= columns)", rows, extentOf(query, 2)));
  body.line("  return;");
  std::string step = strideOf(output, 3);
  body.line(formatv("auto *to = static_cast<unsigned short *>({0}) + {1} + ({2} + channel) * {3};",
                    pointerOf(output), offsetOf(output, {"batch", head, "row"}), column, step));
  body.line(formatv("const u32 pair = packPair<{0}>(a, b);", element));
  body.line(formatv("if ({0} == 1 && reinterpret_cast<u64>(to) % 4 == 0) {{", step));
  body.line("  *reinterpret_cast<u32 *>(to) = pair;");
  body.line("  return;");
  body.line("}");
  body.line("to[0] = static_cast<unsigned short>(pair);");
  body.line(formatv("to[{0}] = static_cast<unsigned short>(pair >> 16);", step));
  body.close("};");
  body.line(
      formatv("readStates<Read, {0}, {1}>(state, features, factors, put);", element, channels));
  parts = {devicePrimitives(), deviceScalars(),      deviceRows(),
           deviceMatrices(),   deviceLinearStates(), deviceLinearReads()};
  blocksAtOnce = channels > 128 ? 1 : 2;
  return success();
}

LogicalResult SelectPrinter::write(tile::GatedMergeOp op) {
  if (failed(writeScalars(op, {static_cast<int64_t>(op.getRows())})))
    return failure();
  unsigned target = inputOf(op.getTarget());
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              first = scalars.use(op.getRow());
  StringRef element = elementName(typeOf(op.getTarget()).getElementType());
  SmallVector<std::string> at = {batch, head, "row"};
  unsigned warps = blockThreads / 32;
  body.line(formatv("constexpr int lanes = Chunk<{0}>::size, channelCount = {1};", element,
                    typeOf(op.getTarget()).getDimSize(3)));
  body.open(formatv("for (int place = threadIdx.x / 32; place < {0}; place += {1}) {{",
                    op.getRows(), warps)
                .str());
  body.line(formatv("const i64 row = i64({0}) + place;", first));
  body.line(formatv("if (row >= {0})", extentOf(inputOf(op.getOutputs().front()), 2)));
  body.line("  break;");
  for (auto [number, gates] : llvm::enumerate(op.getGates())) {
    unsigned argument = inputOf(gates);
    bool isPerHead = typeOf(gates).getRank() == 1;
    body.line(formatv("const float gate{0} = readElement<float>({1}, {2});", number,
                      pointerOf(argument),
                      isPerHead ? offsetOf(argument, head) : offsetOf(argument, at)));
  }
  body.open("for (int channel = threadIdx.x % 32 * lanes; channel < channelCount; "
            "channel += 32 * lanes) {");
  body.line("float part[lanes], sum[lanes] = {};");
  for (auto [number, output] : llvm::enumerate(op.getOutputs())) {
    unsigned argument = inputOf(output);
    body.line(formatv("readChannels<{0}, channelCount>({1}, {2}, {3}, channel, part);", element,
                      pointerOf(argument), offsetOf(argument, at), strideOf(argument, 3)));
    body.line(formatv("addPart(gate{0}, part, sum);", number));
  }
  body.line(formatv("writeChannels<{0}, channelCount>({1}, {2}, {3}, channel, sum);", element,
                    pointerOf(target), offsetOf(target, at), strideOf(target, 3)));
  body.close();
  body.close();
  // Channels of all parts are under way at once.
  blocksAtOnce = 2;
  parts = {devicePrimitives(), deviceScalars(), deviceRows()};
  return success();
}
