//===- ArtifactFuzz.cpp - no file may harm who reads and runs it -----------===//
#include "bindings/C/Handles.h"
#include "lacuna/ArtifactFile.h"
#include "lacuna/Runtime.h"
#include "lib/Support/Log.h"
#include "test/Support/ArtifactBytes.h"
#include "test/Unit/runtime/FakeDriver.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <random>

using namespace lacuna;
using Kind = ArgumentDeclaration::Kind;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// A rule of ours is broken: says which, and stops as for any other fault.
static void require(bool holds, const char *rule) {
  if (holds)
    return;
  log(LogLevel::Error, "{}", rule);
  std::abort();
}

namespace {
/// Gives small pieces, so that a program that asks for much fails and not the fuzzer.
class SmallAllocator final : public DeviceAllocator {
public:
  Result<void *> allocate(size_t bytes, CUstream_st *) override {
    constexpr size_t most = 1 << 20;
    if (bytes > most)
      return Status::error(StatusCode::Device, "out of memory");
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void release(void *memory, CUstream_st *) noexcept override { std::free(memory); }
};

/// The GPU of the fake driver, for the whole process.
struct Machine {
  Machine() {
    setLogLevel(LogLevel::Error);
    options.driverLibrary = LACUNA_FAKE_DRIVER;
    options.allocator = allocator;
    void *library = dlopen(LACUNA_FAKE_DRIVER, RTLD_NOW);
    require(library, "expected the fake driver to load");
    state = reinterpret_cast<fake::State *(*)()>(dlsym(library, "fakeDriverState"))();
    Result<Gpu> opened = Gpu::open(options);
    require(opened.isOk(), "expected the fake GPU to open");
    gpu = std::move(*opened);
    require(lacuna_context_create(nullptr, &context, nullptr) == LACUNA_OK, "expected a context");
  }

  std::shared_ptr<SmallAllocator> allocator = std::make_shared<SmallAllocator>();
  GpuOptions options;
  fake::State *state = nullptr;
  std::optional<Gpu> gpu;
  lacuna_context *context = nullptr;
};

/// Arguments as `program` declares them, with small extents where any is accepted.
struct Arguments {
  explicit Arguments(const Program &program, int64_t extent) {
    for (const ArgumentDeclaration &declared : program.arguments) {
      if (declared.kind == Kind::Integer)
        values.emplace_back(extent);
      else if (declared.kind == Kind::Float)
        values.emplace_back(0.5);
      else
        addTensor(declared, extent);
    }
  }

  std::vector<Argument> values;
  /// Whether every tensor has memory.
  bool isComplete = true;

private:
  void addTensor(const ArgumentDeclaration &declared, int64_t extent) {
    Tensor tensor;
    tensor.type = declared.type;
    int64_t bytes = byteWidth(declared.type);
    for (int64_t given : declared.shape) {
      int64_t taken = given < 0 ? extent : given;
      tensor.shape.push_back(taken);
      if (__builtin_mul_overflow(bytes, std::max<int64_t>(taken, 1), &bytes))
        bytes = most + 1;
    }
    if (bytes > most) {
      isComplete = false;
    } else {
      tensor.strides = contiguousStrides(tensor.shape);
      storage.push_back(std::unique_ptr<void, void (*)(void *)>(
          std::aligned_alloc(256, (static_cast<size_t>(bytes) + 255) / 256 * 256), std::free));
      tensor.data = storage.back().get();
    }
    values.emplace_back(std::move(tensor));
  }

  static constexpr int64_t most = 1 << 20;
  std::vector<std::unique_ptr<void, void (*)(void *)>> storage;
};
} // namespace

/// Never destroyed: at the end of the process the fake driver is gone.
static Machine &machine() {
  static auto *only = new Machine;
  return *only;
}

/// Formulas and names, as a caller of the C interface asks for them.
static void ask(std::span<const char> bytes) {
  lacuna_program *program = nullptr;
  lacuna_program_read(machine().context, bytes.data(), bytes.size(), &program, nullptr);
  if (!program)
    return;
  lacuna_value_info info = {};
  info.struct_size = sizeof(info);
  for (size_t i = 0; i < lacuna_program_argument_count(program); ++i)
    lacuna_program_argument(program, i, &info, nullptr);
  for (size_t i = 0; i < lacuna_program_result_count(program); ++i) {
    lacuna_program_result(program, i, &info, nullptr);
    for (int32_t axis = 0; axis < info.rank; ++axis)
      require(lacuna_program_result_extent(program, i, static_cast<size_t>(axis)),
              "expected a formula for each axis of a result");
  }
  lacuna_program_release(program);
}

/// Loads and runs on a driver that writes launches down. What machine code does is its own.
static void run(Program program) {
  Machine &on = machine();
  for (KernelCode &kernel : program.kernels)
    kernel.cubin.assign(64, '\0');
  Result<GpuProgram> loaded = on.gpu->load(program);
  if (!loaded)
    return;
  Result<ResultShapes> shapes = ResultShapes::of(program);
  for (int64_t extent : {3, 0, 64}) {
    Arguments arguments(program, extent);
    if (!arguments.isComplete)
      continue;
    if (shapes)
      (void)shapes->infer(arguments.values);
    std::vector<Tensor> results(program.results.size());
    if (loaded->run(nullptr, arguments.values, results))
      for (Tensor &result : results)
        if (result.data)
          on.allocator->release(result.data, nullptr);
  }
  on.state->reset();
}

/// Reading any bytes, and whatever a program that was read may be used for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const char> bytes(reinterpret_cast<const char *>(data), size);
  Result<Artifact> artifact = readArtifact(bytes);
  if (!artifact)
    return 0;
  Result<std::string> written = writeArtifact(*artifact);
  require(written.isOk(), "expected an artifact that was read to be written");
  require(*written == std::string(bytes.begin(), bytes.end()),
          "expected an artifact that was read to have one spelling");
  ask(bytes);
  run(std::move(artifact->program));
  return 0;
}

/// Changes one section and signs it, most often the program's; sometimes any bytes, unsigned.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  std::string bytes(reinterpret_cast<const char *>(data), size);
  if (random() % 16 == 0 || !readArtifact(bytes))
    return LLVMFuzzerMutate(data, size, maxSize);
  uint32_t section = 1;
  if (random() % 4 == 0)
    section = static_cast<uint32_t>(random() % ArtifactLayout::countOf(bytes));
  size_t at = ArtifactLayout::firstSection(bytes);
  for (uint32_t i = 0; i < section; ++i)
    at += ArtifactLayout::lengthOf(bytes, i);
  std::string payload = bytes.substr(at, ArtifactLayout::lengthOf(bytes, section));
  size_t length = payload.size(), room = length + maxSize - size;
  payload.resize(room);
  payload.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(payload.data()), length, room));
  replaceSection(bytes, section, payload);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
