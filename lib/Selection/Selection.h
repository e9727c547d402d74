//===- Selection.h - choices among scores, for kernels on a CPU ------------===//
//
// What `select.choose`, `sample`, `margin` and `gate` mean, on strided memory.
// Compiled kernels fill a request word by word and call the function of its
// name, so every field has eight bytes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace lacuna::selection {

/// A strided tensor in memory.
template <typename T, size_t Rank> struct View {
  T *data;
  int64_t extents[Rank], strides[Rank];
};

/// As in dialects/Select/SelectEnums.td.
enum class Rule : int64_t { TopK, Share, TopP, Above, NearMax, Deviation };
/// Which candidates compete: those of a row, of a head, of a batch entry.
enum class Scope : int64_t { Row, Head, Batch };

/// The lists of one scope.
struct ChooseRequest {
  /// batch x heads x rows x columns, and capacity.
  View<const float, 4> scores;
  View<int32_t, 4> ids;
  View<int32_t, 3> counts;
  /// A number per row; `data` is null where `number` stands for all.
  View<const int32_t, 3> numbers;
  double number;
  Rule rule;
  Scope scope;
  int64_t floor, cap;
  /// Batch, head and row of the scope, as many as it has.
  int64_t at[3];
};

/// A drawn list and the weights of its entries.
struct SampleRequest {
  View<const float, 4> scores;
  View<int32_t, 4> ids;
  View<int32_t, 3> counts;
  View<float, 4> weights;
  double number;
  int64_t seed;
  int64_t at[3];
};

/// How clear a choice of `number` columns is.
struct MarginRequest {
  View<const float, 4> scores;
  View<float, 3> margin;
  int64_t number;
  int64_t at[3];
};

/// One of two numbers for each row of a batch entry.
struct GateRequest {
  View<const float, 3> values;
  View<int32_t, 3> numbers;
  double share;
  int64_t low, high;
  int64_t batch;
};

void choose(const ChooseRequest &request);
void sample(const SampleRequest &request);
void margin(const MarginRequest &request);
void gate(const GateRequest &request);

/// The function that a kernel calls by name, with the address of a request.
struct Symbol {
  const char *name;
  void (*function)(const void *request);
};
inline constexpr size_t symbolCount = 4;
extern const Symbol symbols[symbolCount];

} // namespace lacuna::selection
