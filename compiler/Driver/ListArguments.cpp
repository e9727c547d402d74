//===- ListArguments.cpp - lists of key blocks as arguments of a spec ------===//
#include "compiler/Driver/ListArguments.h"

#include "lib/Support/Text.h"

#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace lacuna {

std::optional<ListArgument> findListArgument(BlockArgument argument) {
  for (OpOperand &use : argument.getUses())
    if (auto op = dyn_cast<sparsity::BlocksOp>(use.getOwner()))
      return ListArgument{op, use.get() == op.getCounts()};
  return std::nullopt;
}

sparsity::BitmapOp findBitmapArgument(BlockArgument argument) {
  for (Operation *user : argument.getUsers())
    if (auto map = dyn_cast<sparsity::BitmapOp>(user))
      return map;
  return {};
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

std::vector<double> drawBitmap(int64_t rows, int64_t columns, double share, Random &random) {
  share = std::clamp(share, 0.0, 1.0);
  auto marked = static_cast<int64_t>(std::llround(share * static_cast<double>(columns)));
  std::vector<double> ids = drawIds(rows, marked, columns, random);
  std::vector<double> bytes(static_cast<size_t>(rows * columns), 0.0);
  auto id = ids.begin();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t entry = 0; entry < marked; ++entry)
      bytes[static_cast<size_t>(row * columns) + static_cast<size_t>(*id++)] = 1;
  return bytes;
}

std::vector<double> drawCounts(int64_t lists, int64_t capacity, Random &random) {
  std::vector<double> counts;
  for (int64_t list = 0; list < lists; ++list)
    counts.push_back(static_cast<double>(random.between(0, capacity)));
  return counts;
}

/// "[1, 0, 7]".
static std::string placeText(ArrayRef<int64_t> at) {
  std::string text;
  llvm::raw_string_ostream(text) << '[' << llvm::interleaved(at) << ']';
  return text;
}

/// The same for one list, whose entries are `at` with a number behind it.
static LogicalResult checkList(sparsity::BlocksOp op, const Tensor &ids, const Tensor &counts,
                               int64_t blocks, std::vector<int64_t> at) {
  const int64_t capacity = ids.shape[3], count = static_cast<int64_t>(counts.at(at));
  if (count < 0 || count > capacity)
    return op.emitError("expected counts of 0 to ")
           << capacity << ", the entries of a list, got " << count << " at " << placeText(at);
  std::vector<bool> isNamed(static_cast<size_t>(blocks));
  at.push_back(0);
  for (int64_t &entry = at.back(); entry < count; ++entry) {
    auto id = static_cast<int64_t>(ids.at(at));
    if (id < 0 || id >= blocks)
      return op.emitError("expected ids of blocks, 0 to ")
             << blocks - 1 << ", got " << id << " at " << placeText(at);
    if (isNamed[static_cast<size_t>(id)])
      return op.emitError("expected each id once in a list, got ")
             << id << " again at " << placeText(at);
    isNamed[static_cast<size_t>(id)] = true;
  }
  return success();
}

LogicalResult checkLists(sparsity::BlocksOp op, const Tensor &ids, const Tensor &counts,
                         int64_t blocks) {
  // A launch refuses other shapes in its own words.
  if (ArrayRef<int64_t>(ids.shape).take_front(3) != ArrayRef<int64_t>(counts.shape))
    return success();
  for (int64_t batch = 0; batch < ids.shape[0]; ++batch)
    for (int64_t head = 0; head < ids.shape[1]; ++head)
      for (int64_t query = 0; query < ids.shape[2]; ++query)
        if (failed(checkList(op, ids, counts, blocks, {batch, head, query})))
          return failure();
  return success();
}

} // namespace lacuna
