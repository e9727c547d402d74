//===- Attention.cpp - exact attention, row by row: the oracle -------------===//
#include "lib/Reference/Attention.h"

#include "lib/Reference/RowReader.h"
#include "lib/Support/Random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace lacuna::reference {

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// The pairs of one row. The grids live here, for pairs point at them.
class RowPairs {
public:
  RowPairs(const Attend &attend, const RowIndex &index)
      : queryGrid(attend.queryGrid.value_or(Grid{{attend.queries()}})),
        keyGrid(attend.keyGrid.value_or(Grid{{attend.keys()}})) {
    pair = {index.batch, index.head, index.query, 0, &queryGrid, &keyGrid};
  }
  const PairIndex &with(int64_t key) {
    pair.key = key;
    return pair;
  }

private:
  Grid queryGrid, keyGrid;
  PairIndex pair;
};
} // namespace

int64_t Attend::liveKeys(const RowIndex &index) const {
  RowPairs pairs(*this, index);
  int64_t count = 0;
  std::optional<ColumnIndex> before;
  for (int64_t j = 0; j < keys(); ++j) {
    const PairIndex &pair = pairs.with(j);
    if (!set->contains(pair))
      continue;
    // Keys of a column are seen as one.
    std::optional<ColumnIndex> column = columns ? columns(pair) : std::nullopt;
    count += !column || column != before;
    before = column;
  }
  return count;
}

/// The head of keys and values that a head of queries reads.
static int64_t keyHeadOf(const Attend &attend, const RowIndex &index) {
  int64_t keyHeads = attend.key.shape[1];
  return keyHeads == 0 ? 0 : index.head / (attend.query.shape[1] / keyHeads);
}

std::vector<LiveKey> scoreRow(const Attend &attend, const RowIndex &index, RowResult &result) {
  int64_t keyHead = keyHeadOf(attend, index);
  std::vector<LiveKey> live;
  std::vector<double> query, key;
  RowReader keys(attend.key);
  RowReader(attend.query).read(index.batch, index.head, index.query, query);
  RowPairs pairs(attend, index);
  // The score region counts tokens, whatever their shape.
  int64_t position =
      index.query + (attend.positionFromStart ? 0 : attend.keys() - attend.queries());
  for (int64_t j = 0; j < attend.keys(); ++j) {
    if (!attend.set->contains(pairs.with(j)))
      continue;
    keys.read(index.batch, keyHead, j, key);
    double score = 0, absolute = 0;
    for (size_t channel = 0; channel < query.size(); ++channel) {
      score += query[channel] * key[channel];
      absolute += std::fabs(query[channel] * key[channel]);
    }
    score *= attend.scale;
    absolute *= std::fabs(attend.scale);
    if (attend.score) {
      Register given[] = {{0, score}, {index.batch, 0}, {index.head, 0}, {position, 0}, {j, 0}};
      score = attend.score->run(given).number;
      if (std::isfinite(score))
        absolute = std::max(absolute, std::fabs(score));
    }
    if (std::isfinite(absolute))
      result.scoreMagnitude = std::max(result.scoreMagnitude, absolute);
    live.push_back({j, score});
  }
  return live;
}

namespace {
/// Keys that a row sees as one.
struct SeenKeys {
  std::optional<ColumnIndex> column;
  std::vector<double> key, value;
  /// Sums of magnitudes, which rounding errors of means on the way scale with.
  std::vector<double> keyMagnitude, valueMagnitude;
  double count = 0;

  void add(const std::vector<double> &oneKey, const std::vector<double> &oneValue) {
    for (std::vector<double> *sums : {&key, &keyMagnitude})
      sums->resize(oneKey.size());
    for (std::vector<double> *sums : {&value, &valueMagnitude})
      sums->resize(oneValue.size());
    for (size_t channel = 0; channel < key.size(); ++channel) {
      key[channel] += oneKey[channel];
      keyMagnitude[channel] += std::fabs(oneKey[channel]);
    }
    for (size_t channel = 0; channel < value.size(); ++channel) {
      value[channel] += oneValue[channel];
      valueMagnitude[channel] += std::fabs(oneValue[channel]);
    }
    ++count;
  }
};
} // namespace

