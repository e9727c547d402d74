//===- FaultTest.cpp - what goes wrong on disk costs time, never a result --===//
#include "test/Unit/runtime/Cache/CacheTest.h"

#include "lib/Support/Settings.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace lacuna;
using testing::HasSubstr;

namespace {
class CacheFaultTest : public CacheTest {
protected:
  void SetUp() override {
    CacheTest::SetUp();
    setLogLevel(LogLevel::Off);
  }
  void TearDown() override {
    setLogLevel(LogLevel::Warning);
    CacheTest::TearDown();
  }
};

/// A file system on which one kind of call fails.
struct Failing : FileOperations {
  enum Call {
    None,
    OpenToWrite,
    OpenLock,
    Read,
    Write,
    ShortWrite,
    Sync,
    Rename,
    Unlink,
    Lock,
    Touch
  };
  Failing(Call call, int error) : call(call), error(error) {}

  int fail() {
    ++failures;
    errno = error;
    return -1;
  }
  int open(int folder, const char *name, int flags) override {
    bool isLock = std::string_view(name).ends_with(".lock");
    if ((call == OpenToWrite && (flags & O_CREAT)) || (call == OpenLock && isLock))
      return fail();
    return FileOperations::open(folder, name, flags);
  }
  ssize_t read(int file, char *bytes, size_t count) override {
    return call == Read ? fail() : FileOperations::read(file, bytes, count);
  }
  ssize_t write(int file, const char *bytes, size_t count) override {
    if (call == Write || (call == ShortWrite && count < 50))
      return fail();
    // All but the last bytes, as on a disk that fills up.
    return FileOperations::write(file, bytes, call == ShortWrite ? count - 10 : count);
  }
  int sync(int file) override { return call == Sync ? fail() : FileOperations::sync(file); }
  int rename(int folder, const char *from, const char *to) override {
    return call == Rename ? fail() : FileOperations::rename(folder, from, to);
  }
  int unlink(int folder, const char *name) override {
    return call == Unlink ? fail() : FileOperations::unlink(folder, name);
  }
  int lock(int file, int operation) override {
    return call == Lock ? fail() : FileOperations::lock(file, operation);
  }
  int touch(int file) override { return call == Touch ? fail() : FileOperations::touch(file); }

  Call call;
  int error;
  std::atomic<int> failures = 0;
};
} // namespace

// The result is there, this process keeps it, and the folder holds no broken or partial entry.
TEST_F(CacheFaultTest, failedWritesCostTime) {
  const std::pair<Failing::Call, int> cases[] = {
      {Failing::OpenToWrite, EROFS},  {Failing::OpenToWrite, EACCES},
      {Failing::OpenToWrite, ENOSPC}, {Failing::OpenToWrite, EDQUOT},
      {Failing::OpenToWrite, EMFILE}, {Failing::Write, ENOSPC},
      {Failing::Write, EIO},          {Failing::ShortWrite, ENOSPC},
      {Failing::ShortWrite, EFBIG},   {Failing::Sync, EIO},
      {Failing::Sync, ENOSPC},        {Failing::Rename, EIO},
      {Failing::Rename, ESTALE},      {Failing::Rename, EEXIST},
      {Failing::Rename, ENOENT},      {Failing::Rename, EXDEV},
      {Failing::Rename, EACCES},
  };
  for (auto [call, error] : cases) {
    CacheOptions faulty = options();
    auto files = std::make_shared<Failing>(call, error);
    faulty.files = files;
    BlobStore store(faulty);
    std::string bytes(1000, 'a');
    EXPECT_EQ(makeIn(store, keyOf("a"), bytes), 1) << call << ' ' << error;
    EXPECT_EQ(makeIn(store, keyOf("a"), bytes), 0) << call << ' ' << error;
    EXPECT_GT(files->failures, 0) << call << ' ' << error;
    EXPECT_EQ(store.counters().failedWrites, 1u) << call << ' ' << error;
    EXPECT_EQ(store.counters().bytesWritten, 0u);
    EXPECT_THAT(names(), testing::IsEmpty()) << call << ' ' << error;
    EXPECT_EQ(onDisk(keyOf("a")), "") << call << ' ' << error;
  }
}

