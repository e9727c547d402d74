//===- ScalarProgramTest.cpp - arithmetic at its corners ------------------===//
#include "lib/Reference/ScalarProgram.h"
#include "lib/Reference/Integers.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace lacuna;
using namespace lacuna::reference;

static int64_t integer(Opcode opcode, int64_t a, int64_t b, unsigned width = 64) {
  ScalarProgram program(2);
  program.setResult(program.append({opcode, {0, 1}, width, width}));
  Register given[] = {{a, 0}, {b, 0}};
  return program.run(given).integer;
}

static double number(Opcode opcode, double a, double b) {
  ScalarProgram program(2);
  program.setResult(program.append({opcode, {0, 1}}));
  Register given[] = {{0, a}, {0, b}};
  return program.run(given).number;
}

TEST(ScalarProgram, divisionsRoundAsTheirNamesSay) {
  EXPECT_EQ(integer(Opcode::Divide, -7, 2), -3);
  EXPECT_EQ(integer(Opcode::FloorDivide, -7, 2), -4);
  EXPECT_EQ(integer(Opcode::CeilDivide, -7, 2), -3);
  EXPECT_EQ(integer(Opcode::CeilDivide, 7, 2), 4);
  EXPECT_EQ(integer(Opcode::Remainder, -7, 2), -1);
  EXPECT_EQ(modulo(-7, 2), 1);
}

TEST(ScalarProgram, nothingTraps) {
  EXPECT_EQ(integer(Opcode::Divide, 1, 0), 0);
  EXPECT_EQ(integer(Opcode::Divide, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(integer(Opcode::Remainder, INT64_MIN, -1), 0);
  EXPECT_EQ(integer(Opcode::FloorDivide, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(integer(Opcode::ShiftLeft, 1, 64), 0);
  EXPECT_EQ(integer(Opcode::ShiftRight, -1, 100), -1);
  EXPECT_EQ(integer(Opcode::Add, INT64_MAX, 1), INT64_MIN);
}

TEST(ScalarProgram, integersWrapToTheirWidth) {
  EXPECT_EQ(integer(Opcode::Add, INT32_MAX, 1, 32), INT32_MIN);
  EXPECT_EQ(integer(Opcode::Multiply, 100, 3, 8), 44);
  EXPECT_EQ(integer(Opcode::LessUnsigned, 1, -1, 32), 1);
  EXPECT_EQ(integer(Opcode::Less, 1, -1, 32), 0);
}

TEST(ScalarProgram, extremesAgreeWithTheirNamesOnNan) {
  double nan = std::nan("");
  EXPECT_TRUE(std::isnan(number(Opcode::FloatMaximum, nan, 1)));
  EXPECT_EQ(number(Opcode::FloatMaximumNumber, nan, 1), 1);
  EXPECT_EQ(number(Opcode::FloatMinimum, 2, 1), 1);
}

TEST(ScalarProgram, extractReadsZeroOutside) {
  OwnedTensor table(ElementType::F32, {3});
  table.view().set({2}, 7);
  ScalarProgram program(1);
  Instruction extract{Opcode::Extract, {0}};
  extract.tensor = program.addTensor(table.view());
  program.setResult(program.append(extract));
  for (auto [index, expected] : {std::pair{2, 7.0}, {3, 0.0}, {-1, 0.0}}) {
    Register given[] = {{index, 0}};
    EXPECT_EQ(program.run(given).number, expected);
  }
}
