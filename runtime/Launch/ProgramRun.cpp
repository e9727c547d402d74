//===- ProgramRun.cpp - one execution of a loaded program ------------------===//
#include "runtime/Launch/ProgramRun.h"

#include "runtime/Launch/CheckArguments.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace lacuna {

template <typename... Values>
static Status refuse(fmt::format_string<Values...> format, Values &&...values) {
  return Status::error(StatusCode::InvalidArgument,
                       fmt::format(format, std::forward<Values>(values)...));
}

Status LoadedProgram::run(driver::Stream stream, std::span<const Argument> arguments,
                          std::span<Tensor> results) const {
  if (Status status = checkArguments(source, arguments); !status)
    return status;
  if (results.size() != source.results.size())
    return refuse("expected {} results of {}, got {}", source.results.size(), source.name,
                  results.size());
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  return ProgramRun(*this, stream, arguments, results).run();
}

ProgramRun::~ProgramRun() {
  for (const Allocation &allocation : allocations) {
    if (allocation.result >= 0 && !failed)
      continue; // The caller's.
    loaded.memory->release(allocation.memory, stream);
    if (allocation.result >= 0)
      results[static_cast<size_t>(allocation.result)].data = nullptr;
  }
}

std::string ProgramRun::bufferName(unsigned buffer) const {
  const Program &program = loaded.source;
  if (buffer < program.arguments.size())
    return fmt::format("argument '{}'", program.arguments[buffer].name);
  if (int result = loaded.resultOf[loaded.root[buffer]]; result >= 0)
    return fmt::format("result {}", result);
  return fmt::format("buffer {}", buffer);
}

Status ProgramRun::run() {
  // Tensors must not move: host arguments point at them.
  made.reserve(loaded.bufferCount - arguments.size());
  for (const Launch &launch : loaded.source.launches)
    if (Status status = runLaunch(launch); !status)
      return status;
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = made[loaded.source.results[i] - arguments.size()];
  failed = false;
  return Status::ok();
}

void ProgramRun::bindInputs(const Launch &launch) {
  buffers.assign(launch.inputs.begin(), launch.inputs.end());
  bound.assign(launch.inputs.size(), {});
  floats.assign(launch.inputs.size(), 0.0);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i] >= arguments.size()) {
      bound[i].tensor = &made[buffers[i] - arguments.size()];
      continue;
    }
    const Argument &argument = arguments[buffers[i]];
    bound[i].tensor = std::get_if<Tensor>(&argument);
    if (const auto *integer = std::get_if<int64_t>(&argument))
      bound[i].integer = *integer;
    if (const auto *number = std::get_if<double>(&argument))
      floats[i] = *number;
  }
}

/// Puts host values in the places of `{0}`, `{1}` and so on.
static std::string fillMessage(const Requirement &requirement, std::span<const int64_t> values) {
  std::string text = requirement.message;
  for (size_t i = 0; i < requirement.values.size(); ++i) {
    std::string hole = fmt::format("{{{}}}", i),
                number = fmt::format("{}", values[requirement.values[i]]);
    for (size_t at = text.find(hole); at != std::string::npos;
         at = text.find(hole, at + number.size()))
      text.replace(at, hole.size(), number);
  }
  return text;
}

Status ProgramRun::checkRequirements(const KernelManifest &manifest, unsigned before) const {
  for (const Requirement &requirement : manifest.requirements)
    if (requirement.value < before && values[requirement.value] == 0)
      return refuse("{}", fillMessage(requirement, values));
  return Status::ok();
}

Status ProgramRun::evaluate(const KernelManifest &manifest, std::span<const unsigned> order) {
  std::optional<HostFailure> failure = evaluateHostProgram(manifest.host, order, bound, values);
  if (!failure)
    return Status::ok();
  // A requirement says better what is wrong than the division that it should have prevented. Values
  // that were not computed yet are 1, which breaks none.
  if (Status status = checkRequirements(manifest, failure->value); !status)
    return status;
  return refuse("kernel '{}': {}", manifest.symbol, failure->message);
}

