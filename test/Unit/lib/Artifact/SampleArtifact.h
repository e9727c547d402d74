//===- SampleArtifact.h - a small artifact with something in every member --===//
#pragma once

#include "lacuna/ArtifactFile.h"

namespace lacuna {

/// Two kernels, the second with machine code, which a third launch runs again on other buffers.
inline Artifact sampleArtifact() {
  using Op = HostInstruction::Op;
  KernelManifest manifest;
  manifest.symbol = "copy";
  manifest.threads = 128;
  manifest.sharedBytes = 16384;
  manifest.host.code = {{Op::Extent, 0, 0},    {Op::Extent, 0, 1},
                        {Op::Stride, 0, 0},    {Op::Stride, 2, 0},
                        {Op::Scalar, 1},       {Op::Constant, -(int64_t{1} << 40)},
                        {Op::Select, 0, 1, 5}, {Op::Less, 0, 1}};
  manifest.requirements = {{7, "expected fewer rows than {0}, got {1}", {1, 0}}};
  manifest.grid = {0, 1};
  manifest.blocksPerMultiprocessor = 2;
  manifest.inputs = 2;
  manifest.outputs = {{ElementType::F16, {0, 1}}};
  manifest.maps = {{0, {{1, 0, 64}, {0, 2, 64}}, TensorMapRecipe::Swizzle::Bytes128, 4u},
                   {2, {{1, 0, 32}, {0, 3, 64}}, TensorMapRecipe::Swizzle::Bytes64, {}}};
  manifest.fields = {{ArgumentField::Kind::Pointer, 2},
                     {ArgumentField::Kind::Integer, 4},
                     {ArgumentField::Kind::WorkCounter, 0}};
  Artifact artifact;
  Program &program = artifact.program;
  program.name = "twice";
  program.architecture = "sm_90a";
  program.arguments = {{"x", ArgumentDeclaration::Kind::Tensor, ElementType::F16, {-1, 64}},
                       {"n", ArgumentDeclaration::Kind::Integer, ElementType::I64, {}},
                       {"s", ArgumentDeclaration::Kind::Float, ElementType::F64, {}}};
  program.kernels = {{manifest, "extern \"C\" __global__ void copy() {}\n", ""},
                     {manifest, "// another\n",
                      std::string("\x7f"
                                  "ELF\0machine code",
                                  17)}};
  program.launches = {{0, {0, 1}, {-1}}, {1, {3, 1}, {-1}}, {1, {0, 1}, {3}}};
  program.results = {4, 5};
  program.resultNames = {"y", "z"};
  artifact.origin = {std::string(64, 'a'), std::string(64, 'b'), "func.func @twice()",
                     "query-tile=64", "0123"};
  return artifact;
}

} // namespace lacuna
