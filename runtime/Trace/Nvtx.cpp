//===- Nvtx.cpp - ranges that profilers show -------------------------------===//
#include "runtime/Trace/Nvtx.h"

#include "lib/Support/Log.h"
#include "lib/Support/Settings.h"
#include "runtime/Driver/DynamicLibrary.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna {

// The interface between NVTX 3 and tools, which is one for all its versions: a tool gets a function
// that finds tables by number; the first has a function that finds tables of pointers by module,
// and into those the tool writes the functions that it wants to be called.
namespace {
using Function = void (*)();

/// Tables by the tool's numbers: entry points of modules, and our version.
enum TableNumber : uint32_t { CallbackTable = 1, VersionTable = 3 };
/// Modules of entry points, and how many entries each has, the first of which is none.
enum Module : int { CoreModule = 1, ModuleCount = 7 };
constexpr std::array<unsigned, ModuleCount> entryCounts = {0, 16, 9, 15, 7, 16, 7};
/// Entries of the core module that we call.
constexpr size_t rangePush = 9, rangePop = 11;

constexpr size_t mostEntries = 16;
struct ModuleTables {
  /// What tools write.
  std::array<std::array<Function, mostEntries>, ModuleCount> functions{};
  /// Where: the table of one module ends with null.
  std::array<std::array<Function *, mostEntries + 1>, ModuleCount> places{};
};

struct CallbackTableContents {
  size_t bytes;
  int (*find)(int module, Function ***table, unsigned *count);
};
struct VersionTableContents {
  size_t bytes;
  uint32_t version, reserved;
  void (*setToolVersion)(uint32_t version);
};
} // namespace

static ModuleTables &moduleTables() {
  static ModuleTables all;
  return all;
}

static int findModule(int module, Function ***table, unsigned *count) {
  if (module < CoreModule || module >= ModuleCount)
    return 0;
  auto number = static_cast<size_t>(module);
  ModuleTables &all = moduleTables();
  for (size_t entry = 1; entry < entryCounts[number]; ++entry)
    all.places[number][entry] = &all.functions[number][entry];
  if (table)
    *table = all.places[number].data();
  if (count)
    *count = entryCounts[number];
  return 1;
}

static const void *findTable(uint32_t number) {
  static const CallbackTableContents callbacks = {sizeof(callbacks), findModule};
  static const VersionTableContents version = {sizeof(version), 3, 0, [](uint32_t) {}};
  return number == CallbackTable  ? static_cast<const void *>(&callbacks)
         : number == VersionTable ? static_cast<const void *>(&version)
                                  : nullptr;
}

NvtxCalls loadNvtx(const char *tool) {
  if (!*tool)
    return {};
  Result<DynamicLibrary> library = DynamicLibrary::open(tool);
  if (!library) {
    log(LogLevel::Info, "no NVTX ranges: {}", library.status().message());
    return {};
  }
  using Start = int (*)(const void *(*)(uint32_t));
  auto start = reinterpret_cast<Start>(library->find("InitializeInjectionNvtx2"));
  if (!start || start(findTable) == 0) {
    log(LogLevel::Info, "no NVTX ranges: {} does not start", tool);
    return {};
  }
  // It is called until the end of the process.
  static auto &kept = *new std::vector<DynamicLibrary>;
  kept.push_back(std::move(*library));
  const auto &core = moduleTables().functions[CoreModule];
  // A tool that has but one of them would see ranges that never end, or end and never started.
  if (!core[rangePush] || !core[rangePop])
    return {};
  return {reinterpret_cast<int (*)(const char *)>(core[rangePush]),
          reinterpret_cast<int (*)()>(core[rangePop])};
}

const NvtxCalls &nvtx() {
  static const NvtxCalls calls = [] {
    Result<Settings> settings = Settings::fromEnvironment();
    return settings ? loadNvtx(settings->nvtxInjection.c_str()) : NvtxCalls();
  }();
  return calls;
}

} // namespace lacuna