// A partial file that somebody cleared up before its writer had locked it is written again.
TEST_F(CacheFaultTest, sweptFilesAreWrittenAgain) {
  struct SweptOnce : FileOperations {
    int rename(int folder, const char *from, const char *to) override {
      if (++renames == 1)
        FileOperations::unlink(folder, from);
      return FileOperations::rename(folder, from, to);
    }
    int renames = 0;
  };
  CacheOptions swept = options();
  auto files = std::make_shared<SweptOnce>();
  swept.files = files;
  BlobStore store(swept);
  EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 1);
  EXPECT_EQ(files->renames, 2);
  EXPECT_EQ(store.counters().failedWrites, 0u);
  EXPECT_EQ(onDisk(keyOf("a")), "bytes");
}

// Without locks, times or removal entries are written and read all the same.
TEST_F(CacheFaultTest, missingLocksAndTimesDoNoHarm) {
  const std::pair<Failing::Call, int> cases[] = {
      {Failing::Lock, ENOLCK}, {Failing::Lock, EOPNOTSUPP}, {Failing::Lock, EINVAL},
      {Failing::Lock, EIO},    {Failing::OpenLock, EACCES}, {Failing::OpenLock, ESTALE},
      {Failing::Touch, EROFS}, {Failing::Unlink, EACCES},
  };
  int number = 0;
  for (auto [call, error] : cases) {
    CacheOptions faulty = options();
    faulty.files = std::make_shared<Failing>(call, error);
    CacheKey key = keyOf(std::to_string(number++));
    EXPECT_EQ(makeIn(*std::make_unique<BlobStore>(faulty), key, "bytes"), 1) << call;
    EXPECT_EQ(makeIn(*std::make_unique<BlobStore>(faulty), key, "bytes"), 0) << call;
  }
}

TEST_F(CacheFaultTest, failedReadsAreMisses) {
  BlobStore(options()).put(keyOf("a"), "bytes");
  CacheOptions faulty = options();
  faulty.files = std::make_shared<Failing>(Failing::Read, EIO);
  BlobStore store(faulty);
  EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 1);
  EXPECT_EQ(store.counters().damaged, 0u) << "nobody knows that";
  EXPECT_EQ(onDisk(keyOf("a")), "bytes");
}

// A damaged entry that cannot be removed, as on a disk that became read-only, stays a miss.
TEST_F(CacheFaultTest, damageOnAReadOnlyDiskCostsTime) {
  BlobStore(options()).put(keyOf("a"), "bytes");
  ASSERT_TRUE(writeFile(pathOf(keyOf("a")), "foreign"));
  for (Failing::Call call : {Failing::Unlink, Failing::OpenToWrite}) {
    CacheOptions faulty = options();
    faulty.files = std::make_shared<Failing>(call, EROFS);
    BlobStore store(faulty);
    EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 1);
    ASSERT_TRUE(writeFile(pathOf(keyOf("a")), "foreign"));
  }
}

