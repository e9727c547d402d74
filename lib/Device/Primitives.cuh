// Lacuna's device library: one function per machine instruction (PTX ISA 8.x, sm_90a).
// Self-contained: NVRTC compiles it without any include path.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

/// A CUtensorMap by value.
struct alignas(64) TensorMap {
  u64 words[16];
};

__device__ __forceinline__ u32 sharedAddress(const void *pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

// mbarriers -----------------------------------------------------------------

__device__ __forceinline__ void barrierInit(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ __forceinline__ void barrierArrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrierArriveExpect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the phase of the given parity is over.
__device__ __forceinline__ void barrierWait(u32 barrier, u32 parity) {
  asm volatile("{\n.reg .pred done;\nwait:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra wait;\n}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}
__device__ __forceinline__ void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void namedBarrierSync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void namedBarrierArrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Whether `value` holds in all threads that meet at the barrier.
__device__ __forceinline__ bool namedBarrierAll(int id, int threads, bool value) {
  int all;
  asm volatile("{\n.reg .pred mine, all;\nsetp.ne.s32 mine, %1, 0;\n"
               "bar.red.and.pred all, %2, %3, mine;\nselp.s32 %0, 1, 0, all;\n}"
               : "=r"(all)
               : "r"(static_cast<int>(value)), "r"(id), "r"(threads)
               : "memory");
  return all != 0;
}

/// Loads from shared memory in the first lane; 0 in the others. A predicate in place of a branch
/// keeps the warp in step for the assembler.
__device__ __forceinline__ void loadFirst(int &value, u32 address) {
  asm volatile("{\n.reg .pred first;\nsetp.eq.u32 first, %2, 0;\nmov.b32 %0, 0;\n"
               "@first ld.shared.b32 %0, [%1];\n}"
               : "=&r"(value)
               : "r"(address), "r"(threadIdx.x % 32)
               : "memory");
}
__device__ __forceinline__ void loadFirst(int &a, int &b, int &c, int &d, u32 address) {
  asm volatile("{\n.reg .pred first;\nsetp.eq.u32 first, %5, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\n"
               "mov.b32 %2, 0;\nmov.b32 %3, 0;\n@first ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
               : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d)
               : "r"(address), "r"(threadIdx.x % 32)
               : "memory");
}

// Bulk tensor copies ----------------------------------------------------------

/// L2 policies: stream data that is read once, keep data that other blocks read too.
static constexpr u64 evictFirst = 0x12F0000000000000ull, evictLast = 0x14F0000000000000ull;

__device__ __forceinline__ void copyIn(u32 target, const TensorMap &map, u32 barrier, u64 policy,
                                       int c0, int c1, int c2, int c3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(target),
               "l"(&map), "r"(barrier), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}
__device__ __forceinline__ void copyIn(u32 target, const TensorMap &map, u32 barrier, u64 policy,
                                       int c0, int c1, int c2, int c3, int c4) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(target),
               "l"(&map), "r"(barrier), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
               : "memory");
}
__device__ __forceinline__ void copyOut(const TensorMap &map, u32 source, int c0, int c1, int c2,
                                        int c3) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
               "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
               "r"(source), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}
__device__ __forceinline__ void copyOut(const TensorMap &map, u32 source, int c0, int c1, int c2,
                                        int c3, int c4) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
               "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
               "r"(source), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
               : "memory");
}
__device__ __forceinline__ void copyOutCommit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Until shared memory of all committed stores has been read.
__device__ __forceinline__ void copyOutWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void copyOutWait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
/// Orders ordinary stores to shared memory before bulk copies and matrix instructions.
__device__ __forceinline__ void fenceAsyncShared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Copies by threads ------------------------------------------------------------

/// Copies 16 bytes to shared memory, or writes zeros there and reads nothing. The copy is made by
/// this thread as an ordinary store is: whoever has matrix instructions read it needs a fence.
__device__ __forceinline__ void copyChunk(u32 target, const void *source, bool isThere) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
               "r"(isThere ? 16 : 0)
               : "memory");
}
/// The copies that this thread has issued since the last group are one.
__device__ __forceinline__ void chunksCommit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until all but the last `Pending` groups of this thread are there, for this thread.
template <int Pending> __device__ __forceinline__ void chunksWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
/// Arrives once the copies that this thread has issued are done.
__device__ __forceinline__ void barrierArriveCopied(u32 barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// Matrix instructions -----------------------------------------------------------

__device__ __forceinline__ void wgmmaFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending> __device__ __forceinline__ void wgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
/// Keeps the compiler from moving reads or writes of an accumulator across this point.
template <int Count> __device__ __forceinline__ void pin(float (&values)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    asm volatile("" : "+f"(values[i])::"memory");
}
/// Keeps the compiler from computing ahead what follows from a value, and from holding it in
/// registers.
__device__ __forceinline__ u32 computedHere(u32 value) {
  asm volatile("" : "+r"(value));
  return value;
}
/// Descriptor of an operand in panels of 64 16-bit columns with the 128-byte swizzle: groups of 8
/// rows are 1,024 bytes apart; `panelBytes` separates panels where the instruction spans several.
__device__ __forceinline__ u64 operand(u32 address, u32 panelBytes) {
  return (1ull << 62) | (64ull << 32) | (static_cast<u64>(panelBytes >> 4) << 16) |
         ((address & 0x3ffff) >> 4);
}

template <int Registers> __device__ __forceinline__ void registersUp() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers> __device__ __forceinline__ void registersDown() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

// Numbers -------------------------------------------------------------------------

/// NVRTC has no constant for it.
#define INFINITY_F32 __int_as_float(0x7f800000)
static constexpr float log2e = 1.44269504088896340736f, ln2 = 0.69314718055994530942f;

__device__ __forceinline__ float exp2Fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float log2Fast(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// The larger one; NaN when either is NaN.
__device__ __forceinline__ float maxOrNan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}
/// 1 / x within one unit in the last place, for x whose reciprocal is a normal number.
__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
struct Bf16 {};
struct F16 {};
template <class Element> __device__ __forceinline__ u32 packPair(float low, float high);
template <> __device__ __forceinline__ u32 packPair<Bf16>(float low, float high) {
  u32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
template <> __device__ __forceinline__ u32 packPair<F16>(float low, float high) {
  u32 pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ __forceinline__ void storeMatrix(u32 address, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
