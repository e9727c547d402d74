//===- lacuna.h - Lacuna from C, and from everything that calls C ----------===//
//
// Compile a spec or read an artifact, load it on a device, run it on tensors. C99, no LLVM, no CUDA
// header; tensors are those of DLPack. docs/embedding.md has a tour.
//
// Promises. A program linked against this library runs with every later one that has the same
// soname: functions and their meaning stay, numbers of enumerators stay, structs with `struct_size`
// only grow at their end, the other structs never change. New functions get a new symbol version.
//
// Errors. A function that can fail returns a status. It also stores an error, which says in one
// sentence what was expected and what was found, in `*error` unless `error` is null; on success it
// stores null there. No function prints, exits, or lets a C++ exception out.
//
// Threads. Every function may be called from any thread; handles may be shared between threads. A
// release may overlap with no other use of the same handle. Handles keep what they need alive:
// release in any order. Releasing null does nothing.
//
//===----------------------------------------------------------------------===//
#ifndef LACUNA_LACUNA_H
#define LACUNA_LACUNA_H

#include <dlpack/dlpack.h>

#include <stddef.h>
#include <stdint.h>

#define LACUNA_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Library
//===----------------------------------------------------------------------===//

/// The library's version, 10000 * major + 100 * minor + patch, and as text: "0.1.0".
LACUNA_API uint32_t lacuna_version(void);
LACUNA_API const char *lacuna_version_text(void);
/// 1 when the library can compile specs, 0 when it only loads artifacts.
LACUNA_API int32_t lacuna_has_compiler(void);

/// Why a call failed.
typedef int32_t lacuna_status;
enum {
  LACUNA_OK = 0,
  /// The caller passed something that no version would accept.
  LACUNA_INVALID_ARGUMENT = 1,
  /// The request is meaningful, but this version or this machine cannot do it.
  LACUNA_UNSUPPORTED = 2,
  /// A named file, entry or symbol is not there.
  LACUNA_NOT_FOUND = 3,
  /// Bytes that should be ours are damaged.
  LACUNA_CORRUPT = 4,
  /// The operating system refused a read, write or rename.
  LACUNA_IO = 5,
  /// A component that the request needs is missing on this machine.
  LACUNA_MISSING = 6,
  /// The code generator failed on input that it had accepted.
  LACUNA_COMPILE = 7,
  /// A GPU or its driver refused a call.
  LACUNA_DEVICE = 8
};

/// A failure: a status and a sentence.
typedef struct lacuna_error lacuna_error;
LACUNA_API lacuna_status lacuna_error_status(const lacuna_error *error);
/// Lives as long as `error`.
LACUNA_API const char *lacuna_error_message(const lacuna_error *error);
LACUNA_API void lacuna_error_release(lacuna_error *error);

/// Importance of a message, rising.
enum { LACUNA_LOG_DEBUG = 0, LACUNA_LOG_INFO = 1, LACUNA_LOG_WARNING = 2, LACUNA_LOG_ERROR = 3 };
/// Receives one message without its level and without a line end. Called from any thread, one call
/// at a time; must not call this library.
typedef void (*lacuna_log_callback)(int32_t level, const char *message, void *user);
/// Sends the process's messages of at least `level` to `callback` instead of stderr; a null
/// callback restores stderr, with messages of at least `level`. After the call returns, the
/// callback before is not called any more.
LACUNA_API void lacuna_set_log_callback(lacuna_log_callback callback, void *user, int32_t level);

//===----------------------------------------------------------------------===//
// Context: settings and the cache of compiled programs
//===----------------------------------------------------------------------===//

typedef struct lacuna_context lacuna_context;

/// Memory of the caller for GPUs: results of lacuna_run_allocating and buffers between launches,
/// used in the order of `stream`, which is the run's. Calls come from the threads that run; those
/// for a run that is captured in a graph must not wait for the GPU.
typedef struct lacuna_allocator {
  /// sizeof(lacuna_allocator), as the caller was compiled.
  uint32_t struct_size;
  /// At least `bytes` (never 0) on CUDA device `device`, aligned to 256; null when there is none.
  void *(*allocate)(void *user, int32_t device, size_t bytes, void *stream);
  /// Takes back what `allocate` gave.
  void (*release)(void *user, int32_t device, void *memory, void *stream);
  void *user;
} lacuna_allocator;