/// Runs `work` in a child and gives back how it ended.
static int inChild(const std::function<bool()> &work) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(work() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

// The signal of a limit on file sizes does not end the process, and the limit costs time only.
TEST_F(CacheFaultTest, aLimitOnFileSizesCostsTime) {
  int status = inChild([&] {
    const rlimit limit{2000, 2000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    BlobStore store(options());
    std::string large(10000, 'a');
    return makeIn(store, keyOf("large"), large) == 1 && makeIn(store, keyOf("large"), large) == 0 &&
           store.counters().failedWrites == 1 && makeIn(store, keyOf("small"), "bytes") == 1;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(onDisk(keyOf("large")), "");
  EXPECT_EQ(onDisk(keyOf("small")), "bytes");
}

// A disk that really is full, where this user may mount one.
TEST_F(CacheFaultTest, aFullDiskCostsTime) {
  constexpr int cannotMount = 7;
  int status = inChild([&] {
    std::string disk = root + "/disk";
    std::filesystem::create_directories(disk);
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", disk.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
      ::_exit(cannotMount);
    CacheOptions full = options();
    full.folder = disk + "/cache";
    BlobStore store(full);
    std::string large(40000, 'a');
    return makeIn(store, keyOf("1"), large) == 1 && makeIn(store, keyOf("2"), large) == 1 &&
           makeIn(store, keyOf("2"), large) == 0 && store.counters().failedWrites == 1 &&
           makeIn(*std::make_unique<BlobStore>(full), keyOf("1"), large) == 0;
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == cannotMount)
    GTEST_SKIP() << "this user cannot mount a file system";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

namespace {
/// Ends the process at the call with a given number.
struct Deadly : FileOperations {
  explicit Deadly(int calls) : left(calls) {}
  void count() {
    if (left-- == 0)
      ::kill(::getpid(), SIGKILL);
  }
  int open(int folder, const char *name, int flags) override {
    count();
    return FileOperations::open(folder, name, flags);
  }
  ssize_t write(int file, const char *bytes, size_t bytesLeft) override {
    count();
    // In small pieces, so that the end comes in the middle of header and contents too.
    return FileOperations::write(file, bytes, std::min<size_t>(bytesLeft, 40));
  }
  int sync(int file) override {
    count();
    return FileOperations::sync(file);
  }
  int rename(int folder, const char *from, const char *to) override {
    count();
    return FileOperations::rename(folder, from, to);
  }
  int unlink(int folder, const char *name) override {
    count();
    return FileOperations::unlink(folder, name);
  }
  int lock(int file, int operation) override {
    count();
    return FileOperations::lock(file, operation);
  }
  int left;
};
} // namespace

// Wherever a writer is killed, the entry is whole or not there, nobody waits, and the next writer
// that looks through the folder clears up.
TEST_F(CacheFaultTest, writersMayBeKilledAnywhere) {
  std::string bytes(200, 'a');
  int killed = 0, whole = 0;
  for (int calls = 0;; ++calls) {
    CacheKey key = keyOf(std::to_string(calls));
    int status = inChild([&] {
      CacheOptions deadly = options();
      deadly.files = std::make_shared<Deadly>(calls);
      BlobStore store(deadly);
      return makeIn(store, key, bytes) == 1;
    });
    if (WIFEXITED(status))
      break;
    ++killed;
    BlobStore store(options());
    auto start = std::chrono::steady_clock::now();
    int made = makeIn(store, key, bytes);
    whole += made == 0;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << calls;
    EXPECT_EQ(store.counters().damaged, 0u) << calls;
    EXPECT_EQ(onDisk(key), bytes) << calls;
    Result<PruneReport> report = DiskLayer(folder, 1 << 30, nullptr).prune(1 << 30);
    EXPECT_TRUE(report);
    for (const std::string &name : names())
      EXPECT_TRUE(CacheKey::parse(name)) << calls << " left " << name;
  }
  EXPECT_GE(killed, 15);
  EXPECT_GE(whole, 1) << "after the rename";
  EXPECT_LT(whole, killed);
}

// While its writer lives a partial file stays, whoever clears up.
TEST_F(CacheFaultTest, livingWritersKeepTheirFiles) {
  BlobStore(options()).put(keyOf("a"), "bytes");
  std::string partial = pathOf(keyOf("b")) + ".1.2.0.partial", dead = pathOf(keyOf("c")) + ".lock";
  ASSERT_TRUE(writeFile(partial, "half"));
  ASSERT_TRUE(writeFile(dead, ""));
  FileHandle writer(::open(partial.c_str(), O_RDWR));
  ASSERT_EQ(::flock(writer.get(), LOCK_EX | LOCK_NB), 0);
  DiskLayer disk(folder, 1 << 30, nullptr);
  EXPECT_EQ(disk.prune(1 << 30)->leftovers, 1u);
  EXPECT_TRUE(std::filesystem::exists(partial));
  EXPECT_FALSE(std::filesystem::exists(dead));
  writer.reset();
  EXPECT_EQ(disk.prune(1 << 30)->leftovers, 1u);
  EXPECT_FALSE(std::filesystem::exists(partial));
  EXPECT_EQ(onDisk(keyOf("a")), "bytes");
}

TEST_F(CacheFaultTest, foldersThatOthersMayWriteAreRefused) {
  BlobStore(options()).put(keyOf("a"), "bytes");
  setLogLevel(LogLevel::Warning);
  for (const std::string &path : {folder, folder + "/" + entriesFolder})
    for (mode_t mode : {0777, 0720, 0702, 01777}) {
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      testing::internal::CaptureStderr();
      BlobStore store(options());
      EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 1) << "what lies there may be anybody's";
      EXPECT_EQ(makeIn(store, keyOf("b"), "bytes"), 1);
      EXPECT_EQ(makeIn(store, keyOf("b"), "bytes"), 0);
      std::string said = testing::internal::GetCapturedStderr();
      EXPECT_THAT(said, HasSubstr("writable by nobody else"));
      EXPECT_THAT(said, HasSubstr("kernels are kept in memory only"));
      EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
      ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
      EXPECT_EQ(onDisk(keyOf("b")), "") << "nothing was written there";
    }
  EXPECT_EQ(onDisk(keyOf("a")), "bytes");
}

TEST_F(CacheFaultTest, I10_foldersOfOtherUsersAreRefused) {
  std::string path = "/";
  if (::geteuid() == 0) {
    BlobStore(options()).put(keyOf("a"), "bytes");
    path = folder;
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  }
  Result<FileHandle> opened = openCacheFolder(path, /*create=*/false);
  EXPECT_EQ(opened.status().code(), StatusCode::InvalidArgument);
  EXPECT_THAT(opened.status().message(), HasSubstr("to belong to user"));
  CacheOptions other = options();
  other.folder = path;
  BlobStore store(other);
  EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 1);
  EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 0);
}

TEST_F(CacheFaultTest, foldersThatCannotBeMadeCostTime) {
  ASSERT_TRUE(writeFile(root + "/file", ""));
  for (const std::string &path : {root + "/file", root + "/file/cache", std::string("/proc/cache"),
                                  root + '/' + std::string(300, 'x')}) {
    CacheOptions other = options();
    other.folder = path;
    BlobStore store(other);
    EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 1) << path;
    EXPECT_EQ(makeIn(store, keyOf("a"), "bytes"), 0) << path;
  }
}

// A folder that somebody removes or moves away is made again.
TEST_F(CacheFaultTest, foldersMayGo) {
  BlobStore store(options());
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 1);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 0) << "memory";
  EXPECT_EQ(makeIn(store, keyOf("b"), "beta"), 1);
  EXPECT_EQ(onDisk(keyOf("b")), "beta");
}

