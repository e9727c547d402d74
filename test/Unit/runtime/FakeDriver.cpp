//===- FakeDriver.cpp - a CUDA driver that only writes things down ---------===//
#include "test/Unit/runtime/FakeDriver.h"
#include "test/Unit/runtime/FakeGraph.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <mutex>
#include <tuple>
#include <unistd.h>

using namespace lacuna;
using namespace lacuna::driver;

/// One per process, as the real driver's; tests reset it.
static fake::State state;
/// Guards what is written down.
static std::recursive_mutex mutex;
/// Contexts of this thread, the current one last.
static thread_local std::vector<Context> contexts;
static std::vector<std::string> kernels;
/// Per kernel, what runs it; null where launches are only written down.
static std::vector<fake::Entry> entries;

extern "C" fake::State *fakeDriverState() { return &state; }

/// The code of a call: the failure that a test asked for, or success.
static Code answer(const char *call) { return state.failingCall == call ? state.failure : success; }

/// One byte per GPU, whose address is its context.
static char contextBytes[16];
static Context primaryContext(DeviceNumber device) {
  return reinterpret_cast<Context>(&contextBytes[device]);
}
/// The GPU whose context is current, or -1.
static int currentDevice() {
  return contexts.empty()
             ? -1
             : static_cast<int>(reinterpret_cast<char *>(contexts.back()) - contextBytes);
}

static Code fakeInit(unsigned) { return answer("cuInit"); }
static Code fakeVersion(int *version) {
  *version = 13000;
  return success;
}
static Code fakeErrorName(Code, const char **text) {
  *text = "CUDA_ERROR_FAKE";
  return success;
}
static Code fakeErrorText(Code, const char **text) {
  *text = "the fake was told to fail";
  return success;
}
static Code fakeCount(int *count) {
  *count = state.devices;
  return answer("cuDeviceGetCount");
}
static Code fakeGet(DeviceNumber *device, int ordinal) {
  *device = ordinal;
  return success;
}
static Code fakeName(char *name, int bytes, DeviceNumber) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes));
  return success;
}
static Code fakeAttribute(int *value, int attribute, DeviceNumber) {
  const std::map<int, int> values = {{ComputeCapabilityMajor, state.major},
                                     {ComputeCapabilityMinor, state.minor},
                                     {MultiprocessorCount, state.multiprocessors},
                                     {SharedBytesPerBlock, state.sharedBytes},
                                     {L2CacheBytes, 1 << 20}};
  *value = values.at(attribute);
  return success;
}
static Code fakeMemory(size_t *bytes, DeviceNumber) {
  *bytes = size_t{1} << 33;
  return success;
}
static Code fakeRetain(Context *context, DeviceNumber device) {
  *context = primaryContext(device);
  return answer("cuDevicePrimaryCtxRetain");
}
static Code fakeRelease(DeviceNumber) { return success; }
static Code fakeCurrent(Context *context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return success;
}
static Code fakePush(Context context) {
  contexts.push_back(context);
  return answer("cuCtxPushCurrent");
}
static Code fakePop(Context *context) {
  *context = contexts.back();
  contexts.pop_back();
  return success;
}
static Code fakeSynchronize() { return success; }

/// The shared library of a kernel that the emulated NVRTC compiled, or null for other code.
static void *openEmulated(const char *code) {
  if (std::memcmp(code, "\177ELF", 4) != 0 || std::memcmp(code + 9, "LACUNA", 6) != 0)
    return nullptr;
  Elf64_Ehdr header;
  std::memcpy(&header, code, sizeof(header));
  // The section headers are at the end of the file.
  std::string text(code, header.e_shoff + header.e_shnum * header.e_shentsize);
  std::memset(&text[9], 0, 6);
  Elf64_Half machine = EM_X86_64;
  std::memcpy(&text[offsetof(Elf64_Ehdr, e_machine)], &machine, sizeof(machine));
  char path[] = "/tmp/lacuna-emulated-XXXXXX";
  int file = mkstemp(path);
  bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  void *library = written ? dlopen(path, RTLD_NOW) : nullptr;
  unlink(path);
  return library;
}

