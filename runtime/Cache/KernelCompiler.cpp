//===- KernelCompiler.cpp - machine code from the cache, else from NVRTC ---===//
#include "runtime/Cache/KernelCompiler.h"

#include "lib/Support/BuildId.h"

#include <fmt/format.h>

namespace lacuna {

CacheKey keyOf(const KernelRequest &request) {
  // Names every member: one more does not compile here.
  const auto &[source, name, architecture, compiler, options] = request;
  FieldDigest digest;
  digest.field("source", source).field("name", name).field("compiler", compiler);
  for (const std::string &word : nvrtcWords(architecture, options))
    digest.field("option", word);
  return {"cubin", digest.finish()};
}

/// Where the library is that a search has found before.
static CacheKey pathKey(const std::vector<std::string> &candidates) {
  FieldDigest digest;
  for (const std::string &candidate : candidates)
    digest.field("candidate", candidate);
  return {"nvrtc", digest.finish()};
}

Result<KernelCompiler::Library> KernelCompiler::load() {
  std::lock_guard<std::mutex> guard(mutex);
  if (library)
    return *library;
  library = Nvrtc::load(search);
  if (!*library)
    return *library;
  const Nvrtc &nvrtc = ***library;
  if (cache && known != nvrtc.identity() && !nvrtc.path().empty())
    cache->put(pathKey(nvrtcCandidates(search)), nvrtc.path(), nvrtc.path());
  known = nvrtc.identity();
  return *library;
}

Result<std::string> KernelCompiler::identity() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (known.empty()) {
      // The build id in the file tells builds apart. What only the loader finds lies where it was
      // last time; when that is not so any more, `compile` finds out before it writes anything.
      std::vector<std::string> candidates = nvrtcCandidates(search);
      std::string path = candidates.front();
      if (path.find('/') == path.npos)
        if (Blob found = cache->find(pathKey(candidates)))
          path = *found;
      if (path.find('/') != path.npos)
        known = buildIdOfFile(path);
    }
    if (!known.empty())
      return known;
  }
  Result<Library> nvrtc = load();
  return nvrtc ? Result<std::string>((*nvrtc)->identity()) : nvrtc.status();
}

Result<NvrtcOutput> KernelCompiler::compile(const std::string &source, const std::string &name,
                                            const std::string &architecture,
                                            const NvrtcOptions &options) {
  if (!cache) {
    Result<Library> nvrtc = load();
    return nvrtc ? (*nvrtc)->compile(source, name, architecture, options) : nvrtc.status();
  }
  Result<std::string> compiler = identity();
  if (!compiler)
    return compiler.status();
  KernelRequest request{source, name, architecture, *compiler, options};
  NvrtcOutput output;
  bool isAnother = false;
  auto make = [&]() -> Result<std::string> {
    Result<Library> nvrtc = load();
    if (!nvrtc)
      return nvrtc.status();
    isAnother = (*nvrtc)->identity() != request.compiler;
    if (isAnother)
      return Status::error(StatusCode::Missing, "expected another build of NVRTC");
    Result<NvrtcOutput> made = (*nvrtc)->compile(source, name, architecture, options);
    if (!made)
      return made.status();
    output = std::move(*made);
    return output.cubin;
  };
  std::string label = name + " " + architecture;
  Result<Blob> cubin = cache->findOrMake(keyOf(request), label, make);
  if (isAnother) {
    // The library that was opened is not the one that was expected: its own key counts.
    request.compiler = (*load())->identity();
    cubin = cache->findOrMake(keyOf(request), label, make);
  }
  if (!cubin)
    return cubin.status();
  if (output.cubin.empty())
    output.cubin = **cubin;
  return output;
}

} // namespace lacuna
