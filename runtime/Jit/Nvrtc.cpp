//===- Nvrtc.cpp - CUDA's compiler library, opened at run time -------------===//
#include "runtime/Jit/Nvrtc.h"

#include "lib/Support/BuildId.h"
#include "lib/Support/Log.h"
#include "runtime/Jit/AssemblerFaults.h"
#include "runtime/Jit/Cubin.h"
#include "runtime/Trace/Counters.h"
#include "runtime/Trace/Nvtx.h"

#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>

namespace lacuna {

using driver::NvrtcProgram;
using driver::NvrtcSymbols;

Status Nvrtc::resolve() {
#define LACUNA_NVRTC(member, symbol, parameters)                                                   \
  api.member = reinterpret_cast<int(*) parameters>(library.find(symbol));                          \
  if (!api.member)                                                                                 \
    return Status::error(StatusCode::Missing, fmt::format("{} has no {}", library.name(), symbol));
#include "runtime/Jit/NvrtcSymbols.def"
  if (api.version(&major, &minor) != 0)
    return Status::error(StatusCode::Missing,
                         fmt::format("{} does not tell its version", library.name()));
  return Status::ok();
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::load(const NvrtcSearch &search) {
  std::string tried;
  for (const std::string &candidate : nvrtcCandidates(search)) {
    Result<DynamicLibrary> library = DynamicLibrary::open(candidate);
    Status status = library.status();
    if (library) {
      std::shared_ptr<Nvrtc> nvrtc(new Nvrtc(std::move(*library)));
      status = nvrtc->resolve();
      if (status)
        return std::shared_ptr<const Nvrtc>(std::move(nvrtc));
    }
    tried += fmt::format("{}{}", tried.empty() ? "" : "; ", status.message());
  }
  return Status::error(StatusCode::Missing,
                       fmt::format("NVRTC, CUDA's compiler library, is missing (install a CUDA "
                                   "toolkit or the wheel nvidia-cuda-nvrtc, or set LACUNA_NVRTC): "
                                   "{}",
                                   tried));
}

std::string Nvrtc::version() const { return fmt::format("{}.{}", major, minor); }

std::string Nvrtc::path() const {
  Dl_info found;
  bool known = ::dladdr(reinterpret_cast<const void *>(api.version), &found) != 0;
  return known && found.dli_fname ? found.dli_fname : "";
}

std::string Nvrtc::identity() const {
  std::string id = buildIdOf(reinterpret_cast<const void *>(api.version));
  return id.empty() ? fmt::format("{} {}", path(), version()) : id;
}

namespace {
/// A program of NVRTC, destroyed at the end.
class ProgramHandle {
public:
  explicit ProgramHandle(const NvrtcSymbols &api) : api(api) {}
  ProgramHandle(const ProgramHandle &) = delete;
  ProgramHandle &operator=(const ProgramHandle &) = delete;
  ~ProgramHandle() {
    if (program)
      api.destroy(&program);
  }

  /// One of the program's texts; empty when the library has none.
  std::string text(int (*size)(NvrtcProgram, size_t *), int (*get)(NvrtcProgram, char *)) const {
    size_t bytes = 0;
    if (size(program, &bytes) != 0 || bytes == 0)
      return {};
    std::string result(bytes, '\0');
    if (get(program, result.data()) != 0)
      return {};
    return result;
  }

  NvrtcProgram program = nullptr;

private:
  const NvrtcSymbols &api;
};
} // namespace

/// Logs and PTX end with the zero of a C string.
static std::string withoutTrailingZero(std::string text) {
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
  return text;
}

std::vector<std::string> nvrtcWords(const std::string &architecture, const NvrtcOptions &options) {
  std::vector<std::string> words = {"--gpu-architecture=" + architecture, "--std=c++17",
                                    "-default-device", "--ptxas-options=-v"};
  if (options.lineInfo)
    words.emplace_back("-lineinfo");
  if (options.noCache)
    words.emplace_back("--no-cache");
  words.insert(words.end(), options.extra.begin(), options.extra.end());
  return words;
}

/// Numbers of the cubin win: the log may have none, because the library found the result in its
/// cache or words the log differently.
static Status mergeCubin(NvrtcOutput &output) {
  Result<std::vector<KernelReport>> kernels = readCubin(output.cubin);
  if (!kernels)
    return kernels.status();
  for (const KernelReport &kernel : *kernels) {
    if (!output.report.find(kernel.name)) {
      output.report.kernels.push_back(kernel);
      output.report.complete = false;
    }
    for (KernelReport &of : output.report.kernels)
      if (of.name == kernel.name)
        of.registers = kernel.registers;
  }
  return Status::ok();
}

Result<NvrtcOutput> Nvrtc::compile(const std::string &source, const std::string &name,
                                   const std::string &architecture,
                                   const NvrtcOptions &options) const {
  NvtxRange range("lacuna NVRTC");
  auto start = std::chrono::steady_clock::now();
  Result<NvrtcOutput> output = compileUncounted(source, name, architecture, options);
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (output)
    output->seconds = spent.count();
  count(output ? &Counters::compiles : &Counters::failedCompiles);
  count(&Counters::compileNanoseconds, static_cast<uint64_t>(spent.count() * 1e9));
  log(LogLevel::Info, "NVRTC {} {} {} for {} in {:.0f} ms", version(),
      output ? "compiled" : "refused", name, architecture, spent.count() * 1e3);
  return output;
}

Result<NvrtcOutput> Nvrtc::compileUncounted(const std::string &source, const std::string &name,
                                            const std::string &architecture,
                                            const NvrtcOptions &options) const {
  ProgramHandle handle(api);
  if (int code = api.create(&handle.program, source.c_str(), name.c_str(), 0, nullptr, nullptr)) {
    handle.program = nullptr;
    return Status::error(StatusCode::Compile,
                         fmt::format("nvrtcCreateProgram failed with {}", code));
  }
  std::vector<std::string> words = nvrtcWords(architecture, options);
  std::vector<const char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(word.c_str());
  int code = api.compile(handle.program, static_cast<int>(pointers.size()), pointers.data());

  NvrtcOutput output;
  output.log = withoutTrailingZero(handle.text(api.logSize, api.log));
  if (code != 0)
    return Status::error(StatusCode::Compile,
                         fmt::format("NVRTC {} refuses '{}' (code {}): {}\n{}", version(), name,
                                     code, firstError(output.log), output.log));
  output.ptx = withoutTrailingZero(handle.text(api.ptxSize, api.ptx));
  if (losesNegations(major, minor))
    if (std::optional<std::string> place = findLostNegation(output.ptx))
      return Status::error(StatusCode::Compile,
                           fmt::format("NVRTC {} loses the sign of an operand of '{}' in '{}'; "
                                       "expected NVRTC 13.4 or newer for this kernel",
                                       version(), *place, name));
  output.cubin = handle.text(api.cubinSize, api.cubin);
  output.report = parseCompileLog(output.log);
  if (output.cubin.empty())
    return Status::error(StatusCode::Compile,
                         fmt::format("NVRTC {} made no machine code for {}; expected a real "
                                     "architecture such as sm_90a",
                                     version(), architecture));
  if (Status status = mergeCubin(output); !status)
    return status;
  return output;
}

} // namespace lacuna
