//===- Pipelines.h - the passes in the order that works -------------------===//
#pragma once

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace lacuna {

/// What the user may fix about tiles; empty lists leave the choice to the compiler.
struct SpecToTileOptions : public mlir::PassPipelineOptions<SpecToTileOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("what the tiles are for: cpu or sm_90a"),
                             llvm::cl::init("cpu")};
  ListOption<int64_t> queryTile{
      *this, "query-tile", llvm::cl::desc("tokens per query tile: one number, or one per axis")};
  ListOption<int64_t> keyTile{*this, "key-tile",
                              llvm::cl::desc("tokens per key tile: one number, or one per axis")};
};

/// What the user may fix about Hopper pipelines besides tiles; 0 leaves the choice to the planner.
struct SpecToHopperOptions : public SpecToTileOptions {
  SpecToHopperOptions() { target = "sm_90a"; }

  Option<int64_t> stages{*this, "stages",
                         llvm::cl::desc("depth of the rings of keys and values; 0 chooses"),
                         llvm::cl::init(0)};
  Option<int64_t> querySlots{*this, "query-slots",
                             llvm::cl::desc("query tiles in shared memory; 0 chooses"),
                             llvm::cl::init(0)};
  Option<int64_t> consumerRegisters{*this, "consumer-registers",
                                    llvm::cl::desc("registers per consumer thread; 0 chooses"),
                                    llvm::cl::init(0)};
  Option<bool> pingPong{*this, "ping-pong",
                        llvm::cl::desc("warpgroups take turns at the tensor cores"),
                        llvm::cl::init(false)};
};

/// One set per pair of segments, in canonical form.
void buildSimplifySets(mlir::OpPassManager &passes);

/// The same, with lists in place of bitmaps where attention may walk them.
void buildPrepareSets(mlir::OpPassManager &passes, const SpecToTileOptions &options = {});

/// Prepares sets and gives every attend its tiles: the first steps of all that follow from a
/// spec.
void buildAssignTiles(mlir::OpPassManager &passes, const SpecToTileOptions &options = {});

/// func + sparsity + attn to tile.kernel with masks in partial tiles only (`lacuna-spec-to-tile`).
void buildSpecToTile(mlir::OpPassManager &passes, const SpecToTileOptions &options = {});

/// tile.kernel with sets to tile.kernel with predicates and closed-form loops, in which no set is
/// left (`lacuna-tile-to-loops`). With `unaligned`, key tiles on several axes may start at any key.
void buildTileToLoops(mlir::OpPassManager &passes, bool unaligned = false);

/// Loops over tiles to planned Hopper pipelines (`lacuna-loops-to-hopper`).
void buildLoopsToHopper(mlir::OpPassManager &passes, const SpecToHopperOptions &options = {});

/// A spec as planned Hopper pipelines (`lacuna-spec-to-hopper`): all of the above in order.
void buildSpecToHopper(mlir::OpPassManager &passes, const SpecToHopperOptions &options = {});

/// After `buildAssignTiles`: kernels that count what attends visit, with closed-form loops.
/// With `unaligned`, tiles start at the first live key where they can, as on Hopper.
void buildTilesToCounts(mlir::OpPassManager &passes, bool unaligned = false);

/// After `buildAssignTiles`: kernels that write the class of every tile, or of every pair.
void buildTilesToMap(mlir::OpPassManager &passes, bool elements);

/// Makes the pipelines known to command lines by their names.
void registerLacunaPipelines();

} // namespace lacuna
