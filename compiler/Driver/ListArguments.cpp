//===- ListArguments.cpp - lists of key blocks as arguments of a spec ------===//
#include "compiler/Driver/ListArguments.h"

#include "lib/Support/Text.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace lacuna {

std::optional<ListArgument> findListArgument(BlockArgument argument) {
  for (OpOperand &use : argument.getUses())
    if (auto op = dyn_cast<sparsity::BlocksOp>(use.getOwner()))
      return ListArgument{op, use.get() == op.getCounts()};
  return std::nullopt;
}

std::optional<ListRequest> parseListRequest(StringRef text) {
  if (text == "ragged")
    return ListRequest{ListRequest::Kind::Ragged};
  if (!text.consume_back("%"))
    return std::nullopt;
  std::optional<double> percent = parseNumber(text.str());
  if (!percent || !(*percent >= 0 && *percent <= 100))
    return std::nullopt;
  return ListRequest{ListRequest::Kind::Share, *percent / 100};
}

std::vector<double> drawIds(int64_t lists, int64_t capacity, int64_t blocks, Random &random) {
  std::vector<double> ids;
  ids.reserve(static_cast<size_t>(lists * capacity));
  std::vector<int64_t> deck(static_cast<size_t>(blocks));
  std::iota(deck.begin(), deck.end(), int64_t{0});
  const int64_t drawn = std::min(capacity, blocks);
  for (int64_t list = 0; list < lists; ++list) {
    for (int64_t i = 0; i < drawn; ++i)
      std::swap(deck[static_cast<size_t>(i)],
                deck[static_cast<size_t>(random.between(i, blocks - 1))]);
    std::vector<int64_t> one(deck.begin(), deck.begin() + drawn);
    std::sort(one.begin(), one.end());
    ids.insert(ids.end(), one.begin(), one.end());
    ids.insert(ids.end(), static_cast<size_t>(capacity - drawn), -1.0);
  }
  return ids;
}

std::vector<double> drawCounts(int64_t lists, int64_t capacity, Random &random) {
  std::vector<double> counts;
  for (int64_t list = 0; list < lists; ++list)
    counts.push_back(static_cast<double>(random.between(0, capacity)));
  return counts;
}

} // namespace lacuna
