//===- BlobStore.cpp - memory, then disk, then make ------------------------===//
#include "runtime/Cache/BlobStore.h"

#include "lib/Support/Log.h"
#include "lib/Support/Settings.h"
#include "runtime/Cache/AllStores.h"
#include "runtime/Cache/DiskLayer.h"
#include "runtime/Cache/MemoryLayer.h"

#include <condition_variable>
#include <set>

namespace lacuna {

CacheOptions CacheOptions::from(const Settings &settings) {
  CacheOptions options;
  options.diskBytes = settings.cacheBytes;
  if (settings.cacheBytes == 0)
    return options;
  if (!settings.cacheFolder.empty())
    options.folder = settings.cacheFolder;
  else if (settings.xdgCacheHome.starts_with("/")) // Others are to be ignored, says XDG.
    options.folder = settings.xdgCacheHome + "/lacuna";
  else if (settings.home.starts_with("/"))
    options.folder = settings.home + "/.cache/lacuna";
  else
    options.folderMissing = true;
  return options;
}

namespace {
/// One thread makes an entry, others wait for what comes.
struct Flight {
  std::condition_variable landed;
  std::optional<Result<Blob>> result;
};
} // namespace

struct BlobStore::State {
  explicit State(const CacheOptions &options)
      : memory(options.memoryBytes), lockWait(options.lockWait) {
    if (!options.folder.empty() && options.diskBytes > 0)
      disk.emplace(options.folder, options.diskBytes, options.files);
  }

  /// From disk; null when there is nothing.
  Blob read(const CacheKey &key);
  void write(const CacheKey &key, std::string_view label, const std::string &bytes);
  Result<Blob> fill(const CacheKey &key, std::string_view label, const Make &make);
  Result<Blob> makeUnlessThere(const CacheKey &key, std::string_view label, const Make &make);
  void keep(const CacheKey &key, const Blob &blob);
  /// Says what a user can do something about, each kind once.
  void report(const char *kind, const Status &status, const char *consequence);
  template <typename T> void count(T CacheCounters::*member, T by = 1) {
    std::lock_guard<std::mutex> guard(mutex);
    counters.*member += by;
  }

  std::optional<DiskLayer> disk;
  std::mutex mutex;
  MemoryLayer memory;
  std::map<CacheKey, std::shared_ptr<Flight>> flights;
  CacheCounters counters;
  std::set<std::string> reported;
  const std::chrono::milliseconds lockWait;
};

BlobStore::BlobStore(CacheOptions options) : state(std::make_unique<State>(options)) {
  addStore(*this);
  if (options.folderMissing)
    log(LogLevel::Warning, "kernels are kept in memory only: neither LACUNA_CACHE_DIR, "
                           "XDG_CACHE_HOME nor HOME says where the cache is");
}
BlobStore::~BlobStore() { removeStore(*this); }

const std::string &BlobStore::folder() const {
  static const std::string none;
  return state->disk ? state->disk->folder() : none;
}

CacheCounters BlobStore::counters() const {
  std::lock_guard<std::mutex> guard(state->mutex);
  CacheCounters counters = state->counters;
  counters.memoryBytes = state->memory.bytes();
  return counters;
}

void BlobStore::State::report(const char *kind, const Status &status, const char *consequence) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (!reported.insert(kind).second)
      return;
  }
  log(LogLevel::Warning, "{}; {}", status.message(), consequence);
}

void BlobStore::State::keep(const CacheKey &key, const Blob &blob) {
  std::lock_guard<std::mutex> guard(mutex);
  counters.memoryEvictions += memory.put(key, blob);
}

Blob BlobStore::State::read(const CacheKey &key) {
  if (!disk)
    return nullptr;
  Result<Entry> entry = disk->read(key);
  if (entry) {
    count(&CacheCounters::bytesRead, uint64_t{entry->contents.size()});
    return std::make_shared<const std::string>(std::move(entry->contents));
  }
  switch (entry.status().code()) {
  case StatusCode::NotFound:
    break;
  case StatusCode::Corrupt:
    count(&CacheCounters::damaged);
    log(LogLevel::Warning, "{}; it is made again", entry.status().message());
    break;
  case StatusCode::InvalidArgument:
    report("folder", entry.status(),
           "kernels are kept in memory only (chmod go-w, or set LACUNA_CACHE_DIR)");
    break;
  default:
    report("read", entry.status(), "it costs time only");
  }
  return nullptr;
}

