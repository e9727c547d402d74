//===- SettingsTest.cpp - wrong variables are refused by name -------------===//
#include "lib/Support/Settings.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;

TEST(Settings, readsNumbersAndLevels) {
  ::setenv("LACUNA_THREADS", "3", 1);
  ::setenv("LACUNA_LOG", "debug", 1);
  Result<Settings> settings = Settings::fromEnvironment();
  ::unsetenv("LACUNA_THREADS");
  ::unsetenv("LACUNA_LOG");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->threads, 3);
  EXPECT_EQ(settings->logLevel, LogLevel::Debug);
}

TEST(Settings, refusesWrongValuesByName) {
  for (const char *wrong : {"-1", "many", "1.5"}) {
    ::setenv("LACUNA_THREADS", wrong, 1);
    Result<Settings> settings = Settings::fromEnvironment();
    ::unsetenv("LACUNA_THREADS");
    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.status().message(), testing::HasSubstr("LACUNA_THREADS"));
  }
}
