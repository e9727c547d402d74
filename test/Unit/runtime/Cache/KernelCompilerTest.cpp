//===- KernelCompilerTest.cpp - kernels are compiled once -------------------===//
#include "runtime/Cache/KernelCompiler.h"

#include "lacuna/Runtime.h"
#include "lib/Support/BuildId.h"
#include "test/Unit/runtime/Cache/CacheTest.h"
#include "test/Unit/runtime/FakeDriverTest.h"
#include "test/Unit/runtime/Launch/SampleProgram.h"
#include "test/Unit/runtime/TestNvrtc.h"

#include <sys/wait.h>

using namespace lacuna;
using testing::HasSubstr;

static const std::string source = "extern \"C\" __global__ void k(int *p) { *p = 1; }\n";

namespace {
class KernelCompilerTest : public CacheTest {
protected:
  std::shared_ptr<BlobStore> openStore() const { return std::make_shared<BlobStore>(options()); }
  static Result<NvrtcOutput> compile(KernelCompiler &compiler, const std::string &text = source) {
    return compiler.compile(text, "k.cu", "sm_90a", {});
  }
};
} // namespace

// Every input changes the key; nothing else does.
TEST_F(KernelCompilerTest, keysHoldEveryInput) {
  const KernelRequest request{source, "k.cu", "sm_90a", "0123", {}};
  std::vector<KernelRequest> others(8, request);
  others[1].source += " ";
  others[2].name = "l.cu";
  others[3].architecture = "sm_100a";
  others[4].compiler = "4567";
  others[5].options.lineInfo = true;
  others[6].options.extra = {"--maxrregcount=64"};
  others[7].options.extra = {"--maxrregcount=64", "-DX"};
  std::set<CacheKey> keys;
  for (const KernelRequest &other : others)
    keys.insert(lacuna::keyOf(other));
  EXPECT_EQ(keys.size(), others.size());
  EXPECT_EQ(lacuna::keyOf(request), lacuna::keyOf(others[0]));
}

TEST_F(KernelCompilerTest, compilesOncePerFolder) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  std::string cubin;
  {
    auto store = openStore();
    KernelCompiler compiler(environmentSearch(), store);
    Result<NvrtcOutput> first = compile(compiler);
    ASSERT_TRUE(first) << first.status().message();
    cubin = first->cubin;
    EXPECT_TRUE(compiler.isOpen());
    EXPECT_EQ(compile(compiler)->cubin, cubin);
    EXPECT_EQ(store->counters().made, 1u);
    EXPECT_EQ(store->counters().memoryHits, 1u);
  }
  // As another process: NVRTC is not even opened.
  auto store = openStore();
  KernelCompiler compiler(environmentSearch(), store);
  EXPECT_EQ(compile(compiler)->cubin, cubin);
  EXPECT_FALSE(compiler.isOpen());
  EXPECT_EQ(store->counters().made, 0u);
  ASSERT_TRUE(compile(compiler, source + "// other\n"));
  EXPECT_TRUE(compiler.isOpen());
  EXPECT_EQ(store->counters().made, 1u);
}

TEST_F(KernelCompilerTest, worksWithoutACache) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  KernelCompiler compiler(environmentSearch(), nullptr);
  Result<NvrtcOutput> output = compile(compiler);
  ASSERT_TRUE(output);
  EXPECT_NE(output->cubin, "");
  EXPECT_NE(output->ptx, "");
}

// A library found by name is remembered by its path. When that is another build by now, what is
// compiled does not go under the key of the one that was expected.
TEST_F(KernelCompilerTest, anotherNvrtcIsAnotherKey) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  NvrtcSearch search = environmentSearch();
  if (nvrtcCandidates(search).front().find('/') != std::string::npos)
    GTEST_SKIP() << "LACUNA_NVRTC names a path";
  auto store = openStore();
  {
    KernelCompiler compiler(search, store);
    ASSERT_TRUE(compile(compiler));
  }
  std::vector<CacheKey> remembered;
  for (const std::string &name : names())
    if (std::optional<CacheKey> key = CacheKey::parse(name); key && key->kind == "nvrtc")
      remembered.push_back(*key);
  ASSERT_EQ(remembered.size(), 1u);
  // This test program has a build id and is no NVRTC.
  store->put(remembered[0], "/proc/self/exe");
  KernelCompiler compiler(search, store);
  ASSERT_TRUE(compile(compiler));
  EXPECT_TRUE(compiler.isOpen());
  EXPECT_EQ(store->counters().made, 1u) << "the right key has it";
  CacheKey wrong = lacuna::keyOf({source, "k.cu", "sm_90a", buildIdOfFile("/proc/self/exe"), {}});
  EXPECT_EQ(store->find(wrong), nullptr);
  EXPECT_EQ(*store->find(remembered[0]), nvrtc.path());
}

// The compiler's message, every time: failures are not kept.
TEST_F(KernelCompilerTest, I11_failuresAreReportedAndNotKept) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  auto store = openStore();
  KernelCompiler compiler(environmentSearch(), store);
  for (int i = 0; i < 2; ++i) {
    Result<NvrtcOutput> output =
        compile(compiler, "extern \"C\" __global__ void k() { griddepcontrol_wait(); }");
    EXPECT_EQ(output.status().code(), StatusCode::Compile);
    EXPECT_THAT(output.status().message(), HasSubstr("griddepcontrol_wait"));
  }
  EXPECT_EQ(store->counters().failed, 2u);
  KernelCompiler missing({"/nowhere/libnvrtc.so.13", "", "", "", ""}, store);
  EXPECT_EQ(compile(missing).status().code(), StatusCode::Missing);
}

