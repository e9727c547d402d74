//===- CApiTest.cpp - the C API as careless and foreign callers use it -----===//
#include "bindings/C/Handles.h"

#include "test/Unit/lib/Artifact/SampleArtifact.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <set>
#include <string>

using testing::HasSubstr;
using testing::StartsWith;

namespace {
const std::string spec = R"(
func.func @sum(%q: tensor<?x1x?x16xf32>, %k: tensor<?x1x?x16xf32>, %v: tensor<?x1x?x16xf32>)
    -> tensor<?x1x?x16xf32> {
  %set = sparsity.causal
  %o = attn.attend %q, %k, %v over %set : tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32>,
      tensor<?x1x?x16xf32> -> tensor<?x1x?x16xf32>
  return %o : tensor<?x1x?x16xf32>
})";

class CApi : public ::testing::Test {
protected:
  void SetUp() override {
    lacuna_context_options options = LACUNA_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.cache_folder = "";
    ASSERT_EQ(lacuna_context_create(&options, &context, nullptr), LACUNA_OK);
  }
  void TearDown() override { lacuna_context_release(context); }

  /// Whether a call was refused with `code`; the message, freed.
  std::string refusal(lacuna_status status, lacuna_status code) {
    EXPECT_EQ(status, code);
    EXPECT_EQ(lacuna_error_status(error), code);
    std::string message = lacuna_error_message(error);
    lacuna_error_release(error);
    error = nullptr;
    return message;
  }
  lacuna_status compile(lacuna_program **program, int target = kDLCPU) {
    lacuna_compile_options options = LACUNA_COMPILE_OPTIONS_INIT;
    options.target = target;
    return lacuna_compile(context, spec.data(), spec.size(), &options, program, &error);
  }

  lacuna_context *context = nullptr;
  lacuna_error *error = nullptr;
};
} // namespace

TEST_F(CApi, version) {
  EXPECT_EQ(std::to_string(lacuna_version() / 10000) + "." +
                std::to_string(lacuna_version() / 100 % 100) + "." +
                std::to_string(lacuna_version() % 100),
            lacuna_version_text());
}

TEST_F(CApi, nullIsRefusedOrHarmless) {
  lacuna_program *program = nullptr;
  lacuna_device *device = nullptr;
  lacuna_executable *executable = nullptr;
  lacuna_value_info info = {};
  auto refused = [&](lacuna_status status, const char *what) {
    EXPECT_EQ(refusal(status, LACUNA_INVALID_ARGUMENT),
              std::string("expected ") + what + ", got null");
  };
  refused(lacuna_context_create(nullptr, nullptr, &error), "a place for the context");
  refused(lacuna_compile(nullptr, "", 0, nullptr, &program, &error), "a context");
  refused(lacuna_compile(context, nullptr, 0, nullptr, &program, &error), "a text");
  refused(lacuna_compile(context, "", 0, nullptr, nullptr, &error), "a place for the program");
  refused(lacuna_program_open(context, nullptr, &program, &error), "an artifact");
  refused(lacuna_program_read(nullptr, "", 0, &program, &error), "a context");
  refused(lacuna_program_save(nullptr, "x", &error), "a program");
  refused(lacuna_program_argument(nullptr, 0, &info, &error), "a program");
  refused(lacuna_program_result(nullptr, 0, &info, &error), "a program");
  refused(lacuna_device_open(nullptr, {kDLCPU, 0}, &device, &error), "a context");
  refused(lacuna_load(nullptr, nullptr, &executable, &error), "a device");
  refused(lacuna_run(nullptr, nullptr, nullptr, 0, nullptr, 0, &error), "an executable");
  refused(lacuna_run_allocating(nullptr, nullptr, nullptr, 0, nullptr, 0, &error), "an executable");
  // Nobody wants the reason.
  EXPECT_EQ(lacuna_compile(context, nullptr, 0, nullptr, &program, nullptr),
            LACUNA_INVALID_ARGUMENT);
  EXPECT_EQ(lacuna_program_name(nullptr), nullptr);
  EXPECT_EQ(lacuna_program_architecture(nullptr), nullptr);
  EXPECT_EQ(lacuna_program_argument_count(nullptr), 0U);
  EXPECT_EQ(lacuna_program_result_count(nullptr), 0U);
  EXPECT_EQ(lacuna_program_result_extent(nullptr, 0, 0), nullptr);
  EXPECT_EQ(lacuna_device_name(nullptr), nullptr);
  EXPECT_EQ(lacuna_device_architecture(nullptr), nullptr);
  EXPECT_EQ(lacuna_error_status(nullptr), LACUNA_OK);
  EXPECT_STREQ(lacuna_error_message(nullptr), "");
  EXPECT_EQ(lacuna_counter_name(lacuna_counter_count()), nullptr);
  EXPECT_EQ(lacuna_counter_value(context, lacuna_counter_count()), 0U);
  lacuna_program_release(nullptr);
  lacuna_device_release(nullptr);
  lacuna_executable_release(nullptr);
  lacuna_context_release(nullptr);
  lacuna_error_release(nullptr);
}

