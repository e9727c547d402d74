//===- BlobStoreTest.cpp - hits, misses, limits, damage ---------------------===//
#include "test/Unit/runtime/Cache/CacheTest.h"

#include <fcntl.h>
#include <sys/stat.h>

using namespace lacuna;
using testing::HasSubstr;

namespace {
class BlobStoreTest : public CacheTest {};
} // namespace

TEST_F(BlobStoreTest, givesBackWhatWasMade) {
  BlobStore store(options());
  EXPECT_EQ(store.find(keyOf("a")), nullptr);
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 1);
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 0) << "memory";
  EXPECT_EQ(*store.find(keyOf("a")), "alpha");
  BlobStore other(options());
  EXPECT_EQ(makeIn(other, keyOf("a"), "alpha"), 0) << "disk";
  CacheCounters counters = store.counters();
  EXPECT_EQ(counters.misses, 2u);
  EXPECT_EQ(counters.made, 1u);
  EXPECT_EQ(counters.memoryHits, 2u);
  EXPECT_EQ(counters.bytesWritten, 5u);
  EXPECT_EQ(counters.memoryBytes, 5u);
  EXPECT_EQ(other.counters().diskHits, 1u);
  EXPECT_EQ(other.counters().bytesRead, 5u);
  EXPECT_THAT(names(), testing::ElementsAre(keyOf("a").fileName())) << "no lock, no partial file";
}

TEST_F(BlobStoreTest, keepsKeysAndKindsApart) {
  BlobStore store(options());
  CacheKey key = keyOf("a"), kind{"program", key.digest};
  store.put(key, "one");
  store.put(kind, "two");
  EXPECT_EQ(onDisk(key), "one");
  EXPECT_EQ(onDisk(kind), "two");
  store.put(key, "three");
  EXPECT_EQ(*store.find(key), "three");
  EXPECT_EQ(onDisk(key), "three");
}

TEST_F(BlobStoreTest, keepsEmptyEntriesAndAllBytes) {
  BlobStore store(options());
  std::string bytes;
  for (unsigned i = 0; i < 100000; ++i)
    bytes += static_cast<char>(i * i);
  store.put(keyOf("all"), bytes);
  store.put(keyOf("none"), "");
  BlobStore other(options());
  EXPECT_EQ(*other.find(keyOf("all")), bytes);
  ASSERT_NE(other.find(keyOf("none")), nullptr);
  EXPECT_EQ(*other.find(keyOf("none")), "");
}

// A failure is not kept: the next request makes the entry.
TEST_F(BlobStoreTest, doesNotKeepFailures) {
  BlobStore store(options());
  Result<Blob> failed = store.findOrMake(keyOf("a"), "", []() -> Result<std::string> {
    return Status::error(StatusCode::Compile, "no such instruction");
  });
  EXPECT_EQ(failed.status().code(), StatusCode::Compile);
  EXPECT_EQ(failed.status().message(), "no such instruction");
  EXPECT_EQ(store.counters().failed, 1u);
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 1);
}

// Makers may ask for other entries, as a program asks for its kernels.
TEST_F(BlobStoreTest, makersMayAsk) {
  BlobStore store(options());
  Result<Blob> outer = store.findOrMake(keyOf("outer"), "", [&]() -> Result<std::string> {
    Result<Blob> inner = store.findOrMake(
        keyOf("inner"), "", []() -> Result<std::string> { return std::string("inner"); });
    return **inner + " and outer";
  });
  EXPECT_EQ(**outer, "inner and outer");
  EXPECT_EQ(onDisk(keyOf("inner")), "inner");
}

TEST_F(BlobStoreTest, worksInMemoryWithoutAFolder) {
  BlobStore store({});
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 1);
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 0);
  EXPECT_EQ(store.folder(), "");
}

TEST_F(BlobStoreTest, memoryForgetsWhatWasUsedLongestAgo) {
  CacheOptions small;
  small.memoryBytes = 30;
  BlobStore store(small);
  for (const char *name : {"a", "b", "c"})
    store.put(keyOf(name), std::string(10, *name));
  EXPECT_NE(store.find(keyOf("a")), nullptr);
  Blob held = store.find(keyOf("b"));
  store.find(keyOf("a"));
  store.put(keyOf("d"), std::string(15, 'd'));
  EXPECT_NE(store.find(keyOf("a")), nullptr);
  EXPECT_NE(store.find(keyOf("d")), nullptr);
  EXPECT_EQ(store.find(keyOf("b")), nullptr);
  EXPECT_EQ(store.find(keyOf("c")), nullptr);
  EXPECT_EQ(*held, std::string(10, 'b')) << "who has an entry keeps it";
  EXPECT_EQ(store.counters().memoryEvictions, 2u);
  store.put(keyOf("large"), std::string(31, 'x'));
  EXPECT_EQ(store.find(keyOf("large")), nullptr);
  EXPECT_NE(store.find(keyOf("a")), nullptr) << "what never fits pushes nothing out";
}

/// Sets the last use of an entry's file.
static void setLastUse(const std::string &path, time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(BlobStoreTest, diskForgetsWhatWasUsedLongestAgo) {
  CacheOptions small = options();
  small.diskBytes = 5000;
  BlobStore store(small);
  for (int i = 0; i < 4; ++i) {
    CacheKey key = keyOf(std::to_string(i));
    store.put(key, std::string(1000, 'x'));
    setLastUse(pathOf(key), 1000 + i);
  }
  // Reading is a use.
  EXPECT_EQ(onDisk(keyOf("0")), std::string(1000, 'x'));
  store.put(keyOf("4"), std::string(1000, 'x'));
  EXPECT_NE(onDisk(keyOf("0")), "");
  EXPECT_EQ(onDisk(keyOf("1")), "");
  EXPECT_NE(onDisk(keyOf("4")), "");
  EXPECT_GE(store.counters().diskEvictions, 1u);
  testing::internal::CaptureStderr();
  store.put(keyOf("large"), std::string(5000, 'x'));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("more than the cache may have"));
  EXPECT_EQ(onDisk(keyOf("large")), "") << "larger than everything may be";
  EXPECT_NE(onDisk(keyOf("4")), "");
}

