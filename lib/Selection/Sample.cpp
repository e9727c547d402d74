//===- Sample.cpp - drawn lists, margins and gates -------------------------===//
#include "lib/Selection/Ordering.h"
#include "lib/Selection/Philox.h"
#include "lib/Selection/Selection.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace lacuna::selection {

/// The start of a row.
template <typename T, size_t Rank>
static T *rowOf(const View<T, Rank> &view, const int64_t (&at)[3]) {
  T *data = view.data;
  for (size_t axis = 0; axis < 3; ++axis)
    data += at[axis] * view.strides[axis];
  return data;
}

void sample(const SampleRequest &request) {
  const float *scores = rowOf(request.scores, request.at);
  int32_t *ids = rowOf(request.ids, request.at);
  float *weights = rowOf(request.weights, request.at);
  int64_t columns = request.scores.extents[3], stride = request.scores.strides[3];
  int64_t capacity = request.ids.extents[3], count = 0;
  float greatest = -INFINITY;
  for (int64_t column = 0; column < columns; ++column)
    if (float score = scores[column * stride]; std::isfinite(score))
      greatest = std::max(greatest, score);
  double total = 0;
  auto weigh = [&](float score) { return std::exp(double(score) - double(greatest)); };
  for (int64_t column = 0; column < columns; ++column)
    if (float score = scores[column * stride]; std::isfinite(score))
      total += weigh(score);
  for (int64_t column = 0; column < columns && count < capacity; ++column) {
    float score = scores[column * stride];
    bool forced = score == INFINITY;
    if (!forced && !std::isfinite(score))
      continue;
    double chance = forced ? 1 : std::min(1.0, request.number * weigh(score) / total);
    float drawn = uniformAt(request.seed, request.at[0], request.at[1], request.at[2], column);
    if (!(drawn < chance))
      continue;
    ids[count * request.ids.strides[3]] = static_cast<int32_t>(column);
    weights[count++ * request.weights.strides[3]] = static_cast<float>(1 / chance);
  }
  *rowOf(request.counts, request.at) = static_cast<int32_t>(count);
  for (; count < capacity; ++count) {
    ids[count * request.ids.strides[3]] = -1;
    weights[count * request.weights.strides[3]] = 0;
  }
}

void margin(const MarginRequest &request) {
  const float *scores = rowOf(request.scores, request.at);
  std::vector<float> finite;
  for (int64_t column = 0; column < request.scores.extents[3]; ++column)
    if (float score = scores[column * request.scores.strides[3]]; std::isfinite(score))
      finite.push_back(score);
  float &margin = *rowOf(request.margin, request.at);
  margin = 1;
  if (static_cast<int64_t>(finite.size()) <= request.number)
    return;
  auto next = finite.begin() + request.number;
  std::nth_element(finite.begin(), next, finite.end(), std::greater<>());
  double first = *std::max_element(finite.begin(), next), behind = *next;
  double last = *std::min_element(finite.begin(), next);
  margin = first == behind ? 0 : static_cast<float>((last - behind) / (first - behind));
}

void gate(const GateRequest &request) {
  const auto &values = request.values;
  const auto &numbers = request.numbers;
  int64_t heads = values.extents[1], rows = values.extents[2];
  auto forEach = [&](auto visit) {
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t row = 0; row < rows; ++row) {
        float value = values.data[request.batch * values.strides[0] + head * values.strides[1] +
                                  row * values.strides[2]];
        // The least are wanted, NaN last.
        visit(std::isnan(value) ? 0 : ~orderOf(value), head, row);
      }
  };
  int64_t low = std::min(countOfShare(request.share, heads * rows), heads * rows);
  Cut cut;
  if (low > 0)
    cut = findCut([&](auto visit) { forEach([&](uint32_t key, int64_t, int64_t) { visit(key); }); },
                  low);
  forEach([&](uint32_t key, int64_t head, int64_t row) {
    numbers.data[request.batch * numbers.strides[0] + head * numbers.strides[1] +
                 row * numbers.strides[2]] =
        static_cast<int32_t>(cut.takes(key) ? request.low : request.high);
  });
}

/// A request's function, for kernels that know addresses only.
template <typename Request, void (*function)(const Request &)>
static void call(const void *request) {
  function(*static_cast<const Request *>(request));
}

const Symbol symbols[symbolCount] = {
    {"lacuna_choose", call<ChooseRequest, choose>},
    {"lacuna_sample", call<SampleRequest, sample>},
    {"lacuna_margin", call<MarginRequest, margin>},
    {"lacuna_gate", call<GateRequest, gate>},
};

} // namespace lacuna::selection
