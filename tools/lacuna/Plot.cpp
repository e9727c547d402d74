//===- Plot.cpp - lacuna plot: a picture of the live tiles ----------------===//
#include "compiler/Driver/CountPairs.h"
#include "tools/lacuna/Picture.h"
#include "tools/lacuna/SetReport.h"
#include "tools/lacuna/Spec.h"
#include "tools/lacuna/SpecArguments.h"

#include "lib/Support/Text.h"
#include "runtime/Cpu/ThreadPool.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;

namespace lacuna::tool {

/// More cells than this along an axis cannot be told apart.
static constexpr int64_t cellLimit = 512;
/// Bytes of one map, all heads.
static constexpr double mapLimit = 1e9;
/// Heads that are drawn when each has its own map.
static constexpr int64_t panelLimit = 4;

namespace {
struct PlotOptions {
  bool elements = false;
  /// Only this head, or all that differ.
  std::optional<int64_t> head;
};

/// The maps of one attend put together: segments one after the other.
class Assembly {
public:
  Assembly(const AttendReport &report, llvm::ArrayRef<TileMap> maps);

  int64_t countHeads() const { return heads; }
  Panel panel(int64_t head, std::string title) const;

private:
  llvm::ArrayRef<TileMap> maps;
  int64_t heads = 1;
  /// Where each segment's cells begin, and behind the last one.
  std::vector<int64_t> rowStarts{0}, columnStarts{0};
};
} // namespace

Assembly::Assembly(const AttendReport &report, llvm::ArrayRef<TileMap> maps) : maps(maps) {
  for (unsigned segment = 0; segment < report.segments; ++segment) {
    rowStarts.push_back(rowStarts.back() + maps[segment * report.segments].classes.view().shape[2]);
    columnStarts.push_back(columnStarts.back() + maps[segment].classes.view().shape[3]);
  }
  for (const TileMap &map : maps)
    heads = std::max(heads, map.classes.view().shape[1]);
}

Panel Assembly::panel(int64_t head, std::string title) const {
  Panel panel;
  panel.title = std::move(title);
  panel.rows = rowStarts.back();
  panel.columns = columnStarts.back();
  panel.cells.assign(panel.rows * panel.columns, Cell::Empty);
  for (const TileMap &map : maps) {
    const Tensor &view = map.classes.view();
    if (view.elements() == 0)
      continue;
    int64_t served = std::min(head, view.shape[1] - 1);
    const auto *classes =
        static_cast<const int8_t *>(view.data) + served * view.shape[2] * view.shape[3];
    for (int64_t row = 0; row < view.shape[2]; ++row)
      for (int64_t column = 0; column < view.shape[3]; ++column)
        panel.cells[(rowStarts[map.querySegment] + row) * panel.columns +
                    columnStarts[map.keySegment] + column] =
            static_cast<Cell>(classes[row * view.shape[3] + column]);
  }
  panel.query.borders.assign(rowStarts.begin() + 1, rowStarts.end() - 1);
  panel.key.borders.assign(columnStarts.begin() + 1, columnStarts.end() - 1);
  panel.query.end = panel.rows;
  panel.key.end = panel.columns;
  return panel;
}

/// "exact part", "level 2: nodes of 512 keys in 32 columns": what a panel shows of a hierarchy.
static std::string partName(const HierarchyPart &part) {
  if (part.isExact())
    return "exact part: blocks of " + groupedText(part.nodeKeys) + " keys";
  bool isAfter = part.side == HierarchyPart::Side::After;
  return "level " + std::to_string(part.level) + (isAfter ? ", after" : "") + ": nodes of " +
         groupedText(part.nodeKeys) + " keys in " + groupedText(part.columns) + " columns";
}

/// Axis titles, and tick labels in tokens where cells are runs of tokens. Columns of a hierarchy
/// stand where their keys are.
static void labelAxes(Panel &panel, const AttendReport &report, bool elements) {
  bool sequence = report.segments == 1 && report.queryTile.size() == 1;
  int64_t columnKeys = report.part ? report.part->columnKeys() : 1;
  auto label = [&](Axis &axis, llvm::StringRef side, llvm::ArrayRef<int64_t> tile, int64_t length,
                   int64_t tokens) {
    std::string columns = tokens == 1 ? "" : ", " + std::to_string(tokens) + " keys a column";
    axis.unit = tokens;
    axis.end *= tokens;
    if (elements) {
      axis.title = side.str() + columns;
      return;
    }
    std::string shape = llvm::join(
        llvm::map_range(tile, [](int64_t extent) { return std::to_string(extent); }), "x");
    if (!sequence) {
      axis.title = (side + " tile").str() +
                   (report.segments == 1 ? " (" + shape + " tokens)" : std::string());
      return;
    }
    axis.title = (side + " (tiles of " + shape + columns + ")").str();
    axis.unit *= tile.front();
    axis.end *= tile.front();
    // The last tile may reach beyond the last token.
    axis.end = std::min(axis.end, length * tokens);
  };
  label(panel.query, "query", report.queryTile, report.queries, 1);
  label(panel.key, "key", report.keyTile, report.keys, columnKeys);
}

/// "37 full, 12 partial, 207 empty" of a panel.
static std::string tally(const Panel &panel, bool elements) {
  int64_t counts[3] = {};
  for (Cell cell : panel.cells)
    ++counts[static_cast<int>(cell)];
  if (elements)
    return groupedText(counts[2]) + " live of " +
           groupedText(static_cast<int64_t>(panel.cells.size()));
  return groupedText(counts[2]) + " full, " + groupedText(counts[1]) + " partial, " +
         groupedText(counts[0]) + " empty";
}

static void addPanels(const AttendReport &report, llvm::ArrayRef<TileMap> maps,
                      const PlotOptions &options, std::string name, Picture &picture) {
  Assembly assembly(report, maps);
  int64_t first = options.head.value_or(0);
  int64_t end = options.head ? first + 1 : assembly.countHeads();
  std::set<std::vector<Cell>> drawn;
  for (int64_t head = first; head < end && static_cast<int64_t>(drawn.size()) < panelLimit;
       ++head) {
    std::string title = name;
    if (assembly.countHeads() > 1 || options.head)
      title += (title.empty() ? "head " : ", head ") + std::to_string(head);
    Panel panel = assembly.panel(head, title);
    if (!drawn.insert(panel.cells).second)
      continue;
    panel.title += (panel.title.empty() ? "" : ": ") + tally(panel, options.elements);
    labelAxes(panel, report, options.elements);
    picture.panels.push_back(panel.shrunk(cellLimit));
  }
}

static FailureOr<Picture> drawSpec(const BoundSpec &spec, const std::vector<AttendReport> &reports,
                                   Executor &executor, const SpecToTileOptions &tiles,
                                   const PlotOptions &options) {
  FailureOr<std::vector<TileMap>> maps = mapTiles(spec, options.elements, executor, tiles);
  if (failed(maps))
    return failure();
  Picture picture;
  func::FuncOp function = spec.function;
  picture.title = function.getSymName().str();
  picture.subtitle = boundText(spec);
  picture.elements = options.elements;
  llvm::ArrayRef<TileMap> rest = *maps;
  for (auto [index, report] : llvm::enumerate(reports)) {
    size_t parts = report.segments * report.segments;
    std::string name = report.part          ? partName(*report.part)
                       : reports.size() > 1 ? "attend " + std::to_string(index + 1)
                                            : "";
    addPanels(report, rest.take_front(parts), options, name, picture);
    rest = rest.drop_front(parts);
  }
  return picture;
}

/// Refuses what would not fit into memory, before it is allocated.
static int checkSize(const std::vector<AttendReport> &reports, bool elements) {
  for (const AttendReport &report : reports) {
    double cells = static_cast<double>(report.queries) * static_cast<double>(report.keys);
    // Segments have tiles of their own; there the bound is that of pairs.
    if (!elements && report.segments == 1)
      for (llvm::ArrayRef<int64_t> tile : {report.queryTile, report.keyTile})
        for (int64_t extent : tile)
          cells /= static_cast<double>(extent);
    if (cells > mapLimit)
      return fail("the picture would have " + siText(cells) +
                  " cells; give smaller sizes with --set" +
                  (elements ? ", or leave out --elements" : ", or larger tiles with --query-tile"));
  }
  return Success;
}

static int readHead(const Arguments &arguments, const BoundSpec &spec, PlotOptions &options) {
  if (!arguments.has("--head"))
    return Success;
  std::optional<int64_t> head = parseInteger(arguments.get("--head").str());
  if (!head || *head < 0)
    return failUsage(arguments.getCommand(),
                     "option '--head' expects a number of at least 0, got '" +
                         arguments.get("--head") + "'");
  if (auto heads = spec.sizes.find("hq"); heads != spec.sizes.end() && *head >= heads->second)
    return fail("expected --head to be less than the number of query heads, got " +
                std::to_string(*head) + " and " + std::to_string(heads->second));
  options.head = *head;
  return Success;
}

static int runPlot(const Arguments &arguments) {
  llvm::StringRef output = arguments.get("-o");
  llvm::StringRef extension = llvm::sys::path::extension(output);
  if (extension == ".png")
    return failEnvironment("this build writes no .png; name an .svg or .html file");
  if (!output.empty() && output != "-" && extension != ".svg" && extension != ".html")
    return failUsage(arguments.getCommand(),
                     "option '-o' expects a name that ends in .svg or .html, got '" + output + "'");
  BindOptions bind;
  bind.withoutData = true;
  PlanOptions plan;
  if (int code = readBinding(arguments, bind))
    return code;
  if (int code = readPlan(arguments, plan))
    return code;
  int64_t threadCount = 0;
  if (int code = readThreads(arguments, threadCount))
    return code;
  LoadedSpec loaded;
  if (int code = loadSpec(arguments, bind, loaded))
    return code;
  const BoundSpec &spec = loaded.bound;
  PlotOptions options;
  options.elements = arguments.has("--elements");
  if (int code = readHead(arguments, spec, options))
    return code;
  FailureOr<std::vector<AttendReport>> reports = reportSets(spec, plan);
  if (failed(reports))
    return UserMistake;
  if (int code = checkSize(*reports, options.elements))
    return code;
  runtime::ThreadPool threads(threadCount);
  FailureOr<Picture> picture = drawSpec(spec, *reports, threads, plan, options);
  if (failed(picture))
    return UserMistake;
  return writeOutput(output, extension == ".html" ? picture->html() : picture->svg());
}

static const Option options[] = {
    {"-o", "FILE", "where to write: an .svg or .html file (default: SVG to stdout)"},
    {"--set", "NAME=VALUE,...", "sizes and arguments; what is missing has its declared default"},
    {"--elements", "", "one cell per pair instead of one per tile"},
    {"--head", "NUMBER", "only this head (default: up to four heads that differ)"},
    queryTileOption,
    keyTileOption,
};

const Command plotCommand = {
    .name = "plot",
    .summary = "draw which tiles, or which pairs, are live",
    .usage = "SPEC [--set n=512] [--elements] -o FILE.svg",
    .help =
        "Rows are queries, columns keys. The picture is drawn by the loops that attention runs:\n"
        "what is dark blue is visited without a mask, what is orange with one, and the rest is\n"
        "never touched. Maps larger than 512 cells along an axis are shrunk; a cell that covers\n"
        "different kinds is then drawn as partial.\n\n"
        "  lacuna plot examples/neighbourhood_2d.mlir -o tiles.svg\n"
        "  lacuna plot examples/neighbourhood_2d.mlir --elements -o pairs.svg\n",
    .options = options,
    .positionals = 1,
    .run = runPlot,
};

} // namespace lacuna::tool
