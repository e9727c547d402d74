//===- MatrixInstructions.cpp - wgmma of the shapes that a kernel uses ----===//
#include "compiler/Emit/MatrixInstructions.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

/// `%first, ..., %(first + count - 1)`.
static std::string registers(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += formatv("{0}%{1}", i ? ", " : "", first + i).str();
  return text;
}

/// The accumulators as read and written operands.
static std::string accumulators(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += formatv("{0}\"+f\"(d[{1}])", i ? ", " : "", i).str();
  return text;
}

std::string lacuna::matrixInstructions(int64_t keys, int64_t valueDim, bool bf16) {
  StringRef type = bf16 ? "bf16" : "f16";
  std::string text = "// Matrix instructions of this kernel's shapes.\n\n";
  int64_t r = keys / 2;
  text += formatv("__device__ __forceinline__ void wgmmaShared(float (&d)[{0}], u64 a, u64 b, "
                  "bool accumulate) {{\n"
                  "  asm volatile(\"{{.reg .pred p; setp.ne.b32 p, %{1}, 0;\\n\"\n"
                  "    \"wgmma.mma_async.sync.aligned.m64n{2}k16.f32.{3}.{3} {{{4}}, %{5}, %{6}, "
                  "p, 1, 1, 0, 0;}\"\n"
                  "    : {7}\n    : \"l\"(a), \"l\"(b), \"r\"(static_cast<int>(accumulate)));\n}\n",
                  r, r + 2, keys, type, registers(0, r), r, r + 1, accumulators(r))
              .str();
  r = valueDim / 2;
  text +=
      formatv("__device__ __forceinline__ void wgmmaRegisters(float (&d)[{0}], u32 a0, u32 a1, "
              "u32 a2, u32 a3, u64 b, bool accumulate) {{\n"
              "  asm volatile(\"{{.reg .pred p; setp.ne.b32 p, %{1}, 0;\\n\"\n"
              "    \"wgmma.mma_async.sync.aligned.m64n{2}k16.f32.{3}.{3} {{{4}}, {{{5}}, %{6}, "
              "p, 1, 1, 1;}\"\n"
              "    : {7}\n    : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"l\"(b), "
              "\"r\"(static_cast<int>(accumulate)));\n}\n",
              r, r + 5, valueDim, type, registers(0, r), registers(r, 4), r + 4, accumulators(r))
          .str();
  return text;
}
