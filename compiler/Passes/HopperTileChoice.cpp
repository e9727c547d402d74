//===- HopperTileChoice.cpp - tile shapes of an attend for sm_90a ---------===//
#include "compiler/Passes/HopperTileChoice.h"

using namespace mlir;
using namespace lacuna;

FailureOr<std::vector<HopperCandidate>> lacuna::compareHopperTiles(attn::AttendOp op,
                                                                   const Segments &segments,
                                                                   const Extents &query,
                                                                   const Extents &key) {
  HopperProblem problem = {op.getQuery().getType().getDimSize(3),
                           op.getValue().getType().getDimSize(3), query, key};
  // A head dimension that is not known, or is none at all, is refused later.
  problem.headDim = std::max<int64_t>(problem.headDim, 1);
  problem.valueDim = std::max<int64_t>(problem.valueDim, 1);
  if (segments.getRank(0) == 1)
    return compareForSequence(problem);
  AssumedNumbers numbers;
  SmallVector<int64_t> sizes;
  for (OpFoldResult size : segments.getSizes(0))
    sizes.push_back(std::max<int64_t>(numbers.assume(size, AssumedNumbers::typicalSize), 1));
  FailureOr<KeySpans> spans = KeySpans::compute(op.getSet(), sizes, numbers);
  if (failed(spans))
    return failure();
  return compareForGrid(problem, *spans);
}
