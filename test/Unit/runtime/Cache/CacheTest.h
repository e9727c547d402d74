//===- CacheTest.h - a private cache folder per test -----------------------===//
#pragma once

#include "lib/Support/File.h"
#include "lib/Support/Log.h"
#include "runtime/Cache/BlobStore.h"
#include "runtime/Cache/CacheFolder.h"
#include "runtime/Cache/DiskLayer.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace lacuna {

class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/lacuna-cache-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    folder = root + "/cache";
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  CacheOptions options() const {
    CacheOptions options;
    options.folder = folder;
    return options;
  }
  static CacheKey keyOf(std::string_view text) { return {"cubin", sha256(text)}; }
  std::string pathOf(const CacheKey &key) const {
    return folder + "/" + entriesFolder + "/" + key.fileName();
  }
  /// What a store of its own, as another process has it, says about a key; "" for nothing.
  std::string onDisk(const CacheKey &key) const {
    BlobStore store(options());
    Blob blob = store.find(key);
    return blob ? *blob : "";
  }
  /// Names in the folder of entries.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto &item :
         std::filesystem::directory_iterator(folder + "/" + entriesFolder, ignored))
      names.push_back(item.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  /// Makes an entry in `store`; how often that called for the maker.
  static int makeIn(BlobStore &store, const CacheKey &key, const std::string &bytes) {
    int made = 0;
    Result<Blob> blob = store.findOrMake(key, "test", [&]() -> Result<std::string> {
      ++made;
      return bytes;
    });
    EXPECT_TRUE(blob);
    EXPECT_EQ(blob ? **blob : "", bytes);
    return made;
  }

  std::string root, folder;
};

} // namespace lacuna
