//===- TileRegions.h - disjoint lists of polyhedra ------------------------===//
#pragma once

#include "compiler/Analysis/Polyhedron.h"

namespace lacuna {

/// The points of a polyhedron that lie in no hole and, if there are covers, in at least one cover.
struct TileRegion {
  Polyhedron polyhedron;
  std::vector<Polyhedron> holes, covers;
};

/// Set operations on lists of polyhedra and regions, under constraints that always hold. A
/// difference of polyhedra can fall into many parts; beyond a few the removed polyhedra stay as
/// holes, so that lists stay short whatever is subtracted.
class RegionAlgebra {
public:
  /// `bounds` hold in every polyhedron that will come. Refers to all of its arguments: columns and
  /// constraints may be added later.
  RegionAlgebra(const Columns &columns, const llvm::SmallVectorImpl<Row> &context,
                const llvm::SmallVectorImpl<Row> &bounds, const llvm::BitVector &keys)
      : columns(columns), context(context), bounds(bounds), keys(keys) {}

  /// The same union with short constraints, and without polyhedra that are empty or inside the
  /// union of those before them.
  std::vector<Polyhedron> simplify(llvm::ArrayRef<Polyhedron> pieces) const;

  /// Disjoint regions with the union of `pieces`: at most `limit`, else a single one.
  std::vector<TileRegion> makeDisjoint(llvm::ArrayRef<Polyhedron> pieces, unsigned limit) const;

  /// `regions` without the points of `removed`.
  std::vector<TileRegion> without(llvm::ArrayRef<TileRegion> regions,
                                  llvm::ArrayRef<Polyhedron> removed) const;

  /// One region with the union of `pieces`.
  TileRegion cover(llvm::ArrayRef<Polyhedron> pieces) const;

private:
  bool isEmptyHere(llvm::ArrayRef<Row> rows) const;
  /// `polyhedron` where rows of `mentioned` may be asked about.
  LinearSystem systemOf(const Polyhedron &polyhedron,
                        llvm::ArrayRef<llvm::ArrayRef<Row>> mentioned) const;
  /// Constraints without key tiles.
  unsigned countGuards(const Polyhedron &polyhedron) const;
  bool isInside(const Polyhedron &inner, const Polyhedron &outer) const;
  /// The constraints that all `pieces` fulfil, out of those that they have.
  Polyhedron hull(llvm::ArrayRef<Polyhedron> pieces) const;
  /// The constraints of `polyhedron` that do not hold in all of `outer` anyway.
  Polyhedron within(const Polyhedron &polyhedron, const Polyhedron &outer) const;
  /// Appends the parts of `minuend` outside of `subtrahend`.
  void subtract(const Polyhedron &minuend, const Polyhedron &subtrahend,
                std::vector<Polyhedron> &result) const;

  const Columns &columns;
  const llvm::SmallVectorImpl<Row> &context, &bounds;
  const llvm::BitVector &keys;
};

} // namespace lacuna
