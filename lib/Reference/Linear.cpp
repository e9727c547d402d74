//===- Linear.cpp - linear attention, element by element -------------------===//
#include "lib/Reference/Linear.h"

#include "lib/Reference/Comparer.h"
#include "lib/Reference/ParallelFor.h"
#include "lib/Reference/RowReader.h"

namespace lacuna::reference {

static constexpr double u32 = 0x1p-24;
static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Relative error of a sum of f32 with `terms` terms, which grows like their square root.
static double sumError(double terms) { return u32 * (16 + 4 * std::sqrt(terms)); }

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

static double roundTo(ElementType type, double value) {
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
    return fromF16(toF16(value));
  case ElementType::BF16:
    return fromBF16(toBF16(value));
  case ElementType::F32:
    return static_cast<float>(value);
  case ElementType::F64:
  case ElementType::I8:
  case ElementType::I32:
  case ElementType::I64:
    break;
  }
  return value;
}

/// `value`, or the infinity that it is stored as.
static double toRange(ElementType type, double value) {
  double stored = roundTo(type, value);
  return std::isinf(stored) ? stored : value;
}

static double featureOf(FeatureKind kind, double x, double most, double sum) {
  switch (kind) { // No default: a new enumerator must break this build.
  case FeatureKind::Softmax:
    return std::exp(x - most) / sum;
  case FeatureKind::Relu:
    return x < 0 ? 0 : x;
  case FeatureKind::Elu:
    return x < 0 ? std::exp(x) : x + 1;
  case FeatureKind::Exp:
    return std::exp(x);
  case FeatureKind::Identity:
    return x;
  }
  return x;
}

