//===- TextTest.cpp - numbers as people write them ------------------------===//
#include "lib/Support/Text.h"

#include <gtest/gtest.h>

using namespace lacuna;

TEST(Text, groupsOfThreeDigits) {
  EXPECT_EQ(groupedText(0), "0");
  EXPECT_EQ(groupedText(999), "999");
  EXPECT_EQ(groupedText(1048576), "1,048,576");
  EXPECT_EQ(groupedText(-1000), "-1,000");
  EXPECT_EQ(groupedText(-100), "-100");
}

TEST(Text, prefixesKeepThreeDigits) {
  EXPECT_EQ(siText(0), "0");
  EXPECT_EQ(siText(512), "512");
  EXPECT_EQ(siText(999600), "1.00M");
  EXPECT_EQ(siText(1.234e9), "1.23G");
  EXPECT_EQ(siText(98.76e12), "98.8T");
}

TEST(Text, durationsChooseTheirUnit) {
  EXPECT_EQ(durationText(12e-6), "12.0 us");
  EXPECT_EQ(durationText(0.0123), "12.3 ms");
  EXPECT_EQ(durationText(2), "2.00 s");
}

TEST(Text, numbersAreReadWholeOrNotAtAll) {
  EXPECT_EQ(parseInteger("-12"), -12);
  EXPECT_EQ(parseInteger("+12"), 12);
  for (const char *text : {"", "-", "+", "+-1", "1.0", "12 ", " 12", "0x10", "9223372036854775808"})
    EXPECT_FALSE(parseInteger(text)) << text;
  EXPECT_EQ(parseNumber("0.5"), 0.5);
  EXPECT_FALSE(parseNumber("0.5f"));
  EXPECT_FALSE(parseNumber(""));
}

TEST(Text, shapes) {
  EXPECT_EQ(parseShape("1x8x0x64"), (std::vector<int64_t>{1, 8, 0, 64}));
  EXPECT_EQ(parseShape("7"), (std::vector<int64_t>{7}));
  for (const char *text : {"", "x", "1x", "x1", "1x-1", "1,2", "1X2"})
    EXPECT_FALSE(parseShape(text)) << text;
}