TEST_F(CacheFaultTest, theEnvironmentNamesTheFolder) {
  Settings settings;
  settings.home = "/h";
  EXPECT_EQ(CacheOptions::from(settings).folder, "/h/.cache/lacuna");
  settings.xdgCacheHome = "relative";
  EXPECT_EQ(CacheOptions::from(settings).folder, "/h/.cache/lacuna");
  settings.xdgCacheHome = "/x";
  EXPECT_EQ(CacheOptions::from(settings).folder, "/x/lacuna");
  settings.cacheFolder = "/c";
  settings.cacheBytes = 77;
  EXPECT_EQ(CacheOptions::from(settings).folder, "/c");
  EXPECT_EQ(CacheOptions::from(settings).diskBytes, 77u);
  settings.cacheBytes = 0;
  EXPECT_EQ(CacheOptions::from(settings).folder, "");
  EXPECT_FALSE(CacheOptions::from(settings).folderMissing) << "asked for";
}

// Without a home there is memory, and a word about it.
TEST_F(CacheFaultTest, I10_aMissingHomeIsSaidOnce) {
  setLogLevel(LogLevel::Warning);
  testing::internal::CaptureStderr();
  BlobStore store(CacheOptions::from(Settings()));
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 1);
  EXPECT_EQ(makeIn(store, keyOf("a"), "alpha"), 0);
  EXPECT_EQ(makeIn(store, keyOf("b"), "beta"), 1);
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("neither LACUNA_CACHE_DIR, XDG_CACHE_HOME nor HOME"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}
