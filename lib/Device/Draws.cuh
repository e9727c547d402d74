// Lacuna's device library: drawn lists, and how clear choices are; after the choices.

/// A number in [0, 1) from Philox4x32-10 of a counter and a key.
__device__ __forceinline__ float draw(u32 c0, u32 c1, u32 c2, u32 c3, u64 seed) {
  u32 k0 = static_cast<u32>(seed), k1 = static_cast<u32>(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    const u32 next0 = static_cast<u32>(b >> 32) ^ c1 ^ k0,
              next2 = static_cast<u32>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<u32>(b);
    c3 = static_cast<u32>(a);
    c0 = next0;
    c2 = next2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return static_cast<float>(c0 >> 8) * 0x1p-24f;
}

/// One row's drawn list: `entry(place, column, weight)` for each of `columns` places.
template <class Choice, class Entry, class Count>
__device__ __forceinline__ void sample(const Choice &choice, double number, u32 batch, u32 head,
                                       u32 row, u64 seed, int columns, Entry &&entry,
                                       Count &&count) {
  typedef typename Choice::Group Group;
  const float top = choice.top();
  u64 part = 0;
  choice.forKeys([&](u32 key) { part += massOf(key, top); });
  const double total = static_cast<double>(Group::sum(part));
  int written = 0;
  choice.forColumns([&](int column, u32 key) {
    float chance = 0.f;
    if (key == topKey)
      chance = 1.f;
    else if (total > 0)
      chance = static_cast<float>(min(1.0, number * static_cast<double>(massOf(key, top)) / total));
    const bool isChosen = draw(static_cast<u32>(column), row, head, batch, seed) < chance;
    int chosen;
    const int place = Group::rank(isChosen, chosen);
    if (isChosen)
      entry(written + place, column, 1.f / chance);
    written += chosen;
  });
  for (int place = written + Group::thread(); place < columns; place += 32 * Group::warps)
    entry(place, -1, 0.f);
  if (Group::thread() == 0)
    count(written);
}

/// How clear a choice of `number` columns is; forced columns and NaN do not count.
template <class Choice>
__device__ __forceinline__ float marginOf(const Choice &choice, i64 number) {
  if (choice.countIf(isFiniteKey) <= number)
    return 1.f;
  auto ranked = [&](i64 rank) {
    const Cut cut =
        choice.find(static_cast<u64>(rank), [](u32 key) { return isFiniteKey(key) ? 1u : 0u; });
    return scoreOf(cut.key);
  };
  const float first = ranked(1), last = ranked(number), next = ranked(number + 1);
  return first == next ? 0.f : (last - next) / (first - next);
}
template <class Choice>
__device__ __forceinline__ void storeMargin(const Choice &choice, i64 number, float &margin) {
  const float found = marginOf(choice, number);
  if (Choice::Group::thread() == 0)
    margin = found;
}
