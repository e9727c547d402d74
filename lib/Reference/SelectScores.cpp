//===- SelectScores.cpp - scores of blocks, pair by pair -------------------===//
#include "lib/Reference/RowReader.h"
#include "lib/Reference/Select.h"

#include <cmath>
#include <limits>

namespace lacuna::reference {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double u32 = 0x1p-24;

/// A score and how far a kernel's may be; one of nothing is not there.
struct BlockScores::Score {
  double value = -infinity, error = 0;
  bool isThere = false;
};

/// What is read of one query row and one key at a time.
struct BlockScores::Rows {
  std::vector<double> query, key, companion;
};

std::vector<int64_t> BlockScores::rowShape() const {
  return {query.shape[0], query.shape[1] / group, (query.shape[2] + rows - 1) / rows};
}

double BlockScores::costPerRow() const {
  auto pairs = static_cast<double>(rows * group) * static_cast<double>(key.shape[2]);
  return pairs * (2 * static_cast<double>(query.shape[3]) + 12);
}

/// What f32 makes of a number that is too large for it.
static double toRange(double value) {
  return std::isfinite(value) && std::fabs(value) > 3.4028235677973366e38
             ? std::copysign(infinity, value)
             : value;
}

BlockScores::Score BlockScores::pair(const RowIndex &index, int64_t j, const Rows &read) const {
  double value = 0, second = 0, absolute = 0, length = 0;
  for (size_t channel = 0; channel < read.query.size(); ++channel) {
    double q = read.query[channel], product = q * read.key[channel];
    length += q * q;
    if (kind == PairKind::Box) {
      double other = q * read.companion[channel];
      absolute += std::max(std::fabs(product), std::fabs(other));
      product = std::isnan(other) || other > product ? other : product;
    } else {
      absolute += std::fabs(product);
    }
    if (kind == PairKind::Quadratic)
      second += q * q * read.companion[channel];
    value += product;
  }
  value *= scale;
  absolute *= std::fabs(scale);
  if (kind == PairKind::Ball)
    second = scale * std::sqrt(length) * read.companion.front();
  else if (kind == PairKind::Quadratic)
    second *= scale * scale / 2;
  value = toRange(value + second);
  absolute += std::fabs(second);
  if (function) {
    int64_t position = index.query + (isFromStart ? 0 : key.shape[2] - query.shape[2]);
    Register given[] = {{0, value}, {index.batch, 0}, {index.head, 0}, {position, 0}, {j, 0}};
    value = toRange(function->run(given).number);
    if (std::isfinite(value))
      absolute = std::max(absolute, std::fabs(value));
  }
  // What an infinity went into has no rounding left to speak of.
  if (!std::isfinite(absolute))
    absolute = std::isfinite(value) ? std::fabs(value) : 0;
  double terms = 4 + 2 * std::sqrt(static_cast<double>(read.query.size()));
  double error = u32 * terms * absolute;
  if (lse) {
    double total = lse->at({index.batch, index.head, index.query});
    error += u32 * (8 + std::fabs(value) + std::fabs(total));
    // Of an attention that saw nothing every share is 0.
    value = total == -infinity ? 0 : toRange(std::exp(value - total));
    error = value == 0 || !std::isfinite(value) ? 0 : error * value;
  }
  if (weights) {
    double weight = weights->at({index.batch, index.head, index.query});
    value = toRange(weight * value);
    error = std::isfinite(value) ? std::fabs(weight) * error + u32 * std::fabs(value) : 0;
  }
  return {value, error, true};
}

BlockScores::Score BlockScores::reduce(ReductionKind kind, const std::vector<Score> &scores) {
  Score result;
  double count = 0, greatest = -infinity, sum = 0, magnitude = 0, errors = 0, largestError = 0;
  bool isPoisoned = false;
  for (const Score &score : scores) {
    if (!score.isThere)
      continue;
    result.isThere = true;
    ++count;
    isPoisoned |= std::isnan(score.value);
    greatest = std::max(greatest, score.value);
    sum += score.value;
    magnitude += std::fabs(score.value);
    errors += score.error;
    largestError = std::max(largestError, score.error);
  }
  if (!result.isThere)
    return result;
  double rounding = u32 * (4 + 2 * std::sqrt(count)) * magnitude;
  result.value = NAN;
  if (isPoisoned)
    return result;
  switch (kind) { // No default: a new kind must break this build.
  case ReductionKind::Sum:
    result.value = toRange(sum);
    result.error = errors + rounding;
    break;
  case ReductionKind::Mean:
    result.value = sum / count;
    result.error = (errors + rounding) / count;
    break;
  case ReductionKind::Max:
    result.value = greatest;
    result.error = largestError;
    break;
  case ReductionKind::LogSumExp: {
    result.value = greatest;
    if (!std::isfinite(greatest))
      break;
    double total = 0;
    for (const Score &score : scores)
      if (score.isThere)
        total += std::exp(score.value - greatest);
    result.value = greatest + std::log(total);
    result.error = largestError + u32 * (16 + 4 * std::sqrt(count) + 2 * std::fabs(result.value));
    break;
  }
  }
  return result;
}

std::vector<BlockScores::Score> BlockScores::reduceRow(int64_t batch, int64_t head,
                                                       int64_t queryRow, Rows &read) const {
  RowReader(query).read(batch, head, queryRow, read.query);
  RowReader keys(key), companions(companion ? *companion : key);
  int64_t keyHead = key.shape[1] == 0 ? 0 : head / (query.shape[1] / key.shape[1]);
  Grid queryGrid{{query.shape[2]}}, keyGrid{{key.shape[2]}};
  int64_t width = columns == 0 ? std::max<int64_t>(key.shape[2], 1) : columns;
  std::vector<Score> reduced;
  for (int64_t start = 0; start < key.shape[2]; start += width) {
    std::vector<Score> block;
    for (int64_t j = start; j < std::min(start + width, key.shape[2]); ++j) {
      if (set && !set->contains({batch, head, queryRow, j, &queryGrid, &keyGrid}))
        continue;
      keys.read(batch, keyHead, j, read.key);
      if (companion)
        companions.read(batch, keyHead, j, read.companion);
      block.push_back(pair({batch, head, queryRow}, j, read));
    }
    reduced.push_back(reduce(columns == 0 ? ReductionKind::LogSumExp : columnReduction, block));
  }
  // Without a key a row's log-sum-exp is that of nothing.
  if (columns == 0 && reduced.empty())
    reduced.emplace_back();
  return reduced;
}

std::vector<Estimate> BlockScores::row(const RowIndex &index) const {
  Rows read;
  std::vector<std::vector<Score>> perColumn;
  for (int64_t member = 0; member < group; ++member)
    for (int64_t row = index.query * rows; row < std::min((index.query + 1) * rows, query.shape[2]);
         ++row) {
      std::vector<Score> reduced = reduceRow(index.batch, index.head * group + member, row, read);
      perColumn.resize(reduced.size());
      for (size_t column = 0; column < reduced.size(); ++column)
        perColumn[column].push_back(reduced[column]);
    }
  std::vector<Estimate> values;
  for (const std::vector<Score> &scores : perColumn) {
    Score score = reduce(rowReduction, scores);
    values.push_back({score.value, 2 * score.error + 0x1p-149});
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Scores at lists
//===----------------------------------------------------------------------===//

std::vector<int64_t> ListScores::rowShape() const {
  return {ids.shape[0], ids.shape[1], ids.shape[2]};
}

double ListScores::costPerRow() const {
  return static_cast<double>(ids.shape[3]) * (static_cast<double>(query.shape[3]) + 12);
}

std::vector<Estimate> ListScores::row(const RowIndex &index) const {
  auto [batch, head, queryRow] = index;
  std::vector<double> q, k;
  RowReader keys(key);
  RowReader(query).read(batch, head, queryRow, q);
  int64_t keyHead = key.shape[1] == 0 ? 0 : head / (query.shape[1] / key.shape[1]);
  Grid queryGrid{{query.shape[2]}}, keyGrid{{key.shape[2]}};
  double terms = 4 + 2 * std::sqrt(static_cast<double>(q.size()));
  std::vector<Estimate> values;
  for (int64_t entry = 0; entry < ids.shape[3]; ++entry) {
    auto id = static_cast<int64_t>(ids.at({batch, head, queryRow, entry}));
    bool isNamed = static_cast<double>(entry) < counts.at({batch, head, queryRow}) && id >= 0 &&
                   id < key.shape[2];
    PairIndex pair{batch, head, queryRow, id, &queryGrid, &keyGrid};
    if (!isNamed || (within && !within->contains(pair))) {
      values.push_back({-infinity, 0});
      continue;
    }
    if (force && force->contains(pair)) {
      values.push_back({infinity, 0});
      continue;
    }
    keys.read(batch, keyHead, id, k);
    double sum = 0, absolute = 0;
    for (size_t channel = 0; channel < q.size(); ++channel) {
      sum += q[channel] * k[channel];
      absolute += std::fabs(q[channel] * k[channel]);
    }
    double error = std::isfinite(absolute) ? u32 * terms * absolute * std::fabs(scale) : 0;
    values.push_back({toRange(sum * scale), 2 * error + 0x1p-149});
  }
  return values;
}

std::vector<int64_t> Remainder::rowShape() const {
  return {scores.shape[0], scores.shape[1], scores.shape[2]};
}

double Remainder::costPerRow() const { return static_cast<double>(scores.shape[3]); }

std::vector<Estimate> Remainder::row(const RowIndex &index) const {
  auto [batch, head, row] = index;
  std::vector<Estimate> values;
  for (int64_t column = 0; column < scores.shape[3]; ++column)
    values.push_back({scores.at({batch, head, row, column}), 0});
  double count = counts.at({batch, head, row});
  for (int64_t entry = 0; entry < ids.shape[3] && static_cast<double>(entry) < count; ++entry) {
    auto column = static_cast<int64_t>(ids.at({batch, head, row, entry}));
    if (column >= 0 && column < scores.shape[3])
      values[static_cast<size_t>(column)].exact = -infinity;
  }
  return values;
}

} // namespace lacuna::reference
