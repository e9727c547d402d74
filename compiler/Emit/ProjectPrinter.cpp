//===- ProjectPrinter.cpp - projections as CUDA C++ -----------------------===//
#include "compiler/Emit/SelectPrinter.h"

#include "lib/Device/DeviceLibrary.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// Channels and features come in chunks of 16 bytes of 16-bit elements.
static constexpr int64_t channelStep = 8;

static ShapedType typeOf(Value memory) { return cast<ShapedType>(memory.getType()); }

/// Shared memory of a program, as ProjectHalves and ProjectFloats of the device library have it.
static int64_t sharedBytesOf(Type element, int64_t rows, int64_t channels, int64_t width) {
  if (element.isF32())
    return 16 * (rows + 1 + static_cast<int64_t>(llvm::alignTo(width, 32)) + 2) * 4;
  auto pitch = [](int64_t columns) { return columns / 8 % 2 == 0 ? columns + 8 : columns; };
  int64_t depth = channels < 64 ? static_cast<int64_t>(llvm::alignTo(channels, 16)) : 64;
  int64_t stages = channels > depth ? 2 : 1;
  auto places = static_cast<int64_t>(llvm::alignTo(width, 16));
  return 2 * stages * (rows * pitch(depth) + depth * pitch(places));
}

LogicalResult SelectPrinter::write(tile::ProjectOp op) {
  unsigned source = inputOf(op.getSource()), weights = inputOf(op.getWeights());
  unsigned target = inputOf(op.getTarget());
  int64_t channels = typeOf(op.getWeights()).getDimSize(1);
  int64_t features = typeOf(op.getWeights()).getDimSize(2), width = op.getTile()[1];
  if (channels % channelStep != 0 || features % channelStep != 0)
    return op.emitOpError("expected channels and features in steps of ")
           << channelStep << " for a projection on sm_90a, got " << channels << " and " << features;
  if (failed(writeScalars(op, {1, 1})))
    return failure();
  std::string batch = scalars.use(op.getBatch()), head = scalars.use(op.getHead()),
              first = scalars.use(op.getRow()), column = scalars.use(op.getColumn());
  Type element = typeOf(op.getSource()).getElementType();
  int64_t bytes = sharedBytesOf(element, op.getTile()[0], channels, width);
  code.manifest.sharedBytes = static_cast<unsigned>(bytes);
  body.line("extern __shared__ __align__(16) unsigned char shared[];");
  body.line(formatv("typedef Project<{0}, {1}, {2}>::Program Program;", elementName(element),
                    channels, width));
  body.line(formatv("static_assert(Program::sharedBytes == {0} && Program::rows == {1}, \"\");",
                    bytes, op.getTile()[0]));
  using HostOp = HostInstruction::Op;
  HostProgramBuilder &program = KernelPrinter::host;
  unsigned one = program.constant(1);
  unsigned matrices = program.add(HostOp::Max, program.extent(weights, 0), one);
  unsigned share = program.add(
      HostOp::Max, program.add(HostOp::FloorDiv, program.extent(source, 1), matrices), one);
  body.line(formatv("const int matrix = {0} / static_cast<int>({1});", head,
                    hostField("headsPerMatrix", share)));
  body.line(formatv("const int columns = static_cast<int>(min(i64({0}), {1} - i64({2})));", width,
                    features, column));
  body.line(formatv("const LinearRows weights = {{{0}, {1} + {2} * {3}, {4}, {3}, {5}};",
                    pointerOf(weights), offsetOf(weights, std::string("matrix")), column,
                    strideOf(weights, 2), strideOf(weights, 1), channels));
  body.open("auto put = [&](int place, int feature, float a, float b) {");
  body.line(formatv("const i64 row = i64({0}) + place;", first));
  body.line(formatv("if (row < {0} && feature < columns)", extentOf(source, 2)));
  std::string step = strideOf(target, 3);
  body.line(formatv("  storePair<{0}>({1}, {2} + ({3} + feature) * {4}, {4}, a, b);",
                    elementName(typeOf(op.getTarget()).getElementType()), pointerOf(target),
                    offsetOf(target, {batch, head, "row"}), column, step));
  body.close("};");
  body.line(formatv("projectRows<Program>(shared, {0}, weights, {1}, columns, put);",
                    linearRowsOf(op.getSource(), head), first));
  parts = {devicePrimitives(), deviceScalars(),      deviceRows(),
           deviceMatrices(),   deviceLinearStates(), deviceProjections()};
  blocksAtOnce = 2;
  return success();
}
