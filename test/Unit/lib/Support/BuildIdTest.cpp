//===- BuildIdTest.cpp - which build a piece of machine code comes from ----===//
#include "lib/Support/BuildId.h"

#include "lib/Support/File.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace lacuna;

static void someFunction() {}

// This program, as it lies in memory and as a file.
TEST(BuildId, ofMemoryAndOfFileAgree) {
  std::string loaded = buildIdOf(reinterpret_cast<const void *>(&someFunction));
  EXPECT_GE(loaded.size(), 16u);
  EXPECT_EQ(buildIdOfFile("/proc/self/exe"), loaded);
  EXPECT_NE(buildIdOf(reinterpret_cast<const void *>(&::getpid)), loaded) << "the C library's";
}

TEST(BuildId, ofNothingIsEmpty) {
  int local = 0;
  EXPECT_EQ(buildIdOf(&local), "");
  EXPECT_EQ(buildIdOfFile("/proc/self/no-such-file"), "");
  EXPECT_EQ(buildIdOfFile("/proc/self/status"), "") << "no ELF file";
}

// A cut ELF file has no build id, and reading it does no harm.
TEST(BuildId, ofCutFilesIsSafe) {
  Result<std::string> program = readFile("/proc/self/exe");
  ASSERT_TRUE(program);
  std::string path = testing::TempDir() + "/lacuna-cut-elf";
  for (size_t length : {0, 3, 16, 63, 64, 100, 200, 400, 700}) {
    ASSERT_TRUE(writeFile(path, program->substr(0, length)));
    std::string id = buildIdOfFile(path);
    EXPECT_TRUE(id.empty() || id == buildIdOfFile("/proc/self/exe")) << length;
  }
  std::filesystem::remove(path);
}
