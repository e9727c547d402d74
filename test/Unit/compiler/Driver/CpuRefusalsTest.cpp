//===- CpuRefusalsTest.cpp - what a CPU program says no to ----------------===//
#include "compiler/Driver/CpuProgram.h"
#include "test/Support/SpecText.h"

#include <gmock/gmock.h>

using namespace lacuna;
using lacuna::test::SpecText;
using ::testing::HasSubstr;

/// What compiling the first function of `text` says.
static std::string refusalOf(const std::string &text) {
  SpecText spec(text);
  if (!spec.isParsed())
    return "not parsed: " + spec.getMessages();
  auto program = CpuProgram::compile(spec.getFunction());
  return failed(program) ? spec.getMessages() : "compiled";
}

TEST(CpuRefusals, argumentsThatNoCallerCanGive) {
  EXPECT_THAT(
      refusalOf("func.func @f(%x: tensor<4xi3>) { return }"),
      HasSubstr("expected elements of type f16, bf16, f32, f64, i8, i32, i64 or index, got"));
  EXPECT_THAT(refusalOf("func.func @f(%x: i7) { return }"),
              HasSubstr("expected a tensor, an index, an integer of 1, 8, 16, 32 or 64 bits or a "
                        "float as argument, got"));
}

TEST(CpuRefusals, functionsThatAreNoLaunchSequence) {
  EXPECT_THAT(refusalOf("func.func private @f()"), HasSubstr("expected a function with a body"));
  EXPECT_THAT(refusalOf("func.func @f() { cf.br ^a\n^a: return }"),
              HasSubstr("expected one block of launches, got 2"));
  EXPECT_THAT(
      refusalOf("func.func @f() -> index { %c = arith.constant 1 : index return %c : index }"),
      HasSubstr("expected only launches, got 'arith.constant'"));
  EXPECT_THAT(refusalOf("func.func @f(%x: index) -> index { return %x : index }"),
              HasSubstr("expected tensors as results, got"));
}

TEST(CpuRefusals, resultsThatNoTensorHolds) {
  EXPECT_THAT(
      refusalOf("func.func @f() -> tensor<1xi5> {\n"
                "  %r = tile.launch @k() : () -> tensor<1xi5>\n"
                "  return %r : tensor<1xi5>\n}\n"
                "tile.kernel @k attributes {inputs = 0 : i64, outputs = 1 : i64} plan {\n"
                "  %c1 = arith.constant 1 : index\n"
                "  tile.plan grid(%c1) shapes(%c1)\n} body {\n"
                "^bb0(%o: memref<1xi5>, %t: index):\n  tile.end\n}\n"),
      HasSubstr("expected results with elements of type f16, bf16, f32, f64, i8, i32 or i64, "
                "got"));
}
