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

TEST(Settings, listsWhatIsRead) {
  ::setenv("LACUNA_CACHE_SIZE", "3M", 1);
  ::unsetenv("LACUNA_NVDISASM");
  std::vector<EnvironmentVariable> variables = listEnvironment();
  ::unsetenv("LACUNA_CACHE_SIZE");
  auto valueOf = [&](const std::string &name) -> std::optional<std::string> {
    for (const EnvironmentVariable &variable : variables)
      if (variable.name == name)
        return variable.value;
    ADD_FAILURE() << name << " is not listed";
    return std::nullopt;
  };
  EXPECT_EQ(valueOf("LACUNA_CACHE_SIZE"), "3M");
  EXPECT_EQ(valueOf("LACUNA_NVDISASM"), std::nullopt);
}