// The library is searched once for all kernels, and says nothing when a later place has it. Both
// the place and the folder are gone when the second kernel comes.
TEST_F(KernelCompilerTest, I13_theLibraryIsSearchedOnceAndQuietly) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  std::filesystem::path wheel = root + "/cuda/lib64";
  std::filesystem::create_directories(wheel);
  std::string name = std::filesystem::path(nvrtc.path()).filename().string();
  // What the loader would find by itself is no later place.
  std::string place = (wheel / name).string();
  std::filesystem::create_symlink(nvrtc.path(), place);
  testing::internal::CaptureStderr();
  {
    KernelCompiler compiler({"", root + "/cuda", "", "", ""}, nullptr);
    ASSERT_TRUE(compile(compiler));
    std::filesystem::remove_all(root + "/cuda");
    ASSERT_TRUE(compile(compiler, source + "// second\n"));
  }
  // A library that is nowhere is searched once too; each kernel gets the reason.
  KernelCompiler missing({place, "", "", "", ""}, nullptr);
  std::string reason = compile(missing).status().message();
  EXPECT_THAT(reason, HasSubstr(place));
  std::filesystem::create_directories(wheel);
  std::filesystem::create_symlink(nvrtc.path(), place);
  EXPECT_EQ(compile(missing, source + "// second\n").status().message(), reason);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(KernelCompilerTest, I5_truncatedMachineCodeIsMadeAgain) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  std::string cubin;
  {
    KernelCompiler compiler(environmentSearch(), openStore());
    cubin = compile(compiler)->cubin;
  }
  for (const std::string &name : names())
    std::filesystem::resize_file(folder + "/" + entriesFolder + "/" + name, 500);
  testing::internal::CaptureStderr();
  auto store = openStore();
  KernelCompiler compiler(environmentSearch(), store);
  EXPECT_EQ(compile(compiler)->cubin, cubin);
  EXPECT_EQ(store->counters().made, 1u);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("it is made again"));
}

// Eight processes and one cold kernel: one compilation.
TEST_F(KernelCompilerTest, I1_processesCompileOnce) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      ::close(go[1]);
      char byte;
      while (::read(go[0], &byte, 1) > 0)
        ;
      auto store = openStore();
      KernelCompiler compiler(environmentSearch(), store);
      Result<NvrtcOutput> output = compile(compiler);
      ::_exit(output && !output->cubin.empty() ? static_cast<int>(store->counters().made) : 100);
    }
    children.push_back(child);
  }
  ::close(go[0]);
  ::close(go[1]);
  int made = 0;
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    made += WEXITSTATUS(status);
  }
  EXPECT_EQ(made, 1);
}

// Sources that lead to the lines of a spec were asked for by whoever compiled them: machine code
// keeps the lines, whatever loads it.
TEST(CompileAhead, sourcesWithLinesKeepThem) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  Result<GpuOptions> options = GpuOptions::fromEnvironment();
  ASSERT_TRUE(options) << options.status().message();
  options->cache = nullptr;
  for (bool hasLines : {false, true}) {
    Program program = sampleProgram();
    for (KernelCode &kernel : program.kernels) {
      kernel.cubin.clear();
      kernel.source = hasLines ? "// kernel\n#line 7 \"spec.mlir\"\n" : "// kernel\n";
      kernel.source +=
          "extern \"C\" __global__ void " + kernel.manifest.symbol + "(int *p) { *p = 1; }";
    }
    ASSERT_TRUE(compileAhead(program, *options));
    EXPECT_EQ(program.kernels[0].cubin.find(".debug_line") != std::string::npos, hasLines);
  }
}

namespace {
class CachedLoadTest : public FakeDriverTest {};
} // namespace

// `Gpu::load` compiles through the cache of its options; the time from a cold memory to a loaded
// program is what a process pays that finds its kernels on disk.
TEST_F(CachedLoadTest, loadsFromDisk) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  std::string folder = testing::TempDir() + "/lacuna-load-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  Program program = sampleProgram();
  for (KernelCode &kernel : program.kernels) {
    kernel.cubin.clear();
    kernel.source =
        "extern \"C\" __global__ void " + kernel.manifest.symbol + "(int *p) { *p = 1; }";
  }
  CacheOptions cache;
  cache.folder = folder;
  Result<GpuOptions> options = GpuOptions::fromEnvironment();
  ASSERT_TRUE(options);
  options->driverLibrary = LACUNA_FAKE_DRIVER;
  for (uint64_t made : {uint64_t{1}, uint64_t{0}}) {
    options->cache = std::make_shared<BlobStore>(cache);
    auto gpu = Gpu::open(*options);
    ASSERT_TRUE(gpu);
    auto start = std::chrono::steady_clock::now();
    auto loaded = gpu->load(program);
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ASSERT_TRUE(loaded) << loaded.status().message();
    EXPECT_EQ(options->cache->counters().made, made * program.kernels.size());
    if (made == 0) {
      RecordProperty("warm_milliseconds", std::to_string(1e3 * seconds));
      EXPECT_LT(seconds, 1.0) << "a compilation of real kernels takes longer on an idle machine";
    }
  }
  std::filesystem::remove_all(folder);
}
