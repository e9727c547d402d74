//===- CompileReportTest.cpp - logs as versions of the assembler word them -===//
#include "runtime/Jit/CompileReport.h"

#include <gtest/gtest.h>

using namespace lacuna;

TEST(CompileReport, readsEveryKernel) {
  CompileReport report = parseCompileLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_90a'
ptxas info    : Function properties for one
    352 bytes stack frame, 628 bytes spill stores, 704 bytes spill loads
ptxas info    : Used 64 registers, used 3 barriers, 352 bytes cumulative stack size, 1024 bytes smem, 536 bytes cmem[0]
ptxas info    : Compiling entry function 'two' for 'sm_90a'
ptxas info    : Function properties for two
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers
)");
  ASSERT_EQ(report.kernels.size(), 2u);
  const KernelReport &one = report.kernels[0];
  EXPECT_EQ(one.name, "one");
  EXPECT_EQ(one.stackBytes, 352u);
  EXPECT_EQ(one.spillStoreBytes, 628u);
  EXPECT_EQ(one.spillLoadBytes, 704u);
  EXPECT_EQ(one.registers, 64u);
  EXPECT_EQ(one.barriers, 3u);
  EXPECT_EQ(one.sharedBytes, 1024u);
  EXPECT_EQ(one.constantBytes, 536u);
  ASSERT_TRUE(report.find("two"));
  EXPECT_EQ(report.find("two")->registers, 168u);
  EXPECT_FALSE(report.find("three"));
  EXPECT_TRUE(report.spills());
  EXPECT_FALSE(report.wgmmaSerialized);
  EXPECT_FALSE(report.setmaxnregIgnored);
}

// The numbers of messages change; the words stay.
TEST(CompileReport, noticesLostSpeed) {
  for (const char *line :
       {"ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to insufficient register resources in function 'f'",
        "ptxas info    : (C7520) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to non wgmma instructions defining accumulator registers"}) {
    CompileReport report = parseCompileLog(line);
    EXPECT_TRUE(report.wgmmaSerialized);
    EXPECT_FALSE(report.setmaxnregIgnored);
    ASSERT_EQ(report.losses.size(), 1u);
    EXPECT_EQ(report.losses[0], line);
  }
  CompileReport report = parseCompileLog(
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain "
      "minimum register requirements.\n");
  EXPECT_TRUE(report.setmaxnregIgnored);
  EXPECT_FALSE(report.wgmmaSerialized);
  EXPECT_TRUE(parseCompileLog("").kernels.empty());
}

TEST(CompileReport, findsTheFirstError) {
  EXPECT_EQ(firstError("\nx.cu(1): warning #1: odd\nx.cu(2): error: bad\nx.cu(3): error: worse\n"),
            "x.cu(2): error: bad");
  EXPECT_EQ(firstError("\n  \nsomething else\nmore"), "something else");
  EXPECT_EQ(firstError(""), "");
}
