//===- Explain.cpp - lacuna explain: what a set leaves to compute ---------===//
#include "compiler/Driver/CountPairs.h"
#include "tools/lacuna/PlanReport.h"
#include "tools/lacuna/SetReport.h"
#include "tools/lacuna/SpecArguments.h"

#include "lib/Support/Text.h"
#include "runtime/Cpu/ThreadPool.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

/// Pairs of sets that must be looked at one by one are counted up to this many: some seconds.
static constexpr double opaqueLimit = 4e9;

namespace {
struct Explanation {
  llvm::StringRef path;
  const BoundSpec &spec;
  std::vector<AttendReport> reports;
  /// One per report, or none when counting would take too long.
  std::vector<AttendCounts> counts;
  /// One per report when the target is a GPU.
  std::vector<PlanReport> plans;

  bool isCounted() const { return counts.size() == reports.size(); }
  const AttendCounts *countsOf(size_t index) const {
    return isCounted() ? &counts[index] : nullptr;
  }
};
} // namespace

static std::string percent(int64_t part, int64_t whole) {
  if (whole == 0)
    return "0 %";
  return llvm::formatv("{0:F3} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole))
      .str();
}

/// How many times less work than dense attention; infinite sets of work have no factor.
static double workSaved(const SetCounts &counts) {
  return counts.livePairs == 0
             ? 0
             : static_cast<double>(counts.allPairs) / static_cast<double>(counts.livePairs);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printLines(llvm::StringRef label, const std::vector<std::string> &lines,
                       llvm::raw_ostream &os) {
  for (auto [index, line] : llvm::enumerate(lines))
    os << "    " << llvm::formatv("{0,-9}", index == 0 ? label : llvm::StringRef()) << line << '\n';
}

static void printLoops(const AttendReport &report, llvm::raw_ostream &os) {
  for (const SegmentLoops &loops : report.loops) {
    os << "\n  query tile " << loops.queryTile << " visits "
       << (loops.keyTile.starts_with("j") ? "keys " : "key tiles ") << loops.keyTile;
    if (report.segments > 1)
      os << " (queries of segment " << loops.querySegment << ", keys of segment "
         << loops.keySegment << ")";
    os << ":\n";
    if (loops.listed) {
      os << "    those of the blocks that its list names, and of what is live without it, among:\n";
      printLines("listed", loops.live, os);
    } else if (loops.opaque) {
      os << "    these, if a generated kernel finds a live pair in them:\n";
      printLines("maybe", loops.live, os);
    } else {
      printLines("full", loops.full, os);
      printLines("partial", loops.partial, os);
    }
    if (loops.live.empty())
      os << "    none\n";
    for (const std::string &note : loops.notes)
      os << "    " << note << '\n';
  }
}

static void printCounts(const AttendCounts &attend, llvm::raw_ostream &os) {
  const SetCounts &counts = attend.counts;
  std::string scope = attend.counted == 1
                          ? "for each head and batch entry, all alike"
                          : "over " + groupedText(attend.counted) + " heads and batch entries";
  os << "  counts " << scope << ":\n";
  os << "    live pairs      " << groupedText(counts.livePairs) << " of "
     << groupedText(counts.allPairs) << " (" << percent(counts.livePairs, counts.allPairs) << ")";
  if (counts.livePairs > 0)
    os << llvm::formatv(", {0:F1} times less work than dense", workSaved(counts));
  os << "\n    live tiles      " << groupedText(counts.liveTiles) << " of "
     << groupedText(counts.allTiles) << " (" << percent(counts.liveTiles, counts.allTiles) << ")\n"
     << "    full tiles      " << groupedText(counts.fullTiles) << ", no mask\n"
     << "    partial tiles   " << groupedText(counts.partialTiles()) << ", masked\n"
     << "    empty tiles     " << groupedText(counts.emptyTiles()) << ", never visited\n";
}

/// What a query sees of a level on average: columns, and the nodes that they are of.
static double columnsPerQuery(const AttendReport &report, const AttendCounts &attend) {
  double queries = static_cast<double>(report.queries) * static_cast<double>(attend.counted);
  return queries == 0 ? 0 : static_cast<double>(attend.counts.livePairs) / queries;
}

/// The hierarchy whose exact part is attend `first`, level by level.
static void printHierarchy(const Explanation &explanation, size_t first, llvm::raw_ostream &os) {
  constexpr const char *line = "  {0,-6} {1,10} {2,11} {3,8} {4,12} {5,14} {6,16}\n";
  os << "\nhierarchy (line " << explanation.reports[first].line
     << "), what a query sees on average and all queries of a head:\n"
     << llvm::formatv(line, "level", "node keys", "column keys", "columns", "nodes seen",
                      "columns seen", "live pairs");
  double seen = 0;
  int64_t pairs = 0;
  auto fraction = [](double number) { return llvm::formatv("{0:F2}", number).str(); };
  const std::vector<AttendReport> &reports = explanation.reports;
  auto isPart = [&](size_t index) {
    return index < reports.size() && reports[index].part &&
           (index == first || !reports[index].part->isExact());
  };
  for (size_t index = first; isPart(index);) {
    const HierarchyPart &part = *reports[index].part;
    const AttendCounts *counts = explanation.countsOf(index);
    double columns = 0;
    int64_t live = 0;
    // Nodes before and after a query are attends of their own.
    for (; isPart(index) && reports[index].part->level == part.level; ++index)
      if (const AttendCounts *counted = explanation.countsOf(index)) {
        columns += columnsPerQuery(reports[index], *counted);
        live += counted->counts.livePairs / std::max<int64_t>(counted->counted, 1);
      }
    std::string nodes = counts ? fraction(columns / static_cast<double>(part.columns)) : "";
    os << llvm::formatv(line, part.isExact() ? "exact" : std::to_string(part.level),
                        groupedText(part.nodeKeys), part.columnKeys(), part.columns, nodes,
                        counts ? fraction(columns) : "", counts ? groupedText(live) : "");
    seen += columns;
    pairs += live;
  }
  if (explanation.isCounted())
    os << llvm::formatv(line, "all", "", "", "", "", fraction(seen), groupedText(pairs));
}

static void printText(const Explanation &explanation, llvm::raw_ostream &os) {
  func::FuncOp function = explanation.spec.function;
  os << explanation.path << ": @" << function.getSymName() << " with "
     << boundText(explanation.spec) << '\n';
  for (auto [index, report] : llvm::enumerate(explanation.reports)) {
    if (report.part && report.part->isExact())
      printHierarchy(explanation, index, os);
    os << "\nattend " << index + 1 << " (line " << report.line << "): query tiles of "
       << shapeText(report.queryTile) << ", key tiles of " << shapeText(report.keyTile) << '\n';
    if (!report.skips.empty())
      os << "  skips             " << report.skips << "\n";
    if (explanation.isCounted())
      printCounts(explanation.counts[index], os);
    if (!explanation.plans.empty())
      printPlan(explanation.plans[index], explanation.countsOf(index), os);
    printLoops(report, os);
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Array toJson(const std::vector<std::string> &lines) {
  return llvm::json::Array(lines);
}

static llvm::json::Object toJson(const AttendReport &report) {
  llvm::json::Object attend{{"line", report.line},
                            {"query_tile", llvm::json::Array(report.queryTile)},
                            {"key_tile", llvm::json::Array(report.keyTile)}};
  if (!report.skips.empty())
    attend["skips"] = report.skips;
  llvm::json::Array loops;
  for (const SegmentLoops &segment : report.loops)
    loops.push_back(llvm::json::Object{{"query_segment", segment.querySegment},
                                       {"key_segment", segment.keySegment},
                                       {"live", toJson(segment.live)},
                                       {"full", toJson(segment.full)},
                                       {"partial", toJson(segment.partial)},
                                       {"exact", segment.exact},
                                       {"opaque", segment.opaque},
                                       {"listed", segment.listed},
                                       {"notes", toJson(segment.notes)}});
  attend["bounds"] = std::move(loops);
  return attend;
}

static llvm::json::Object toJson(const AttendReport &report, const HierarchyPart &part,
                                 const AttendCounts *counts) {
  llvm::json::Object level{{"level", part.level},
                           {"node_keys", part.nodeKeys},
                           {"columns", part.columns},
                           {"column_keys", part.columnKeys()}};
  if (part.side != HierarchyPart::Side::Both)
    level["side"] = part.side == HierarchyPart::Side::Before ? "before" : "after";
  if (counts)
    level["columns_per_query"] = columnsPerQuery(report, *counts);
  return level;
}

static void addCounts(llvm::json::Object &attend, const AttendCounts &counted) {
  const SetCounts &counts = counted.counts;
  attend["batch"] = counted.batch;
  attend["heads"] = counted.heads;
  attend["counted"] = counted.counted;
  attend["live_pairs"] = counts.livePairs;
  attend["all_pairs"] = counts.allPairs;
  attend["live_tiles"] = counts.liveTiles;
  attend["full_tiles"] = counts.fullTiles;
  attend["partial_tiles"] = counts.partialTiles();
  attend["empty_tiles"] = counts.emptyTiles();
  attend["all_tiles"] = counts.allTiles;
  attend["total_live_pairs"] = counted.totalLivePairs();
  attend["work_saved"] = workSaved(counts);
}

static void printJson(const Explanation &explanation, llvm::raw_ostream &os) {
  func::FuncOp function = explanation.spec.function;
  llvm::json::Object sizes;
  for (const auto &[name, size] : explanation.spec.sizes)
    sizes[name] = size;
  llvm::json::Array attends;
  for (auto [index, report] : llvm::enumerate(explanation.reports)) {
    llvm::json::Object attend = toJson(report);
    if (explanation.isCounted())
      addCounts(attend, explanation.counts[index]);
    if (report.part)
      attend["hierarchy"] = toJson(report, *report.part, explanation.countsOf(index));
    if (!explanation.plans.empty())
      attend["plan"] = toJson(explanation.plans[index], explanation.countsOf(index));
    attends.push_back(std::move(attend));
  }
  llvm::json::Value root = llvm::json::Object{{"spec", explanation.path},
                                              {"function", function.getSymName()},
                                              {"sizes", std::move(sizes)},
                                              {"attends", std::move(attends)}};
  os << llvm::formatv("{0:2}", root) << '\n';
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Whether all counts can be had in reasonable time; says so when not.
static bool canCount(const Explanation &explanation) {
  double pairs = 0;
  for (const AttendReport &report : explanation.reports)
    pairs += report.opaque ? report.countPairs() : 0;
  if (pairs <= opaqueLimit)
    return true;
  llvm::errs() << "lacuna: note: not counted: a set with sparsity.where is looked at pair by pair, "
                  "and there are "
               << siText(pairs) << " pairs; smaller sizes are counted up to " << siText(opaqueLimit)
               << '\n';
  return false;
}

static int runExplain(const Arguments &arguments) {
  BindOptions bind;
  bind.withoutData = true;
  PlanOptions plan;
  if (int code = readBinding(arguments, bind))
    return code;
  if (int code = readPlan(arguments, plan))
    return code;
  if (int code = checkPlan(arguments, plan))
    return code;
  int64_t threadCount = 0;
  if (int code = readThreads(arguments, threadCount))
    return code;
  LoadedSpec loaded;
  if (int code = loadSpec(arguments, bind, loaded))
    return code;
  const BoundSpec &spec = loaded.bound;
  Explanation explanation{loaded.spec->getPath(), spec, {}, {}, {}};
  if (isOnGpu(plan)) {
    FailureOr<std::vector<PlanReport>> plans = reportPlans(spec, plan);
    if (failed(plans))
      return UserMistake;
    explanation.plans = std::move(*plans);
  }
  FailureOr<std::vector<AttendReport>> reports = reportSets(spec, plan);
  if (failed(reports))
    return UserMistake;
  explanation.reports = std::move(*reports);
  if (canCount(explanation)) {
    runtime::ThreadPool threads(threadCount);
    FailureOr<std::vector<AttendCounts>> counts = countPairs(spec, threads, plan);
    if (failed(counts))
      return UserMistake;
    explanation.counts = std::move(*counts);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  arguments.has("--json") ? printJson(explanation, os) : printText(explanation, os);
  return writeOutput("", text);
}

static const Option options[] = {
    {"--set", "NAME=VALUE,...", "sizes and arguments; what is missing has its declared default"},
    {"--target", "TARGET", "what tiles are for: cpu (default) or cuda, with the planner's reasons"},
    queryTileOption,
    keyTileOption,
    stagesOption,
    querySlotsOption,
    consumerRegistersOption,
    pingPongOption,
    {"--json", "", "print JSON"},
};

const Command explainCommand = {
    .name = "explain",
    .summary = "what the sets of a spec leave to compute, and how it is found",
    .usage = "SPEC [--set n=4096,left=255] [--json]",
    .help =
        "Counts are exact: generated loops of the same bounds that attention runs visit every\n"
        "pair once (rows of pairs in closed form, so that a million tokens take milliseconds).\n"
        "A full tile has live pairs only and needs no mask; a partial tile is masked; an empty\n"
        "tile is never visited. Bounds are formulas in the query tile, the lengths (nq, nk, or n\n"
        "when they are equal) and the spec's own numbers:\n\n"
        "  lacuna explain examples/sliding_window_sinks.mlir --set n=1048576,left=4095\n\n"
        "With --target=cuda the planner's choice for sm_90a is shown too: the pipeline, what a "
        "tile\n"
        "is expected to take, and why other shapes were refused.\n",
    .options = options,
    .positionals = 1,
    .run = runExplain,
};

} // namespace lacuna::tool