static Code fakeLoad(Library *library, const void *code, int *, void **, unsigned, int *, void **,
                     unsigned) {
  std::lock_guard lock(mutex);
  state.calls.emplace_back("load");
  void *emulated = openEmulated(static_cast<const char *>(code));
  *library = reinterpret_cast<Library>(emulated ? emulated : &state);
  return answer("cuLibraryLoadData");
}
static Code fakeUnload(Library) { return success; }
static Code fakeKernel(Kernel *kernel, Library library, const char *name) {
  std::lock_guard lock(mutex);
  bool isEmulated = reinterpret_cast<void *>(library) != &state;
  std::string entry = std::string("emulate_") + name;
  kernels.emplace_back(name);
  auto find = [&](const std::string &symbol) {
    return isEmulated ? dlsym(library, symbol.c_str()) : nullptr;
  };
  entries.push_back({reinterpret_cast<decltype(fake::Entry::run)>(find(entry)),
                     static_cast<const size_t *>(find(entry + "_sizes"))});
  *kernel = reinterpret_cast<Kernel>(kernels.size());
  return answer("cuLibraryGetKernel");
}
/// A function is its kernel's number and above it the GPU that is current.
static constexpr size_t kernelBits = 32;
static Code fakeFunction(Function *function, Kernel kernel) {
  *function = reinterpret_cast<Function>(reinterpret_cast<size_t>(kernel) |
                                         static_cast<size_t>(currentDevice()) << kernelBits);
  return success;
}
static Code fakeSet(int attribute, int value, Kernel, DeviceNumber) {
  if (attribute == DynamicSharedBytes)
    state.maximumDynamicShared = value;
  return success;
}
static Code fakeKernelGet(int *value, int, Kernel, DeviceNumber) {
  *value = 0;
  return success;
}

static Code fakeLaunch(const LaunchConfig *config, Function function, void **parameters, void **) {
  auto number = reinterpret_cast<size_t>(function);
  if (currentDevice() < 0)
    return 201; // invalid context
  if (number >> kernelBits != static_cast<size_t>(currentDevice()))
    return 400; // invalid handle
  if (!state.recording)
    return success;
  std::lock_guard lock(mutex);
  size_t kernel = (number & ((size_t{1} << kernelBits) - 1)) - 1;
  fake::Launch launch;
  launch.symbol = kernels[kernel];
  launch.device = currentDevice();
  launch.grid = config->gridX;
  launch.threads = config->blockX;
  launch.sharedBytes = config->sharedBytes;
  launch.stream = config->stream;
  auto [mapCount, fieldCount] = std::pair(state.mapCount, state.fieldCount);
  if (auto it = state.counts.find(launch.symbol); it != state.counts.end())
    std::tie(mapCount, fieldCount) = it->second;
  for (size_t i = 0; i < mapCount; ++i)
    launch.maps.push_back(static_cast<const TensorMap *>(parameters[i])->opaque[0] - 1);
  if (fieldCount) {
    const auto *words = static_cast<const uint64_t *>(parameters[mapCount]);
    launch.fields.assign(words, words + fieldCount);
  }
  const fake::Entry &entry = entries[kernel];
  if (fake::captured())
    fake::captured()->nodes.push_back(fake::nodeOf(entry, config->gridX, parameters));
  else if (entry.run)
    entry.run(config->gridX, parameters);
  state.launches.push_back(launch);
  state.calls.push_back("launch " + launch.symbol);
  return answer("cuLaunchKernelEx");
}

