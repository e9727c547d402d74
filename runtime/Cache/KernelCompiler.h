//===- KernelCompiler.h - machine code from the cache, else from NVRTC -----===//
#pragma once

#include "runtime/Cache/BlobStore.h"
#include "runtime/Jit/Nvrtc.h"

#include <mutex>

namespace lacuna {

/// Compiles kernels, each once. NVRTC is opened when a kernel is in no cache: that takes ten times
/// as long as reading the kernel. Threads may compile at the same time.
class KernelCompiler {
public:
  /// `cache` may be null: then everything is compiled.
  KernelCompiler(NvrtcSearch search, std::shared_ptr<BlobStore> cache)
      : search(std::move(search)), cache(std::move(cache)) {}

  /// What NVRTC says, without `ptx` and, from the cache, only the machine code.
  Result<NvrtcOutput> compile(const std::string &source, const std::string &name,
                              const std::string &architecture, const NvrtcOptions &options);
  /// Whether a kernel needed NVRTC.
  bool isOpen() const {
    std::lock_guard<std::mutex> guard(mutex);
    return library.has_value();
  }

private:
  using Library = std::shared_ptr<const Nvrtc>;
  /// Opens NVRTC, at the first call.
  Result<Library> load();
  /// Which build of NVRTC would compile, without opening it where that is possible.
  Result<std::string> identity();

  const NvrtcSearch search;
  const std::shared_ptr<BlobStore> cache;
  mutable std::mutex mutex;
  std::optional<Result<Library>> library;
  std::string known;
};

/// Everything that decides about the machine code of a kernel.
struct KernelRequest {
  std::string source, name, architecture;
  /// Which build of NVRTC compiles; `Nvrtc::identity`.
  std::string compiler;
  NvrtcOptions options;
};

CacheKey keyOf(const KernelRequest &request);

} // namespace lacuna