/// The live keys of a row, each by itself or with the rest of its column. Columns are runs of keys.
static std::vector<SeenKeys> seeRow(const Attend &attend, const RowIndex &index, int64_t keyHead) {
  std::vector<SeenKeys> seen;
  std::vector<double> key, value;
  RowReader keys(attend.key), values(attend.value);
  RowPairs pairs(attend, index);
  for (int64_t j = 0; j < attend.keys(); ++j) {
    const PairIndex &pair = pairs.with(j);
    if (!attend.set->contains(pair))
      continue;
    std::optional<ColumnIndex> column = attend.columns(pair);
    if (seen.empty() || !column || seen.back().column != column)
      seen.push_back({column, {}, {}, {}, {}});
    keys.read(index.batch, keyHead, j, key);
    values.read(index.batch, keyHead, j, value);
    seen.back().add(key, value);
  }
  return seen;
}

/// How much more a score loses to means that are rounded to the elements of `tensor`, on the way
/// from its keys through the levels below, than to its own sum in f32.
static double roundingOfMeans(const Tensor &tensor, const std::optional<ColumnIndex> &column) {
  if (!column || tensor.type == ElementType::F32)
    return 1;
  double ratio = tensor.type == ElementType::BF16 ? 0x1p15 : 0x1p12;
  double ofSum = 4 + 2 * std::sqrt(static_cast<double>(tensor.shape[3]));
  return std::max(ratio * static_cast<double>(column->level + 1) / ofSum, 1.0);
}

/// The result of a row that sees some keys through columns.
static RowResult rowOfColumns(const Attend &attend, const RowIndex &index, int64_t keyHead) {
  std::vector<SeenKeys> seen = seeRow(attend, index, keyHead);
  std::vector<double> query, scores;
  RowReader(attend.query).read(index.batch, index.head, index.query, query);
  RowResult result;
  result.output.assign(static_cast<size_t>(attend.value.shape[3]), 0);
  result.magnitude = result.output;
  result.liveKeys = static_cast<int64_t>(seen.size());
  result.lse = -infinity;
  for (const SeenKeys &each : seen) {
    double score = 0, absolute = 0;
    for (size_t channel = 0; channel < query.size(); ++channel) {
      score += query[channel] * each.key[channel] / each.count;
      absolute += std::fabs(query[channel]) * each.keyMagnitude[channel] / each.count;
    }
    scores.push_back(score * attend.scale + std::log(each.count));
    absolute *= roundingOfMeans(attend.key, each.column);
    result.scoreMagnitude =
        std::max(result.scoreMagnitude, absolute * std::fabs(attend.scale) + std::log(each.count));
    result.lse = std::max(result.lse, scores.back());
  }
  double largest = result.lse, sum = 0;
  if (largest == -infinity)
    return result;
  for (size_t each = 0; each < seen.size(); ++each) {
    double weight = std::exp(scores[each] - largest);
    sum += weight;
    for (size_t channel = 0; channel < result.output.size(); ++channel) {
      double part = weight * seen[each].value[channel] / seen[each].count;
      result.output[channel] += part;
      // Means of values are rounded on each level, too.
      bool isRounded = seen[each].column && attend.value.type != ElementType::F32;
      double roundings = isRounded ? static_cast<double>(seen[each].column->level + 1) : 0;
      result.magnitude[channel] += std::fabs(part) + roundings * weight *
                                                         seen[each].valueMagnitude[channel] /
                                                         seen[each].count;
    }
  }
  for (size_t channel = 0; channel < result.output.size(); ++channel) {
    result.output[channel] /= sum;
    result.magnitude[channel] /= sum;
  }
  result.lse = largest + std::log(sum);
  return result;
}

