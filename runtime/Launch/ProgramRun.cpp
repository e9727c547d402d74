//===- ProgramRun.cpp - one execution of a plan ----------------------------===//
#include "runtime/Launch/ProgramRun.h"

#include "runtime/Launch/PlanBuilder.h"
#include "runtime/Launch/Signature.h"
#include "runtime/Trace/Counters.h"
#include "runtime/Trace/Nvtx.h"

#include <algorithm>
#include <fmt/format.h>

namespace lacuna {

static Status inKernel(const KernelManifest &manifest, const Status &status) {
  return Status::error(status.code(),
                       fmt::format("kernel '{}': {}", manifest.symbol, status.message()));
}

Status LoadedProgram::run(driver::Stream stream, std::span<const Argument> arguments,
                          std::span<Tensor> results) const {
  NvtxRange range(rangeName.c_str());
  Status status = queue(stream, arguments, results);
  count(status ? &Counters::runs : &Counters::failedRuns);
  return status;
}

Status LoadedProgram::queue(driver::Stream stream, std::span<const Argument> arguments,
                            std::span<Tensor> results) const {
  Signature signature(arguments, results);
  std::shared_ptr<const LaunchPlan> known = signature.isComplete() ? memo.find(signature) : nullptr;
  std::shared_ptr<LaunchPlan> fresh;
  if (!known) {
    count(&Counters::plannedRuns);
    Result<std::shared_ptr<LaunchPlan>> built = PlanBuilder(*this, arguments, results).build();
    if (!built)
      return built.status();
    fresh = std::move(*built);
  }
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  ProgramRun run(*this, fresh ? *fresh : *known, stream, arguments, results);
  if (Status status = run.checkPlaces(); !status)
    return status;
  if (Status status = run.allocate(); !status)
    return status;
  if (fresh)
    if (Status status = run.encodeMaps(*fresh); !status)
      return status;
  if (Status status = run.launch(); !status)
    return status;
  if (fresh && signature.isComplete()) {
    fresh->signature.assign(signature.words().begin(), signature.words().end());
    memo.insert(std::move(fresh));
  }
  return Status::ok();
}

ProgramRun::ProgramRun(const LoadedProgram &loaded, const LaunchPlan &plan, driver::Stream stream,
                       std::span<const Argument> arguments, std::span<Tensor> results)
    : loaded(loaded), plan(plan), stream(stream), results(results), addresses(loaded.bufferCount) {
  std::fill(addresses.begin(), addresses.end(), nullptr);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto *tensor = std::get_if<Tensor>(&arguments[i]))
      addresses[i] = tensor->data;
  for (const LaunchPlan::Given &given : plan.given)
    addresses[given.buffer] = results[given.result].data;
}

ProgramRun::~ProgramRun() {
  for (size_t i = 0; i < allocated; ++i) {
    const LaunchPlan::Allocation &allocation = plan.allocations[i];
    if (allocation.result < 0 || failed)
      loaded.memory->release(addresses[allocation.buffer], stream);
  }
}

Status ProgramRun::checkPlaces() const {
  for (unsigned buffer : plan.callers)
    if (Status status = loaded.places.check(addresses[buffer]); !status)
      return Status::error(status.code(),
                           fmt::format("{}: {}", loaded.bufferName(buffer), status.message()));
  return Status::ok();
}

Status ProgramRun::allocate() {
  for (const LaunchPlan::Allocation &allocation : plan.allocations) {
    Result<void *> memory = loaded.memory->allocate(allocation.bytes, stream);
    if (!memory)
      return memory.status();
    addresses[allocation.buffer] = *memory;
    ++allocated;
    count(&Counters::allocations);
    count(&Counters::allocatedBytes, allocation.bytes);
    // Maps were checked as if it were so.
    if (reinterpret_cast<uint64_t>(*memory) % DeviceAllocator::alignment != 0)
      return Status::error(StatusCode::InvalidArgument,
                           fmt::format("expected the allocator to align memory to {} bytes, got {}",
                                       DeviceAllocator::alignment, *memory));
  }
  return Status::ok();
}

uint64_t ProgramRun::addressOf(const PlannedMap &map) const {
  return map.buffer ? reinterpret_cast<uint64_t>(addresses[*map.buffer]) + map.offset
                    : map.key.address;
}

Status ProgramRun::encodeMaps(LaunchPlan &plan) const {
  for (PlannedLaunch &planned : plan.launches) {
    const KernelManifest &manifest = loaded.source.kernels[planned.kernel].manifest;
    for (size_t i = 0; i < planned.maps.size(); ++i) {
      PlannedMap &map = planned.maps[i];
      map.key.address = addressOf(map);
      if (Status status = encodeTensorMap(loaded.device->driver(), manifest.maps[i], map.type,
                                          map.key, map.map);
          !status)
        return inKernel(manifest, status);
    }
  }
  return Status::ok();
}

Status ProgramRun::launch() {
  for (const PlannedLaunch &planned : plan.launches)
    if (Status status = launchKernel(planned); !status)
      return inKernel(loaded.source.kernels[planned.kernel].manifest, status);
  count(&Counters::launches, plan.launches.size());
  for (const LaunchPlan::Made &made : plan.made) {
    Tensor &result = results[made.result];
    result.type = made.tensor.type;
    result.shape = made.tensor.shape;
    result.strides = made.tensor.strides;
    result.data = addresses[made.buffer];
  }
  failed = false;
  return Status::ok();
}

Status ProgramRun::launchKernel(const PlannedLaunch &planned) const {
  const KernelManifest &manifest = loaded.source.kernels[planned.kernel].manifest;
  const Driver &api = loaded.device->driver();
  // The driver copies parameters before it returns.
  InlineArray<void *, 16> parameters(planned.maps.size() + 1);
  InlineArray<driver::TensorMap, 8> moved(planned.maps.size());
  for (size_t i = 0; i < planned.maps.size(); ++i) {
    const PlannedMap &map = planned.maps[i];
    // The driver's interface has no const; it reads.
    parameters[i] = const_cast<driver::TensorMap *>(&map.map);
    uint64_t address = addressOf(map);
    if (address == map.key.address)
      continue;
    moved[i] = map.map;
    parameters[i] = &moved[i];
    if (Status status = api.check(api.replaceAddress(&moved[i], reinterpret_cast<void *>(address)),
                                  "cuTensorMapReplaceAddress");
        !status)
      return status;
  }
  InlineArray<uint64_t, 64> fields(planned.fields.size());
  std::copy(planned.fields.begin(), planned.fields.end(), fields.begin());
  for (const PlannedLaunch::Pointer &pointer : planned.pointers)
    fields[pointer.field] = reinterpret_cast<uint64_t>(addresses[pointer.buffer]);
  parameters[planned.maps.size()] = fields.data();
  // Held until the kernel is queued.
  WorkCounters::Lease lease;
  if (!planned.counters.empty()) {
    Result<WorkCounters::Lease> taken = loaded.counters->get(stream);
    if (!taken)
      return taken.status();
    lease = std::move(*taken);
    for (unsigned field : planned.counters)
      fields[field] = lease.counter;
  }
  driver::LaunchConfig config;
  config.gridX = planned.blocks;
  config.blockX = manifest.threads;
  config.sharedBytes = manifest.sharedBytes;
  config.stream = stream;
  return api.check(
      api.launch(&config, loaded.kernels[planned.kernel].function, parameters.data(), nullptr),
      "cuLaunchKernelEx");
}

} // namespace lacuna
