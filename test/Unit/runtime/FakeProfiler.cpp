//===- FakeProfiler.cpp - a tool as NVTX 3 loads it ------------------------===//
#include <cstddef>
#include <cstdint>
#include <string>

using Function = void (*)();

// Declared here as tools see them, and not shared with the code under test.
struct Callbacks {
  size_t bytes;
  int (*find)(int module, Function ***table, unsigned *count);
};
struct Version {
  size_t bytes;
  uint32_t version, reserved;
  void (*setToolVersion)(uint32_t version);
};

static std::string told;

static int push(const char *text) {
  told += std::string("(") + text;
  return 0;
}
static int pop() {
  told += ")";
  return 0;
}

/// What was told since the last question.
extern "C" const char *fakeProfilerTold() {
  static std::string answer;
  answer = told;
  told.clear();
  return answer.c_str();
}

extern "C" int InitializeInjectionNvtx2(const void *(*find)(uint32_t)) {
  const auto *version = static_cast<const Version *>(find(3));
  const auto *callbacks = static_cast<const Callbacks *>(find(1));
  if (!version || version->bytes != sizeof(Version) || version->version != 3 || !callbacks ||
      callbacks->bytes != sizeof(Callbacks) || find(2) || find(4))
    return 0;
  version->setToolVersion(3);
  const unsigned counts[] = {16, 9, 15, 7, 16, 7};
  for (int module = 1; module <= 6; ++module) {
    Function **table = nullptr;
    unsigned count = 0;
    if (!callbacks->find(module, &table, &count) || count != counts[module - 1] || table[0] ||
        table[count])
      return 0;
    for (unsigned entry = 1; entry < count; ++entry)
      if (!table[entry] || *table[entry])
        return 0;
  }
  if (callbacks->find(0, nullptr, nullptr) || callbacks->find(7, nullptr, nullptr))
    return 0;
  Function **core = nullptr;
  callbacks->find(1, &core, nullptr);
  *core[9] = reinterpret_cast<Function>(push);
  *core[11] = reinterpret_cast<Function>(pop);
  return 1;
}