// A clock that jumps changes who goes first and nothing else: not even the entry that was just
// written goes, although it now is the oldest.
TEST_F(BlobStoreTest, I8_clockJumpsCostOnlyOrder) {
  CacheOptions small = options();
  small.diskBytes = 4000;
  BlobStore store(small);
  constexpr time_t future = time_t{1} << 33;
  for (int i = 0; i < 3; ++i) {
    CacheKey key = keyOf(std::to_string(i));
    store.put(key, std::string(1000, 'x'));
    setLastUse(pathOf(key), future + i);
  }
  store.put(keyOf("new"), std::string(1000, 'x'));
  EXPECT_EQ(onDisk(keyOf("new")), std::string(1000, 'x'));
  EXPECT_EQ(onDisk(keyOf("0")), "");
  EXPECT_EQ(onDisk(keyOf("1")), std::string(1000, 'x'))
      << "a time to come is no reason to distrust";
}

namespace {
/// Ways to damage a file.
struct Damage {
  const char *name;
  void (*apply)(const std::string &path);
};
} // namespace

static void rewrite(const std::string &path, const std::string &bytes) {
  ASSERT_TRUE(writeFile(path, bytes));
}

static const Damage damages[] = {
    {"empty", [](const std::string &path) { rewrite(path, ""); }},
    {"longer", [](const std::string &path) { rewrite(path, *readFile(path) + "x"); }},
    {"foreign", [](const std::string &path) { rewrite(path, std::string(500, 'f')); }},
    {"short and foreign", [](const std::string &path) { rewrite(path, "hello"); }},
    {"sparse and huge",
     [](const std::string &path) { ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0); }},
    {"of another key",
     [](const std::string &path) {
       std::string other =
           path.substr(0, path.rfind('/') + 1) + CacheKey{"cubin", sha256("other")}.fileName();
       std::filesystem::copy_file(other, path, std::filesystem::copy_options::overwrite_existing);
     }},
    {"a link",
     [](const std::string &path) {
       std::filesystem::rename(path, path + "-moved");
       std::filesystem::create_symlink(path + "-moved", path);
     }},
    {"a pipe",
     [](const std::string &path) {
       std::filesystem::remove(path);
       ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
     }},
};

// Each is a miss, is said, and the entry is made again in its place.
TEST_F(BlobStoreTest, damagedEntriesAreMadeAgain) {
  CacheKey key = keyOf("a");
  std::string bytes(300, 'a');
  for (const Damage &damage : damages) {
    BlobStore(options()).put(key, bytes);
    BlobStore(options()).put({"cubin", sha256("other")}, "other bytes");
    damage.apply(pathOf(key));
    testing::internal::CaptureStderr();
    BlobStore store(options());
    EXPECT_EQ(makeIn(store, key, bytes), 1) << damage.name;
    EXPECT_EQ(store.counters().damaged, 1u) << damage.name;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("it is made again"))
        << damage.name;
    EXPECT_EQ(onDisk(key), bytes) << damage.name;
  }
}

// A folder where an entry should be cannot be replaced; it still costs only time.
TEST_F(BlobStoreTest, aFolderInTheWayCostsTime) {
  CacheKey key = keyOf("a");
  std::filesystem::create_directories(pathOf(key) + "/below");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  testing::internal::CaptureStderr();
  BlobStore store(options());
  EXPECT_EQ(makeIn(store, key, "alpha"), 1);
  EXPECT_EQ(makeIn(store, key, "alpha"), 0) << "memory has it";
  EXPECT_EQ(store.counters().failedWrites, 1u);
  testing::internal::GetCapturedStderr();
}

TEST_F(BlobStoreTest, everyTruncationIsAMiss) {
  CacheKey key = keyOf("a");
  BlobStore(options()).put(key, std::string(40, 'a'), "label");
  std::string whole = *readFile(pathOf(key));
  setLogLevel(LogLevel::Off);
  for (size_t length = 0; length < whole.size(); ++length) {
    rewrite(pathOf(key), whole.substr(0, length));
    EXPECT_EQ(onDisk(key), "") << length;
    EXPECT_FALSE(std::filesystem::exists(pathOf(key))) << length;
  }
  setLogLevel(LogLevel::Warning);
  rewrite(pathOf(key), whole);
  EXPECT_EQ(onDisk(key), std::string(40, 'a'));
}

TEST_F(BlobStoreTest, everyFlippedBitIsAMiss) {
  CacheKey key = keyOf("a");
  BlobStore(options()).put(key, std::string(40, 'a'), "label");
  std::string whole = *readFile(pathOf(key));
  setLogLevel(LogLevel::Off);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    rewrite(pathOf(key), flipped);
    EXPECT_EQ(onDisk(key), "") << bit;
  }
  setLogLevel(LogLevel::Warning);
}

TEST_F(BlobStoreTest, discardedEntriesAreMadeAgain) {
  BlobStore store(options());
  store.put(keyOf("a"), "alpha");
  testing::internal::CaptureStderr();
  store.discard(keyOf("a"), "the driver refuses it");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the driver refuses it"));
  EXPECT_EQ(makeIn(store, keyOf("a"), "beta"), 1);
  EXPECT_EQ(onDisk(keyOf("a")), "beta");
}
