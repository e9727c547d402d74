//===- DiskLayer.h - entries of the cache as files -------------------------===//
#pragma once

#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/KeyLock.h"

#include <memory>
#include <mutex>
#include <vector>

namespace lacuna {

/// One file of the cache, as a listing shows it.
struct ListedEntry {
  CacheKey key;
  /// Of the file.
  uint64_t bytes = 0;
  /// Nanoseconds since 1970 of the last use; decides who goes first and nothing else.
  int64_t lastUse = 0;
};

/// What a removal has done.
struct PruneReport {
  uint64_t entries = 0, bytes = 0;
  /// Left by writers that died: partial files, locks.
  uint64_t leftovers = 0;
  /// Of the entries that stay.
  uint64_t bytesLeft = 0;
};

/// A folder of entries, shared by processes. Every call opens it anew, so that a folder that was
/// removed, repaired or mounted meanwhile is taken as it is.
class DiskLayer {
public:
  DiskLayer(std::string folder, uint64_t limit, std::shared_ptr<FileOperations> files);

  const std::string &folder() const { return path; }

  /// NotFound when there is no such entry; Corrupt, after the entry was removed, when its bytes are
  /// not those that were written.
  Result<Entry> read(const CacheKey &key);
  /// Creates or replaces an entry, whole or not at all. `evicted` counts those that had to go.
  Status write(const CacheKey &key, std::string_view label, std::string_view contents,
               uint64_t &evicted);
  void remove(const CacheKey &key);

  /// Runs `work` while no other process does so for the key, or when `wait` is over or locks do not
  /// work here. Waiting ends early when the entry appears.
  KeyLock::Outcome withLock(const CacheKey &key, std::chrono::milliseconds wait,
                            const std::function<void()> &work);

  /// Oldest use first.
  Result<std::vector<ListedEntry>> list();
  /// Reads an entry as `read` does, and leaves everything as it is.
  Result<Entry> check(const CacheKey &key);
  /// What an entry is called; empty when that cannot be read.
  std::string label(const CacheKey &key);
  /// Removes entries, those not used for longest first, until at most `limit` bytes are left, and
  /// what writers that died have left. `keep` stays.
  Result<PruneReport> prune(uint64_t limit, const CacheKey *keep = nullptr);

private:
  struct Listing {
    std::vector<ListedEntry> entries;
    std::vector<std::string> partial, locks;
  };
  Listing scan(int folder);
  /// An entry of the open folder; Corrupt when it should be removed. `file` stays open after
  /// success.
  Result<Entry> readFrom(int folder, const CacheKey &key, FileHandle &file);
  /// `swept` says that somebody removed the file before its name was its own.
  Status publish(int folder, const CacheKey &key, std::string_view header,
                 std::string_view contents, bool &swept);
  void pruneListed(int folder, const Listing &listing, uint64_t limit, const CacheKey *keep,
                   PruneReport &report);
  void sweepLeftovers(int folder, const Listing &listing, PruneReport &report);

  const std::string path;
  const uint64_t limit;
  const std::shared_ptr<FileOperations> files;

  std::mutex mutex;
  /// What the folder held when it was last looked through and what was written since; and after how
  /// many more writes it is looked through again, because others write too.
  uint64_t knownBytes = 0;
  unsigned writesUntilScan = 0;
};

} // namespace lacuna
