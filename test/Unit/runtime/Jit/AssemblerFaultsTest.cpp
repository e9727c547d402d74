//===- AssemblerFaultsTest.cpp - code that some assemblers get wrong -------===//
#include "runtime/Jit/AssemblerFaults.h"

#include <gtest/gtest.h>

using namespace lacuna;

TEST(AssemblerFaults, findsNegationsInsideTwoMinima) {
  EXPECT_EQ(findLostNegation("\tneg.s32 \t%r4, %r2;\n"
                             "\tmin.s32 \t%r5, %r1, %r4;\n"
                             "\tadd.s32 \t%r7, %r5, 1;\n"
                             "\tmin.s32 \t%r6, %r5, %r3;\n"),
            "min.s32 %r6, %r5, %r3");
  EXPECT_TRUE(findLostNegation("sub.s32 %r4, 0, %r2;\nmax.s32 %r5, %r4, %r1;\n"
                               "@%p1 max.s32 %r6, %r3, %r5;"));
  EXPECT_TRUE(findLostNegation("mul.lo.s32 %r4, %r2, -1;\nmin.s32 %r5, %r1, %r4;\r\n"
                               "min.s32 %r6, %r5, 7;"));
}

TEST(AssemblerFaults, leavesOtherMinimaAlone) {
  // Without a sign, with another kind outside, and without a second one.
  EXPECT_FALSE(findLostNegation("min.s32 %r5, %r1, %r4;\nmin.s32 %r6, %r5, %r3;\n"));
  EXPECT_FALSE(findLostNegation("neg.s32 %r4, %r2;\nmin.s32 %r5, %r1, %r4;\n"
                                "max.s32 %r6, %r5, %r3;\n"));
  EXPECT_FALSE(findLostNegation("neg.s32 %r4, %r2;\nmin.s32 %r5, %r1, %r3;\n"
                                "min.s32 %r6, %r5, %r4;\n"));
  EXPECT_FALSE(findLostNegation("neg.s32 %r4, %r2;\nmin.u32 %r5, %r1, %r4;\n"
                                "min.u32 %r6, %r5, %r3;\n"));
  EXPECT_FALSE(findLostNegation("sub.s32 %r4, %r2, %r0;\nmin.s32 %r5, %r1, %r4;\n"
                                "min.s32 %r6, %r5, %r3;\n"));
  // Registers of another kernel.
  EXPECT_FALSE(findLostNegation("neg.s32 %r4, %r2;\n.visible .entry next(\n"
                                "min.s32 %r5, %r1, %r4;\nmin.s32 %r6, %r5, %r3;\n"));
  for (const char *text : {"", "\n", "@", "@%p1", "neg.s32", "min.s32 %r1", ".s32", "@ .s32 ,,;"})
    EXPECT_FALSE(findLostNegation(text)) << text;
}

TEST(AssemblerFaults, knowsTheVersions) {
  EXPECT_FALSE(losesNegations(12, 5));
  EXPECT_TRUE(losesNegations(12, 6));
  EXPECT_TRUE(losesNegations(13, 3));
  EXPECT_FALSE(losesNegations(13, 4));
}
