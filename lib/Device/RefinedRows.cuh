// Lacuna's device library: choices among children; after lists, rows and kept rows.
//
// A warp takes a row: it lists the children of the nodes that the row keeps, gathers their means,
// several at once, and chooses among the products in registers.

/// Key rows of one head.
struct GatheredKeys {
  const void *base;
  i64 offset, rowStride, channelStride, rows;
};

/// How a warp multiplies one query row with key rows: `lanes` lanes have a key, and each of them
/// every `lanes`-th chunk of 16 bytes.
template <class Element, int Channels> struct GatheredRow {
  typedef Chunk<Element> Lane;
  static constexpr int size = Lane::size, chunks = (Channels + size - 1) / size;
  static constexpr int lanes = chunks > 8 ? 16 : chunks > 4 ? 8 : chunks > 2 ? 4 : chunks;
  static constexpr int each = (chunks + lanes - 1) / lanes, rows = 32 / lanes;
  /// Keys of a lane that are on their way at once. Their sums over the lanes are taken together:
  /// `halvings` times a lane gives half of what it has to another one.
  static constexpr int ahead = each == 1 ? 8 : each == 2 ? 4 : 2;
  __host__ __device__ static constexpr int log2Of(int value) {
    return value > 1 ? 1 + log2Of(value / 2) : 0;
  }
  static constexpr int halvings = log2Of(ahead < lanes ? ahead : lanes);
  /// Sums that a lane gets, and lanes that get the same.
  static constexpr int left = ahead >> halvings, same = lanes >> halvings;

  float query[each][size];

  __device__ GatheredRow(const void *queries, i64 offset, i64 stride) {
#pragma unroll
    for (int j = 0; j < each; ++j)
      if (hasChunk(j))
        readChannels<Element, Channels>(queries, offset, stride, channelOf(j), query[j]);
  }
  __device__ static int part() { return static_cast<int>(threadIdx.x) % lanes; }
  __device__ static bool hasChunk(int j) { return part() + j * lanes < chunks; }
  __device__ static int channelOf(int j) { return (part() + j * lanes) * size; }

  __device__ static void reduce(float (&values)[ahead]) {
#pragma unroll
    for (int step = 0; step < halvings; ++step) {
      const int half = ahead >> (step + 1), mask = lanes >> (step + 1);
      const bool isUpper = part() & mask;
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const float given = isUpper ? values[i] : values[i + half];
        values[i] = (isUpper ? values[i + half] : values[i]) + __shfl_xor_sync(~0u, given, mask);
      }
    }
#pragma unroll
    for (int mask = same / 2; mask > 0; mask /= 2)
#pragma unroll
      for (int i = 0; i < left; ++i)
        values[i] += __shfl_xor_sync(~0u, values[i], mask);
  }
  __device__ void add(int j, const float (&key)[size], float &sum) const {
#pragma unroll
    for (int i = 0; i < size; ++i)
      sum = __fmaf_rn(query[j][i], key[i], sum);
  }
  /// Products of keys that lie at multiples of 16 bytes: all are read before the first is needed.
  __device__ void multiplyWhole(const typename Lane::Type *first, i64 rowStride,
                                const int (&rowIds)[ahead], float (&sums)[ahead]) const {
    Lane lane[ahead][each];
#pragma unroll
    for (int i = 0; i < ahead; ++i)
#pragma unroll
      for (int j = 0; j < each; ++j)
        lane[i][j].whole =
            rowIds[i] >= 0 && hasChunk(j)
                ? *reinterpret_cast<const uint4 *>(first + rowIds[i] * rowStride + channelOf(j))
                : uint4{0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < ahead; ++i)
#pragma unroll
      for (int j = 0; j < each; ++j) {
        float key[size];
#pragma unroll
        for (int channel = 0; channel < size; ++channel)
          key[channel] = Memory<Element>::load(lane[i][j].elements[channel]);
        if (hasChunk(j))
          add(j, key, sums[i]);
      }
  }

  /// put(entry, product) for the keys that `ids` name, `count` of them; 0 for what is no key.
  template <class Put>
  __device__ void multiply(const GatheredKeys &keys, const int *ids, int count, Put &&put) const {
    const auto *first = static_cast<const typename Lane::Type *>(keys.base) + keys.offset;
    const bool isWhole = Channels % size == 0 && Lane::isWhole(first, keys.channelStride) &&
                         keys.rowStride % size == 0;
    const int group = static_cast<int>(threadIdx.x % 32) / lanes;
#pragma unroll 1
    for (int from = 0; from < count; from += ahead * rows) {
      float sums[ahead] = {};
      int rowIds[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        const int entry = from + i * rows + group, id = entry < count ? ids[entry] : -1;
        rowIds[i] = id < keys.rows ? id : -1;
      }
      if (isWhole)
        multiplyWhole(first, keys.rowStride, rowIds, sums);
      else
#pragma unroll
        for (int i = 0; i < ahead; ++i)
#pragma unroll
          for (int j = 0; j < each; ++j)
            if (rowIds[i] >= 0 && hasChunk(j)) {
              float key[size];
              readChannels<Element, Channels>(keys.base, keys.offset + rowIds[i] * keys.rowStride,
                                              keys.channelStride, channelOf(j), key);
              add(j, key, sums[i]);
            }
      reduce(sums);
#pragma unroll
      for (int i = 0; i < left; ++i) {
        const int entry = from + (part() / same * left + i) * rows + group;
        if (part() % same == 0 && entry < count)
          put(entry, sums[i]);
      }
    }
  }
};

