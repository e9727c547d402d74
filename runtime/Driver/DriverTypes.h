//===- DriverTypes.h - the part of the CUDA driver's interface that we use -===//
//
// Lacuna is built on machines with no CUDA toolkit, so that these few declarations stand in for its
// header. Handles have the tags of that header: a CUstream of a caller's can be passed as it is.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUuserObject_st;
struct CUmemPoolHandle_st;

namespace lacuna::driver {

using Code = int;
using DeviceNumber = int;
using Context = CUctx_st *;
using Stream = CUstream_st *;
using Event = CUevent_st *;
using Library = CUlib_st *;
using Kernel = CUkern_st *;
using Function = CUfunc_st *;
using Graph = CUgraph_st *;
using UserObject = CUuserObject_st *;
using MemoryPool = CUmemPoolHandle_st *;
/// Address in device memory.
using Address = uint64_t;

inline constexpr Code success = 0;

/// Attributes of devices, by their numbers in the driver.
enum DeviceAttribute : int {
  MultiprocessorCount = 16,
  L2CacheBytes = 38,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  SharedBytesPerBlock = 97,
};

/// Attributes of kernels.
enum KernelAttribute : int {
  RegistersPerThread = 4,
  DynamicSharedBytes = 8,
};

/// Facts about a pointer.
enum PointerAttribute : int {
  PointerMemoryType = 2,
  PointerManaged = 8,
  PointerDevice = 9,
};

/// Attributes of memory pools.
enum PoolAttribute : int {
  /// Bytes that the pool keeps when they are not in use.
  PoolReleaseThreshold = 4,
};

/// What a memory pool is made for.
struct PoolProperties {
  /// Pinned, which is the only kind; shared with no other process.
  int allocation = 1, handles = 0;
  /// Memory of a GPU, and which.
  int place = 1, device = 0;
  char more[72] = {};
};
static_assert(sizeof(PoolProperties) == 88);

/// The memory type of pinned memory.
inline constexpr unsigned memoryOnHost = 1;

/// Element types of tensor maps.
enum MapType : int {
  MapU8 = 0,
  MapI32 = 3,
  MapI64 = 5,
  MapF16 = 6,
  MapF32 = 7,
  MapF64 = 8,
  MapBF16 = 9,
};

/// Sectors of 128 bytes are fetched into L2 at a time.
inline constexpr int mapPromotion128 = 2;

/// The driver may run a user object's destructor on a thread of its own; nobody waits for it.
inline constexpr unsigned userObjectUnsynchronized = 1;
/// A graph takes the caller's reference to a user object over.
inline constexpr unsigned graphMovesReference = 1;

/// How the copy engine reads a tensor; only the driver knows what is inside.
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};
static_assert(sizeof(TensorMap) == 128 && alignof(TensorMap) == 64);

/// An attribute of a launch; the value is read as its number says.
struct LaunchAttribute {
  int number = 0;
  int padding = 0;
  char value[64] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  Stream stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32 &&
              offsetof(LaunchConfig, attributes) == 40);
static_assert(sizeof(void *) == 8, "the driver's interface is used on 64-bit machines only");

} // namespace lacuna::driver
