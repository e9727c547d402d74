//===- BlobStore.h - memory, then disk, then make --------------------------===//
//
// Texts and machine code by key. A store never guesses: an entry is given back only when its bytes
// are those that were put. Whatever goes wrong on disk costs time and never a result.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/CacheCounters.h"
#include "lacuna/Status.h"
#include "runtime/Cache/CacheKey.h"

#include <chrono>
#include <functional>
#include <memory>

namespace lacuna {

class FileOperations;
struct Settings;

/// How a store is set up.
struct CacheOptions {
  /// Folder of the disk layer, which is created; empty for memory only.
  std::string folder;
  /// Whether `folder` is empty because the environment names none, which is worth a word.
  bool folderMissing = false;
  /// Most bytes on disk and in memory; what was used longest ago goes first.
  uint64_t diskBytes = uint64_t{2} << 30;
  uint64_t memoryBytes = uint64_t{64} << 20;
  /// How long to wait for a process that makes the same entry.
  std::chrono::milliseconds lockWait = std::chrono::seconds(60);
  /// The file system; null stands for the machine's. For tests.
  std::shared_ptr<FileOperations> files;

  /// LACUNA_CACHE_DIR, XDG_CACHE_HOME or HOME, and LACUNA_CACHE_SIZE.
  static CacheOptions from(const Settings &settings);
};

/// The bytes of an entry; they stay when the entry goes.
using Blob = std::shared_ptr<const std::string>;

/// Threads may use a store at the same time, and processes the same folder.
class BlobStore {
public:
  /// Never fails: a folder that cannot be used or must not be trusted is reported once through the
  /// log, and the store works in memory.
  explicit BlobStore(CacheOptions options);
  ~BlobStore();
  BlobStore(const BlobStore &) = delete;
  BlobStore &operator=(const BlobStore &) = delete;

  /// The entry, or null.
  Blob find(const CacheKey &key);
  /// Creates or replaces an entry. `label` is for people who list the cache.
  void put(const CacheKey &key, std::string bytes, std::string_view label = {});

  using Make = std::function<Result<std::string>()>;
  /// The entry, which `make` makes when there is none. Threads, and in the usual case processes,
  /// that ask for one key at the same time call one `make` together. A failure is given to those
  /// who wait and is not kept. `make` may ask for other keys.
  Result<Blob> findOrMake(const CacheKey &key, std::string_view label, const Make &make);
  /// Removes an entry whose bytes the caller cannot use.
  void discard(const CacheKey &key, std::string_view why);

  CacheCounters counters() const;
  /// Folder of the disk layer; empty when there is none.
  const std::string &folder() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace lacuna
