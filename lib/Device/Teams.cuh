// Lacuna's device library: what threads find out together; after the primitives.

/// A warp, or with more `Threads` all threads of a block: every member calls each function.
template <int Threads> struct Team {
  static constexpr int warps = Threads / 32;

  /// This thread's number in the team.
  __device__ static int thread() {
    return static_cast<int>(Threads == 32 ? threadIdx.x % 32 : threadIdx.x);
  }
  /// Merges what each warp has.
  template <class T, class Merge> __device__ static T reduceWarps(T value, Merge &&merge) {
    if constexpr (warps == 1) {
      return value;
    } else {
      __shared__ T parts[warps];
      __syncthreads();
      if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
      __syncthreads();
      T result = parts[0];
#pragma unroll 4
      for (int warp = 1; warp < warps; ++warp)
        result = merge(result, parts[warp]);
      return result;
    }
  }
  template <class T, class Merge> __device__ static T reduce(T value, Merge &&merge) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
      value = merge(value, __shfl_xor_sync(~0u, value, lane));
    return reduceWarps(value, merge);
  }
  template <class T> __device__ static T sum(T value) {
    return reduce(value, [](T a, T b) { return a + b; });
  }
  __device__ static u32 sum(u32 value) {
    return reduceWarps(__reduce_add_sync(~0u, value), [](u32 a, u32 b) { return a + b; });
  }
  /// The greatest; NaN wins.
  __device__ static float most(float value) {
    return reduce(value, [](float a, float b) { return a > b || a != a ? a : b; });
  }
  /// What the threads before this one have together; `total` is that of all.
  __device__ static int before(int value, int &total) {
    int sum = value;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(~0u, sum, distance);
      sum += static_cast<int>(threadIdx.x % 32) >= distance ? other : 0;
    }
    return beforeWarps(sum - value, __shfl_sync(~0u, sum, 31), total);
  }
  /// How many threads before this one have the flag; `total` is how many have it at all.
  __device__ static int rank(bool flag, int &total) {
    const u32 mask = __ballot_sync(~0u, flag);
    return beforeWarps(__popc(mask & ((1u << threadIdx.x % 32) - 1)), __popc(mask), total);
  }

private:
  /// `own` within this warp, which has `all`, and what the warps before it have.
  __device__ static int beforeWarps(int own, int all, int &total) {
    if constexpr (warps == 1) {
      total = all;
      return own;
    } else {
      __shared__ int parts[warps];
      __syncthreads();
      if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = all;
      __syncthreads();
      total = 0;
#pragma unroll 4
      for (int warp = 0; warp < warps; ++warp) {
        own += warp < static_cast<int>(threadIdx.x / 32) ? parts[warp] : 0;
        total += parts[warp];
      }
      return own;
    }
  }
};