typedef struct lacuna_context_options {
  /// sizeof(lacuna_context_options), as the caller was compiled.
  uint32_t struct_size;
  /// Threads of a CPU device; 0 stands for LACUNA_THREADS, or one per core.
  int32_t threads;
  /// The CUDA driver; null stands for libcuda.so.1.
  const char *driver_library;
  /// NVRTC; null stands for LACUNA_NVRTC, or a search.
  const char *nvrtc_library;
  /// Folder of the cache; null stands for LACUNA_CACHE_DIR or the user's cache folder, "" for a
  /// cache in memory only.
  const char *cache_folder;
  /// Most bytes of that folder; 0 stands for LACUNA_CACHE_SIZE or the default.
  uint64_t cache_bytes;
  /// Copied; null stands for the driver's stream-ordered pool. What it refers to outlives the
  /// context and everything that is made in it.
  const lacuna_allocator *allocator;
} lacuna_context_options;
#define LACUNA_CONTEXT_OPTIONS_INIT                                                                \
  {(uint32_t)sizeof(lacuna_context_options), 0, NULL, NULL, NULL, 0, NULL}

/// `options` may be null: all of them from the environment (docs/environment.md).
LACUNA_API lacuna_status lacuna_context_create(const lacuna_context_options *options,
                                               lacuna_context **context, lacuna_error **error);
LACUNA_API void lacuna_context_release(lacuna_context *context);

/// Counters, numbered from 0: what a context compiled, loaded and ran, and what the process's
/// caches and GPUs did (docs/observability.md).
LACUNA_API size_t lacuna_counter_count(void);
/// "compiles", ...; null for a number that is too large.
LACUNA_API const char *lacuna_counter_name(size_t counter);
LACUNA_API uint64_t lacuna_counter_value(const lacuna_context *context, size_t counter);

//===----------------------------------------------------------------------===//
// Program: a compiled spec, not yet on a device
//===----------------------------------------------------------------------===//

typedef struct lacuna_program lacuna_program;

typedef struct lacuna_compile_options {
  /// sizeof(lacuna_compile_options), as the caller was compiled.
  uint32_t struct_size;
  /// kDLCUDA (sm_90a) or kDLCPU (the processor of this machine).
  int32_t target;
  /// Tokens per tile: one number, or one per axis; count 0 leaves the choice to the planner.
  const int64_t *query_tile;
  size_t query_tile_count;
  const int64_t *key_tile;
  size_t key_tile_count;
  /// Of the CUDA pipeline; 0 leaves the choice to the planner.
  int64_t stages;
  int64_t query_slots;
  int64_t consumer_registers;
  /// LACUNA_PING_PONG, LACUNA_LINE_INFO.
  uint64_t flags;
} lacuna_compile_options;
#define LACUNA_COMPILE_OPTIONS_INIT                                                                \
  {(uint32_t)sizeof(lacuna_compile_options), kDLCUDA, NULL, 0, NULL, 0, 0, 0, 0, 0}
enum {
  /// Warpgroups take turns at the tensor cores.
  LACUNA_PING_PONG = 1,
  /// Machine code names the lines of the spec, for profilers.
  LACUNA_LINE_INFO = 2
};

/// Compiles a spec, or takes it from the cache. It is compiled once for all lengths, batches,
/// windows and lists that it leaves open. `options` may be null. Needs no device. The message of a
/// mistake in the text has a line for each diagnostic: "3:12: error: expected ...".
LACUNA_API lacuna_status lacuna_compile(lacuna_context *context, const char *text, size_t length,
                                        const lacuna_compile_options *options,
                                        lacuna_program **program, lacuna_error **error);
/// Reads an artifact that `lacuna compile --emit=artifact` or lacuna_program_save wrote.
LACUNA_API lacuna_status lacuna_program_open(lacuna_context *context, const char *path,
                                             lacuna_program **program, lacuna_error **error);
/// The same from memory, which may go afterwards.
LACUNA_API lacuna_status lacuna_program_read(lacuna_context *context, const void *bytes,
                                             size_t size, lacuna_program **program,
                                             lacuna_error **error);
/// Creates or replaces a file. Programs of target kDLCPU are code of this process: Unsupported.
LACUNA_API lacuna_status lacuna_program_save(const lacuna_program *program, const char *path,
                                             lacuna_error **error);
/// The same with machine code, so that the machine that opens it needs no NVRTC; this one does
/// (LACUNA_MISSING), and no GPU. Kernels come from the context's cache where it has them.
LACUNA_API lacuna_status lacuna_program_save_compiled(const lacuna_program *program,
                                                      const char *path, lacuna_error **error);
LACUNA_API void lacuna_program_release(lacuna_program *program);

/// What the spec calls its function. This text and those below live as long as the program.
LACUNA_API const char *lacuna_program_name(const lacuna_program *program);
/// "sm_90a" or "cpu".
LACUNA_API const char *lacuna_program_architecture(const lacuna_program *program);

enum { LACUNA_TENSOR = 0, LACUNA_INTEGER = 1, LACUNA_FLOAT = 2 };

