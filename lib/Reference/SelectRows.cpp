//===- SelectRows.cpp - summaries and what else stands row by row ----------===//
#include "lib/Reference/Comparer.h"
#include "lib/Reference/ParallelFor.h"
#include "lib/Reference/RowReader.h"
#include "lib/Reference/Select.h"

namespace lacuna::reference {

bool SelectOracle::fits(const std::vector<Tensor> &results) const {
  std::vector<int64_t> rows = rowShape();
  return std::all_of(results.begin(), results.end(), [&](const Tensor &result) {
    return result.shape.size() >= rows.size() &&
           std::equal(rows.begin(), rows.end(), result.shape.begin());
  });
}

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double u32 = 0x1p-24;

std::vector<Comparison> RowOracle::compare(const std::vector<Tensor> &results,
                                           const std::vector<RowIndex> &rows,
                                           unsigned threads) const {
  // Rows at once: enough for the threads, few enough to keep.
  constexpr size_t most = 256;
  Comparer comparer;
  const Tensor &result = results.front();
  for (size_t first = 0; first < rows.size(); first += most) {
    size_t count = std::min(most, rows.size() - first);
    std::vector<std::vector<Estimate>> exact(count);
    parallelFor(static_cast<int64_t>(count), threads, [&](int64_t index) {
      auto at = static_cast<size_t>(index);
      exact[at] = row(rows[first + at]);
    });
    for (size_t index = 0; index < count; ++index) {
      const RowIndex &at = rows[first + index];
      for (size_t channel = 0; channel < exact[index].size(); ++channel) {
        std::vector<int64_t> where = {at.batch, at.head, at.query};
        if (result.shape.size() == 4)
          where.push_back(static_cast<int64_t>(channel));
        double got = result.at(where);
        const Estimate &value = exact[index][channel];
        comparer.add(got, value.exact, value.tolerance, std::move(where));
      }
    }
  }
  return {comparer.finish()};
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

static int64_t blocksOf(int64_t size, int64_t extent) { return (size + extent - 1) / extent; }

std::vector<int64_t> Summary::rowShape() const {
  int64_t blocks = 1;
  for (size_t axis = 0; axis < block.size(); ++axis)
    blocks *= blocksOf(grid.sizes[axis], block[axis]);
  if (isWhole)
    blocks = grid.sizes[0] / block[0];
  return {tokens.shape[0], tokens.shape[1], std::max<int64_t>(blocks - before, 0)};
}

double Summary::costPerRow() const {
  double size = 1;
  for (int64_t extent : block)
    size *= static_cast<double>(extent);
  return 3 * size * static_cast<double>(tokens.shape[3]);
}

std::vector<int64_t> Summary::tokensOf(int64_t number) const {
  std::vector<int64_t> result = {0};
  std::vector<int64_t> at(block.size());
  for (size_t axis = block.size(); axis-- > 0;) {
    int64_t count = blocksOf(grid.sizes[axis], block[axis]);
    at[axis] = number % count;
    number /= count;
  }
  for (size_t axis = 0; axis < block.size(); ++axis) {
    std::vector<int64_t> next;
    int64_t start = at[axis] * block[axis];
    int64_t end = std::min(start + block[axis], grid.sizes[axis]);
    for (int64_t token : result)
      for (int64_t coordinate = start; coordinate < end; ++coordinate)
        next.push_back(token * grid.sizes[axis] + coordinate);
    result = std::move(next);
  }
  return result;
}

/// Relative error of a sum of f32 with `terms` terms, which grows like their square root.
static double sumError(double terms) { return u32 * (8 + 4 * std::sqrt(terms)); }

namespace {
/// The tokens of one block, and what all kinds need of them.
struct Block {
  std::vector<std::vector<double>> rows;
  /// Per channel: the mean, and the mean of magnitudes.
  std::vector<double> mean, magnitude;
  size_t first = 0, last = 0;

  double count() const { return static_cast<double>(rows.size()); }
  double channels() const { return static_cast<double>(last - first); }
  double meanError(size_t channel) const { return sumError(count()) * magnitude[channel]; }

  void average();
  double squareFrom(size_t row, const std::vector<double> *center) const;
  Estimate perChannel(SummaryKind kind, size_t channel) const;
  Estimate variance(size_t channel) const;
  Estimate radius() const;
  Estimate norm() const;
  Estimate similarity() const;
};
} // namespace

void Block::average() {
  mean.assign(last, 0);
  magnitude.assign(last, 0);
  for (const std::vector<double> &row : rows)
    for (size_t channel = first; channel < last; ++channel) {
      mean[channel] += row[channel] / count();
      magnitude[channel] += std::fabs(row[channel]) / count();
    }
}

double Block::squareFrom(size_t row, const std::vector<double> *center) const {
  double sum = 0;
  for (size_t channel = first; channel < last; ++channel) {
    double distance = rows[row][channel] - (center ? (*center)[channel] : 0);
    sum += distance * distance;
  }
  return sum;
}

Estimate Block::variance(size_t channel) const {
  double sum = 0, error = meanError(channel) + 2 * u32 * magnitude[channel], reach = 0;
  for (const std::vector<double> &row : rows) {
    double distance = row[channel] - mean[channel];
    sum += distance * distance / count();
    reach += 2 * std::fabs(distance) * (error + u32 * std::fabs(row[channel])) / count();
  }
  return {sum, reach + error * error + sumError(count()) * sum};
}

Estimate Block::perChannel(SummaryKind kind, size_t channel) const {
  if (kind == SummaryKind::Variance)
    return variance(channel);
  if (kind == SummaryKind::Mean)
    return {mean[channel], meanError(channel)};
  if (kind == SummaryKind::Sum)
    return {mean[channel] * count(), meanError(channel) * count()};
  double value = rows.front()[channel];
  for (const std::vector<double> &row : rows) {
    if (kind == SummaryKind::First || std::isnan(value))
      break;
    if (std::isnan(row[channel]))
      value = row[channel];
    else
      value =
          kind == SummaryKind::Min ? std::min(value, row[channel]) : std::max(value, row[channel]);
  }
  return {value, 0};
}

Estimate Block::radius() const {
  double square = 0, error = 0;
  for (size_t channel = first; channel < last; ++channel)
    error += std::pow(meanError(channel) + 4 * u32 * magnitude[channel], 2);
  bool isPoisoned = false;
  for (size_t row = 0; row < rows.size(); ++row) {
    double distance = squareFrom(row, &mean);
    isPoisoned |= std::isnan(distance);
    square = std::max(square, distance);
  }
  if (isPoisoned)
    return {NAN, 0};
  double length = std::sqrt(square);
  return {length, std::sqrt(error) + sumError(channels()) * length};
}

Estimate Block::norm() const {
  double square = 0;
  for (size_t row = 0; row < rows.size(); ++row)
    square += squareFrom(row, nullptr);
  return {std::sqrt(square), sumError(count() * channels()) * std::sqrt(square)};
}

Estimate Block::similarity() const {
  std::vector<double> sum(last, 0);
  for (size_t row = 0; row < rows.size(); ++row) {
    // A token of zeros has no direction.
    double length = std::sqrt(squareFrom(row, nullptr));
    if (length == 0)
      continue;
    for (size_t channel = first; channel < last; ++channel)
      sum[channel] += rows[row][channel] / length / count();
  }
  double square = 0;
  for (size_t channel = first; channel < last; ++channel)
    square += sum[channel] * sum[channel];
  // Directions cancel: what is left has the error of what went in.
  return {square, 4 * sumError(count() * channels()) * std::max(std::sqrt(square), 1 / count())};
}

/// How far a value that is stored as `type` may be from an estimate.
static Estimate stored(Estimate estimate, ElementType type) {
  double greatest = type == ElementType::F16 ? 65519.99 : 3.4028235677973366e38;
  if (std::isfinite(estimate.exact) && std::fabs(estimate.exact) > greatest)
    estimate.exact = std::copysign(infinity, estimate.exact);
  double rounding = unitRoundoff(type) * std::fabs(estimate.exact) + smallestError(type);
  return {estimate.exact, 2 * (estimate.tolerance + rounding)};
}

std::vector<Estimate> Summary::row(const RowIndex &index) const {
  Block data;
  RowReader reader(tokens);
  for (int64_t token : tokensOf(before + index.query))
    reader.read(index.batch, index.head, token, data.rows.emplace_back());
  data.first = static_cast<size_t>(first);
  data.last = static_cast<size_t>(last);
  data.average();
  switch (kind) { // No default: a new kind must break this build.
  case SummaryKind::Radius:
    return {stored(data.radius(), type)};
  case SummaryKind::Norm:
    return {stored(data.norm(), type)};
  case SummaryKind::Similarity:
    return {stored(data.similarity(), type)};
  case SummaryKind::Count:
    return {stored({data.count(), 0}, type)};
  case SummaryKind::Mean:
  case SummaryKind::Sum:
  case SummaryKind::Min:
  case SummaryKind::Max:
  case SummaryKind::Variance:
  case SummaryKind::First:
    break;
  }
  std::vector<Estimate> values;
  for (size_t channel = data.first; channel < data.last; ++channel)
    values.push_back(stored(data.perChannel(kind, channel), type));
  return values;
}

//===----------------------------------------------------------------------===//
// Folding, restricting, margins
//===----------------------------------------------------------------------===//

std::vector<int64_t> Fold::rowShape() const {
  return {tokens.shape[0], tokens.shape[1], blocksOf(tokens.shape[2], by)};
}

double Fold::costPerRow() const {
  return static_cast<double>(by) * static_cast<double>(tokens.shape[3]);
}

std::vector<Estimate> Fold::row(const RowIndex &index) const {
  std::vector<Estimate> values;
  for (int64_t place = 0; place < by; ++place) {
    int64_t token = index.query * by + (isReversed ? by - 1 - place : place);
    for (int64_t channel = 0; channel < tokens.shape[3]; ++channel)
      values.push_back(
          {token < tokens.shape[2] ? tokens.at({index.batch, index.head, token, channel}) : 0, 0});
  }
  return values;
}

static std::vector<int64_t> rowsOf(const Tensor &tensor) {
  return {tensor.shape[0], tensor.shape[1], tensor.shape[2]};
}

std::vector<int64_t> Projection::rowShape() const { return rowsOf(tokens); }

double Projection::costPerRow() const {
  return 2 * static_cast<double>(weights.shape[1]) * static_cast<double>(weights.shape[2]);
}

std::vector<Estimate> Projection::row(const RowIndex &index) const {
  std::vector<double> token;
  RowReader(tokens).read(index.batch, index.head, index.query, token);
  int64_t matrix = index.head / (tokens.shape[1] / weights.shape[0]);
  std::vector<Estimate> values;
  for (int64_t feature = 0; feature < weights.shape[2]; ++feature) {
    double sum = 0, magnitude = 0;
    for (int64_t channel = 0; channel < weights.shape[1]; ++channel) {
      double term = token[static_cast<size_t>(channel)] * weights.at({matrix, channel, feature});
      sum += term;
      magnitude += std::fabs(term);
    }
    values.push_back(
        stored({sum, sumError(static_cast<double>(weights.shape[1])) * magnitude}, type));
  }
  return values;
}

std::vector<int64_t> Restriction::rowShape() const { return rowsOf(scores); }

double Restriction::costPerRow() const { return 12 * static_cast<double>(scores.shape[3]); }

std::vector<Estimate> Restriction::row(const RowIndex &index) const {
  Grid rows{{scores.shape[2]}}, columns{{scores.shape[3]}};
  std::vector<Estimate> values;
  for (int64_t column = 0; column < scores.shape[3]; ++column) {
    PairIndex pair{index.batch, index.head, index.query, column, &rows, &columns};
    double value = scores.at({index.batch, index.head, index.query, column});
    if (within && !within->contains(pair))
      value = -infinity;
    else if (force && force->contains(pair))
      value = infinity;
    values.push_back({value, 0});
  }
  return values;
}

std::vector<int64_t> Margin::rowShape() const { return rowsOf(scores); }

double Margin::costPerRow() const { return 20 * static_cast<double>(scores.shape[3]); }

std::vector<Estimate> Margin::row(const RowIndex &index) const {
  std::vector<double> finite;
  for (int64_t column = 0; column < scores.shape[3]; ++column)
    if (double score = scores.at({index.batch, index.head, index.query, column});
        std::isfinite(score))
      finite.push_back(score);
  if (static_cast<int64_t>(finite.size()) <= number)
    return {{1, 0}};
  std::sort(finite.rbegin(), finite.rend());
  double next = finite[static_cast<size_t>(number)], last = finite[static_cast<size_t>(number) - 1];
  if (finite.front() == next)
    return {{0, 0}};
  double margin = (last - next) / (finite.front() - next);
  return {{margin, 8 * u32 * margin + 0x1p-149}};
}

} // namespace lacuna::reference
