//===- CopyProgram.h - a kernel with everything that a launch needs --------===//
#pragma once

#include "lacuna/Runtime.h"
#include "test/Unit/runtime/Launch/SampleProgram.h"
#include "test/Unit/runtime/TestNvrtc.h"

namespace lacuna {

/// A kernel that copies boxes of 8 x 64 through shared memory and adds a number; persistent.
inline constexpr const char *copySource = R"(
struct alignas(64) TensorMap { unsigned long long opaque[16]; };
struct Arguments { int *counter; long long items; double add; float *rows; };
extern "C" __global__ void __launch_bounds__(128)
fwd(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to,
    const __grid_constant__ Arguments args) {
  __shared__ alignas(1024) float stage[8 * 32];
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ int next;
  unsigned bar = __cvta_generic_to_shared(&barrier), at = __cvta_generic_to_shared(stage);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  unsigned phase = 0;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0)
      next = atomicAdd(args.counter, 1);
    __syncthreads();
    int item = next;
    if (item >= args.items)
      break;
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(bar));
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                   "[%0], [%1, {%2, %3}], [%4];" ::"r"(at), "l"(&from), "r"(0), "r"(item * 8),
                   "r"(bar) : "memory");
    }
    unsigned done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; "
                   "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(phase) : "memory");
    phase ^= 1;
    for (int i = threadIdx.x; i < 256; i += 128)
      stage[i] += float(args.add);
    if (threadIdx.x < 8)
      args.rows[item * 8 + threadIdx.x] = item;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::
                   "l"(&to), "r"(0), "r"(item * 8), "r"(at) : "memory");
      asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
}
)";

/// fwd(x: n x 32 of f32, add) -> n x 32 of f32, and rows rounded up to 8 of f32.
inline Program copyProgram() {
  using Op = HostInstruction::Op;
  using Kind = ArgumentField::Kind;
  KernelManifest manifest;
  manifest.symbol = "fwd";
  manifest.threads = 128;
  manifest.inputs = 2;
  HostBuilder host{manifest.host};
  unsigned n = host.add(Op::Extent, 0, 0), d = host.add(Op::Extent, 0, 1);
  unsigned eight = host.add(Op::Constant, 8), items = host.add(Op::CeilDiv, n, eight);
  unsigned rows = host.add(Op::Mul, items, eight);
  unsigned from = host.add(Op::Stride, 0, 0), to = host.add(Op::Stride, 2, 0);
  manifest.grid = {items};
  manifest.outputs = {{ElementType::F32, {n, d}}, {ElementType::F32, {rows}}};
  for (auto [tensor, stride] : {std::pair(0u, from), std::pair(2u, to)}) {
    TensorMapRecipe map;
    map.tensor = tensor;
    map.axes = {{d, 0, 32}, {n, stride, 8}};
    map.swizzle = TensorMapRecipe::Swizzle::None;
    manifest.maps.push_back(map);
  }
  manifest.fields = {
      {Kind::WorkCounter, 0}, {Kind::Integer, items}, {Kind::Float, 1}, {Kind::Pointer, 3}};
  Program program;
  program.name = "copy";
  program.architecture = "sm_90a";
  program.arguments = {{"x", ArgumentDeclaration::Kind::Tensor, ElementType::F32, {-1, 32}},
                       {"add", ArgumentDeclaration::Kind::Float, ElementType::F64, {}}};
  program.kernels = {{manifest, copySource, ""}};
  program.launches = {{0, {0, 1}, {-1, -1}}};
  program.results = {2, 3};
  return program;
}

} // namespace lacuna

/// Opens the machine's own Hopper GPU, or skips.
#define LACUNA_GPU_OR_SKIP(gpu)                                                                    \
  auto gpu##Options = GpuOptions::fromEnvironment();                                               \
  ASSERT_TRUE(gpu##Options);                                                                       \
  auto gpu##Result = Gpu::open(*gpu##Options);                                                     \
  if (!gpu##Result)                                                                                \
    GTEST_SKIP() << gpu##Result.status().message();                                                \
  const Gpu &gpu = *gpu##Result;                                                                   \
  if (gpu.architecture() != "sm_90")                                                               \
  GTEST_SKIP() << "this GPU is of another generation: " << gpu.architecture()
