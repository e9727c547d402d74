//===- DiskLayer.cpp - entries of the cache as files -----------------------===//
#include "runtime/Cache/DiskLayer.h"

#include "runtime/Cache/CacheFolder.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <tuple>
#include <unistd.h>

namespace lacuna {

static constexpr std::string_view partialSuffix = ".partial", lockSuffix = ".lock";
/// Other processes write too: the folder is looked through at least every so many writes.
static constexpr unsigned writesBetweenScans = 64;

DiskLayer::DiskLayer(std::string folder, uint64_t limit, std::shared_ptr<FileOperations> files)
    : path(std::move(folder)), limit(limit),
      files(files ? std::move(files) : std::make_shared<FileOperations>()) {}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<Entry> DiskLayer::readFrom(int folder, const CacheKey &key, FileHandle &file) {
  std::string name = key.fileName();
  // Without blocking: what lies there may be a pipe.
  file = FileHandle(files->open(folder, name.c_str(), O_RDONLY | O_NONBLOCK));
  auto failure = [&](StatusCode code, std::string_view why) {
    return Status::error(code,
                         fmt::format("cache entry {}/{}/{}: {}", path, entriesFolder, name, why));
  };
  // A link (ELOOP) is nothing that was written here.
  if (!file && errno != ELOOP)
    return failure(errno == ENOENT ? StatusCode::NotFound : StatusCode::Io, errorText());
  struct stat facts = {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_uid != ::geteuid())
    return failure(StatusCode::Corrupt, "expected a file of this user");
  Result<Entry> entry = readEntry(*files, file.get(), static_cast<uint64_t>(facts.st_size), key);
  return entry ? std::move(entry) : failure(entry.status().code(), entry.status().message());
}

Result<Entry> DiskLayer::read(const CacheKey &key) {
  Result<FileHandle> folder = openCacheFolder(path, /*create=*/false);
  if (!folder)
    return folder.status();
  FileHandle file;
  Result<Entry> entry = readFrom(folder->get(), key, file);
  if (entry) // Another time or none does no harm: it only decides who goes first.
    files->touch(file.get());
  else if (entry.status().code() == StatusCode::Corrupt)
    files->unlink(folder->get(), key.fileName().c_str());
  return entry;
}

Result<Entry> DiskLayer::check(const CacheKey &key) {
  Result<FileHandle> folder = openCacheFolder(path, /*create=*/false);
  FileHandle file;
  return folder ? readFrom(folder->get(), key, file) : folder.status();
}

std::string DiskLayer::label(const CacheKey &key) {
  Result<FileHandle> folder = openCacheFolder(path, /*create=*/false);
  if (!folder)
    return {};
  FileHandle file(files->open(folder->get(), key.fileName().c_str(), O_RDONLY | O_NONBLOCK));
  return file ? readLabel(*files, file.get()) : std::string();
}

void DiskLayer::remove(const CacheKey &key) {
  if (Result<FileHandle> folder = openCacheFolder(path, /*create=*/false))
    files->unlink(folder->get(), key.fileName().c_str());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A name for a file that nobody else has, on this machine or another of a shared folder.
static std::string partialName(const CacheKey &key, int attempt) {
  auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("{}.{}.{}.{}{}", key.fileName(), ::getpid(), now, attempt, partialSuffix);
}

Status DiskLayer::publish(int folder, const CacheKey &key, std::string_view header,
                          std::string_view contents, bool &swept) {
  std::string partial;
  FileHandle file;
  for (int attempt = 0; attempt < 16 && !file; ++attempt) {
    partial = partialName(key, attempt);
    file = FileHandle(files->open(folder, partial.c_str(), O_WRONLY | O_CREAT | O_EXCL));
    if (!file && errno != EEXIST)
      break;
  }
  auto failure = [&](const char *what) {
    std::string why = errorText();
    if (file)
      files->unlink(folder, partial.c_str());
    return Status::error(StatusCode::Io, fmt::format("cannot {} cache entry {}/{}/{}: {}", what,
                                                     path, entriesFolder, key.fileName(), why));
  };
  if (!file)
    return failure("make");
  // Says that its writer lives; without locks it is found to be old instead.
  files->lock(file.get(), LOCK_EX | LOCK_NB);
  if (!writeAll(*files, file.get(), header) || !writeAll(*files, file.get(), contents))
    return failure("write");
  // Also brings out what a network file system has not said yet.
  if (files->sync(file.get()) != 0)
    return failure("write");
  if (files->rename(folder, partial.c_str(), key.fileName().c_str()) != 0) {
    swept = errno == ENOENT;
    return failure("publish");
  }
  return Status::ok();
}

Status DiskLayer::write(const CacheKey &key, std::string_view label, std::string_view contents,
                        uint64_t &evicted) {
  std::string header = entryHeader(key, label, contents);
  uint64_t bytes = header.size() + contents.size();
  if (bytes > limit)
    return Status::error(
        StatusCode::Unsupported,
        fmt::format("cache entry {} has {} bytes, more than the cache may have ({})",
                    key.fileName(), bytes, limit));
  Result<FileHandle> folder = openCacheFolder(path, /*create=*/true);
  if (!folder)
    return folder.status();
  // Who clears up takes a file that its writer has not locked yet for one that was left.
  bool swept = false;
  Status status = publish(folder->get(), key, header, contents, swept);
  if (swept)
    status = publish(folder->get(), key, header, contents, swept);
  if (!status)
    return status;
  std::lock_guard<std::mutex> guard(mutex);
  knownBytes += bytes;
  if (writesUntilScan > 0 && knownBytes <= limit) {
    --writesUntilScan;
    return Status::ok();
  }
  Listing listing = scan(folder->get());
  PruneReport report;
  uint64_t total = 0;
  for (const ListedEntry &entry : listing.entries)
    total += entry.bytes;
  // Some room, so that not every write looks through the folder.
  pruneListed(folder->get(), listing, total > limit ? limit - limit / 16 : limit, &key, report);
  sweepLeftovers(folder->get(), listing, report);
  evicted += report.entries;
  knownBytes = report.bytesLeft;
  writesUntilScan = writesBetweenScans;
  return Status::ok();
}

KeyLock::Outcome DiskLayer::withLock(const CacheKey &key, std::chrono::milliseconds wait,
                                     const std::function<void()> &work) {
  Result<FileHandle> folder = openCacheFolder(path, /*create=*/true);
  if (!folder) {
    work();
    return KeyLock::Outcome::Unavailable;
  }
  std::string name = key.fileName();
  struct stat ignored;
  KeyLock lock(*files, folder->get(), name + std::string(lockSuffix), wait, [&] {
    return ::fstatat(folder->get(), name.c_str(), &ignored, AT_SYMLINK_NOFOLLOW) == 0;
  });
  work();
  return lock.outcome();
}

//===----------------------------------------------------------------------===//
// Listing and removing
//===----------------------------------------------------------------------===//

DiskLayer::Listing DiskLayer::scan(int folder) {
  Listing listing;
  int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!stream) {
    FileHandle closes(copy);
    return listing;
  }
  while (const dirent *item = ::readdir(stream)) {
    std::string_view name = item->d_name;
    struct stat facts;
    if (name.ends_with(lockSuffix))
      listing.locks.emplace_back(name);
    else if (name.ends_with(partialSuffix))
      listing.partial.emplace_back(name);
    else if (std::optional<CacheKey> key = CacheKey::parse(name);
             key && ::fstatat(folder, item->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
      listing.entries.push_back({std::move(*key), static_cast<uint64_t>(facts.st_size),
                                 facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec});
  }
  ::closedir(stream);
  std::ranges::sort(listing.entries, {},
                    [](const ListedEntry &entry) { return std::tie(entry.lastUse, entry.key); });
  return listing;
}

Result<std::vector<ListedEntry>> DiskLayer::list() {
  Result<FileHandle> folder = openCacheFolder(path, /*create=*/false);
  if (!folder && folder.status().code() == StatusCode::NotFound)
    return std::vector<ListedEntry>();
  if (!folder)
    return folder.status();
  return scan(folder->get()).entries;
}

void DiskLayer::pruneListed(int folder, const Listing &listing, uint64_t most, const CacheKey *keep,
                            PruneReport &report) {
  for (const ListedEntry &entry : listing.entries)
    report.bytesLeft += entry.bytes;
  for (const ListedEntry &entry : listing.entries) {
    if (report.bytesLeft <= most)
      break;
    if (keep && entry.key == *keep)
      continue;
    // Another process may have been faster.
    if (files->unlink(folder, entry.key.fileName().c_str()) != 0 && errno != ENOENT)
      continue;
    ++report.entries;
    report.bytes += entry.bytes;
    report.bytesLeft -= entry.bytes;
  }
}

void DiskLayer::sweepLeftovers(int folder, const Listing &listing, PruneReport &report) {
  auto exists = [&](const std::string &name) {
    struct stat ignored;
    return ::fstatat(folder, name.c_str(), &ignored, AT_SYMLINK_NOFOLLOW) == 0;
  };
  // Both are locked while their owner lives.
  for (const auto *names : {&listing.partial, &listing.locks})
    for (const std::string &name : *names) {
      KeyLock::sweep(*files, folder, name.c_str());
      report.leftovers += !exists(name);
    }
}

Result<PruneReport> DiskLayer::prune(uint64_t most, const CacheKey *keep) {
  PruneReport report;
  Result<FileHandle> folder = openCacheFolder(path, /*create=*/false);
  if (!folder && folder.status().code() == StatusCode::NotFound)
    return report;
  if (!folder)
    return folder.status();
  Listing listing = scan(folder->get());
  pruneListed(folder->get(), listing, most, keep, report);
  sweepLeftovers(folder->get(), listing, report);
  return report;
}

} // namespace lacuna