static Code fakeEncode(TensorMap *map, int type, uint32_t rank, void *address,
                       const uint64_t *extents, const uint64_t *byteStrides, const uint32_t *box,
                       const uint32_t *, int, int swizzle, int, int) {
  if (!state.recording)
    return success;
  std::lock_guard lock(mutex);
  fake::Map of;
  of.type = type;
  of.swizzle = swizzle;
  of.address = reinterpret_cast<uint64_t>(address);
  of.extents.assign(extents, extents + rank);
  of.strides.assign(byteStrides, byteStrides + rank - 1);
  of.box.assign(box, box + rank);
  state.maps.push_back(of);
  *map = {};
  map->opaque[0] = state.maps.size();
  map->opaque[1] = reinterpret_cast<uint64_t>(&state.maps.back());
  return answer("cuTensorMapEncodeTiled");
}

static Code fakeReplace(TensorMap *map, void *address) {
  if (!state.recording)
    return success;
  std::lock_guard lock(mutex);
  fake::Map of = state.maps[map->opaque[0] - 1];
  of.address = reinterpret_cast<uint64_t>(address);
  state.maps.push_back(of);
  map->opaque[0] = state.maps.size();
  map->opaque[1] = reinterpret_cast<uint64_t>(&state.maps.back());
  return answer("cuTensorMapReplaceAddress");
}

static Code fakeStreamCreate(Stream *stream, unsigned) {
  if (Code code = answer("cuStreamCreate"))
    return code;
  *stream = static_cast<Stream>(std::malloc(1));
  return success;
}
static Code fakeStreamDestroy(Stream stream) {
  std::free(stream);
  return success;
}
static Code fakeStreamSynchronize(Stream) { return success; }
static Code fakeCapturing(Stream, int *status) {
  *status = state.capturing ? 1 : 0;
  return success;
}
static Code fakeEventCreate(Event *event, unsigned) {
  if (Code code = answer("cuEventCreate"))
    return code;
  *event = static_cast<Event>(std::malloc(1));
  return success;
}
static Code fakeEventDestroy(Event event) {
  std::free(event);
  return success;
}
static Code fakeEventRecord(Event, Stream) { return success; }
static Code fakeEventSynchronize(Event) { return success; }
static Code fakeElapsed(float *milliseconds, Event, Event) {
  *milliseconds = 2.5f;
  return success;
}

