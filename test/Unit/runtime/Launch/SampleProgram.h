//===- SampleProgram.h - a small program with everything a launch does -----===//
#pragma once

#include "lacuna/Artifact.h"

namespace lacuna {

/// A builder of host programs for tests.
struct HostBuilder {
  HostProgram &program;
  unsigned add(HostInstruction::Op op, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
    program.code.push_back({op, a, b, c});
    return static_cast<unsigned>(program.code.size() - 1);
  }
};

/// A kernel of (q, k, left, scale) with q and k of b x n x 64: outputs b x n x 64 and b x n. Maps
/// of q, k and the first output; fields: the second output, n, scale, the counter.
inline KernelManifest sampleKernel(const char *symbol) {
  using Op = HostInstruction::Op;
  KernelManifest manifest;
  manifest.symbol = symbol;
  manifest.threads = 384;
  manifest.sharedBytes = 200000;
  manifest.inputs = 4;
  HostBuilder host{manifest.host};
  unsigned b = host.add(Op::Extent, 0, 0), n = host.add(Op::Extent, 0, 1);
  unsigned d = host.add(Op::Extent, 0, 2), rows = host.add(Op::Constant, 128);
  unsigned tiles = host.add(Op::CeilDiv, n, rows);
  unsigned left = host.add(Op::Scalar, 2), zero = host.add(Op::Constant, 0);
  unsigned valid = host.add(Op::LessEqual, zero, left);
  manifest.requirements = {{valid, "expected left of at least 0, got {0}", {left}}};
  manifest.grid = {b, tiles};
  manifest.outputs = {{ElementType::F16, {b, n, d}}, {ElementType::F32, {b, n}}};
  for (unsigned tensor : {0u, 1u, 4u}) {
    unsigned keys = host.add(Op::Extent, tensor, 1);
    unsigned row = host.add(Op::Stride, tensor, 1), batch = host.add(Op::Stride, tensor, 0);
    TensorMapRecipe map;
    map.tensor = tensor;
    map.axes = {{d, 0, 64}, {keys, row, 128}, {b, batch, 1}};
    manifest.maps.push_back(map);
  }
  using Kind = ArgumentField::Kind;
  manifest.fields = {
      {Kind::Pointer, 5}, {Kind::Integer, n}, {Kind::Float, 3}, {Kind::WorkCounter, 0}};
  return manifest;
}

/// One launch of the kernel; machine code that only the fake driver accepts.
inline Program sampleProgram() {
  using Kind = ArgumentDeclaration::Kind;
  Program program;
  program.name = "sample";
  program.architecture = "sm_90a";
  program.arguments = {{"q", Kind::Tensor, ElementType::F16, {-1, -1, 64}},
                       {"k", Kind::Tensor, ElementType::F16, {-1, -1, 64}},
                       {"left", Kind::Integer, ElementType::I64, {}},
                       {"scale", Kind::Float, ElementType::F64, {}}};
  program.kernels = {{sampleKernel("fwd"), "", "machine code"}};
  program.launches = {{0, {0, 1, 2, 3}, {-1, -1}}};
  program.results = {4, 5};
  return program;
}

} // namespace lacuna