std::vector<Estimate> featuresOf(FeatureKind kind, ElementType type,
                                 const std::vector<double> &row) {
  double most = -infinity, sum = 0;
  for (double x : row)
    most = x > most || std::isnan(x) ? x : most;
  if (kind == FeatureKind::Softmax)
    for (double x : row)
      sum += std::exp(x - most);
  std::vector<Estimate> features;
  for (double x : row) {
    double exact = featureOf(kind, x, most, sum);
    if (kind == FeatureKind::Identity || (kind == FeatureKind::Relu && !std::isnan(x))) {
      features.push_back({exact, 0});
      continue;
    }
    // An exponential's error grows with its argument; a sum's with its terms.
    bool isSoftmax = kind == FeatureKind::Softmax;
    double argument = std::fabs(isSoftmax ? x - most : x);
    double relative = u32 * (8 + 2 * (std::isfinite(argument) ? argument : 0)) +
                      (isSoftmax ? sumError(static_cast<double>(row.size())) : 0);
    // Where it may round either way: half a unit on each side.
    if (type == ElementType::F16 || type == ElementType::BF16)
      relative += unitRoundoff(type);
    features.push_back({roundTo(type, exact), relative * std::fabs(exact) + smallestError(type)});
  }
  return features;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

namespace {
/// A state and its norms, as sums of terms with errors.
struct State {
  State(int64_t channels, int64_t valueChannels)
      : channels(static_cast<size_t>(channels)), valueChannels(static_cast<size_t>(valueChannels)),
        sums(this->channels * (this->valueChannels + 1)), magnitudes(sums.size()),
        errors(sums.size()) {}

  void add(size_t place, double term, double error) {
    sums[place] += term;
    magnitudes[place] += std::fabs(term);
    errors[place] += error;
  }
  /// Twice what a kernel that sums `terms` terms in f32 may be off.
  Estimate at(size_t place, double terms) const {
    double error = errors[place] + sumError(terms) * magnitudes[place];
    return {sums[place], 2 * (std::isfinite(error) ? error : 0) + 0x1p-149};
  }

  size_t channels, valueChannels;
  /// Norms lie behind the states.
  std::vector<double> sums, magnitudes, errors;
};
} // namespace

/// Compares one state and its norms at `index`.
static void compareState(const State &exact, double terms, const RowIndex &index,
                         const std::vector<Tensor> &results, Comparer &states, Comparer &norms) {
  for (size_t channel = 0; channel < exact.channels; ++channel) {
    std::vector<int64_t> where = {index.batch, index.head, index.query,
                                  static_cast<int64_t>(channel)};
    if (results.size() > 1) {
      Estimate norm = exact.at(exact.channels * exact.valueChannels + channel, terms);
      norms.add(results[1].at(where), norm.exact, norm.tolerance, where);
    }
    where.push_back(0);
    for (size_t place = 0; place < exact.valueChannels; ++place) {
      where.back() = static_cast<int64_t>(place);
      Estimate sum = exact.at(channel * exact.valueChannels + place, terms);
      states.add(results[0].at(where), sum.exact, sum.tolerance, where);
    }
  }
}

std::vector<int64_t> BlockStates::rowShape() const {
  return {key.shape[0], key.shape[1], (key.shape[2] + block - 1) / block};
}

double BlockStates::costPerRow() const {
  return static_cast<double>(std::min(block, key.shape[2])) * static_cast<double>(key.shape[3]) *
         static_cast<double>(value.shape[3] + 1);
}

std::vector<Comparison> BlockStates::compare(const std::vector<Tensor> &results,
                                             const std::vector<RowIndex> &rows, unsigned) const {
  Comparer states, norms;
  RowReader keys(key), values(value);
  std::vector<double> k, v;
  for (const RowIndex &index : rows) {
    State exact(key.shape[3], value.shape[3]);
    int64_t start = index.query * block, end = std::min(start + block, key.shape[2]);
    for (int64_t token = start; token < end; ++token) {
      keys.read(index.batch, index.head, token, k);
      values.read(index.batch, index.head, token, v);
      std::vector<Estimate> features = featuresOf(kind, key.type, k);
      for (size_t channel = 0; channel < k.size(); ++channel) {
        auto [feature, error] = features[channel];
        for (size_t place = 0; place < v.size(); ++place)
          exact.add(channel * v.size() + place, feature * v[place], error * std::fabs(v[place]));
        exact.add(k.size() * v.size() + channel, feature, error);
      }
    }
    compareState(exact, static_cast<double>(end - start), index, results, states, norms);
  }
  return {states.finish(), norms.finish()};
}

//===----------------------------------------------------------------------===//
// Sums of states
//===----------------------------------------------------------------------===//

std::vector<int64_t> StateSums::rowShape() const {
  int64_t count = states.shape[2];
  return {states.shape[0], states.shape[1], by ? (count + by - 1) / by : count + 1};
}

double StateSums::costPerRow() const {
  double terms = static_cast<double>(by ? std::min(by, states.shape[2]) : states.shape[2] / 2 + 1);
  return terms * static_cast<double>(states.shape[3]) * static_cast<double>(states.shape[4] + 1);
}

/// Adds the state c of a head.
static void addState(const Tensor &states, const Tensor &norms, const RowIndex &head, int64_t c,
                     State &sum) {
  std::vector<int64_t> where = {head.batch, head.head, c, 0, 0},
                       norm = {head.batch, head.head, c, 0};
  for (size_t channel = 0; channel < sum.channels; ++channel) {
    where[3] = norm[3] = static_cast<int64_t>(channel);
    for (size_t place = 0; place < sum.valueChannels; ++place) {
      where[4] = static_cast<int64_t>(place);
      sum.add(channel * sum.valueChannels + place, states.at(where), 0);
    }
    sum.add(sum.channels * sum.valueChannels + channel, norms.at(norm), 0);
  }
}

std::vector<Comparison> StateSums::compare(const std::vector<Tensor> &results,
                                           const std::vector<RowIndex> &rows, unsigned) const {
  Comparer stateSums, normSums;
  for (const RowIndex &index : rows) {
    State exact(states.shape[3], states.shape[4]);
    int64_t start = index.query * by, end = by ? start + by : index.query;
    end = std::min(end, states.shape[2]);
    for (int64_t c = start; c < end; ++c)
      addState(states, norms, index, c, exact);
    compareState(exact, static_cast<double>(end - start), index, results, stateSums, normSums);
  }
  return {stateSums.finish(), normSums.finish()};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::vector<int64_t> StateReads::rowShape() const {
  return {query.shape[0], query.shape[1], query.shape[2]};
}

double StateReads::costPerRow() const {
  // What a row reads is not known yet: a few states, or a share of them.
  double read = 1 + static_cast<double>(states.shape[2]) / 2;
  return 12 * static_cast<double>(states.shape[2]) + (1 + read) *
                                                         static_cast<double>(states.shape[3]) *
                                                         static_cast<double>(states.shape[4] + 1);
}

StateReads::Row StateReads::row(const RowIndex &index, ElementType output) const {
  std::vector<double> q;
  RowReader(query).read(index.batch, index.head, index.query, q);
  int64_t stateHeads = states.shape[1];
  RowIndex source{index.batch, stateHeads ? index.head / (query.shape[1] / stateHeads) : 0, 0};
  Grid rowGrid{{query.shape[2]}}, stateGrid{{states.shape[2]}};
  State sum(states.shape[3], states.shape[4]);
  double read = 0;
  for (int64_t c = 0; c < states.shape[2]; ++c) {
    int64_t first = index.query / queryTile * queryTile;
    if (!set->contains({index.batch, index.head, first, c, &rowGrid, &stateGrid}))
      continue;
    addState(states, norms, source, c, sum);
    ++read;
  }
  std::vector<Estimate> features = featuresOf(kind, query.type, q);
  // Products on matrices have states with 11 bits, whatever the tokens have.
  bool isHalf = query.type == ElementType::F16 || query.type == ElementType::BF16;
  double sums = sumError(static_cast<double>(q.size())) + sumError(read);
  Row result;
  /// The product of the features with column `place` of the state, or with the norms.
  auto product = [&](size_t place, size_t step, double relative) -> Estimate {
    double exact = 0, error = 0;
    for (size_t channel = 0; channel < q.size(); ++channel, place += step) {
      double magnitude = sum.magnitudes[place];
      exact += features[channel].exact * sum.sums[place];
      error +=
          magnitude * (relative * std::fabs(features[channel].exact) + features[channel].tolerance);
    }
    return {exact, std::isfinite(error) ? error : 0};
  };
  result.weight = product(sum.channels * sum.valueChannels, 1, sums);
  double weight = result.weight.exact, weightError = result.weight.tolerance;
  for (size_t place = 0; place < sum.valueChannels; ++place) {
    auto [exact, error] = product(place, sum.valueChannels, sums + (isHalf ? 0x1p-11 : 0));
    if (!isUndivided && weight <= 0)
      exact = error = 0;
    else if (!isUndivided) {
      exact /= weight;
      error = error / std::fabs(weight) + std::fabs(exact) * weightError / std::fabs(weight);
    }
    error += unitRoundoff(output) * std::fabs(exact) + smallestError(output);
    exact = toRange(output, exact);
    result.output.push_back({exact, 2 * (std::isfinite(error) ? error : 0)});
  }
  result.weight.tolerance *= 2;
  return result;
}

std::vector<Comparison> StateReads::compare(const std::vector<Tensor> &results,
                                            const std::vector<RowIndex> &rows,
                                            unsigned threads) const {
  constexpr size_t most = 256;
  Comparer outputs, lses;
  for (size_t begin = 0; begin < rows.size(); begin += most) {
    size_t count = std::min(most, rows.size() - begin);
    std::vector<Row> exact(count);
    parallelFor(static_cast<int64_t>(count), threads, [&](int64_t number) {
      auto at = static_cast<size_t>(number);
      exact[at] = row(rows[begin + at], results.front().type);
    });
    for (size_t number = 0; number < count; ++number) {
      const RowIndex &index = rows[begin + number];
      auto [weight, error] = exact[number].weight;
      // Whether such a row is empty is up to rounding.
      bool isClear = !(std::fabs(weight) <= error) || error == 0;
      std::vector<int64_t> where = {index.batch, index.head, index.query};
      if (results.size() > 1 && isClear) {
        double lse = weight <= 0 ? -infinity : std::log(weight);
        double relative = weight > 0 ? error / weight : 0;
        lses.add(results[1].at(where), lse,
                 2 * (relative + u32 * (8 + (std::isfinite(lse) ? std::fabs(lse) : 0))), where);
      }
      if (!isClear && !isUndivided)
        continue;
      where.push_back(0);
      for (size_t channel = 0; channel < exact[number].output.size(); ++channel) {
        where.back() = static_cast<int64_t>(channel);
        const Estimate &value = exact[number].output[channel];
        outputs.add(results.front().at(where), value.exact, value.tolerance, where);
      }
    }
  }
  return {outputs.finish(), lses.finish()};
}

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

std::vector<int64_t> GatedSum::rowShape() const {
  const std::vector<int64_t> &shape = outputs.front().shape;
  return {shape[0], shape[1], shape[2]};
}

double GatedSum::costPerRow() const {
  return static_cast<double>(outputs.size()) * static_cast<double>(outputs.front().shape[3]);
}

std::vector<Estimate> GatedSum::row(const RowIndex &index) const {
  size_t channels = static_cast<size_t>(outputs.front().shape[3]);
  std::vector<double> part, sums(channels), magnitudes(channels);
  for (size_t number = 0; number < outputs.size(); ++number) {
    double gate = gates[number].rank() == 1
                      ? gates[number].at({index.head})
                      : gates[number].at({index.batch, index.head, index.query});
    if (gate == 0)
      continue;
    RowReader(outputs[number]).read(index.batch, index.head, index.query, part);
    for (size_t channel = 0; channel < channels; ++channel) {
      sums[channel] += gate * part[channel];
      magnitudes[channel] += std::fabs(gate * part[channel]);
    }
  }
  ElementType type = outputs.front().type;
  std::vector<Estimate> values;
  for (size_t channel = 0; channel < channels; ++channel) {
    double error = unitRoundoff(type) * std::fabs(sums[channel]) +
                   sumError(static_cast<double>(outputs.size())) * magnitudes[channel];
    values.push_back({toRange(type, sums[channel]),
                      2 * ((std::isfinite(error) ? error : 0) + smallestError(type))});
  }
  return values;
}

} // namespace lacuna::reference
