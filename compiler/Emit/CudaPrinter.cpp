//===- CudaPrinter.cpp - hopper kernels as CUDA C++ and manifests ---------===//
#include "compiler/Emit/KernelPrinter.h"
#include "compiler/Emit/LineDirectives.h"

#include "compiler/Emit/MatrixInstructions.h"
#include "lib/Device/DeviceLibrary.h"
#include "lib/Device/SharedLayout.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// Bytes of keys and values that heads running together may keep in L2.
static constexpr int64_t sectionBytes = int64_t{32} << 20;
/// The same where lists name them in any order: both halves of L2 then keep copies of all.
static constexpr int64_t listedSectionBytes = int64_t{16} << 20;

/// "a, b, c".
static std::string join(ArrayRef<std::string> parts) { return llvm::join(parts, ", "); }

void AttendPrinter::bindGrid(ScalarPrinter &printer) {
  auto grid = kernel.getGridArguments();
  printer.bind(grid[0], "item.batch", 0, INT32_MAX);
  printer.bind(grid[1], "item.head", 0, INT32_MAX / static_cast<int64_t>(attend.getHeads()));
  for (size_t axis = 2; axis < grid.size(); ++axis)
    printer.bind(grid[axis], formatv("item.tile{0}", axis - 2).str(), 0,
                 ScalarPrinter::limit / attend.getQueryBox()[axis - 2]);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Which batch, head and query tile a work item is. Heads that share an L2 section run together,
/// and inside a section query tiles go in the order that was planned.
void AttendPrinter::writeItem(CodeWriter &out) {
  using HostOp = HostInstruction::Op;
  KernelManifest &manifest = code.manifest;
  size_t axes = manifest.grid.size() - 2;
  ArrayRef<unsigned> tileExtents = ArrayRef<unsigned>(manifest.grid).drop_front(2);
  hopper::TileOp first = segments.front().tile;
  unsigned key = inputOf(first.getKey()), value = inputOf(first.getValue());
  unsigned rowBytes = host.add(HostOp::Mul, host.constant(2),
                               host.add(HostOp::Add, host.extent(key, 3), host.extent(value, 3)));
  unsigned headBytes =
      host.add(HostOp::Max, host.add(HostOp::Mul, rowBytes, host.extent(key, 2)), host.constant(1));
  unsigned one = host.constant(1);
  unsigned fitting =
      host.add(HostOp::Max,
               host.add(HostOp::FloorDiv,
                        host.constant(hasLists() ? listedSectionBytes : sectionBytes), headBytes),
               one);
  unsigned keyHeads = host.add(HostOp::Max, host.extent(key, 1), one);
  unsigned group =
      host.add(HostOp::Max, host.add(HostOp::FloorDiv, manifest.grid[1], keyHeads), one);
  unsigned heads = host.add(HostOp::Mul, manifest.grid[0], manifest.grid[1]);
  unsigned section = host.add(HostOp::Min, host.add(HostOp::Mul, fitting, group),
                              host.add(HostOp::Max, heads, one));
  std::string heads_ = hostField("heads", manifest.grid[1]);
  std::string allHeads = hostField("batchTimesHeads", heads);
  std::string section_ = hostField("sectionHeads", section);
  std::string tiles = hostField("queryTiles", host.product(tileExtents));
  hostField("items", host.product(manifest.grid));

  out.line("/// One query tile of one head.");
  out.open("struct Item {");
  out.line("int batch, head;");
  for (size_t axis = 0; axis < axes; ++axis)
    out.line(formatv("int tile{0};", axis));
  out.close("};");
  out.blank();
  // The launch checks that all products are at most INT32_MAX.
  out.open("__device__ __forceinline__ Item locate(const Arguments &args, u32 id) {");
  auto narrow = [](const std::string &text) { return "static_cast<u32>(" + text + ")"; };
  out.line("const u32 tiles = " + narrow(tiles) + ", sectionHeads = " + narrow(section_) + ";");
  out.line("const u32 section = id / (sectionHeads * tiles);");
  out.line("const u32 rest = id - section * (sectionHeads * tiles);");
  out.line("const u32 heads = min(sectionHeads, " + narrow(allHeads) +
           " - section * sectionHeads);");
  out.line("const u32 turn = rest / heads;");
  out.line("const u32 head = section * sectionHeads + rest - turn * heads;");
  out.line(attend.getAscending() ? "u32 tile = turn;" : "u32 tile = tiles - 1 - turn;");
  out.line("Item item;");
  out.line("item.batch = static_cast<int>(head / " + narrow(heads_) + ");");
  out.line("item.head = static_cast<int>(head % " + narrow(heads_) + ");");
  for (size_t axis = axes; axis-- > 1;) {
    std::string extent = hostField(formatv("queryTiles{0}", axis).str(), tileExtents[axis]);
    out.line(formatv("item.tile{0} = static_cast<int>(tile % {1});", axis, narrow(extent)));
    out.line("tile /= " + narrow(extent) + ";");
  }
  out.line("item.tile0 = static_cast<int>(tile);");
  out.line("return item;");
  out.close();
}

/// The coordinates of one copy: panel, grid axes from the innermost, head and batch.
std::string AttendPrinter::copyCoordinates(const Map &map, ArrayRef<std::string> at, StringRef head,
                                           StringRef batch) const {
  SmallVector<std::string> parts{"64 * panel"};
  for (const std::string &coordinate : llvm::reverse(at))
    parts.push_back(coordinate);
  if (map.headStep.empty())
    parts.append({head.str(), batch.str()});
  else
    parts.push_back(formatv("static_cast<int>({0} * {1} + {2} * {3})", batch, map.batchStep, head,
                            map.headStep));
  return join(parts);
}

/// Fewer segments test their kinds one by one.
static constexpr size_t fewestChosen = 6;

/// Many segments that are alike but for their maps: one copy, whose map is chosen. False if there
/// are few, or they differ.
bool AttendPrinter::writeChosenCopy(CodeWriter &out, ScalarPrinter &scalars, bool isKey) {
  if (segments.size() < fewestChosen)
    return false;
  SmallVector<std::string> names{"a0", "a1", "a2"};
  std::string coordinates, chosen;
  for (KeySegment &segment : segments) {
    const Map &map = isKey ? segment.keys : segment.values;
    hopper::TileOp tile = segment.tile;
    if (!map.headStep.empty())
      return false;
    std::string here = copyCoordinates(map, ArrayRef(names).take_front(tile.getBox().size()),
                                       scalars.use(tile.getHead()), scalars.use(tile.getBatch()));
    if (!coordinates.empty() && here != coordinates)
      return false;
    coordinates = here;
    for (unsigned kind : segment.kinds)
      chosen += formatv("kind == {0} ? &{1}Map : ", kind, map.name).str();
  }
  const Map &last = isKey ? segments.back().keys : segments.back().values;
  out.line(formatv("const TensorMap *const map = {0}&{1}Map;", chosen, last.name));
  out.line(formatv("copyIn(part, *map, barrier, evictLast, {0});", coordinates));
  return true;
}

/// The functions that copy the keys and the values of a tile; its kind says from which segment.
void AttendPrinter::writeKeyCopies(CodeWriter &out, ScalarPrinter &scalars) {
  SmallVector<std::string> names{"a0", "a1", "a2"};
  for (bool isKey : {true, false}) {
    out.open(formatv("auto {0} = [&](u32 target, u32 barrier, int kind, int a0, int a1, int a2) {{",
                     isKey ? "copyKeys" : "copyValues"));
    out.open(formatv("for (int panel = 0; panel < Shared<Config>::{0}; ++panel) {{",
                     isKey ? "queryPanels" : "valuePanels"));
    out.line("const u32 part = target + panel * Shared<Config>::keyPanelBytes;");
    if (writeChosenCopy(out, scalars, isKey)) {
      out.close();
      out.close("};");
      continue;
    }
    for (auto [index, segment] : llvm::enumerate(segments)) {
      const Map &map = isKey ? segment.keys : segment.values;
      hopper::TileOp tile = segment.tile;
      std::string coordinates =
          copyCoordinates(map, ArrayRef(names).take_front(tile.getBox().size()),
                          scalars.use(tile.getHead()), scalars.use(tile.getBatch()));
      if (segments.size() > 1) {
        SmallVector<std::string> kinds;
        for (unsigned kind : segment.kinds)
          kinds.push_back(formatv("kind == {0}", kind));
        out.line(formatv("if ({0})", llvm::join(kinds, " || ")));
      }
      out.line(formatv("{0}copyIn(part, {1}Map, barrier, evictLast, {2});",
                       segments.size() > 1 ? "  " : "", map.name, coordinates));
    }
    out.close();
    out.close("};");
  }
}

std::string AttendPrinter::rowInHead(StringRef row) {
  return attend.getHeads() == 1 ? row.str()
                                : formatv("{0} % {1}", row, attend.getRowsOfHead()).str();
}

std::string AttendPrinter::headOfRow(ScalarPrinter &scalars, StringRef row) {
  std::string first = scalars.use(attend.getHead());
  return attend.getHeads() == 1
             ? first
             : formatv("({0} + {1} / {2})", first, row, attend.getRowsOfHead()).str();
}

/// Where the rows of gathered keys and values are. Their maps stay parameters of the kernel: what a
/// launch asks of them, aligned rows of channels side by side, is what copies of 16 bytes need.
LogicalResult AttendPrinter::writeKeyRows(CodeWriter &out, ScalarPrinter &scalars) {
  hopper::TileOp tile = segments.front().tile;
  if (segments.size() > 1)
    return segments.back().tile.emitOpError("expected gathered keys to come from one grid of one "
                                            "key head");
  for (bool isKey : {true, false}) {
    Value tensor = isKey ? tile.getKey() : tile.getValue();
    out.line(formatv("const KeyRows {0}{{{1},", isKey ? "keyRows" : "valueRows",
                     rowPointer(scalars, tensor, scalars.use(tile.getBatch()),
                                scalars.use(tile.getHead()), tile.getBase(), "0")));
    out.line(formatv("    2 * static_cast<u32>({0}), {1}};", strideOf(inputOf(tensor), 2),
                     scalars.use(tile.getSizes().front())));
  }
  return success();
}

LogicalResult AttendPrinter::writeProducer(CodeWriter &out) {
  ScalarPrinter scalars(out, sources());
  bindGrid(scalars);
  const bool isGathered = attend.isGathered();
  SmallVector<Value> roots{attend.getBatch(), attend.getHead()};
  for (KeySegment &segment : segments) {
    roots.append({segment.tile.getBatch(), segment.tile.getHead()});
    if (isGathered)
      roots.append({segment.tile.getBase(), segment.tile.getSizes().front()});
  }
  llvm::append_range(roots, attend.getAt());
  if (failed(scalars.printNeeded(kernel.getBody().front(), roots)))
    return failure();
  if (!isGathered)
    writeKeyCopies(out, scalars);
  else if (failed(writeKeyRows(out, scalars)))
    return failure();
  SmallVector<std::string> queryAt;
  for (Value coordinate : attend.getAt())
    queryAt.push_back(scalars.use(coordinate));
  out.open("producer.query([&](u32 target, u32 barrier) {");
  out.line("for (int panel = 0; panel < Shared<Config>::queryPanels; ++panel)");
  out.line("  copyIn(target + panel * Shared<Config>::queryPanelBytes, queryMap, barrier, "
           "evictFirst, " +
           copyCoordinates(queryMap, queryAt, scalars.use(attend.getHead()),
                           scalars.use(attend.getBatch())) +
           ");");
  out.close("});");
  out.open(isGathered ? "walk(args, item, [&](int kind, bool isHere, int a0) {"
                      : "walk(args, item, [&](int kind, int a0, int a1, int a2) {");
  out.line(isGathered ? "producer.tile(kind, isHere, a0, keyRows, valueRows);"
                      : "producer.tile(kind, a0, a1, a2, copyKeys, copyValues);");
  out.close("});");
  out.line(isGathered ? "producer.end(keyRows, valueRows);"
                      : "producer.end(copyKeys, copyValues);");
  return success();
}

LogicalResult AttendPrinter::writeFinish(CodeWriter &out, ScalarPrinter &scalars) {
  ArrayRef<int64_t> queryBox = attend.getQueryBox();
  auto rowCoordinates = [&] {
    SmallVector<std::string> at;
    for (size_t axis = 0; axis < queryBox.size(); ++axis)
      at.push_back(
          boxCoordinate(scalars.use(attend.getAt()[axis]), rowInHead("row"), "", queryBox, axis));
    return at;
  };
  out.open("auto copyOutput = [&](u32 source, int row, int panel) {");
  SmallVector<std::string> at;
  for (auto [axis, text] : llvm::enumerate(rowCoordinates())) {
    out.line(formatv("const int q{0} = {1};", axis, text));
    at.push_back(formatv("q{0}", axis).str());
  }
  out.line(
      "copyOut(outputMap, source, " +
      copyCoordinates(outputMap, at, headOfRow(scalars, "row"), scalars.use(attend.getBatch())) +
      ");");
  out.close("};");
  out.open("auto storeLse = [&](int row, float lse) {");
  if (attend.getLse()) {
    unsigned output = inputOf(attend.getLse());
    std::string inside, token;
    for (auto [axis, text] : llvm::enumerate(rowCoordinates())) {
      out.line(formatv("const int q{0} = {1};", axis, text));
      std::string size = scalars.use(attend.getSizes()[axis]);
      inside += formatv("{0}q{1} < {2}", axis ? " && " : "", axis, size).str();
      token = axis ? formatv("({0}) * {1} + q{2}", token, size, axis).str() : "i64(q0)";
    }
    std::string pointer = field("lse", {ArgumentField::Kind::Pointer, output});
    auto stride = [&](unsigned axis) {
      return hostField(formatv("lseStride{0}", axis).str(), host.stride(output, axis));
    };
    out.line("if (" + inside + ")");
    out.line(
        formatv("  static_cast<float *>({0})[{1} * {2} + {3} * {4} + ({5} + {6}) * {7}] = lse;",
                pointer, scalars.use(attend.getBatch()), stride(0), headOfRow(scalars, "row"),
                stride(1), scalars.use(attend.getBase()), token, stride(2)));
  }
  out.close("};");
  std::string sink = attend.getSink() ? scalars.use(attend.getSink()) + " * log2e" : "0.f";
  if (failed(writeRecompute(out, scalars)))
    return failure();
  out.line(formatv("consumer.finish(scale, /*hasSink=*/{0}, {1}, copyOutput, storeLse, recompute);",
                   attend.getSink() ? "true" : "false", sink));
  return success();
}

/// What an item's values are computed from; the element function's are in `more`.
LogicalResult AttendPrinter::writeItemScalars(CodeWriter &out, ScalarPrinter &scalars,
                                              ArrayRef<Value> more) {
  out.line("const Item item = locate(args, static_cast<u32>(id));");
  bindGrid(scalars);
  SmallVector<Value> roots(more);
  llvm::append_range(roots, attend.getAt());
  return scalars.printNeeded(kernel.getBody().front(), roots);
}

LogicalResult AttendPrinter::writeConsumer(CodeWriter &out) {
  double scale = attend.getNatural() ? 1.0 : attend.getScale().convertToDouble();
  out.line("const float scale = " + floatText(scale) + " * log2e;");
  SmallVector<Value> roots;
  for (Region &region : attend.getElements())
    region.walk([&](Operation *op) { llvm::append_range(roots, op->getOperands()); });
  ScalarPrinter opening(out, sources());
  out.open("auto open = [&](int id) {");
  if (failed(writeItemScalars(out, opening, roots)) || failed(writeElements(out, opening)))
    return failure();
  out.close("};");

  if (attend.getTaken() && failed(writeSkipRows(out)))
    return failure();
  // The element functions' are needed again, to recompute rows.
  if (!isMasked())
    roots.clear();
  roots.append({attend.getBatch(), attend.getHead(), attend.getBase()});
  llvm::append_range(roots, attend.getSizes());
  if (isMasked())
    for (KeySegment &segment : segments)
      for (Value value : segment.tile->getOperands())
        if (value.getType().isIndex() &&
            kernel.getBody().front().findAncestorOpInBlock(*segment.tile))
          roots.push_back(value);
  if (attend.getSink())
    roots.push_back(attend.getSink());
  ScalarPrinter closing(out, sources());
  out.open("auto close = [&](int id) {");
  if (failed(writeItemScalars(out, closing, roots)) || failed(writeFinish(out, closing)))
    return failure();
  out.close("};");
  out.line(attend.getTaken() ? "consumer.run(scale, open, close, rows);"
                             : "consumer.run(scale, open, close);");
  return success();
}

/// Everything before the kernel itself.
void AttendPrinter::writePreamble(CodeWriter &out, StringRef functions) {
  auto query = cast<RankedTensorType>(attend.getQuery().getType());
  bool bf16 = query.getElementType().isBF16();
  writeLibrary(out, {devicePrimitives(), deviceScalars()});
  out.append(matrixInstructions(attend.getKeys(), attend.getValueDim(), bf16));
  out.blank();
  out.append(deviceMasks());
  out.blank();
  out.append(deviceRecompute());
  out.blank();
  out.append(deviceProducer());
  out.blank();
  if (getLongItems() > 0) {
    out.append(deviceItemOrder());
    out.blank();
  }
  out.append(deviceAttention());
  out.blank();
  if (attend.isGathered()) {
    out.append(deviceGather());
    out.blank();
  }
  if (attend.getTaken()) {
    out.append(deviceSkips());
    out.blank();
  }
  out.line("// The pipeline that the planner chose.");
  out.open("struct Config {");
  out.line(formatv("using Element = {0};", bf16 ? "Bf16" : "F16"));
  out.line(formatv("static constexpr int rows = {0}, keys = {1}, headDim = {2}, valueDim = {3};",
                   attend.getRows(), attend.getKeys(), query.getDimSize(3), attend.getValueDim()));
  out.line(formatv("static constexpr int consumers = {0}, stages = {1}, querySlots = {2};",
                   *attend.getConsumers(), *attend.getStages(), *attend.getQuerySlots()));
  out.line(
      formatv("static constexpr bool pingPong = {0};", attend.getPingPong() ? "true" : "false"));
  out.line(formatv("static constexpr bool masked = {0};", isMasked() ? "true" : "false"));
  if (attend.getTaken()) {
    // As a power of two.
    double margin =
        attend.getMargin() ? attend.getMargin()->convertToDouble() * 1.4426950408889634 : 0;
    out.line(
        formatv("static constexpr bool hasMargin = {0};", attend.getMargin() ? "true" : "false"));
    out.line("static constexpr float margin = " + floatText(margin) + ";");
  }
  out.line("/// Whether element functions return what tiles add to all their scores.");
  out.line(formatv("static constexpr bool hasOffsets = {0};", hasOffsets() ? "true" : "false"));
  int64_t pieceKeys = attend.getPieceKeys();
  out.line(formatv("static constexpr int pieceKeys = {0}, pieces = {1};", pieceKeys,
                   static_cast<int64_t>(attend.getKeys()) / pieceKeys));
  out.line("/// Whether keys come row by row, each from a place of its own.");
  out.line(
      formatv("static constexpr bool isGathered = {0};", attend.isGathered() ? "true" : "false"));
  SmallVector<std::string> plain;
  for (unsigned kind = 0; kind < attend.getElements().size(); ++kind)
    if (!changesScores(kind))
      plain.push_back(formatv("kind == {0}", kind));
  out.line("/// Whether tiles of a kind have no mask.");
  out.line("static __device__ constexpr bool isPlain(int kind) { return " +
           (plain.empty() ? "false" : llvm::join(plain, " || ")) + "; }");
  out.close("};");
  out.line(formatv("static_assert(Shared<Config>::bytes == {0}, \"the planned shared memory\");",
                   attend.getSharedBytes()));
  out.blank();
  writeArguments(out);
  out.append(functions);
  out.blank();
}

FailureOr<KernelCode> AttendPrinter::print() {
  if (failed(findAttend()) || failed(buildPlan()) || failed(buildMaps()))
    return failure();

  code.manifest.threads = 128 * (*attend.getConsumers() + 1);
  code.manifest.blocksPerMultiprocessor = static_cast<unsigned>(attend.getBlocks());
  // Bodies first: they say which fields the argument struct needs.
  CodeWriter functions, producer(/*depth=*/attend.isGathered() ? 3 : 4), consumer(/*depth=*/3);
  std::string place = options.lines ? lineDirective(attend.getLoc()) : std::string();
  for (CodeWriter *part : {&functions, &producer, &consumer})
    part->setPlace(place);
  writeItem(functions);
  functions.blank();
  field("counter", {ArgumentField::Kind::WorkCounter, 0});
  const int64_t longItems = getLongItems();
  if (failed(writeWalk(functions)) || (longItems > 0 && failed(writeLength(functions))) ||
      failed(writeProducer(producer)) || failed(writeConsumer(consumer)))
    return failure();
  addLimits();

  CodeWriter out;
  writePreamble(out, functions.str());
  out.setPlace(place);
  SmallVector<std::string> parameters;
  for (const std::string &name : mapNames)
    parameters.push_back("const __grid_constant__ TensorMap " + name);
  parameters.push_back("const __grid_constant__ Arguments args");
  out.line(formatv("extern \"C\" __global__ void __launch_bounds__({0}, {1})",
                   code.manifest.threads, code.manifest.blocksPerMultiprocessor));
  out.open(kernel.getSymName() + "(" + llvm::join(parameters, ",\n    ") + ") {");
  out.line("extern __shared__ __align__(1024) unsigned char memory[];");
  out.line("Shared<Config> shared{sharedAddress(memory), memory};");
  out.line("shared.initialize();");
  out.blank();
  out.open("if (threadIdx.x < 128) {");
  out.line(formatv("registersDown<{0}>();", *attend.getProducerRegisters()));
  if (attend.isGathered()) {
    out.line("Gatherer<Config> producer{shared};");
    out.open("for (int id; (id = producer.next(args.counter, args.items)) >= 0;) {");
  } else {
    if (longItems > 0) {
      out.line(formatv("auto &longItems = LongItems<{0}>::at(memory, Shared<Config>::bytes);",
                       longItems));
      out.line(formatv("typedef ItemOrder<{0}> Order;", longItems));
    }
    out.open("if (threadIdx.x < 32) {");
    out.line("Producer<Config> producer{shared};");
    out.open(
        longItems > 0
            ? "for (i64 id = blockIdx.x;; id = Order::next(longItems, id, args.items, [&] { return "
              "producer.take(args.counter); })) {"
            : "for (i64 id = blockIdx.x;; id = producer.take(args.counter)) {");
    out.line("producer.publish(id < args.items ? static_cast<int>(id) : -1);");
    out.line("if (id >= args.items)");
    out.line("  break;");
  }
  out.line("const Item item = locate(args, static_cast<u32>(id));");
  out.append(producer.str());
  out.close();
  if (longItems > 0) {
    out.close("} else if (Order::matters(args.items)) {");
    out.reopen();
    out.line("longItems.find(threadIdx.x - 32, gridDim.x, static_cast<u32>(args.items),");
    out.line("               [&](u32 id) { return lengthOf(args, locate(args, id)); },");
    out.line("               [] { namedBarrierSync(Order::barrier - 1, finders); });");
    out.line("namedBarrierArrive(Order::barrier, finders + 32);");
  }
  if (!attend.isGathered())
    out.close();
  out.close("} else {");
  out.reopen();
  out.line(formatv("registersUp<{0}>();", *attend.getConsumerRegisters()));
  out.line(formatv("{0}Consumer<Config> consumer(shared, threadIdx.x / 128 - 1);",
                   attend.getTaken() ? "Skipping" : ""));
  out.append(consumer.str());
  out.close();
  out.close();

  code.manifest.sharedBytes = attend.getSharedBytes();
  if (longItems > 0)
    code.manifest.sharedBytes += longItemsBytes(longItems);
  return finish(out.str());
}

FailureOr<KernelCode> lacuna::printAttend(tile::KernelOp kernel, CudaOptions options) {
  return AttendPrinter(kernel, options).print();
}