static Code allocate(Address *address, size_t bytes, const char *call) {
  if (Code code = answer(call))
    return code;
  ++state.liveAllocations;
  size_t rounded = (bytes + 255) / 256 * 256;
  void *memory = std::aligned_alloc(256, rounded);
  // What nobody has written says "full" where tiles have classes: no result may depend on it.
  if (memory)
    std::memset(memory, 2, rounded);
  *address = reinterpret_cast<Address>(memory);
  return success;
}
static Code release(Address address) {
  --state.liveAllocations;
  std::free(reinterpret_cast<void *>(address));
  return success;
}
static Code fakeAllocate(Address *address, size_t bytes) {
  std::lock_guard lock(mutex);
  state.calls.push_back("allocate now " + std::to_string(bytes));
  return allocate(address, bytes, "cuMemAlloc");
}
static Code fakeFree(Address address) { return release(address); }
static Code fakeAllocateAsync(Address *address, size_t bytes, Stream) {
  std::lock_guard lock(mutex);
  state.calls.push_back("allocate " + std::to_string(bytes));
  return allocate(address, bytes, "cuMemAllocAsync");
}
static Code fakePoolCreate(MemoryPool *pool, const PoolProperties *properties) {
  if (Code code = answer("cuMemPoolCreate"))
    return code;
  if (properties->allocation != 1 || properties->place != 1 ||
      properties->device != currentDevice())
    return 1; // invalid value
  ++state.pools;
  *pool = reinterpret_cast<MemoryPool>(&state);
  return success;
}
static Code fakePoolDestroy(MemoryPool) {
  --state.pools;
  return success;
}
static Code fakePoolSet(MemoryPool, int attribute, void *value) {
  if (attribute == PoolReleaseThreshold)
    state.keptBytes = *static_cast<uint64_t *>(value);
  return answer("cuMemPoolSetAttribute");
}
static Code fakeAllocateFromPool(Address *address, size_t bytes, MemoryPool pool, Stream) {
  if (!pool)
    return 1; // invalid value
  if (state.recording) {
    std::lock_guard lock(mutex);
    state.calls.push_back("allocate " + std::to_string(bytes));
  }
  return allocate(address, bytes, "cuMemAllocFromPoolAsync");
}
static Code fakeFreeAsync(Address address, Stream) {
  std::lock_guard lock(mutex);
  state.calls.emplace_back("free");
  return release(address);
}
static Code fakeUpload(Address to, const void *from, size_t bytes, Stream) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return success;
}
static Code fakeDownload(void *to, Address from, size_t bytes, Stream) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return success;
}
static Code fakeSetBytes(Address to, unsigned char value, size_t count, Stream) {
  std::memset(reinterpret_cast<void *>(to), value, count);
  return success;
}
static Code fakeSetWords(Address to, unsigned value, size_t count, Stream) {
  if (state.recording) {
    std::lock_guard lock(mutex);
    state.calls.push_back("words " + std::to_string(value));
  }
  auto work = [=] { std::fill_n(reinterpret_cast<unsigned *>(to), count, value); };
  if (fake::captured())
    fake::captured()->nodes.emplace_back(work);
  else
    work();
  return answer("cuMemsetD32Async");
}
static Code fakePointer(void *value, int attribute, Address address) {
  ++state.questions;
  auto next = state.places.upper_bound(address);
  int place = next == state.places.begin() ? 0 : std::prev(next)->second;
  if (place == fake::State::unknown)
    return 1; // invalid value
  if (attribute == PointerManaged)
    *static_cast<unsigned *>(value) = place == fake::State::managed;
  else if (attribute == PointerMemoryType)
    *static_cast<unsigned *>(value) = place == fake::State::pinned ? memoryOnHost : 2;
  else
    *static_cast<int *>(value) = std::max(place, 0);
  return success;
}

static Code fakeCaptureInfo(Stream, int *status, uint64_t *id, Graph *graph, const void **,
                            size_t *) {
  *status = state.capturing ? 1 : 0;
  *id = 1;
  *graph = reinterpret_cast<Graph>(fake::captured() ? static_cast<void *>(fake::captured().get())
                                                    : &state);
  return answer("cuStreamGetCaptureInfo");
}
static Code fakeUserObject(UserObject *object, void *argument, void (*destroy)(void *), unsigned,
                           unsigned) {
  if (Code code = answer("cuUserObjectCreate"))
    return code;
  *object = reinterpret_cast<UserObject>(new std::pair(destroy, argument));
  return success;
}
static Code fakeUserRelease(UserObject object, unsigned) {
  auto *kept = reinterpret_cast<std::pair<void (*)(void *), void *> *>(object);
  kept->first(kept->second);
  delete kept;
  return success;
}
static Code fakeGraphRetain(Graph, UserObject object, unsigned, unsigned) {
  if (Code code = answer("cuGraphRetainUserObject"))
    return code;
  auto *kept = reinterpret_cast<std::pair<void (*)(void *), void *> *>(object);
  std::lock_guard lock(mutex);
  (fake::captured() ? fake::captured()->kept : state.kept).push_back(*kept);
  delete kept;
  return success;
}

// What applications look up by its name.
extern "C" {
Code cuDevicePrimaryCtxRetain(Context *context, DeviceNumber device) {
  return fakeRetain(context, device);
}
Code cuCtxPushCurrent_v2(Context context) { return fakePush(context); }
Code cuStreamCreate(Stream *stream, unsigned flags) { return fakeStreamCreate(stream, flags); }
Code cuStreamSynchronize(Stream stream) { return fakeStreamSynchronize(stream); }
Code cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream stream) {
  return fakeUpload(to, from, bytes, stream);
}
}

