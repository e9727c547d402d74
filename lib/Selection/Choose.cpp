//===- Choose.cpp - the best columns of a scope ----------------------------===//
#include "lib/Selection/Ordering.h"
#include "lib/Selection/Selection.h"

#include <algorithm>

namespace lacuna::selection {

namespace {
/// The rows that compete, in the order in which equal scores are taken.
class Rows {
public:
  explicit Rows(const ChooseRequest &request);

  /// Calls `visit(head, row)` for each.
  template <typename Visit> void forEachRow(Visit visit) const {
    for (int64_t head = heads[0]; head < heads[1]; ++head)
      for (int64_t row = rows[0]; row < rows[1]; ++row)
        visit(head, row);
  }
  /// Calls `visit(score)` for each column of a row.
  template <typename Visit> void forEachColumn(int64_t head, int64_t row, Visit visit) const {
    const float *score = scores.data + batch * scores.strides[0] + head * scores.strides[1] +
                         row * scores.strides[2];
    for (int64_t column = 0; column < columns(); ++column, score += scores.strides[3])
      visit(*score);
  }
  template <typename Visit> void forEach(Visit visit) const {
    forEachRow([&](int64_t head, int64_t row) { forEachColumn(head, row, visit); });
  }
  int64_t columns() const { return scores.extents[3]; }

  int64_t batch;

private:
  const View<const float, 4> &scores;
  int64_t heads[2], rows[2];
};

/// What rules ask about the candidates.
struct Statistics {
  explicit Statistics(const Rows &rows);