RowResult Attend::row(const RowIndex &index) const {
  if (columns)
    return rowOfColumns(*this, index, keyHeadOf(*this, index));
  auto channels = static_cast<size_t>(value.shape[3]);
  RowResult result;
  result.output.assign(channels, 0);
  result.magnitude.assign(channels, 0);
  int64_t keyHead = keyHeadOf(*this, index);
  std::vector<LiveKey> live = scoreRow(*this, index, result);
  if (skip)
    std::erase_if(live, [&](const LiveKey &entry) {
      return skip->taken.at({index.batch, index.head, index.query / skip->queryBlock,
                             entry.key / skip->keyBlock}) == 0;
    });
  result.liveKeys = static_cast<int64_t>(live.size());

  double sink = sinks.empty() ? -infinity : sinks[static_cast<size_t>(index.head)];
  double largest = sink;
  bool poisoned = std::isnan(sink);
  for (const LiveKey &entry : live) {
    poisoned |= std::isnan(entry.score);
    largest = std::max(largest, entry.score);
  }
  // Nothing has weight: no live key, or only scores of -infinity.
  if (largest == -infinity && !poisoned) {
    result.lse = -infinity;
    return result;
  }
  double sum = std::exp(sink - largest);
  std::vector<double> row;
  RowReader values(value);
  for (const LiveKey &entry : live) {
    double weight = std::exp(entry.score - largest);
    sum += weight;
    values.read(index.batch, keyHead, entry.key, row);
    for (size_t channel = 0; channel < channels; ++channel) {
      result.output[channel] += weight * row[channel];
      result.magnitude[channel] += std::fabs(weight * row[channel]);
    }
  }
  for (size_t channel = 0; channel < channels; ++channel) {
    result.output[channel] /= sum;
    result.magnitude[channel] /= sum;
  }
  result.lse = largest + std::log(sum);
  return result;
}

RowResult mergeRows(const std::vector<RowResult> &parts) {
  RowResult merged;
  size_t channels = parts.empty() ? 0 : parts.front().output.size();
  merged.output.assign(channels, 0);
  merged.magnitude.assign(channels, 0);
  double largest = -infinity;
  bool poisoned = false;
  for (const RowResult &part : parts) {
    largest = std::max(largest, part.lse);
    poisoned |= std::isnan(part.lse);
    merged.liveKeys += part.liveKeys;
    merged.scoreMagnitude = std::max(merged.scoreMagnitude, part.scoreMagnitude);
  }
  merged.lse = largest;
  if (largest == -infinity && !poisoned)
    return merged;
  double sum = 0;
  for (const RowResult &part : parts) {
    // An empty part has weight 0 whatever its output holds.
    if (part.lse == -infinity)
      continue;
    double weight = std::exp(part.lse - largest);
    sum += weight;
    for (size_t channel = 0; channel < channels; ++channel) {
      merged.output[channel] += weight * part.output[channel];
      merged.magnitude[channel] += weight * part.magnitude[channel];
    }
  }
  for (size_t channel = 0; channel < channels; ++channel) {
    merged.output[channel] /= sum;
    merged.magnitude[channel] /= sum;
  }
  merged.lse = largest + std::log(sum);
  return merged;
}

RowSample chooseRows(int64_t batch, int64_t heads, int64_t queries, int64_t tileRows,
                     double costPerRow, double budget, uint64_t seed) {
  RowSample sample;
  if (batch * heads * queries == 0)
    return sample;
  double total =
      static_cast<double>(batch) * static_cast<double>(heads) * static_cast<double>(queries);
  sample.all = total * costPerRow <= budget;
  std::set<int64_t> borders;
  if (!sample.all) {
    int64_t lastTile = (queries - 1) / tileRows * tileRows;
    for (int64_t row : {int64_t{0}, tileRows - 1, tileRows, lastTile - 1, lastTile, queries - 1})
      if (row >= 0 && row < queries)
        borders.insert(row);
  }
  double perHead = budget / costPerRow / static_cast<double>(batch * heads);
  auto wanted = static_cast<size_t>(std::min(perHead, static_cast<double>(queries)));
  Random random(seed);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      std::set<int64_t> rows = borders;
      for (int64_t row = 0; sample.all && row < queries; ++row)
        rows.insert(row);
      while (!sample.all && rows.size() < wanted)
        rows.insert(random.below(queries));
      for (int64_t row : rows)
        sample.rows.push_back({b, h, row});
    }
  return sample;
}

} // namespace lacuna::reference
