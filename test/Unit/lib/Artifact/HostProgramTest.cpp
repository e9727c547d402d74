//===- HostProgramTest.cpp - exact arithmetic, or a failure that says why --===//
#include "lib/Artifact/HostProgram.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using Op = HostInstruction::Op;
using testing::HasSubstr;

/// The last value of a program over `arguments`, all of which are inputs.
static std::optional<HostFailure> evaluate(const HostProgram &program,
                                           std::span<const HostArgument> arguments, int64_t &last) {
  std::vector<int64_t> values(program.code.size());
  HostSchedule schedule = scheduleHostProgram(program, static_cast<unsigned>(arguments.size()));
  auto failure = evaluateHostProgram(program, schedule.beforeOutputs, arguments, values);
  last = values.back();
  return failure;
}

/// `op` of two constants.
static std::optional<HostFailure> apply(Op op, int64_t a, int64_t b, int64_t &result) {
  return evaluate({{{Op::Constant, a}, {Op::Constant, b}, {op, 0, 1}}}, {}, result);
}

TEST(HostProgram, roundsTowardsTheRightInfinity) {
  struct Case {
    Op op;
    int64_t a, b, expected;
  };
  for (const Case &c : std::vector<Case>{
           {Op::FloorDiv, 7, 2, 3},   {Op::FloorDiv, -7, 2, -4}, {Op::FloorDiv, 7, -2, -4},
           {Op::FloorDiv, -8, 2, -4}, {Op::CeilDiv, 7, 2, 4},    {Op::CeilDiv, -7, 2, -3},
           {Op::CeilDiv, -7, -2, 4},  {Op::CeilDiv, 0, 5, 0},    {Op::Mod, -7, 2, 1},
           {Op::Mod, 7, -2, -1},      {Op::Mod, 6, 3, 0},        {Op::FloorDiv, 5, -1, -5},
           {Op::Less, 1, 1, 0},       {Op::LessEqual, 1, 1, 1},  {Op::Equal, -3, -3, 1},
           {Op::And, 4, 2, 1},        {Op::And, 4, 0, 0},        {Op::Or, 0, 0, 0},
           {Op::Or, 0, -2, 1},        {Op::Min, -3, 2, -3},      {Op::Max, -3, 2, 2}}) {
    int64_t result = 0;
    ASSERT_FALSE(apply(c.op, c.a, c.b, result));
    EXPECT_EQ(result, c.expected) << toString(c.op) << " " << c.a << " " << c.b;
  }
}

// The remainder of the least number by -1 is 0; its quotient does not fit.
TEST(HostProgram, refusesWhatDoesNotFit) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  int64_t result = 0;
  EXPECT_FALSE(apply(Op::Mod, least, -1, result));
  EXPECT_EQ(result, 0);
  EXPECT_FALSE(apply(Op::FloorDiv, least, 1, result));
  EXPECT_EQ(result, least);
  for (auto [op, a, b] : std::vector<std::tuple<Op, int64_t, int64_t>>{{Op::Add, most, 1},
                                                                       {Op::Sub, least, 1},
                                                                       {Op::Mul, most, 2},
                                                                       {Op::FloorDiv, least, -1},
                                                                       {Op::CeilDiv, least, -1}}) {
    auto failure = apply(op, a, b, result);
    ASSERT_TRUE(failure) << toString(op);
    EXPECT_EQ(failure->value, 2u);
    EXPECT_THAT(failure->message, HasSubstr("exceeds 64 bits"));
  }
}

TEST(HostProgram, refusesZeroDivisors) {
  for (Op op : {Op::FloorDiv, Op::CeilDiv, Op::Mod}) {
    int64_t result = 0;
    auto failure = apply(op, 5, 0, result);
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message, HasSubstr("divides by zero"));
  }
}

TEST(HostProgram, readsArguments) {
  Tensor tensor{ElementType::F16, {2, 3}, {7, 1}, nullptr};
  std::vector<HostArgument> arguments = {{&tensor, 0}, {nullptr, 42}};
  int64_t result = 0;
  ASSERT_FALSE(
      evaluate({{{Op::Extent, 0, 1}, {Op::Stride, 0, 0}, {Op::Mul, 0, 1}}}, arguments, result));
  EXPECT_EQ(result, 21);
  ASSERT_FALSE(evaluate({{{Op::Scalar, 1}}}, arguments, result));
  EXPECT_EQ(result, 42);
  auto failure = evaluate({{{Op::Extent, 0, 2}}}, arguments, result);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "expected argument 0 to have an axis 2");
}

// A select takes its third operand, and only that, from `c`.
TEST(HostProgram, selects) {
  for (int64_t condition : {0, 1, -5}) {
    int64_t result = 0;
    ASSERT_FALSE(evaluate({{{Op::Constant, condition},
                            {Op::Constant, 10},
                            {Op::Constant, 20},
                            {Op::Select, 0, 1, 2}}},
                          {}, result));
    EXPECT_EQ(result, condition ? 10 : 20);
  }
}

// What reads an output, directly or not, waits for it.
TEST(HostProgram, splitsAtOutputs) {
  HostProgram program{{{Op::Extent, 0, 0}, {Op::Stride, 1, 0}, {Op::Add, 0, 1}, {Op::Mul, 0, 0}}};
  HostSchedule schedule = scheduleHostProgram(program, 1);
  EXPECT_EQ(schedule.beforeOutputs, (std::vector<unsigned>{0, 3}));
  EXPECT_EQ(schedule.afterOutputs, (std::vector<unsigned>{1, 2}));
}

TEST(HostProgram, refusesLateAndAbsentOperands) {
  EXPECT_TRUE(checkHostProgram({{{Op::Extent, 0, 0}, {Op::Add, 0, 0}}}, 1));
  EXPECT_THAT(checkHostProgram({{{Op::Add, 0, 0}}}, 1).message(), HasSubstr("earlier values"));
  EXPECT_THAT(checkHostProgram({{{Op::Constant, 1}, {Op::Add, 0, -1}}}, 1).message(),
              HasSubstr("earlier values"));
  EXPECT_THAT(checkHostProgram({{{Op::Extent, 1, 0}}}, 1).message(),
              HasSubstr("one of 1 arguments"));
  EXPECT_THAT(checkHostProgram({{{Op::Extent, 0, -1}}}, 1).message(), HasSubstr("an axis"));
  EXPECT_THAT(checkHostProgram({{{static_cast<Op>(99)}}}, 1).message(),
              HasSubstr("known operation"));
}

// The budget of a launch leaves one microsecond for this; ten times that fails on no machine.
TEST(HostProgram, fortyInstructionsAreQuick) {
  HostProgram program{{{Op::Constant, 3}}};
  for (int64_t i = 1; i < 40; ++i)
    program.code.push_back({i % 2 ? Op::Add : Op::FloorDiv, i - 1, 0});
  HostSchedule schedule = scheduleHostProgram(program, 0);
  std::vector<int64_t> values(program.code.size());
  auto start = std::chrono::steady_clock::now();
  for (int repeat = 0; repeat < 1000; ++repeat)
    ASSERT_FALSE(evaluateHostProgram(program, schedule.beforeOutputs, {}, values));
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  RecordProperty("nanoseconds", static_cast<int>(spent.count() * 1e6));
  EXPECT_LT(spent.count() / 1000, 10e-6);
}
