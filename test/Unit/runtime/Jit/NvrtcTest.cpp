//===- NvrtcTest.cpp - kernels compile, or say why not ---------------------===//
#include "test/Unit/runtime/TestNvrtc.h"

#include "runtime/Jit/AssemblerFaults.h"
#include "runtime/Jit/Cubin.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <thread>

using namespace lacuna;
using testing::HasSubstr;

/// The library's own cache would answer without a log.
static const NvrtcOptions uncached = {.lineInfo = false, .noCache = true, .extra = {}};

namespace {
/// A folder that is gone after the test.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "lacuna-nvrtc-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string &name) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << "x";
    return (path / name).string();
  }
};
} // namespace

static const char *copySource = R"(
extern "C" __global__ void __launch_bounds__(128) copy(const float *from, float *to, int n) {
  __shared__ float stage[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  stage[threadIdx.x] = i < n ? from[i] : 0;
  __syncthreads();
  if (i < n)
    to[i] = stage[127 - threadIdx.x];
}
)";

TEST(Nvrtc, compilesForHopper) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  Result<NvrtcOutput> output = nvrtc.compile(copySource, "copy.cu", "sm_90a", uncached);
  ASSERT_TRUE(output) << output.status().message();
  EXPECT_THAT(output->ptx, HasSubstr(".visible .entry copy("));
  const KernelReport *kernel = output->report.find("copy");
  ASSERT_TRUE(kernel) << output->log;
  EXPECT_GT(kernel->registers, 0u);
  EXPECT_EQ(kernel->sharedBytes, 512u);
  EXPECT_EQ(kernel->barriers, 1u);
  EXPECT_TRUE(output->report.complete);
  EXPECT_FALSE(output->report.spills());
  EXPECT_TRUE(output->report.losses.empty());
  EXPECT_GT(output->seconds, 0);
}

// The cubin says the same as the log.
TEST(Nvrtc, readsTheCubin) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  Result<NvrtcOutput> output = nvrtc.compile(copySource, "copy.cu", "sm_90a", uncached);
  ASSERT_TRUE(output) << output.status().message();
  Result<std::vector<KernelReport>> kernels = readCubin(output->cubin);
  ASSERT_TRUE(kernels) << kernels.status().message();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ(kernels->front().name, "copy");
  CompileReport logged = parseCompileLog(output->log);
  ASSERT_TRUE(logged.find("copy")) << output->log;
  EXPECT_EQ(kernels->front().registers, logged.find("copy")->registers);
  EXPECT_GE(kernels->front().sharedBytes, 512u);
  // Whatever is cut off or overwritten, reading ends with an answer.
  for (size_t size = 0; size < output->cubin.size(); size += 7)
    (void)readCubin(output->cubin.substr(0, size));
  for (size_t at = 0; at < output->cubin.size(); at += 3) {
    std::string damaged = output->cubin;
    damaged[at] = static_cast<char>(~damaged[at]);
    (void)readCubin(damaged);
  }
}

// A result from the library's cache has no log; the report says so, and its registers are right.
TEST(Nvrtc, knowsResultsWithoutALog) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  Result<NvrtcOutput> first = nvrtc.compile(copySource, "copy.cu", "sm_90a", uncached);
  ASSERT_TRUE(first) << first.status().message();
  for (int repeat = 0; repeat < 2; ++repeat) {
    Result<NvrtcOutput> output = nvrtc.compile(copySource, "copy.cu", "sm_90a", NvrtcOptions());
    ASSERT_TRUE(output) << output.status().message();
    ASSERT_TRUE(output->report.find("copy"));
    EXPECT_EQ(output->report.complete, !parseCompileLog(output->log).kernels.empty());
    EXPECT_EQ(output->report.find("copy")->registers, first->report.find("copy")->registers);
  }
}

TEST(Nvrtc, saysWhereTheSourceIsWrong) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  Result<NvrtcOutput> output = nvrtc.compile(
      "extern \"C\" __global__ void broken() { undeclared = 1; }", "broken.cu", "sm_90a");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.status().code(), StatusCode::Compile);
  EXPECT_THAT(output.status().message(),
              HasSubstr("broken.cu(1): error: identifier \"undeclared\" is undefined"));
}

// Machine code with a sign lost is not handed out.
TEST(Nvrtc, refusesWhatItsAssemblerGetsWrong) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  std::string source = R"(extern "C" __global__ void least(int *x) {
  int *mine = x + 4 * threadIdx.x;
  mine[3] = min(min(mine[0], -mine[1]), mine[2]);
})";
  Result<NvrtcOutput> output = nvrtc.compile(source, "least.cu", "sm_90a");
  int major = 0, minor = 0;
  ASSERT_EQ(std::sscanf(nvrtc.version().c_str(), "%d.%d", &major, &minor), 2);
  if (!losesNegations(major, minor)) {
    EXPECT_TRUE(output) << output.status().message();
    return;
  }
  ASSERT_FALSE(output);
  EXPECT_EQ(output.status().code(), StatusCode::Compile);
  EXPECT_THAT(output.status().message(), HasSubstr("loses the sign of an operand of 'min.s32"));
  EXPECT_THAT(output.status().message(),
              HasSubstr("in 'least.cu'; expected NVRTC 13.4 or newer for this kernel"));
}