void BlobStore::State::write(const CacheKey &key, std::string_view label,
                             const std::string &bytes) {
  if (!disk)
    return;
  uint64_t evicted = 0;
  Status status = disk->write(key, label, bytes, evicted);
  count(&CacheCounters::diskEvictions, evicted);
  if (status) {
    count(&CacheCounters::bytesWritten, uint64_t{bytes.size()});
    return;
  }
  count(&CacheCounters::failedWrites);
  if (status.code() == StatusCode::InvalidArgument)
    report("folder", status,
           "kernels are kept in memory only (chmod go-w, or set LACUNA_CACHE_DIR)");
  else
    report("write", status, "it costs time only");
}

Result<Blob> BlobStore::State::makeUnlessThere(const CacheKey &key, std::string_view label,
                                               const Make &make) {
  // Another process may have made it while this one waited for the lock.
  if (Blob blob = read(key)) {
    count(&CacheCounters::diskHits);
    return blob;
  }
  count(&CacheCounters::misses);
  Result<std::string> bytes = make();
  if (!bytes) {
    count(&CacheCounters::failed);
    return bytes.status();
  }
  count(&CacheCounters::made);
  write(key, label, *bytes);
  return std::make_shared<const std::string>(std::move(*bytes));
}

Result<Blob> BlobStore::State::fill(const CacheKey &key, std::string_view label, const Make &make) {
  if (Blob blob = read(key)) {
    count(&CacheCounters::diskHits);
    return blob;
  }
  Result<Blob> result(Blob{});
  if (!disk)
    return makeUnlessThere(key, label, make);
  KeyLock::Outcome outcome =
      disk->withLock(key, lockWait, [&] { result = makeUnlessThere(key, label, make); });
  if (outcome == KeyLock::Outcome::TimedOut)
    count(&CacheCounters::lockTimeouts);
  return result;
}

Blob BlobStore::find(const CacheKey &key) {
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    if (Blob blob = state->memory.find(key)) {
      ++state->counters.memoryHits;
      return blob;
    }
  }
  Blob blob = state->read(key);
  state->count(blob ? &CacheCounters::diskHits : &CacheCounters::misses);
  if (blob)
    state->keep(key, blob);
  return blob;
}

void BlobStore::put(const CacheKey &key, std::string bytes, std::string_view label) {
  state->write(key, label, bytes);
  state->keep(key, std::make_shared<const std::string>(std::move(bytes)));
}

void BlobStore::discard(const CacheKey &key, std::string_view why) {
  log(LogLevel::Warning, "cache entry {}: {}; it is made again", key.fileName(), why);
  if (state->disk)
    state->disk->remove(key);
  std::lock_guard<std::mutex> guard(state->mutex);
  state->memory.remove(key);
  ++state->counters.damaged;
}

Result<Blob> BlobStore::findOrMake(const CacheKey &key, std::string_view label, const Make &make) {
  std::shared_ptr<Flight> flight;
  {
    std::unique_lock<std::mutex> guard(state->mutex);
    if (Blob blob = state->memory.find(key)) {
      ++state->counters.memoryHits;
      return blob;
    }
    auto [place, first] = state->flights.try_emplace(key);
    if (!first) {
      flight = place->second;
      flight->landed.wait(guard, [&] { return flight->result.has_value(); });
      state->counters.sharedHits += flight->result->isOk();
      return *flight->result;
    }
    flight = place->second = std::make_shared<Flight>();
  }
  Result<Blob> result = state->fill(key, label, make);
  std::lock_guard<std::mutex> guard(state->mutex);
  if (result)
    state->counters.memoryEvictions += state->memory.put(key, *result);
  flight->result = result;
  state->flights.erase(key);
  flight->landed.notify_all();
  return result;
}

} // namespace lacuna