  int64_t candidates = 0, forced = 0;
  /// Neither forced nor NaN, so finite.
  int64_t finite = 0;
  float greatest = -INFINITY;
  double sum = 0;
};
} // namespace

Rows::Rows(const ChooseRequest &request)
    : batch(request.at[0]), scores(request.scores), heads{0, request.scores.extents[1]},
      rows{0, request.scores.extents[2]} {
  if (request.scope != Scope::Batch) {
    heads[0] = request.at[1];
    heads[1] = heads[0] + 1;
  }
  if (request.scope == Scope::Row) {
    rows[0] = request.at[2];
    rows[1] = rows[0] + 1;
  }
}

Statistics::Statistics(const Rows &rows) {
  rows.forEach([&](float score) {
    candidates += score != -INFINITY;
    forced += score == INFINITY;
    if (!std::isfinite(score))
      return;
    ++finite;
    greatest = std::max(greatest, score);
    sum += score;
  });
}

/// A number of columns as a rule computes it; NaN counts as none.
static int64_t toCount(double number) {
  if (!(number > 0))
    return 0;
  return static_cast<int64_t>(std::min(number, 0x1p62));
}

static int64_t countFrom(const Rows &rows, double least) {
  int64_t count = 0;
  rows.forEach([&](float score) { count += std::isfinite(score) && score >= least; });
  return count;
}

/// How many of the finite scores, from the greatest on, have a share of at least `number`.
static int64_t countShare(const Rows &rows, const Statistics &statistics, double number) {
  if (!(number > 0))
    return 0;
  if (number >= 1)
    return statistics.finite;
  double total = 0;
  auto weigh = [&](float score) { return std::exp(double(score) - double(statistics.greatest)); };
  rows.forEach([&](float score) {
    if (std::isfinite(score))
      total += weigh(score);
  });
  // As in findCut, with the weights of the keys: the digit in which the sum gets there.
  double wanted = number * total, above = 0;
  int64_t count = 0;
  uint32_t prefix = 0, known = 0;
  for (int shift = 32 - digitBits; shift >= 0; shift -= digitBits) {
    double weights[digits] = {};
    int64_t histogram[digits] = {};
    rows.forEach([&](float score) {
      uint32_t key = orderOf(score);
      if (!std::isfinite(score) || (key & known) != prefix)
        return;
      weights[(key >> shift) & (digits - 1)] += weigh(score);
      ++histogram[(key >> shift) & (digits - 1)];
    });
    int digit = digits - 1;
    for (; digit >= 0 && above + weights[digit] < wanted; --digit) {
      above += weights[digit];
      count += histogram[digit];
    }
    // Sums in another order may end a rounding below the total.
    if (digit < 0)
      return count;
    if (shift == 0 && histogram[digit] > 0) {
      double each = weights[digit] / static_cast<double>(histogram[digit]);
      int64_t needed = each > 0 ? toCount(std::ceil((wanted - above) / each)) : 1;
      return count + std::clamp<int64_t>(needed, wanted > above, histogram[digit]);
    }
    prefix |= static_cast<uint32_t>(digit) << shift;
    known |= (digits - 1) << shift;
  }
  return count;
}

static double variance(const Rows &rows, const Statistics &statistics, double mean) {
  double sum = 0;
  rows.forEach([&](float score) {
    if (std::isfinite(score))
      sum += (score - mean) * (score - mean);
  });
  return sum / static_cast<double>(statistics.finite);
}

/// What the rule says before floor, cap and the number of candidates.
static int64_t countByRule(Rule rule, double number, const Rows &rows,
                           const Statistics &statistics) {
  switch (rule) { // No default: a new rule must break this build.
  case Rule::TopK:
    return toCount(number);
  case Rule::Share:
    return countOfShare(number, statistics.candidates);
  case Rule::TopP:
    return statistics.forced + countShare(rows, statistics, number);
  case Rule::Above:
    return statistics.forced + countFrom(rows, number);
  case Rule::NearMax:
    return statistics.forced + countFrom(rows, statistics.greatest + number);
  case Rule::Deviation: {
    double mean = statistics.sum / static_cast<double>(statistics.finite);
    double deviation = std::sqrt(variance(rows, statistics, mean));
    return statistics.forced + countFrom(rows, mean + number * deviation);
  }
  }
  return 0;
}

/// Writes one row's list: the columns that `cut` takes, then -1.
static void writeList(const ChooseRequest &request, const Rows &rows, int64_t head, int64_t row,
                      Cut &cut) {
  const auto &ids = request.ids;
  int32_t *list =
      ids.data + rows.batch * ids.strides[0] + head * ids.strides[1] + row * ids.strides[2];
  int64_t capacity = ids.extents[3], count = 0;
  int32_t column = 0;
  rows.forEachColumn(head, row, [&](float score) {
    if (cut.takes(candidateOrder(score)) && count < capacity)
      list[count++ * ids.strides[3]] = column;
    ++column;
  });
  const auto &counts = request.counts;
  counts.data[rows.batch * counts.strides[0] + head * counts.strides[1] + row * counts.strides[2]] =
      static_cast<int32_t>(count);
  for (; count < capacity; ++count)
    list[count * ids.strides[3]] = -1;
}

static double numberOf(const ChooseRequest &request) {
  const auto &numbers = request.numbers;
  if (!numbers.data)
    return request.number;
  return numbers.data[request.at[0] * numbers.strides[0] + request.at[1] * numbers.strides[1] +
                      request.at[2] * numbers.strides[2]];
}

void choose(const ChooseRequest &request) {
  Rows rows(request);
  Statistics statistics(rows);
  int64_t count = countByRule(request.rule, numberOf(request), rows, statistics);
  count = std::min(std::max(count, request.floor), std::min(request.cap, statistics.candidates));
  // A list holds no more; of several, each is far from full.
  if (request.scope == Scope::Row)
    count = std::min(count, request.ids.extents[3]);
  Cut cut;
  if (count > 0)
    cut = findCut(
        [&](auto visit) { rows.forEach([&](float score) { visit(candidateOrder(score)); }); },
        count);
  rows.forEachRow([&](int64_t head, int64_t row) { writeList(request, rows, head, row, cut); });
}

} // namespace lacuna::selection
