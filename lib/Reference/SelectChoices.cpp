//===- SelectChoices.cpp - choices by sorting -----------------------------===//
#include "lib/Reference/Comparer.h"
#include "lib/Reference/ParallelFor.h"
#include "lib/Reference/Select.h"

#include <array>
#include <numeric>

namespace lacuna::reference {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double u32 = 0x1p-24;

int64_t countOfShare(double share, int64_t count) {
  constexpr double unit = 4294967296.0;
  if (!(share > 0))
    return 0;
  auto multiple = static_cast<__int128>(std::floor(std::min(share, 0x1p30) * unit));
  __int128 part = multiple * count, one = __int128{1} << 32;
  return static_cast<int64_t>((part + one - 1) / one);
}

static std::vector<int64_t> rowsOf(const Tensor &tensor) {
  return {tensor.shape[0], tensor.shape[1], tensor.shape[2]};
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

std::vector<int64_t> Choice::rowShape() const { return rowsOf(scores); }

double Choice::costPerRow() const { return 40 * static_cast<double>(scores.shape[3]); }

double Choice::at(const RowIndex &row, int64_t place) const {
  int64_t columns = scores.shape[3], rows = scores.shape[2];
  return scores.at({row.batch, place / columns / rows, place / columns % rows, place % columns});
}

std::vector<int64_t> Choice::order(const RowIndex &row) const {
  int64_t columns = scores.shape[3], perHead = scores.shape[2] * columns;
  int64_t first = 0, count = scores.shape[1] * perHead;
  if (scope != ChoiceScope::Batch) {
    first = row.head * perHead;
    count = perHead;
  }
  if (scope == ChoiceScope::Row) {
    first += row.query * columns;
    count = columns;
  }
  std::vector<std::pair<double, int64_t>> candidates;
  for (int64_t place = first; place < first + count; ++place)
    if (double score = at(row, place); score != -infinity)
      candidates.emplace_back(score, place);
  std::sort(candidates.begin(), candidates.end(), [](const auto &a, const auto &b) {
    if (std::isnan(a.first) != std::isnan(b.first))
      return std::isnan(b.first);
    if (a.first != b.first && !std::isnan(a.first))
      return a.first > b.first;
    return a.second < b.second;
  });
  std::vector<int64_t> places;
  for (const auto &[score, place] : candidates)
    places.push_back(place);
  return places;
}

/// Relative error of sums of `count` numbers in f32.
static double sumError(size_t count) {
  return u32 * (16 + 4 * std::sqrt(static_cast<double>(count)));
}

/// Kernels may add exponentials as multiples of this, so that the order of a sum has no meaning.
static constexpr double massUnit = 0x1p-31;

/// How many of falling numbers are at least a threshold that is known up to `error`.
static Choice::Bounds countAbove(const std::vector<double> &falling, double threshold,
                                 double error) {
  Choice::Bounds bounds;
  for (double score : falling) {
    bounds.least += score >= threshold + error;
    bounds.most += score >= threshold - error;
  }
  return bounds;
}

/// How many of falling numbers have a share of at least `number` of their softmax.
static Choice::Bounds countShare(const std::vector<double> &falling, double number) {
  Choice::Bounds bounds;
  if (falling.empty() || !(number > 0))
    return bounds;
  double total = 0, sum = 0;
  double error = 2 * (sumError(falling.size()) + massUnit * static_cast<double>(falling.size()));
  for (double score : falling)
    total += std::exp(score - falling.front());
  for (double score : falling) {
    bounds.least += sum / total < number - error;
    bounds.most += sum / total < number + error;
    sum += std::exp(score - falling.front());
  }
  return bounds;
}

Choice::Bounds Choice::boundsByRule(const RowIndex &row, const std::vector<int64_t> &order) const {
  double wanted = numbers ? numbers->at({row.batch, row.head, row.query}) : number;
  if (rule == ChoiceRule::TopK) {
    auto count = static_cast<int64_t>(std::clamp(wanted, 0.0, 0x1p60));
    return {count, count};
  }
  if (rule == ChoiceRule::Share) {
    int64_t count = countOfShare(wanted, static_cast<int64_t>(order.size()));
    return {count, count};
  }
  int64_t forced = 0;
  std::vector<double> falling;
  for (int64_t place : order) {
    double score = at(row, place);
    forced += score == infinity;
    if (std::isfinite(score))
      falling.push_back(score);
  }
  Bounds bounds;
  if (rule == ChoiceRule::TopP) {
    bounds = countShare(falling, wanted);
  } else if (rule == ChoiceRule::Above) {
    bounds = countAbove(falling, wanted, u32 * std::fabs(wanted));
  } else if (!falling.empty() && rule == ChoiceRule::NearMax) {
    double greatest = falling.front();
    bounds =
        countAbove(falling, greatest + wanted, 4 * u32 * (std::fabs(greatest) + std::fabs(wanted)));
  } else if (!falling.empty()) {
    auto count = static_cast<double>(falling.size());
    double mean = std::accumulate(falling.begin(), falling.end(), 0.0) / count, square = 0;
    double variance = 0;
    for (double score : falling) {
      variance += (score - mean) * (score - mean) / count;
      square += score * score / count;
    }
    double error = sumError(falling.size()) * (1 + std::fabs(wanted)) * std::sqrt(square);
    bounds = countAbove(falling, mean + wanted * std::sqrt(variance), error);
  }
  return {forced + bounds.least, forced + bounds.most};
}

Choice::Bounds Choice::bounds(const RowIndex &row, const std::vector<int64_t> &order,
                              int64_t capacity) const {
  auto limit = [&](int64_t count) {
    count = std::min(std::max(count, floor), std::min(cap, static_cast<int64_t>(order.size())));
    return scope == ChoiceScope::Row ? std::min(count, capacity) : count;
  };
  Bounds found = boundsByRule(row, order);
  return {limit(found.least), limit(found.most)};
}

namespace {
/// Compares lists with what they should be, entry by entry.
class ListComparer {
public:
  explicit ListComparer(const std::vector<Tensor> &results) : results(results) {}

  int64_t capacity() const { return results[0].shape[3]; }
  int64_t countAt(const RowIndex &row) const {
    return static_cast<int64_t>(results[1].at({row.batch, row.head, row.query}));
  }
  int64_t idAt(const RowIndex &row, int64_t entry) const {
    return static_cast<int64_t>(results[0].at({row.batch, row.head, row.query, entry}));
  }
  /// `columns` in rising order.
  void add(const RowIndex &row, const std::vector<int64_t> &columns) {
    auto count = static_cast<int64_t>(columns.size());
    counts.add(static_cast<double>(countAt(row)), static_cast<double>(count), half,
               {row.batch, row.head, row.query});
    for (int64_t entry = 0; entry < capacity(); ++entry) {
      double expected =
          entry < count ? static_cast<double>(columns[static_cast<size_t>(entry)]) : -1;
      ids.add(static_cast<double>(idAt(row, entry)), expected, half,
              {row.batch, row.head, row.query, entry});
    }
  }
  std::vector<Comparison> finish() { return {ids.finish(), counts.finish()}; }

private:
  /// Whole numbers agree or do not.
  static constexpr double half = 0.5;
  const std::vector<Tensor> &results;
  Comparer ids, counts;
};
} // namespace

/// One row for each scope that has one of `rows`.
static std::vector<RowIndex> scopesOf(const std::vector<RowIndex> &rows, ChoiceScope scope) {
  std::vector<RowIndex> scopes;
  for (RowIndex row : rows) {
    row.query = scope == ChoiceScope::Row ? row.query : 0;
    row.head = scope == ChoiceScope::Batch ? 0 : row.head;
    if (scopes.empty() || !(scopes.back() == row))
      scopes.push_back(row);
  }
  return scopes;
}

std::vector<Comparison> Choice::compare(const std::vector<Tensor> &results,
                                        const std::vector<RowIndex> &rows, unsigned threads) const {
  ListComparer lists(results);
  std::vector<RowIndex> scopes = scopesOf(rows, scope);
  int64_t perHead = scores.shape[2], columns = scores.shape[3];
  // Rows of a scope, counted over heads.
  auto linesOf = [&](const RowIndex &at) -> std::pair<int64_t, int64_t> {
    if (scope == ChoiceScope::Batch)
      return {0, scores.shape[1] * perHead};
    int64_t first = at.head * perHead;
    return scope == ChoiceScope::Head ? std::pair(first, first + perHead)
                                      : std::pair(first + at.query, first + at.query + 1);
  };
  std::vector<std::vector<int64_t>> chosen(scopes.size());
  parallelFor(static_cast<int64_t>(scopes.size()), threads, [&](int64_t index) {
    const RowIndex &at = scopes[static_cast<size_t>(index)];
    std::vector<int64_t> places = order(at);
    auto [first, last] = linesOf(at);
    int64_t count = 0;
    for (int64_t line = first; line < last; ++line)
      count += lists.countAt({at.batch, line / perHead, line % perHead});
    Bounds found = bounds(at, places, lists.capacity());
    places.resize(static_cast<size_t>(std::clamp(count, found.least, found.most)));
    std::sort(places.begin(), places.end());
    chosen[static_cast<size_t>(index)] = std::move(places);
  });
  for (size_t index = 0; index < scopes.size(); ++index) {
    auto next = chosen[index].begin();
    auto [first, last] = linesOf(scopes[index]);
    for (int64_t line = first; line < last; ++line) {
      std::vector<int64_t> list;
      for (; next != chosen[index].end() && *next < (line + 1) * columns; ++next)
        list.push_back(*next - line * columns);
      lists.add({scopes[index].batch, line / perHead, line % perHead}, list);
    }
  }
  return lists.finish();
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

double drawAt(int64_t seed, const RowIndex &row, int64_t column) {
  std::array<uint64_t, 4> x = {static_cast<uint64_t>(column), static_cast<uint64_t>(row.query),
                               static_cast<uint64_t>(row.head), static_cast<uint64_t>(row.batch)};
  for (uint64_t &word : x)
    word &= 0xFFFFFFFF;
  uint64_t low = static_cast<uint64_t>(seed) & 0xFFFFFFFF, high = static_cast<uint64_t>(seed) >> 32;
  for (uint64_t round = 0; round < 10; ++round) {
    uint64_t a = 0xD2511F53 * x[0], b = 0xCD9E8D57 * x[2];
    uint64_t keyLow = (low + round * 0x9E3779B9) & 0xFFFFFFFF;
    uint64_t keyHigh = (high + round * 0xBB67AE85) & 0xFFFFFFFF;
    x = {(b >> 32) ^ x[1] ^ keyLow, b & 0xFFFFFFFF, (a >> 32) ^ x[3] ^ keyHigh, a & 0xFFFFFFFF};
  }
  return static_cast<double>(x[0] >> 8) / 16777216.0;
}

std::vector<int64_t> Sample::rowShape() const { return rowsOf(scores); }

double Sample::costPerRow() const { return 100 * static_cast<double>(scores.shape[3]); }

std::vector<Estimate> Sample::chances(const RowIndex &row) const {
  std::vector<double> values;
  double greatest = -infinity, total = 0;
  for (int64_t column = 0; column < scores.shape[3]; ++column) {
    values.push_back(scores.at({row.batch, row.head, row.query, column}));
    if (std::isfinite(values.back()))
      greatest = std::max(greatest, values.back());
  }
  for (double value : values)
    if (std::isfinite(value))
      total += std::exp(value - greatest);
  std::vector<Estimate> chances;
  for (double value : values) {
    if (value == infinity)
      chances.push_back({1, 0});
    else if (!std::isfinite(value))
      chances.push_back({NAN, 0});
    else {
      double chance = number * std::exp(value - greatest) / total;
      double rounding = sumError(values.size()) + massUnit * static_cast<double>(values.size());
      double error =
          chance * 2 * (rounding + 2 * u32 * (greatest - value)) + number * massUnit / total;
      chances.push_back({std::min(chance, 1.0), error});
    }
  }
  return chances;
}

std::vector<Comparison> Sample::compare(const std::vector<Tensor> &results,
                                        const std::vector<RowIndex> &rows, unsigned) const {
  ListComparer lists(results);
  Comparer weights;
  for (const RowIndex &row : rows) {
    std::vector<Estimate> exact = chances(row);
    std::vector<bool> isListed(exact.size(), false);
    for (int64_t entry = 0; entry < std::min(lists.countAt(row), lists.capacity()); ++entry)
      if (auto id = static_cast<size_t>(lists.idAt(row, entry)); id < isListed.size())
        isListed[id] = true;
    std::vector<int64_t> expected;
    for (size_t column = 0; column < exact.size(); ++column) {
      const Estimate &chance = exact[column];
      double drawn = drawAt(seed, row, static_cast<int64_t>(column));
      // Within rounding of the chance either is right.
      bool isDrawn = std::fabs(drawn - chance.exact) <= chance.tolerance ? isListed[column]
                                                                         : drawn < chance.exact;
      if (isDrawn && static_cast<int64_t>(expected.size()) < lists.capacity())
        expected.push_back(static_cast<int64_t>(column));
    }
    lists.add(row, expected);
    for (int64_t entry = 0; entry < lists.capacity(); ++entry) {
      std::vector<int64_t> where = {row.batch, row.head, row.query, entry};
      Estimate weight{0, 0};
      if (entry < static_cast<int64_t>(expected.size())) {
        const Estimate &chance = exact[static_cast<size_t>(expected[static_cast<size_t>(entry)])];
        weight.exact = 1 / chance.exact;
        weight.tolerance = 2 * weight.exact * (chance.tolerance / chance.exact + 2 * u32);
      }
      double got = results[2].at(where);
      weights.add(got, weight.exact, weight.tolerance, std::move(where));
    }
  }
  std::vector<Comparison> found = lists.finish();
  found.push_back(weights.finish());
  return found;
}

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

std::vector<int64_t> Gate::rowShape() const { return rowsOf(values); }

double Gate::costPerRow() const { return 40; }

std::vector<Comparison> Gate::compare(const std::vector<Tensor> &results,
                                      const std::vector<RowIndex> &rows, unsigned) const {
  Comparer comparer;
  std::vector<double> expected;
  int64_t batch = -1, perHead = values.shape[2];
  for (const RowIndex &row : rows) {
    if (row.batch != batch) {
      batch = row.batch;
      std::vector<std::pair<double, int64_t>> sorted;
      for (int64_t line = 0; line < values.shape[1] * perHead; ++line)
        sorted.emplace_back(values.at({batch, line / perHead, line % perHead}), line);
      std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
        if (std::isnan(a.first) != std::isnan(b.first))
          return std::isnan(b.first);
        return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
      });
      expected.assign(sorted.size(), static_cast<double>(high));
      auto count = static_cast<size_t>(
          std::min(countOfShare(share, values.shape[1] * perHead), values.shape[1] * perHead));
      for (size_t place = 0; place < count; ++place)
        expected[static_cast<size_t>(sorted[place].second)] = static_cast<double>(low);
    }
    std::vector<int64_t> where = {row.batch, row.head, row.query};
    double got = results.front().at(where);
    comparer.add(got, expected[static_cast<size_t>(row.head * perHead + row.query)], 0.5,
                 std::move(where));
  }
  return {comparer.finish()};
}

} // namespace lacuna::reference