Status ProgramRun::place(Tensor &tensor, unsigned buffer) {
  int result = loaded.resultOf[buffer];
  if (result >= 0) {
    const Tensor &given = results[static_cast<size_t>(result)];
    if (given.data) {
      if (given.type != tensor.type || given.shape != tensor.shape ||
          given.strides.size() != given.shape.size())
        return refuse("result {}: expected {} of shape {}, got {} of shape {}", result,
                      toString(tensor.type), shapeText(tensor.shape), toString(given.type),
                      shapeText(given.shape));
      tensor = given;
      return Status::ok();
    }
  }
  auto bytes = static_cast<uint64_t>(tensor.elements()) * byteWidth(tensor.type);
  if (bytes == 0)
    return Status::ok();
  Result<void *> memory = loaded.memory->allocate(bytes, stream);
  if (!memory)
    return memory.status();
  tensor.data = *memory;
  allocations.push_back({*memory, result});
  return Status::ok();
}

Status ProgramRun::bindOutput(unsigned buffer, const Launch &launch, size_t output,
                              const KernelManifest::Output &declared) {
  Tensor tensor;
  tensor.type = declared.type;
  for (unsigned extent : declared.extents) {
    if (values[extent] < 0)
      return refuse("{}: expected extents of at least 0, got {}", bufferName(buffer),
                    values[extent]);
    tensor.shape.push_back(values[extent]);
  }
  int64_t into = launch.into[output];
  if (into >= 0) {
    const Tensor &before = made[static_cast<size_t>(into) - arguments.size()];
    if (before.shape != tensor.shape)
      return refuse("{}: expected shape {}, as another kernel made it, got {}", bufferName(buffer),
                    shapeText(before.shape), shapeText(tensor.shape));
    made.push_back(before);
    return Status::ok();
  }
  // An empty tensor has strides too.
  int64_t bytes = byteWidth(tensor.type);
  for (int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      return refuse("{}: expected fewer than 2^63 bytes, got shape {}", bufferName(buffer),
                    shapeText(tensor.shape));
  tensor.strides = contiguousStrides(tensor.shape);
  if (Status status = place(tensor, buffer); !status)
    return status;
  made.push_back(std::move(tensor));
  return Status::ok();
}

Status ProgramRun::bindOutputs(const Launch &launch, const KernelManifest &manifest) {
  for (size_t output = 0; output < manifest.outputs.size(); ++output) {
    auto buffer = static_cast<unsigned>(arguments.size() + made.size());
    if (Status status = bindOutput(buffer, launch, output, manifest.outputs[output]); !status)
      return status;
    buffers.push_back(buffer);
    bound.push_back({&made.back(), 0});
  }
  return Status::ok();
}

Result<int64_t> ProgramRun::countItems(const KernelManifest &manifest) const {
  int64_t items = 1;
  // A zero anywhere means no work, whatever the others multiply to.
  for (unsigned extent : manifest.grid) {
    if (values[extent] < 0)
      return refuse("kernel '{}': expected extents of the grid of at least 0, got {}",
                    manifest.symbol, values[extent]);
    if (values[extent] == 0)
      return int64_t{0};
  }
  for (unsigned extent : manifest.grid)
    if (__builtin_mul_overflow(items, values[extent], &items))
      return refuse("kernel '{}': expected fewer than 2^63 work items", manifest.symbol);
  return items;
}

Status ProgramRun::runLaunch(const Launch &launch) {
  const KernelManifest &manifest = loaded.source.kernels[launch.kernel].manifest;
  const Kernel &kernel = loaded.kernels[launch.kernel];
  bindInputs(launch);
  values.assign(manifest.host.code.size(), 1);
  if (Status status = evaluate(manifest, kernel.schedule.beforeOutputs); !status)
    return status;
  // Values that wait for outputs are 1 here and checked below.
  if (Status status = checkRequirements(manifest, static_cast<unsigned>(manifest.host.code.size()));
      !status)
    return status;
  if (Status status = bindOutputs(launch, manifest); !status)
    return status;
  if (!kernel.schedule.afterOutputs.empty()) {
    if (Status status = evaluate(manifest, kernel.schedule.afterOutputs); !status)
      return status;
    if (Status status =
            checkRequirements(manifest, static_cast<unsigned>(manifest.host.code.size()));
        !status)
      return status;
  }
  Result<int64_t> items = countItems(manifest);
  if (!items)
    return items.status();
  return *items == 0 ? Status::ok() : launchKernel(kernel, manifest, *items);
}

Status ProgramRun::encodeMaps(const Kernel &kernel, const KernelManifest &manifest,
                              std::vector<driver::TensorMap> &maps) const {
  for (size_t i = 0; i < manifest.maps.size(); ++i) {
    unsigned argument = manifest.maps[i].tensor;
    const Tensor &tensor = *bound[argument].tensor;
    Result<TensorMapKey> key =
        makeTensorMapKey(manifest.maps[i], tensor, values, loaded.counters->scratch());
    Status status =
        key ? kernel.maps[i]->get(loaded.device->driver(), tensor.type, *key, maps.emplace_back())
            : key.status();
    if (!status)
      return Status::error(status.code(),
                           fmt::format("{}: {}", bufferName(buffers[argument]), status.message()));
  }
  return Status::ok();
}

void ProgramRun::fillFields(const KernelManifest &manifest, driver::Address counter,
                            std::vector<uint64_t> &fields) const {
  for (const ArgumentField &field : manifest.fields) {
    uint64_t bits = 0;
    switch (field.kind) {
    case ArgumentField::Kind::Pointer:
      bits = reinterpret_cast<uint64_t>(bound[field.index].tensor->data);
      break;
    case ArgumentField::Kind::Integer:
      bits = static_cast<uint64_t>(values[field.index]);
      break;
    case ArgumentField::Kind::Float:
      std::memcpy(&bits, &floats[field.index], sizeof(bits));
      break;
    case ArgumentField::Kind::WorkCounter:
      bits = counter;
      break;
    }
    fields.push_back(bits);
  }
}

Status ProgramRun::launchKernel(const Kernel &kernel, const KernelManifest &manifest,
                                int64_t items) {
  int64_t blocks = items;
  if (manifest.blocksPerMultiprocessor > 0)
    blocks = std::min(items, int64_t{manifest.blocksPerMultiprocessor} *
                                 loaded.device->properties().multiprocessors);
  if (blocks > std::numeric_limits<int32_t>::max())
    return refuse("kernel '{}': expected at most 2^31 - 1 blocks, got {}", manifest.symbol, blocks);
  std::vector<driver::TensorMap> maps;
  std::vector<uint64_t> fields;
  maps.reserve(manifest.maps.size());
  fields.reserve(manifest.fields.size());
  if (Status status = encodeMaps(kernel, manifest, maps); !status)
    return status;
  // Held until the kernel is queued.
  WorkCounters::Lease lease;
  if (kernel.counts) {
    Result<WorkCounters::Lease> taken = loaded.counters->get(stream);
    if (!taken)
      return taken.status();
    lease = std::move(*taken);
  }
  fillFields(manifest, lease.counter, fields);
  std::vector<void *> parameters;
  parameters.reserve(maps.size() + 1);
  for (driver::TensorMap &map : maps)
    parameters.push_back(&map);
  if (!fields.empty())
    parameters.push_back(fields.data());
  driver::LaunchConfig config;
  config.gridX = static_cast<unsigned>(blocks);
  config.blockX = manifest.threads;
  config.sharedBytes = manifest.sharedBytes;
  config.stream = stream;
  const Driver &api = loaded.device->driver();
  Status status = api.check(api.launch(&config, kernel.function, parameters.data(), nullptr),
                            "cuLaunchKernelEx");
  if (!status)
    return Status::error(status.code(),
                         fmt::format("kernel '{}': {}", manifest.symbol, status.message()));
  return Status::ok();
}

} // namespace lacuna