TEST(Nvrtc, refusesUnknownArchitectures) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  Result<NvrtcOutput> output = nvrtc.compile(copySource, "copy.cu", "sm_12345");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.status().code(), StatusCode::Compile);
  EXPECT_THAT(output.status().message(), HasSubstr("gpu-architecture"));
  // A virtual architecture gives text only.
  output = nvrtc.compile(copySource, "copy.cu", "compute_90a");
  ASSERT_FALSE(output);
  EXPECT_THAT(output.status().message(), HasSubstr("no machine code for compute_90a"));
}

// 96 sums of a thread that may have 32 registers.
TEST(Nvrtc, reportsSpills) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  const char *source = R"(
extern "C" __global__ void __launch_bounds__(1024, 2) crowded(float *data) {
  float sum[96];
#pragma unroll
  for (int i = 0; i < 96; ++i)
    sum[i] = data[i * 1024 + threadIdx.x];
  for (int repeat = 0; repeat < 100; ++repeat)
#pragma unroll
    for (int i = 0; i < 96; ++i)
      sum[i] = sum[i] * sum[(i + 37) % 96] + 1;
#pragma unroll
  for (int i = 0; i < 96; ++i)
    data[i * 1024 + threadIdx.x] = sum[i];
}
)";
  Result<NvrtcOutput> output = nvrtc.compile(source, "crowded.cu", "sm_90a", uncached);
  ASSERT_TRUE(output) << output.status().message();
  const KernelReport *kernel = output->report.find("crowded");
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(output->report.spills());
  EXPECT_GT(kernel->spillStoreBytes, 0u);
  EXPECT_GT(kernel->spillLoadBytes, 0u);
  EXPECT_GT(kernel->stackBytes, 0u);
  EXPECT_LE(kernel->registers, 32u);
}

// Precompiled headers are off: kernels include nothing, and a file that all processes share by the
// name of the source is what others lost. Many sources of one name, at once, in one folder.
TEST(Nvrtc, I4_noPrecompiledHeaders) {
  LACUNA_NVRTC_OR_SKIP(nvrtc);
  for (const std::string &word : nvrtcWords("sm_90a", NvrtcOptions()))
    EXPECT_EQ(word.find("pch"), std::string::npos) << word;
  TemporaryFolder folder;
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  std::vector<std::thread> threads;
  std::vector<std::string> failures(8);
  for (size_t i = 0; i < failures.size(); ++i)
    threads.emplace_back([&, i] {
      std::string text =
          fmt::format("extern \"C\" __global__ void k{0}(int *p) {{ *p = {0}; }}", i);
      Result<NvrtcOutput> output = nvrtc.compile(text, "kernel.cu", "sm_90a", uncached);
      bool isRight = output && output->report.find(fmt::format("k{}", i));
      failures[i] = !isRight ? "failed: " + output.status().message() : "";
      if (output && output->log.find("precompiled") != std::string::npos)
        failures[i] = output->log;
    });
  for (std::thread &thread : threads)
    thread.join();
  std::filesystem::current_path(before);
  EXPECT_THAT(failures, testing::Each(""));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

TEST(Nvrtc, saysWhatIsMissing) {
  auto nvrtc = Nvrtc::load({"/nowhere/libnvrtc.so.13", "", "", "", ""});
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.status().code(), StatusCode::Missing);
  EXPECT_THAT(nvrtc.status().message(), HasSubstr("LACUNA_NVRTC"));
  EXPECT_THAT(nvrtc.status().message(), HasSubstr("/nowhere/libnvrtc.so.13"));
  // A library that is something else.
  nvrtc = Nvrtc::load({"libm.so.6", "", "", "", ""});
  ASSERT_FALSE(nvrtc);
  EXPECT_THAT(nvrtc.status().message(), HasSubstr("libm.so.6 has no nvrtcVersion"));
}

TEST(NvrtcSearch, findsToolkitsAndWheels) {
  TemporaryFolder folder;
  std::string toolkit = folder.file("cuda/lib64/libnvrtc.so.12");
  std::string fetched = folder.file("build/nvrtc/nvidia/cu13/lib/libnvrtc.so.13");
  std::string wheel =
      folder.file("venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  std::string user =
      folder.file("home/.local/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  folder.file("venv/bin/python3");
  // No Python lives here, so that its packages are not looked at.
  std::string stranger =
      folder.file("other/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  std::string root = folder.path.string();
  std::vector<std::string> candidates =
      nvrtcCandidates({.library = "",
                       .cudaHome = root + "/cuda",
                       .programPath = root + "/other/bin::" + root + "/venv/bin",
                       .home = root + "/home",
                       .programFolder = root + "/build/release/bin"});
  ASSERT_GE(candidates.size(), 6u);
  EXPECT_EQ(candidates[0], "libnvrtc.so.13");
  EXPECT_EQ(candidates[1], "libnvrtc.so.12");
  auto place = [&](const std::string &path) {
    return std::find(candidates.begin(), candidates.end(), path) - candidates.begin();
  };
  auto count = static_cast<ptrdiff_t>(candidates.size());
  EXPECT_LT(place(toolkit), place(fetched));
  EXPECT_LT(place(fetched), place(wheel));
  EXPECT_LT(place(wheel), place(user));
  EXPECT_LT(place(user), count);
  EXPECT_EQ(place(stranger), count);
  // A library that is named is the only one.
  EXPECT_EQ(nvrtcCandidates({"mine.so", root + "/cuda", "", "", ""}),
            std::vector<std::string>{"mine.so"});
}