// Callers that were compiled with an older or a newer header.
TEST_F(CApi, structsOfOtherVersions) {
  lacuna_program *program = nullptr;
  struct Newer {
    lacuna_compile_options known = LACUNA_COMPILE_OPTIONS_INIT;
    uint64_t unknown = 0;
  } newer;
  newer.known.struct_size = sizeof(newer);
  newer.known.target = kDLCPU;
  ASSERT_EQ(lacuna_compile(context, spec.data(), spec.size(), &newer.known, &program, &error),
            LACUNA_OK)
      << lacuna_error_message(error);
  // A member that this version does not know has no effect, and is refused when it wants one.
  lacuna_program *other = nullptr;
  newer.unknown = 1;
  EXPECT_THAT(
      refusal(lacuna_compile(context, spec.data(), spec.size(), &newer.known, &other, &error),
              LACUNA_UNSUPPORTED),
      StartsWith("compile options: expected members that version"));
  newer.known.struct_size = offsetof(lacuna_compile_options, stages);
  newer.known.stages = -5;
  EXPECT_EQ(lacuna_compile(context, spec.data(), spec.size(), &newer.known, &other, &error),
            LACUNA_OK);
  lacuna_program_release(other);
  newer.known.struct_size = 0;
  EXPECT_THAT(
      refusal(lacuna_compile(context, spec.data(), spec.size(), &newer.known, &other, &error),
              LACUNA_INVALID_ARGUMENT),
      HasSubstr("struct_size"));
  // Of an older struct nothing behind its end is written.
  lacuna_value_info info = {};
  info.rank = -7;
  info.struct_size = offsetof(lacuna_value_info, rank);
  EXPECT_EQ(lacuna_program_argument(program, 1, &info, &error), LACUNA_OK);
  EXPECT_STREQ(info.name, "k");
  EXPECT_EQ(info.rank, -7);
  info.struct_size = 2;
  EXPECT_THAT(refusal(lacuna_program_argument(program, 1, &info, &error), LACUNA_INVALID_ARGUMENT),
              HasSubstr("struct_size"));
  lacuna_program_release(program);
}