/// What a program takes or gives.
typedef struct lacuna_value_info {
  /// sizeof(lacuna_value_info), set by the caller.
  uint32_t struct_size;
  /// LACUNA_TENSOR, LACUNA_INTEGER or LACUNA_FLOAT.
  int32_t kind;
  /// The name in the spec, without `%`; the number of a value without a name.
  const char *name;
  /// Of tensors: extents, -1 where any is accepted or where it follows from the arguments.
  const int64_t *shape;
  int32_t rank;
  /// Of tensors.
  DLDataType dtype;
} lacuna_value_info;

LACUNA_API size_t lacuna_program_argument_count(const lacuna_program *program);
LACUNA_API size_t lacuna_program_result_count(const lacuna_program *program);
LACUNA_API lacuna_status lacuna_program_argument(const lacuna_program *program, size_t index,
                                                 lacuna_value_info *info, lacuna_error **error);
LACUNA_API lacuna_status lacuna_program_result(const lacuna_program *program, size_t index,
                                               lacuna_value_info *info, lacuna_error **error);
/// An extent of a result as a formula on the arguments, in prefix form: "128", "(extent 0 2)" (of
/// argument 0 along axis 2), "(scalar 3)", or "(OP A B)" with add, sub, mul, floor-div, ceil-div,
/// mod, min, max, gcd, equal, less, less-equal, and, or, and "(select C A B)". Null when there is
/// no such axis.
LACUNA_API const char *lacuna_program_result_extent(const lacuna_program *program, size_t result,
                                                    size_t axis);

//===----------------------------------------------------------------------===//
// Device and executable
//===----------------------------------------------------------------------===//

typedef struct lacuna_device lacuna_device;

/// Opens {kDLCUDA, ordinal} or {kDLCPU, 0}.
LACUNA_API lacuna_status lacuna_device_open(lacuna_context *context, DLDevice which,
                                            lacuna_device **device, lacuna_error **error);
LACUNA_API void lacuna_device_release(lacuna_device *device);
/// The driver's name of the device, and its generation: "sm_90" or "cpu". Live as long as it.
LACUNA_API const char *lacuna_device_name(const lacuna_device *device);
LACUNA_API const char *lacuna_device_architecture(const lacuna_device *device);

typedef struct lacuna_executable lacuna_executable;

/// Puts a program on a device. Kernels without machine code are compiled by NVRTC or taken from the
/// cache.
LACUNA_API lacuna_status lacuna_load(lacuna_device *device, const lacuna_program *program,
                                     lacuna_executable **executable, lacuna_error **error);
LACUNA_API void lacuna_executable_release(lacuna_executable *executable);

/// An argument of a run.
typedef struct lacuna_argument {
  /// LACUNA_TENSOR, LACUNA_INTEGER or LACUNA_FLOAT: the member of `value` that counts.
  int32_t kind;
  int32_t reserved;
  union {
    const DLTensor *tensor;
    int64_t integer;
    double number;
  } value;
} lacuna_argument;

/// Runs a program into given tensors, which have the right type and shape and overlap with nothing
/// else. On a CUDA device it is queued on `stream` (a cudaStream_t or CUstream; null is the default
/// stream): the call waits for nothing, allocates no device memory but for buffers between
/// launches, and may be captured in a CUDA graph. On the CPU it has run when the call returns, and
/// `stream` is null. Tensors lie on the executable's device. A wrong argument is refused by name.
LACUNA_API lacuna_status lacuna_run(const lacuna_executable *executable, void *stream,
                                    const lacuna_argument *arguments, size_t argument_count,
                                    DLTensor *const *results, size_t result_count,
                                    lacuna_error **error);

/// Everything of a run but its stream: for callers that run again and again, and that change
/// addresses and numbers in place.
typedef struct lacuna_call {
  /// sizeof(lacuna_call), as the caller was compiled.
  uint32_t struct_size;
  uint32_t reserved;
  const lacuna_executable *executable;
  const lacuna_argument *arguments;
  size_t argument_count;
  DLTensor *const *results;
  size_t result_count;
} lacuna_call;
/// lacuna_run on the members of `call`.
LACUNA_API lacuna_status lacuna_run_call(const lacuna_call *call, void *stream,
                                         lacuna_error **error);
/// lacuna_run into tensors that it allocates; each is given back by its `deleter`: to the context's
/// allocator in the order of `stream`, without one after everything that was queued on the device.
LACUNA_API lacuna_status lacuna_run_allocating(const lacuna_executable *executable, void *stream,
                                               const lacuna_argument *arguments,
                                               size_t argument_count, DLManagedTensor **results,
                                               size_t result_count, lacuna_error **error);

#ifdef __cplusplus
}
#endif

#endif // LACUNA_LACUNA_H
