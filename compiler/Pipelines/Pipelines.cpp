//===- Pipelines.cpp - the passes in the order that works -----------------===//
//
// Why this order. Each pass says in Passes.td what it requires and leaves; this
// is the one place that puts them together.
//
//  spec to tile
//   0. expand-hierarchies   First, while the set that an attend names is the user's.
//      split-segments       One set per pair of segments, so that their algebra is
//                           simplified like that of sets on one segment.
//   1. canonicalize, cse    Set algebra first: every set that folds away is one
//                           formula, one loop and one mask less below.
//   2. bitmaps-to-lists     Before tiles are chosen, which lie in the blocks of lists.
//      assign-tiles         Needs the sets' domains, which kernels no longer show.
//   3. select-to-tile, linear-to-tile, attn-to-tile
//                           From here on programs, not sets, are rewritten.
//   4. expand-lists         Loops over entries of lists have loops over sets inside,
//                           which the passes below treat like any other.
//   5. canonicalize, cse    The kernels repeat sizes and constants; the passes
//                           below compare values and want each once.
//   6. peel-full-tiles      While loops still name their set and class: a loop
//                           over full tiles needs no mask, so none is expanded.
//
//  tile to loops
//   7. expand-masks         Before the loops, while each mask knows its set's axes
//                           from the loop that it stands in.
//   8. expand-footprints    The last reader of sets; what it leaves is plain
//                           control flow that any target can take.
//   9. canonicalize, cse    Bounds of neighbouring loops share most of their terms.
//
//  loops to Hopper
//      fold-restrictions, fuse-refinements, share-summaries
//                           Kernels that select; no other pass looks at them. Restrictions
//                           first: what is left over is no part of a level.
//  10. tile-to-hopper       Loops go to the producer, what a tile needs to the consumers.
//  11. factor-masks         Element functions are short and in one place now.
//  12. hopper-pack-tiles    Before registers and rings, which follow the size of tiles.
//  13. hopper-assign-roles, hopper-place-rings, hopper-schedule
//                           Roles first: a schedule needs to know how many take turns.
//  14. separate-results     Last, for nothing may merge equal launches again.
//
//===----------------------------------------------------------------------===//
#include "compiler/Pipelines/Pipelines.h"

#include "compiler/Passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace lacuna;

static void addCleanup(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

void lacuna::buildSimplifySets(OpPassManager &passes) {
  passes.addPass(createExpandHierarchiesPass());
  passes.addPass(createSplitSegmentsPass());
  addCleanup(passes);
}

/// The options of a pass that are options of the pipeline.
template <typename PassOptions> static PassOptions makeTiles(const SpecToTileOptions &options) {
  PassOptions tiles;
  tiles.target = options.target;
  tiles.queryTile.assign(options.queryTile.begin(), options.queryTile.end());
  tiles.keyTile.assign(options.keyTile.begin(), options.keyTile.end());
  return tiles;
}

void lacuna::buildPrepareSets(OpPassManager &passes, const SpecToTileOptions &options) {
  buildSimplifySets(passes);
  passes.addNestedPass<func::FuncOp>(
      createBitmapsToListsPass(makeTiles<BitmapsToListsPassOptions>(options)));
  passes.addNestedPass<func::FuncOp>(createListsToBitmapsPass());
  addCleanup(passes);
}

void lacuna::buildAssignTiles(OpPassManager &passes, const SpecToTileOptions &options) {
  buildPrepareSets(passes, options);
  passes.addNestedPass<func::FuncOp>(
      createAssignTilesPass(makeTiles<AssignTilesPassOptions>(options)));
}

void lacuna::buildSpecToTile(OpPassManager &passes, const SpecToTileOptions &options) {
  buildAssignTiles(passes, options);
  passes.addPass(createSelectToTilePass());
  passes.addPass(createLinearToTilePass());
  passes.addPass(createAttnToTilePass());
  passes.addPass(createExpandListsPass());
  addCleanup(passes);
  passes.addPass(createPeelFullTilesPass());
}

void lacuna::buildTilesToCounts(OpPassManager &passes, bool unaligned) {
  passes.addPass(createAttnToCountsPass());
  passes.addPass(createExpandListsPass());
  addCleanup(passes);
  buildTileToLoops(passes, unaligned);
}

void lacuna::buildTilesToMap(OpPassManager &passes, bool elements) {
  passes.addPass(createAttnToMapPass(AttnToMapPassOptions{elements}));
  passes.addPass(createExpandListsPass());
  addCleanup(passes);
  buildTileToLoops(passes);
}

void lacuna::buildTileToLoops(OpPassManager &passes, bool unaligned) {
  passes.addPass(createExpandMasksPass());
  passes.addPass(createExpandFootprintsPass(ExpandFootprintsPassOptions{unaligned}));
  addCleanup(passes);
}

void lacuna::buildLoopsToHopper(OpPassManager &passes, const SpecToHopperOptions &options) {
  passes.addPass(createFoldRestrictionsPass());
  passes.addPass(createFuseRefinementsPass());
  passes.addPass(createShareSummariesPass());
  // Element functions may only use values from outside the walk.
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createTileToHopperPass());
  addCleanup(passes);
  passes.addPass(createFactorMasksPass());
  addCleanup(passes);
  passes.addPass(createHopperPackTilesPass());
  passes.addPass(createHopperAssignRolesPass({options.consumerRegisters}));
  passes.addPass(createHopperPlaceRingsPass({options.stages, options.querySlots}));
  passes.addPass(createHopperSchedulePass({options.pingPong}));
  passes.addNestedPass<func::FuncOp>(createSeparateResultsPass());
}

void lacuna::buildSpecToHopper(OpPassManager &passes, const SpecToHopperOptions &options) {
  buildSpecToTile(passes, options);
  // The copy engine takes boxes from anywhere.
  buildTileToLoops(passes, /*unaligned=*/true);
  buildLoopsToHopper(passes, options);
}

void lacuna::registerLacunaPipelines() {
  PassPipelineRegistration<>("lacuna-loops-to-hopper",
                             "loops over tiles as planned Hopper pipelines",
                             [](OpPassManager &passes) { buildLoopsToHopper(passes); });
  PassPipelineRegistration<SpecToTileOptions>(
      "lacuna-spec-to-tile", "a spec as tile programs with masks in partial tiles only",
      [](OpPassManager &passes, const SpecToTileOptions &options) {
        buildSpecToTile(passes, options);
      });
  PassPipelineRegistration<SpecToHopperOptions>(
      "lacuna-spec-to-hopper", "a spec as planned Hopper pipelines",
      [](OpPassManager &passes, const SpecToHopperOptions &options) {
        buildSpecToHopper(passes, options);
      });
  PassPipelineRegistration<>("lacuna-tile-to-loops",
                             "tile programs over sets as loops with closed-form bounds",
                             [](OpPassManager &passes) { buildTileToLoops(passes); });
}