namespace {
/// A function under the driver's name for it.
struct Symbol {
  const char *name;
  void *address;
};
} // namespace

template <typename Function> static Symbol symbol(const char *name, Function function) {
  return {name, reinterpret_cast<void *>(function)};
}

/// Finds a symbol; version and flags do not matter here.
extern "C" Code cuGetProcAddress_v2(const char *name, void **address, int, uint64_t, int *found) {
  static const Symbol symbols[] = {
      symbol("cuInit", fakeInit),
      symbol("cuDriverGetVersion", fakeVersion),
      symbol("cuGetErrorName", fakeErrorName),
      symbol("cuGetErrorString", fakeErrorText),
      symbol("cuDeviceGetCount", fakeCount),
      symbol("cuDeviceGet", fakeGet),
      symbol("cuDeviceGetName", fakeName),
      symbol("cuDeviceGetAttribute", fakeAttribute),
      symbol("cuDeviceTotalMem", fakeMemory),
      symbol("cuDevicePrimaryCtxRetain", fakeRetain),
      symbol("cuDevicePrimaryCtxRelease", fakeRelease),
      symbol("cuCtxGetCurrent", fakeCurrent),
      symbol("cuCtxPushCurrent", fakePush),
      symbol("cuCtxPopCurrent", fakePop),
      symbol("cuCtxSynchronize", fakeSynchronize),
      symbol("cuLibraryLoadData", fakeLoad),
      symbol("cuLibraryUnload", fakeUnload),
      symbol("cuLibraryGetKernel", fakeKernel),
      symbol("cuKernelGetFunction", fakeFunction),
      symbol("cuKernelSetAttribute", fakeSet),
      symbol("cuKernelGetAttribute", fakeKernelGet),
      symbol("cuLaunchKernelEx", fakeLaunch),
      symbol("cuTensorMapEncodeTiled", fakeEncode),
      symbol("cuTensorMapReplaceAddress", fakeReplace),
      symbol("cuStreamCreate", fakeStreamCreate),
      symbol("cuStreamDestroy", fakeStreamDestroy),
      symbol("cuStreamSynchronize", fakeStreamSynchronize),
      symbol("cuStreamIsCapturing", fakeCapturing),
      symbol("cuEventCreate", fakeEventCreate),
      symbol("cuEventDestroy", fakeEventDestroy),
      symbol("cuEventRecord", fakeEventRecord),
      symbol("cuEventSynchronize", fakeEventSynchronize),
      symbol("cuEventElapsedTime", fakeElapsed),
      symbol("cuMemAlloc", fakeAllocate),
      symbol("cuMemFree", fakeFree),
      symbol("cuMemAllocAsync", fakeAllocateAsync),
      symbol("cuMemPoolCreate", fakePoolCreate),
      symbol("cuMemPoolDestroy", fakePoolDestroy),
      symbol("cuMemPoolSetAttribute", fakePoolSet),
      symbol("cuMemAllocFromPoolAsync", fakeAllocateFromPool),
      symbol("cuMemFreeAsync", fakeFreeAsync),
      symbol("cuMemcpyHtoDAsync", fakeUpload),
      symbol("cuMemcpyDtoHAsync", fakeDownload),
      symbol("cuMemsetD8Async", fakeSetBytes),
      symbol("cuMemsetD32Async", fakeSetWords),
      symbol("cuPointerGetAttribute", fakePointer),
      symbol("cuStreamGetCaptureInfo", fakeCaptureInfo),
      symbol("cuUserObjectCreate", fakeUserObject),
      symbol("cuUserObjectRelease", fakeUserRelease),
      symbol("cuGraphRetainUserObject", fakeGraphRetain),
  };
  *address = nullptr;
  *found = 1;
  if (state.missingSymbol == name)
    return success;
  for (const Symbol &of : symbols)
    if (std::strcmp(of.name, name) == 0) {
      *address = of.address;
      *found = 0;
    }
  return success;
}