// Messages go to the callback, one at a time, and to stderr again afterwards.
// Programs for the CPU outlive the context that compiled them, in a folder that both use.
TEST_F(CApi, laterContextsLinkWhatWasCompiled) {
  std::string folder = testing::TempDir() + "/lacuna-native-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (uint64_t compiles : {1, 0}) {
    lacuna_context_release(context);
    lacuna_context_options options = LACUNA_CONTEXT_OPTIONS_INIT;
    options.cache_folder = folder.c_str();
    options.cache_bytes = 1 << 20;
    ASSERT_EQ(lacuna_context_create(&options, &context, nullptr), LACUNA_OK);
    lacuna_program *first = nullptr, *again = nullptr;
    ASSERT_EQ(compile(&first), LACUNA_OK) << lacuna_error_message(error);
    ASSERT_EQ(compile(&again), LACUNA_OK) << lacuna_error_message(error);
    EXPECT_STREQ(lacuna_counter_name(0), "compiles");
    EXPECT_EQ(lacuna_counter_value(context, 0), compiles);
    lacuna_device *device = nullptr;
    lacuna_executable *executable = nullptr;
    ASSERT_EQ(lacuna_device_open(context, {kDLCPU, 0}, &device, &error), LACUNA_OK);
    EXPECT_EQ(lacuna_load(device, again, &executable, &error), LACUNA_OK);
    EXPECT_STREQ(lacuna_program_name(again), "sum");
    lacuna_executable_release(executable);
    lacuna_device_release(device);
    lacuna_program_release(first);
    lacuna_program_release(again);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(CApi, log) {
  std::string seen, forGpu = spec;
  for (size_t at = 0; (at = forGpu.find("16xf32", at)) != std::string::npos;)
    forGpu.replace(at, 6, "64xf16");
  lacuna_set_log_callback(
      [](int32_t level, const char *message, void *user) {
        *static_cast<std::string *>(user) += std::to_string(level) + message + ";";
      },
      &seen, LACUNA_LOG_WARNING);
  // A folder that cannot be made is said once, as a warning, when it is wanted.
  auto useCache = [&] {
    lacuna_context_options options = LACUNA_CONTEXT_OPTIONS_INIT;
    options.cache_folder = "/proc/no/such/folder";
    options.cache_bytes = 1 << 20;
    lacuna_context *other = nullptr;
    lacuna_program *program = nullptr;
    ASSERT_EQ(lacuna_context_create(&options, &other, &error), LACUNA_OK);
    EXPECT_EQ(lacuna_compile(other, forGpu.data(), forGpu.size(), nullptr, &program, &error),
              LACUNA_OK);
    lacuna_program_release(program);
    lacuna_context_release(other);
  };
  useCache();
  EXPECT_THAT(seen, StartsWith("2"));
  EXPECT_THAT(seen, HasSubstr("/proc/no/such/folder"));
  seen.clear();
  lacuna_set_log_callback(nullptr, nullptr, 7);
  useCache();
  EXPECT_EQ(seen, "");
  lacuna_set_log_callback(nullptr, nullptr, LACUNA_LOG_WARNING);
}

TEST_F(CApi, allocatorNeedsFunctions) {
  lacuna_allocator allocator = {};
  allocator.struct_size = sizeof(allocator);
  lacuna_context_options options = LACUNA_CONTEXT_OPTIONS_INIT;
  options.allocator = &allocator;
  lacuna_context *other = nullptr;
  EXPECT_EQ(refusal(lacuna_context_create(&options, &other, &error), LACUNA_INVALID_ARGUMENT),
            "allocator: expected functions that allocate and release, got null");
}

// On the GPU that test/Unit/runtime/FakeDriver.cpp plays: results and buffers are the caller's.
TEST_F(CApi, allocatorOfTheCaller) {
  struct Memory {
    std::set<void *> live;
    size_t bytes = 0;
    void *stream = nullptr;
  } memory;
  lacuna_allocator allocator = {};
  allocator.struct_size = sizeof(allocator);
  allocator.user = &memory;
  allocator.allocate = [](void *user, int32_t, size_t bytes, void *stream) -> void * {
    auto *to = static_cast<Memory *>(user);
    to->bytes += bytes;
    to->stream = stream;
    return *to->live.insert(std::aligned_alloc(256, (bytes + 255) / 256 * 256)).first;
  };
  allocator.release = [](void *user, int32_t, void *block, void *stream) {
    auto *to = static_cast<Memory *>(user);
    EXPECT_EQ(stream, to->stream);
    EXPECT_EQ(to->live.erase(block), 1U);
    std::free(block);
  };
  lacuna_context_options options = LACUNA_CONTEXT_OPTIONS_INIT;
  options.allocator = &allocator;
  options.driver_library = LACUNA_FAKE_DRIVER;
  options.cache_folder = "";
  lacuna_context *other = nullptr;
  ASSERT_EQ(lacuna_context_create(&options, &other, &error), LACUNA_OK);
  lacuna_device *device = nullptr;
  ASSERT_EQ(lacuna_device_open(other, {kDLCUDA, 0}, &device, &error), LACUNA_OK)
      << lacuna_error_message(error);
  lacuna::Tensor tensor{lacuna::ElementType::F32, {100}, {1}, nullptr};
  auto *stream = reinterpret_cast<CUstream_st *>(0x40);
  tensor.data = *device->state->allocator->allocate(400, stream);
  EXPECT_EQ(memory.bytes, 400U);
  device->state->free(tensor, stream);
  EXPECT_TRUE(memory.live.empty());
  lacuna_device_release(device);
  lacuna_context_release(other);
}

TEST_F(CApi, wrongNumbers) {
  lacuna_program *program = nullptr;
  lacuna_device *device = nullptr;
  lacuna_compile_options options = LACUNA_COMPILE_OPTIONS_INIT;
  lacuna_value_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_THAT(refusal(compile(&program, 7), LACUNA_INVALID_ARGUMENT),
              HasSubstr("expected target kDLCUDA or kDLCPU, got 7"));
  options.flags = 64;
  EXPECT_THAT(
      refusal(lacuna_compile(context, "", 0, &options, &program, &error), LACUNA_UNSUPPORTED),
      HasSubstr("flags"));
  options.flags = 0;
  options.key_tile_count = 1;
  EXPECT_THAT(
      refusal(lacuna_compile(context, "", 0, &options, &program, &error), LACUNA_INVALID_ARGUMENT),
      HasSubstr("extents of tiles, got null"));
  EXPECT_EQ(
      refusal(lacuna_device_open(context, {kDLCPU, 1}, &device, &error), LACUNA_INVALID_ARGUMENT),
      "expected device cuda:N or cpu, got cpu:1");
  ASSERT_EQ(compile(&program), LACUNA_OK);
  EXPECT_EQ(refusal(lacuna_program_argument(program, 3, &info, &error), LACUNA_INVALID_ARGUMENT),
            "expected a number below 3, got 3");
  EXPECT_EQ(lacuna_program_result_extent(program, 0, 4), nullptr);
  EXPECT_EQ(lacuna_program_result_extent(program, 1, 0), nullptr);
  lacuna_program_release(program);
  lacuna_context_options settings = LACUNA_CONTEXT_OPTIONS_INIT;
  settings.threads = -1;
  lacuna_context *other = nullptr;
  EXPECT_THAT(refusal(lacuna_context_create(&settings, &other, &error), LACUNA_INVALID_ARGUMENT),
              HasSubstr("threads of at least 0, got -1"));
}

TEST_F(CApi, wrongArguments) {
  lacuna_program *program = nullptr;
  lacuna_device *device = nullptr;
  lacuna_executable *executable = nullptr;
  ASSERT_EQ(compile(&program), LACUNA_OK);
  ASSERT_EQ(lacuna_device_open(context, {kDLCPU, 0}, &device, &error), LACUNA_OK);
  ASSERT_EQ(lacuna_load(device, program, &executable, &error), LACUNA_OK);
  std::vector<float> memory(5 * 16);
  int64_t shape[] = {1, 1, 5, 16};
  DLTensor tensor = {memory.data(), {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, shape, nullptr, 0};
  lacuna_argument good = {LACUNA_TENSOR, 0, {&tensor}};
  lacuna_argument arguments[] = {good, good, good};
  DLManagedTensor *result = nullptr;
  auto run = [&](size_t count = 3, size_t results = 1) {
    return lacuna_run_allocating(executable, nullptr, arguments, count, &result, results, &error);
  };
  ASSERT_EQ(run(), LACUNA_OK);
  EXPECT_EQ(result->dl_tensor.shape[2], 5);
  result->deleter(result);
  auto refused = [&](const char *text, size_t count = 3, size_t results = 1) {
    EXPECT_THAT(refusal(run(count, results), LACUNA_INVALID_ARGUMENT), HasSubstr(text));
    EXPECT_EQ(result, nullptr);
  };
  // The same as a call that is kept.
  std::vector<float> output(5 * 16);
  DLTensor place = tensor;
  place.data = output.data();
  DLTensor *places[] = {&place};
  lacuna_call kept = {sizeof(lacuna_call), 0, executable, arguments, 3, places, 1};
  ASSERT_EQ(lacuna_run_call(&kept, nullptr, &error), LACUNA_OK) << lacuna_error_message(error);
  EXPECT_EQ(output[0], memory[0]);
  kept.argument_count = 2;
  EXPECT_THAT(refusal(lacuna_run_call(&kept, nullptr, &error), LACUNA_INVALID_ARGUMENT),
              HasSubstr("3 arguments"));
  kept.executable = nullptr;
  EXPECT_EQ(refusal(lacuna_run_call(&kept, nullptr, &error), LACUNA_INVALID_ARGUMENT),
            "expected an executable, got null");
  kept.struct_size = 0;
  EXPECT_THAT(refusal(lacuna_run_call(&kept, nullptr, &error), LACUNA_INVALID_ARGUMENT),
              HasSubstr("call: expected struct_size"));
  EXPECT_EQ(refusal(lacuna_run_call(nullptr, nullptr, &error), LACUNA_INVALID_ARGUMENT),
            "expected a call, got null");
  refused("3 arguments", 2);
  refused("1 results", 3, 0);
  arguments[2].value.tensor = nullptr;
  refused("argument 'v': expected a tensor, got null");
  arguments[2] = {9, 0, {nullptr}};
  refused("argument 'v': expected kind 0, 1 or 2, got 9");
  arguments[2] = {LACUNA_FLOAT, 0, {nullptr}};
  refused("'v' to be a tensor, got a float");
  DLTensor odd = tensor;
  arguments[2] = {LACUNA_TENSOR, 0, {&odd}};
  odd.dtype = {kDLUInt, 8, 1};
  refused("argument 'v': expected elements of type f16, bf16, f32, f64, i8, i32 or i64, got u8");
  odd.dtype = {kDLFloat, 32, 4};
  refused("got f32x4");
  odd.dtype = {77, 32, 1};
  refused("got type 77 of 32");
  odd = tensor;
  odd.ndim = -1;
  refused("argument 'v': expected a shape of at least 0 axes, got -1");
  odd = tensor;
  odd.device = {kDLMetal, 2};
  refused("got one on device type 8, number 2");
  // Bytes that lie in front of a tensor.
  odd = tensor;
  int64_t short_shape[] = {1, 1, 4, 16};
  odd.shape = short_shape;
  odd.byte_offset = 16 * sizeof(float);
  memory[0] = 1000;
  arguments[0] = arguments[1] = arguments[2];
  ASSERT_EQ(run(), LACUNA_OK);
  EXPECT_EQ(static_cast<float *>(result->dl_tensor.data)[0], 0);
  lacuna_executable_release(executable);
  lacuna_device_release(device);
  lacuna_program_release(program);
  // A result keeps what it needs.
  result->deleter(result);
}

// An artifact whose shapes would fill the memory as text.
TEST_F(CApi, formulasWithoutEndAreRefused) {
  lacuna::Artifact artifact = lacuna::sampleArtifact();
  for (lacuna::KernelCode &kernel : artifact.program.kernels) {
    std::vector<lacuna::HostInstruction> &code = kernel.manifest.host.code;
    for (int level = 0; level < 60; ++level) {
      auto last = static_cast<int64_t>(code.size() - 1);
      code.push_back({lacuna::HostInstruction::Op::Add, last, last});
    }
    kernel.manifest.outputs[0].extents[0] = static_cast<unsigned>(code.size() - 1);
  }
  lacuna::Result<std::string> bytes = writeArtifact(artifact);
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  lacuna_program *program = nullptr;
  EXPECT_EQ(refusal(lacuna_program_read(context, bytes->data(), bytes->size(), &program, &error),
                    LACUNA_UNSUPPORTED),
            "result 'y': expected shapes whose formulas have at most 65536 characters");
  EXPECT_EQ(program, nullptr);
}
