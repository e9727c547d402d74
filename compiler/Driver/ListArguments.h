//===- ListArguments.h - lists of key blocks as arguments of a spec --------===//
#pragma once

#include "dialects/Sparsity/Sparsity.h"
#include "lacuna/Tensor.h"
#include "lib/Support/Random.h"

#include <optional>
#include <vector>

namespace lacuna {

/// A function argument that a `sparsity.blocks` takes its ids or its counts from.
struct ListArgument {
  sparsity::BlocksOp op;
  bool isCounts;
};
std::optional<ListArgument> findListArgument(mlir::BlockArgument argument);

/// The `sparsity.bitmap` that takes its bytes from an argument; null for none.
sparsity::BitmapOp findBitmapArgument(mlir::BlockArgument argument);

/// What `--set ids=10%` and `--set counts=ragged` ask for.
struct ListRequest {
  enum class Kind {
    /// A share of all key blocks, `share` of 1.
    Share,
    /// Any number of entries up to the capacity.
    Ragged,
  };
  Kind kind;
  double share = 0;
};
/// Nothing when the text asks for neither.
std::optional<ListRequest> parseListRequest(llvm::StringRef text);

/// `lists` lists of `capacity` different blocks below `blocks` each, in ascending order; -1 where
/// there are fewer blocks.
std::vector<double> drawIds(int64_t lists, int64_t capacity, int64_t blocks, Random &random);
/// `rows` rows of `columns` bytes, of which a share is 1 and the others are 0.
std::vector<double> drawBitmap(int64_t rows, int64_t columns, double share, Random &random);
/// `lists` numbers from 0 to `capacity`.
std::vector<double> drawCounts(int64_t lists, int64_t capacity, Random &random);

/// Whether the lists of `op` keep what they promise: ids that name one of `blocks` blocks, none of
/// them twice in a list, and counts from 0 to the capacity. Emits the first entry that does not.
mlir::LogicalResult checkLists(sparsity::BlocksOp op, const Tensor &ids, const Tensor &counts,
                               int64_t blocks);

} // namespace lacuna