/// What a row's choice starts from, and how much room its lists have.
struct RefinedRow {
  i64 head, row;
  Strip<const int> nodes;
  int nodeCount;
  /// Nodes of the finer level.
  i64 columns;
  int candidates, capacity;
};

/// One row's choice; how many children there were. `adjust(column, product)` is a score;
/// between(entry, child, score) gets each candidate where `IsShown`, and ids(place, entry, child)
/// what is chosen. A block of `Warps` warps, each with a row; rows have at most `Most` candidates.
template <Rule Kind, int By, int Most, int Warps, bool IsShown, class Query, class Adjust,
          class Between, class Ids, class Counts>
__device__ __forceinline__ int
refineRow(const RefinedRow &it, const Query &query, const GatheredKeys &keys, double number,
          i64 floor, i64 cap, Adjust &&adjust, Between &&between, Ids &&ids, Counts &&counts) {
  __shared__ int allChildren[Warps][Most];
  __shared__ float allProducts[Warps][Most];
  int *children = allChildren[threadIdx.x / 32];
  float *products = allProducts[threadIdx.x / 32];
  const int found = visitChildren<By>(it.nodes, it.nodeCount, it.columns,
                                      [&](int place, int child) { children[place] = child; });
  __syncwarp();
  query.multiply(keys, children, found,
                 [&](int entry, float product) { products[entry] = product; });
  __syncwarp();
  auto load = [&](int entry) { return entry < found ? products[entry] : 0.f; };
  auto score = [&](int entry, float product) {
    const int child = entry < found ? children[entry] : -1;
    return child >= 0 && child < keys.rows ? adjust(child, product) : -INFINITY_F32;
  };
  if constexpr (IsShown)
    for (int entry = static_cast<int>(threadIdx.x % 32); entry < it.candidates; entry += 32)
      between(entry, entry < found ? children[entry] : -1, score(entry, load(entry)));
  const KeptRow<32, (Most + 31) / 32> choice(it.head, it.row, it.candidates, load, score);
  choose<Kind>(
      choice, number, floor, cap, it.capacity,
      [&](i64, i64, int place, int entry) { ids(place, entry, entry >= 0 ? children[entry] : -1); },
      [&](i64, i64, int chosen) { counts(chosen); });
  return found;
}
