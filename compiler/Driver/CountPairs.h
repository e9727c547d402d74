//===- CountPairs.h - how much work a spec's sets leave -------------------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "compiler/Pipelines/Pipelines.h"
#include "lacuna/Executor.h"

namespace lacuna {

/// Pairs and tiles of a set.
struct SetCounts {
  int64_t livePairs = 0, liveTiles = 0, fullTiles = 0, allPairs = 0, allTiles = 0;

  int64_t partialTiles() const { return liveTiles - fullTiles; }
  int64_t emptyTiles() const { return allTiles - liveTiles; }
};

/// The counts of one attend.
struct AttendCounts {
  int64_t batch = 0, heads = 0;
  /// Channels of a key and its value.
  int64_t channels = 0;
  /// How many entries (of a batch and a head) were counted: 1 when all of them are alike.
  int64_t counted = 0;
  /// Sums over the counted entries.
  SetCounts counts;

  /// Over all batches and heads.
  int64_t totalLivePairs() const { return total(counts.livePairs); }
  int64_t totalPairs() const { return total(counts.allPairs); }

private:
  int64_t total(int64_t sum) const { return counted == 0 ? 0 : sum * (batch * heads / counted); }
};

/// The extent of queries or keys of an attend along axis 0, 1 or 2, as `spec` binds it; 0 when
/// neither the type nor an argument tells.
int64_t boundExtent(const BoundSpec &spec, mlir::Value tokens, unsigned axis);

/// Counts for every attend of a spec, in order, by running loops of the same bounds that attention
/// would run. Float tensors of `spec` need no memory. After a mistake a diagnostic is emitted.
mlir::FailureOr<std::vector<AttendCounts>> countPairs(const BoundSpec &spec, Executor &executor,
                                                      const SpecToTileOptions &tiles = {});

/// What is left to compute, over all attends, heads and batch entries.
struct AttentionWork {
  int64_t livePairs = 0, allPairs = 0;
  /// Two products per live pair, two operations per multiply-add.
  double flops = 0;
};
mlir::FailureOr<AttentionWork> countWork(const BoundSpec &spec, Executor &executor,
                                         const SpecToTileOptions &tiles = {});

/// The map of one pair of segments of an attend.
struct TileMap {
  unsigned attend = 0, querySegment = 0, keySegment = 0;
  /// i8, batch x head x rows x columns: 0 empty, 1 partial, 2 full; an extent of 1 for batch or
  /// head stands for all.
  OwnedTensor classes;
};

/// Maps for every attend of a spec: of tiles, or with `elements` of pairs.
mlir::FailureOr<std::vector<TileMap>> mapTiles(const BoundSpec &spec, bool elements,
                                               Executor &executor,
                                               const SpecToTileOptions &tiles = {});

} // namespace lacuna
