//===- TileRegions.cpp - disjoint lists of polyhedra ----------------------===//
#include "compiler/Analysis/TileRegions.h"

#include "llvm/ADT/STLExtras.h"

using namespace lacuna;
using llvm::ArrayRef;
using llvm::BitVector;
using llvm::SmallVector;

/// A region may fall into this many parts; a window without its full tiles has three at most.
static constexpr unsigned maxParts = 3;

bool RegionAlgebra::isEmptyHere(ArrayRef<Row> rows) const {
  SmallVector<Row> all(rows);
  all.append(context.begin(), context.end());
  return !normalize(all) || isEmpty(columns, all);
}

LinearSystem RegionAlgebra::systemOf(const Polyhedron &polyhedron,
                                     ArrayRef<ArrayRef<Row>> mentioned) const {
  SmallVector<ArrayRef<Row>> groups(mentioned);
  groups.append({context, polyhedron.inequalities});
  LinearSystem system(columns, groups);
  system.add(context);
  system.add(polyhedron.inequalities);
  return system;
}

void RegionAlgebra::subtract(const Polyhedron &minuend, const Polyhedron &subtrahend,
                             std::vector<Polyhedron> &result) const {
  // What satisfies the first constraints and violates the next one, for each of them.
  LinearSystem system = systemOf(minuend, {subtrahend.inequalities});
  std::vector<Polyhedron> parts;
  Polyhedron rest = minuend;
  // Lower bounds first: what lies before the subtrahend is then visited before what lies after it.
  auto isUpper = [&](const Row &row) {
    return llvm::any_of(keys.set_bits(), [&](unsigned key) { return row.at(key) < 0; });
  };
  SmallVector<Row> rows;
  for (bool upper : {false, true})
    for (const Row &row : subtrahend.inequalities)
      if (isUpper(row) == upper)
        rows.push_back(row);
  for (const Row &row : rows) {
    Row violated = row * -1 - 1;
    if (system.isEmptyWith(violated))
      continue;
    parts.push_back(rest);
    parts.back().inequalities.push_back(violated);
    rest.inequalities.push_back(row);
    system.add(row);
  }
  if (system.isEmpty())
    result.push_back(minuend);
  else
    llvm::append_range(result, parts);
}

bool RegionAlgebra::isInside(const Polyhedron &inner, const Polyhedron &outer) const {
  LinearSystem system = systemOf(inner, {outer.inequalities});
  return llvm::all_of(outer.inequalities, [&](const Row &row) { return system.implies(row); });
}

std::vector<Polyhedron> RegionAlgebra::simplify(ArrayRef<Polyhedron> pieces) const {
  std::vector<Polyhedron> result;
  for (Polyhedron piece : pieces) {
    if (columns.isExhausted())
      break;
    if (!normalize(piece.inequalities) || isEmptyHere(piece.inequalities))
      continue;
    dropRedundant(columns, piece.inequalities, context, keys);
    if (llvm::any_of(result, [&](const Polyhedron &other) { return isInside(piece, other); }))
      continue;
    llvm::erase_if(result, [&](const Polyhedron &other) { return isInside(other, piece); });
    result.push_back(std::move(piece));
  }
  // Those that exist under fewer conditions first: the others then lose less to them.
  SmallVector<std::tuple<unsigned, unsigned, unsigned>> order;
  for (auto [index, piece] : llvm::enumerate(result))
    order.push_back({countGuards(piece), piece.inequalities.size(), index});
  llvm::sort(order);
  std::vector<Polyhedron> sorted;
  for (auto [guards, rows, index] : order)
    sorted.push_back(std::move(result[index]));
  return sorted;
}

unsigned RegionAlgebra::countGuards(const Polyhedron &polyhedron) const {
  return llvm::count_if(polyhedron.inequalities,
                        [&](const Row &row) { return !columns.dependsOn(row, keys); });
}

Polyhedron RegionAlgebra::within(const Polyhedron &polyhedron, const Polyhedron &outer) const {
  SmallVector<Row> known(ArrayRef<Row>{context});
  known.append(outer.inequalities.begin(), outer.inequalities.end());
  Polyhedron result = polyhedron;
  dropRedundant(columns, result.inequalities, known, BitVector(columns.size()));
  return result;
}

Polyhedron RegionAlgebra::hull(ArrayRef<Polyhedron> pieces) const {
  // Of parallel constraints only the weakest can hold everywhere.
  SmallVector<Row> candidates(ArrayRef<Row>{bounds});
  for (const Polyhedron &piece : pieces) {
    for (const Row &row : piece.inequalities) {
      if (columns.dividesBy(row, keys))
        continue;
      Row *parallel =
          llvm::find_if(candidates, [&](const Row &other) { return other.sameCoefficients(row); });
      if (parallel == candidates.end())
        candidates.push_back(row);
      else if (row.constant() > parallel->constant())
        *parallel = row;
    }
  }
  for (const Polyhedron &piece : pieces) {
    if (columns.isExhausted())
      break;
    LinearSystem system = systemOf(piece, {candidates});
    llvm::erase_if(candidates, [&](const Row &row) { return !system.implies(row); });
  }
  Polyhedron result;
  result.inequalities.assign(candidates.begin(), candidates.end());
  dropRedundant(columns, result.inequalities, context, keys);
  return result;
}

TileRegion RegionAlgebra::cover(ArrayRef<Polyhedron> pieces) const {
  TileRegion region;
  region.polyhedron = hull(pieces);
  for (const Polyhedron &piece : pieces)
    region.covers.push_back(within(piece, region.polyhedron));
  return region;
}

std::vector<TileRegion> RegionAlgebra::without(ArrayRef<TileRegion> regions,
                                               ArrayRef<Polyhedron> removed) const {
  std::vector<TileRegion> result;
  for (const TileRegion &region : regions) {
    std::vector<Polyhedron> parts = {region.polyhedron};
    for (const Polyhedron &hole : removed) {
      std::vector<Polyhedron> next;
      for (const Polyhedron &part : parts)
        subtract(part, hole, next);
      parts = std::move(next);
      if (parts.size() > maxParts || columns.isExhausted())
        break;
    }
    if (parts.size() <= maxParts) {
      for (Polyhedron &part : parts)
        result.push_back({std::move(part), region.holes, region.covers});
      continue;
    }
    result.push_back(region);
    for (const Polyhedron &hole : removed) {
      SmallVector<Row> both(ArrayRef<Row>(region.polyhedron.inequalities));
      both.append(hole.inequalities.begin(), hole.inequalities.end());
      if (!isEmptyHere(both))
        result.back().holes.push_back(within(hole, region.polyhedron));
    }
  }
  return result;
}

std::vector<TileRegion> RegionAlgebra::makeDisjoint(ArrayRef<Polyhedron> pieces,
                                                    unsigned limit) const {
  std::vector<TileRegion> result;
  for (auto [index, piece] : llvm::enumerate(pieces)) {
    llvm::append_range(result, without(TileRegion{piece, {}, {}}, pieces.take_front(index)));
    if (columns.isExhausted())
      break;
    if (result.size() > limit)
      return {cover(pieces)};
  }
  return result;
}
