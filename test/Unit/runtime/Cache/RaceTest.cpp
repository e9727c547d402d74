//===- RaceTest.cpp - many ask for one key at once -------------------------===//
#include "test/Unit/runtime/Cache/CacheTest.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <thread>

using namespace lacuna;

namespace {
class CacheRaceTest : public CacheTest {
protected:
  /// Where makers of all processes leave one byte each.
  void noteMake() const {
    int file = ::open((root + "/makes").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    EXPECT_EQ(::write(file, "x", 1), 1);
    ::close(file);
  }
  size_t makes() const {
    Result<std::string> notes = readFile(root + "/makes");
    return notes ? notes->size() : 0;
  }
  /// A maker that takes as long as a small kernel.
  BlobStore::Make slowMaker(const std::string &bytes) const {
    return [this, bytes]() -> Result<std::string> {
      noteMake();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return bytes;
    };
  }
  /// Starts a child that runs `work` once `go` is closed.
  pid_t start(const int (&go)[2], const std::function<bool()> &work) const {
    pid_t child = ::fork();
    if (child != 0)
      return child;
    ::close(go[1]);
    char byte;
    while (::read(go[0], &byte, 1) > 0)
      ;
    ::_exit(work() ? 0 : 1);
  }
  static bool endedWell(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  /// Waits until somebody makes something.
  void awaitMake() const {
    while (makes() == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};
} // namespace

/// Whether `count` threads all get `bytes` for the key.
static bool allGet(BlobStore &store, int count, const CacheKey &key, const std::string &bytes,
                   const BlobStore::Make &make) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      Result<Blob> blob = store.findOrMake(key, "race", make);
      right += blob && **blob == bytes;
    });
  for (std::thread &thread : threads)
    thread.join();
  return right == count;
}

TEST_F(CacheRaceTest, sixtyFourThreadsMakeOnce) {
  for (bool disk : {true, false}) {
    std::filesystem::remove(root + "/makes");
    BlobStore store(disk ? options() : CacheOptions());
    EXPECT_TRUE(allGet(store, 64, keyOf("a"), "alpha", slowMaker("alpha")));
    EXPECT_EQ(makes(), 1u);
    CacheCounters counters = store.counters();
    EXPECT_EQ(counters.made, 1u);
    EXPECT_EQ(counters.sharedHits + counters.memoryHits, 63u);
  }
}

TEST_F(CacheRaceTest, I2_sixteenProcessesMakeOnce) {
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(start(go, [&] {
      BlobStore store(options());
      // Half of them with several threads.
      return allGet(store, i % 2 ? 4 : 1, keyOf("a"), "alpha", slowMaker("alpha"));
    }));
  ::close(go[0]);
  ::close(go[1]);
  for (pid_t child : children)
    EXPECT_TRUE(endedWell(child));
  EXPECT_EQ(makes(), 1u);
  EXPECT_THAT(names(), testing::ElementsAre(keyOf("a").fileName()));
}

// Different keys do not wait for each other.
TEST_F(CacheRaceTest, I14_keysAreMadeSideBySide) {
  BlobStore store(options());
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (const char *name : {"a", "b", "c"})
    threads.emplace_back([&, name] {
      (void)store.findOrMake(keyOf(name), "", [&]() -> Result<std::string> {
        for (++inside; inside < 3;)
          std::this_thread::yield();
        return std::string(name);
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(store.counters().made, 3u);
}

// Who waits for a maker that fails gets its failure; who comes later makes again.
TEST_F(CacheRaceTest, failuresAreSharedAndNotKept) {
  BlobStore store(options());
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] {
      Result<Blob> blob = store.findOrMake(keyOf("a"), "", [&]() -> Result<std::string> {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return Status::error(StatusCode::Compile, "no");
      });
      failures += !blob && blob.status().message() == "no";
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 16);
  EXPECT_LT(store.counters().failed, 16u);
  EXPECT_TRUE(allGet(store, 16, keyOf("a"), "alpha", slowMaker("alpha")));
  EXPECT_EQ(makes(), 1u);
}

// The system gives the lock of a maker that was killed to who waits for it.
TEST_F(CacheRaceTest, aKilledMakerKeepsNobodyWaiting) {
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  pid_t maker = start(go, [&] {
    BlobStore store(options());
    Result<Blob> blob = store.findOrMake(keyOf("a"), "", [&]() -> Result<std::string> {
      noteMake();
      std::this_thread::sleep_for(std::chrono::minutes(10));
      return std::string("never");
    });
    return blob.isOk();
  });
  ::close(go[0]);
  ::close(go[1]);
  awaitMake();
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(maker, SIGKILL);
  });
  BlobStore store(options());
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  killer.join();
  EXPECT_FALSE(endedWell(maker));
  EXPECT_EQ(store.counters().lockTimeouts, 0u);
  EXPECT_EQ(onDisk(keyOf("a")), "alpha");
}

// Between opening and locking a lock file its holder may have removed it, and another process may
// have made and locked the next: a lock on the old one is none.
TEST_F(CacheRaceTest, aLockOnARemovedFileIsNone) {
  struct Replaced : FileOperations {
    int lock(int file, int operation) override {
      int result = FileOperations::lock(file, operation);
      if (!other) {
        unlink(folder, "key.lock");
        other = FileHandle(open(folder, "key.lock", O_RDWR | O_CREAT));
        EXPECT_EQ(FileOperations::lock(other.get(), LOCK_EX | LOCK_NB), 0);
      }
      return result;
    }
    int folder = -1;
    FileHandle other;
  };
  Replaced files;
  FileHandle opened(::open(root.c_str(), O_RDONLY | O_DIRECTORY));
  files.folder = opened.get();
  {
    KeyLock lock(files, opened.get(), "key.lock", std::chrono::milliseconds(20),
                 [] { return false; });
    EXPECT_EQ(lock.outcome(), KeyLock::Outcome::TimedOut);
  }
  EXPECT_TRUE(std::filesystem::exists(root + "/key.lock")) << "it is the other's";
}

// A maker that takes too long is not waited for for ever.
TEST_F(CacheRaceTest, waitingHasABound) {
  std::atomic<bool> done = false, inside = false;
  BlobStore slow(options());
  std::thread maker([&] {
    (void)slow.findOrMake(keyOf("a"), "", [&]() -> Result<std::string> {
      inside = true;
      while (!done)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return std::string("alpha");
    });
  });
  while (!inside)
    std::this_thread::yield();
  CacheOptions impatient = options();
  impatient.lockWait = std::chrono::milliseconds(30);
  BlobStore store(impatient);
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 1);
  EXPECT_EQ(store.counters().lockTimeouts, 1u);
  done = true;
  maker.join();
  EXPECT_EQ(onDisk(keyOf("a")), "alpha");
  EXPECT_THAT(names(), testing::ElementsAre(keyOf("a").fileName()));
}

// Processes that fill a small cache, damage it and remove from it at once: every answer is right.
TEST_F(CacheRaceTest, readersWritersAndPruningMix) {
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  setLogLevel(LogLevel::Off);
  std::vector<pid_t> children;
  for (unsigned number = 0; number < 6; ++number)
    children.push_back(start(go, [&] {
      CacheOptions small = options();
      small.diskBytes = 20000;
      bool right = true;
      for (unsigned round = 0; round < 150; ++round) {
        BlobStore store(small);
        unsigned which = (round * 7 + number * 3) % 10;
        CacheKey key = keyOf(std::to_string(which));
        std::string bytes(2000 + which, static_cast<char>('a' + which));
        right &= makeIn(store, key, bytes) <= 1;
        if (number == 0 && round % 10 == 0)
          (void)::truncate(pathOf(key).c_str(), 1000);
        if (number == 1 && round % 20 == 0)
          right &= DiskLayer(folder, 20000, nullptr).prune(8000).isOk();
      }
      return right && !testing::Test::HasFailure();
    }));
  ::close(go[0]);
  ::close(go[1]);
  for (pid_t child : children)
    EXPECT_TRUE(endedWell(child));
  setLogLevel(LogLevel::Warning);
  Result<PruneReport> rest = DiskLayer(folder, 20000, nullptr).prune(20000);
  ASSERT_TRUE(rest);
  EXPECT_LE(rest->bytesLeft, 20000u);
  for (const std::string &name : names())
    EXPECT_TRUE(CacheKey::parse(name)) << name;
}
