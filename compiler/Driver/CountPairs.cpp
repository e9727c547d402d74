//===- CountPairs.cpp - how much work a spec's sets leave -----------------===//
#include "compiler/Driver/CountPairs.h"

#include "compiler/Driver/CpuProgram.h"
#include "compiler/Driver/RunSelections.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/Segments.h"
#include "compiler/Passes/SetKernel.h"
#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"

using namespace mlir;

namespace lacuna {

/// The extent of tokens that come from one of a function's `arguments`.
static int64_t extentOf(ArrayRef<Argument> arguments, Value tokens, unsigned axis) {
  Value source = findTokens(tokens);
  // Summaries and folds have the batch and the heads of their tokens, and a row per block.
  if (auto summary = source.getDefiningOp<select::SummarizeOp>()) {
    int64_t extent = extentOf(arguments, summary.getTokens(), axis);
    return axis == 2 && !summary.getDomain()
               ? llvm::divideCeilSigned(extent, summary.getBlock().front())
               : extent;
  }
  if (auto fold = source.getDefiningOp<select::FoldOp>()) {
    int64_t extent = extentOf(arguments, fold.getTokens(), axis);
    return axis == 2 ? llvm::divideCeilSigned(extent, static_cast<int64_t>(fold.getBy())) : extent;
  }
  if (auto project = source.getDefiningOp<select::ProjectOp>(); project && axis != 3)
    return extentOf(arguments, project.getTokens(), axis);
  auto type = cast<RankedTensorType>(source.getType());
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  auto argument = dyn_cast<BlockArgument>(source);
  return argument ? std::get<Tensor>(arguments[argument.getArgNumber()]).shape[axis] : 0;
}

int64_t boundExtent(const BoundSpec &spec, Value tokens, unsigned axis) {
  return extentOf(spec.arguments, tokens, axis);
}

namespace {
/// A spec's function in a module of its own, rewritten by a study and compiled.
struct Study {
  OwningOpRef<ModuleOp> module;
  std::vector<OwnedTensor> results;
  /// Segments of each attend, in order; each pair of them has one result.
  std::vector<unsigned> segments;
  /// Batch entries and query heads of each attend.
  std::vector<int64_t> batches, heads, channels;
};
} // namespace

/// Tensors without memory get some that every element shares: a study reads their extents only.
static std::vector<Argument> withMemory(const std::vector<Argument> &arguments, uint64_t &shared) {
  std::vector<Argument> result = arguments;
  for (Argument &argument : result)
    if (auto *tensor = std::get_if<Tensor>(&argument); tensor && !tensor->data) {
      tensor->data = &shared;
      tensor->strides.assign(tensor->shape.size(), 0);
    }
  return result;
}

static LogicalResult readSegments(ArrayRef<Argument> arguments, func::FuncOp function,
                                  Study &study) {
  for (auto op : function.getBody().front().getOps<attn::AttendOp>()) {
    Segments segments;
    if (failed(segments.read(op)))
      return failure();
    study.segments.push_back(segments.size());
    study.batches.push_back(extentOf(arguments, op.getQuery(), 0));
    study.heads.push_back(extentOf(arguments, op.getQuery(), 1));
    study.channels.push_back(op.getQuery().getType().getDimSize(3) +
                             op.getValue().getType().getDimSize(3));
  }
  return success();
}

/// Runs the function of `spec` after `lowering`, which makes it return studies of its attends.
static FailureOr<Study> runStudy(const BoundSpec &spec, Executor &executor,
                                 const SpecToTileOptions &tiles,
                                 llvm::function_ref<void(OpPassManager &)> lowering) {
  func::FuncOp original = spec.function;
  Study study;
  // A function that only chooses has no pairs.
  if (original.getBody().front().getOps<attn::AttendOp>().empty())
    return std::move(study);
  study.module = original->getParentOfType<ModuleOp>().clone();
  auto find = [&] { return study.module->lookupSymbol<func::FuncOp>(original.getSymName()); };

  std::vector<Argument> arguments = spec.arguments;
  auto chosen = takeSelections(spec, find(), arguments, executor);
  if (failed(chosen))
    return failure();

  PassManager first(original.getContext()), second(original.getContext());
  buildAssignTiles(first, tiles);
  // Lists that were bitmaps, and summaries of hierarchies, are made by kernels.
  first.addPass(createSelectToTilePass());
  if (failed(first.run(*study.module)) || failed(readSegments(arguments, find(), study)))
    return failure();
  lowering(second);
  if (failed(second.run(*study.module)))
    return failure();
  FailureOr<std::unique_ptr<CpuProgram>> program = CpuProgram::compile(find());
  if (failed(program))
    return failure();
  uint64_t shared = 0;
  auto results = (*program)->run(withMemory(arguments, shared), executor);
  if (!results)
    return original.emitError(results.status().message());
  study.results = std::move(*results);
  return study;
}

/// The sum over all entries of one column of a table of counts.
static int64_t sumColumn(const Tensor &table, int64_t column) {
  const auto *numbers = static_cast<const int64_t *>(table.data);
  int64_t columns = table.shape.back(), sum = 0;
  for (int64_t row = 0, rows = table.elements() / columns; row < rows; ++row)
    sum += numbers[row * columns + column];
  return sum;
}

static void addTable(const Tensor &table, SetCounts &counts) {
  counts.livePairs += sumColumn(table, 0);
  counts.liveTiles += sumColumn(table, 1);
  counts.fullTiles += sumColumn(table, 2);
  counts.allPairs += sumColumn(table, 3);
  counts.allTiles += sumColumn(table, 4);
}

FailureOr<std::vector<AttendCounts>> countPairs(const BoundSpec &spec, Executor &executor,
                                                const SpecToTileOptions &tiles) {
  FailureOr<Study> study = runStudy(spec, executor, tiles, [&](OpPassManager &passes) {
    buildTilesToCounts(passes, /*unaligned=*/tiles.target == "sm_90a");
  });
  if (failed(study))
    return failure();
  std::vector<AttendCounts> all;
  size_t next = 0;
  for (auto [segments, batch, heads, channels] :
       llvm::zip_equal(study->segments, study->batches, study->heads, study->channels)) {
    AttendCounts &attend = all.emplace_back();
    attend.batch = batch;
    attend.heads = heads;
    attend.channels = channels;
    // A part may be alike for all heads while another is not: all count what the finest counts.
    size_t parts = static_cast<size_t>(segments) * segments;
    llvm::ArrayRef<OwnedTensor> tables(study->results.data() + next, parts);
    next += parts;
    for (const OwnedTensor &table : tables)
      attend.counted = std::max(attend.counted, table.view().shape[0] * table.view().shape[1]);
    for (const OwnedTensor &table : tables) {
      SetCounts part;
      addTable(table.view(), part);
      int64_t entries = table.view().shape[0] * table.view().shape[1];
      int64_t times = entries == 0 ? 0 : attend.counted / entries;
      attend.counts.livePairs += times * part.livePairs;
      attend.counts.liveTiles += times * part.liveTiles;
      attend.counts.fullTiles += times * part.fullTiles;
      attend.counts.allPairs += times * part.allPairs;
      attend.counts.allTiles += times * part.allTiles;
    }
  }
  return all;
}

FailureOr<AttentionWork> countWork(const BoundSpec &spec, Executor &executor,
                                   const SpecToTileOptions &tiles) {
  FailureOr<std::vector<AttendCounts>> counts = countPairs(spec, executor, tiles);
  if (failed(counts))
    return failure();
  AttentionWork work;
  for (const AttendCounts &count : *counts) {
    work.livePairs += count.totalLivePairs();
    work.allPairs += count.totalPairs();
    work.flops +=
        2.0 * static_cast<double>(count.channels) * static_cast<double>(count.totalLivePairs());
  }
  return work;
}

FailureOr<std::vector<TileMap>> mapTiles(const BoundSpec &spec, bool elements, Executor &executor,
                                         const SpecToTileOptions &tiles) {
  FailureOr<Study> study = runStudy(
      spec, executor, tiles, [&](OpPassManager &passes) { buildTilesToMap(passes, elements); });
  if (failed(study))
    return failure();
  std::vector<TileMap> maps;
  size_t next = 0;
  for (auto [attend, segments] : llvm::enumerate(study->segments))
    for (unsigned query = 0; query < segments; ++query)
      for (unsigned key = 0; key < segments; ++key)
        maps.push_back(
            {static_cast<unsigned>(attend), query, key, std::move(study->results[next++])});
  return maps;
}

} // namespace lacuna
