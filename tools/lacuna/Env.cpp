//===- Env.cpp - lacuna env: what this machine and this build have ---------===//
#include "lib/Support/BuildId.h"
#include "lib/Support/Settings.h"
#include "runtime/Cache/BlobStore.h"
#include "runtime/Driver/Device.h"
#include "runtime/Jit/Nvrtc.h"
#include "tools/lacuna/Command.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <thread>

namespace lacuna::tool {

namespace {
/// One line of the report: a name and what is there, or why nothing is.
struct Fact {
  std::string name, value;
  bool missing = false;
};
using Facts = std::vector<Fact>;
} // namespace

/// 13000 is "13.0".
static std::string versionText(int number) {
  return llvm::formatv("{0}.{1}", number / 1000, number % 1000 / 10);
}

static void addGpus(const std::shared_ptr<const Driver> &driver, Facts &facts) {
  for (int ordinal = 0; ordinal < driver->devices(); ++ordinal) {
    std::string name = llvm::formatv("gpu {0}", ordinal);
    Result<std::shared_ptr<const Device>> device = Device::open(driver, ordinal);
    if (!device) {
      facts.push_back({name, device.status().message(), true});
      continue;
    }
    const DeviceProperties &gpu = (*device)->properties();
    facts.push_back({name, llvm::formatv("{0}, compute capability {1}.{2}, {3} multiprocessors, "
                                         "{4} MiB",
                                         gpu.name, gpu.computeMajor, gpu.computeMinor,
                                         gpu.multiprocessors, gpu.memoryBytes >> 20)
                               .str()});
  }
}

static void addDriver(Facts &facts) {
  Result<std::shared_ptr<const Driver>> driver = Driver::load();
  if (!driver) {
    facts.push_back({"driver", driver.status().message(), true});
    return;
  }
  int version = 0;
  if (Status status = (*driver)->check((*driver)->driverVersion(&version), "cuDriverGetVersion");
      !status)
    facts.push_back({"driver", status.message(), true});
  else
    facts.push_back({"driver", "CUDA " + versionText(version)});
  addGpus(*driver, facts);
}

static void addNvrtc(const Settings &settings, Facts &facts) {
  auto nvrtc = Nvrtc::load({settings.nvrtc, settings.cudaHome, settings.programPath, settings.home,
                            runningProgramFolder()});
  if (nvrtc)
    facts.push_back({"nvrtc", (*nvrtc)->version() + ", " + (*nvrtc)->path()});
  else
    facts.push_back({"nvrtc", nvrtc.status().message(), true});
}

static void addCache(const Settings &settings, Facts &facts) {
  CacheOptions options = CacheOptions::from(settings);
  if (options.folder.empty()) {
    facts.push_back({"cache", "in memory only", true});
    return;
  }
  facts.push_back(
      {"cache",
       llvm::formatv("{0}, at most {1} MiB", options.folder, options.diskBytes >> 20).str()});
}

static int runEnv(const Arguments &arguments) {
  Facts facts;
  facts.push_back({"lacuna", LACUNA_VERSION});
  facts.push_back({"build", buildIdOf(reinterpret_cast<const void *>(&runEnv))});
  facts.push_back({"llvm", LLVM_VERSION_STRING});
  facts.push_back({"cpu", llvm::formatv("{0}, {1} threads", llvm::sys::getHostCPUName(),
                                        std::thread::hardware_concurrency())
                              .str()});
  addDriver(facts);
  Result<Settings> settings = Settings::fromEnvironment();
  if (settings) {
    addNvrtc(*settings, facts);
    addCache(*settings, facts);
  } else {
    facts.push_back({"settings", settings.status().message(), true});
  }
  std::vector<EnvironmentVariable> variables = listEnvironment();
  if (arguments.has("--json")) {
    llvm::json::Object root, environment;
    for (const Fact &fact : facts)
      root[fact.name] = fact.missing
                            ? llvm::json::Value(llvm::json::Object{{"missing", fact.value}})
                            : llvm::json::Value(fact.value);
    for (const EnvironmentVariable &variable : variables)
      environment[variable.name] = variable.value
                                       ? llvm::json::Value(llvm::json::fixUTF8(*variable.value))
                                       : llvm::json::Value(nullptr);
    root["environment"] = std::move(environment);
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)));
    return Success;
  }
  for (const Fact &fact : facts)
    llvm::outs() << llvm::formatv("{0,-10}{1}{2}\n", fact.name, fact.missing ? "none: " : "",
                                  fact.value);
  llvm::outs() << '\n';
  for (const EnvironmentVariable &variable : variables)
    llvm::outs() << llvm::formatv("{0,-22}{1}\n", variable.name,
                                  variable.value ? *variable.value : "(not set)");
  return Success;
}

static const Option options[] = {
    {"--json", "", "print the report as JSON"},
};

const Command envCommand = {
    .name = "env",
    .summary = "print what this machine and this build have",
    .usage = "[--json]",
    .help =
        "Versions, the driver and its GPUs, NVRTC, the cache's folder and every environment\n"
        "variable that Lacuna reads: what to attach to a bug report. Asks the driver to start,\n"
        "which takes a moment, and changes nothing.\n",
    .options = options,
    .positionals = 0,
    .run = runEnv,
};

} // namespace lacuna::tool
