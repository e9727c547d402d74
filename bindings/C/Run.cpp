//===- Run.cpp - loading and running ---------------------------------------===//
#include "bindings/C/Handles.h"

#include <fmt/format.h>

using namespace lacuna;
using namespace lacuna::c;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Result<std::shared_ptr<const Executable>> load(const DeviceState &device,
                                                      const Program &program) {
  device.context->count(Counter::Loads);
  if (device.cpu)
    return device.cpu->load(program);
  if (program.native)
    return Status::error(
        StatusCode::InvalidArgument,
        fmt::format("expected a program for {}, got one for the CPU", toText(device.which)));
  Result<GpuProgram> loaded = device.gpu->load(program);
  if (!loaded)
    return loaded.status();
  return std::shared_ptr<const Executable>(std::make_shared<GpuProgram>(std::move(*loaded)));
}

lacuna_status lacuna_load(lacuna_device *device, const lacuna_program *program,
                          lacuna_executable **executable, lacuna_error **error) {
  if (Status status = checkPointers({{executable, "a place for the executable"}}); !status)
    return finish(status, error);
  *executable = nullptr;
  if (Status status = checkPointers({{device, "a device"}, {program, "a program"}}); !status)
    return finish(status, error);
  Result<std::shared_ptr<const Executable>> loaded = load(*device->state, program->program);
  if (loaded)
    *executable = new lacuna_executable{device->state, std::move(*loaded)};
  return finish(loaded.status(), error);
}

void lacuna_executable_release(lacuna_executable *executable) { delete executable; }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// "argument 'q'": what messages call an argument.
static std::string roleOf(const lacuna_executable &executable, size_t index) {
  const std::vector<ArgumentDeclaration> &declared = executable.executable->program().arguments;
  return index < declared.size() ? fmt::format("argument '{}'", declared[index].name)
                                 : fmt::format("argument {}", index);
}

static Result<Argument> readArgument(const lacuna_executable &executable,
                                     const lacuna_argument &given) {
  switch (given.kind) {
  case LACUNA_TENSOR: {
    Result<Tensor> tensor = fromDlpack(given.value.tensor, executable.device->which);
    if (!tensor)
      return tensor.status();
    return Argument(std::move(*tensor));
  }
  case LACUNA_INTEGER:
    return Argument(given.value.integer);
  case LACUNA_FLOAT:
    return Argument(given.value.number);
  default:
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("expected kind 0, 1 or 2, got {}", given.kind));
  }
}

/// Reads the arguments and runs; results with memory are written in place.
static Status run(const lacuna_executable &executable, void *stream,
                  std::span<const lacuna_argument> given, std::span<Tensor> results) {
  std::vector<Argument> arguments;
  arguments.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    Result<Argument> argument = readArgument(executable, given[i]);
    if (!argument)
      return about(roleOf(executable, i), argument.status());
    arguments.push_back(std::move(*argument));
  }
  return executable.executable->run(static_cast<CUstream_st *>(stream), arguments, results);
}

/// Counts what became of a run.
static lacuna_status finishRun(const lacuna_executable &executable, const Status &status,
                               lacuna_error **error) {
  executable.device->context->count(status ? Counter::Runs : Counter::RunErrors);
  return finish(status, error);
}

static Result<std::vector<Tensor>> readResults(const lacuna_executable &executable,
                                               std::span<DLTensor *const> given) {
  std::vector<Tensor> results;
  results.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    Result<Tensor> result = fromDlpack(given[i], executable.device->which);
    if (!result)
      return about(fmt::format("result {}", i), result.status());
    if (!result->data && result->elements() > 0)
      return Status::error(StatusCode::InvalidArgument,
                           fmt::format("result {}: expected memory, got none", i));
    results.push_back(std::move(*result));
  }
  return results;
}

static Status checkLists(const lacuna_executable *executable, const void *arguments,
                         size_t argumentCount, const void *results, size_t resultCount) {
  // An empty list may be null.
  const void *some = "";
  return checkPointers({{executable, "an executable"},
                        {argumentCount ? arguments : some, "arguments"},
                        {resultCount ? results : some, "results"}});
}

lacuna_status lacuna_run(const lacuna_executable *executable, void *stream,
                         const lacuna_argument *arguments, size_t argument_count,
                         DLTensor *const *results, size_t result_count, lacuna_error **error) {
  if (Status status = checkLists(executable, arguments, argument_count, results, result_count);
      !status)
    return finish(status, error);
  Result<std::vector<Tensor>> views = readResults(*executable, {results, result_count});
  Status status =
      views ? run(*executable, stream, {arguments, argument_count}, *views) : views.status();
  return finishRun(*executable, status, error);
}

lacuna_status lacuna_run_call(const lacuna_call *call, void *stream, lacuna_error **error) {
  if (Status status = checkPointers({{call, "a call"}}); !status)
    return finish(status, error);
  lacuna_call read = {};
  if (Status status = readOptions(call, read, "call"); !status)
    return finish(status, error);
  return lacuna_run(read.executable, stream, read.arguments, read.argument_count, read.results,
                    read.result_count, error);
}

namespace {
/// A result with memory of the device, and the DLPack tensor that shows it.
struct OwnedResult {
  DLManagedTensor managed = {};
  Tensor tensor;
  std::shared_ptr<const DeviceState> device;
  CUstream_st *stream = nullptr;
};
} // namespace

static DLManagedTensor *giveAway(Tensor tensor, std::shared_ptr<const DeviceState> device,
                                 void *stream) {
  auto *owned =
      new OwnedResult{{}, std::move(tensor), std::move(device), static_cast<CUstream_st *>(stream)};
  DLTensor &view = owned->managed.dl_tensor;
  view.data = owned->tensor.data;
  view.device = owned->device->which;
  view.ndim = static_cast<int32_t>(owned->tensor.rank());
  view.dtype = toDlpack(owned->tensor.type);
  view.shape = owned->tensor.shape.data();
  view.strides = owned->tensor.strides.data();
  owned->managed.manager_ctx = owned;
  owned->managed.deleter = [](DLManagedTensor *self) {
    auto *result = static_cast<OwnedResult *>(self->manager_ctx);
    result->device->free(result->tensor, result->stream);
    delete result;
  };
  return &owned->managed;
}

lacuna_status lacuna_run_allocating(const lacuna_executable *executable, void *stream,
                                    const lacuna_argument *arguments, size_t argument_count,
                                    DLManagedTensor **results, size_t result_count,
                                    lacuna_error **error) {
  if (Status status = checkLists(executable, arguments, argument_count, results, result_count);
      !status)
    return finish(status, error);
  // Not more than there are: the count is refused by the run, and places beyond stay as they are.
  result_count = std::min(result_count, executable->executable->program().results.size() + 1);
  std::vector<Tensor> tensors(result_count);
  Status status = run(*executable, stream, {arguments, argument_count}, tensors);
  for (size_t i = 0; i < result_count; ++i) {
    results[i] = nullptr;
    if (!status)
      continue;
    executable->device->context->count(Counter::BytesAllocated,
                                       static_cast<uint64_t>(tensors[i].elements()) *
                                           byteWidth(tensors[i].type));
    results[i] = giveAway(std::move(tensors[i]), executable->device, stream);
  }
  return finishRun(*executable, status, error);
}
