//===- PlanBuilder.cpp - works a launch out --------------------------------===//
#include "runtime/Launch/PlanBuilder.h"

#include "runtime/Launch/CheckArguments.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace lacuna {

template <typename... Values>
static Status refuse(fmt::format_string<Values...> format, Values &&...values) {
  return Status::error(StatusCode::InvalidArgument,
                       fmt::format(format, std::forward<Values>(values)...));
}

/// Their number may exceed 64 bits where strides are 0.
static bool hasElements(const Tensor &tensor) {
  return std::ranges::find(tensor.shape, 0) == tensor.shape.end();
}

Result<std::shared_ptr<LaunchPlan>> PlanBuilder::build() {
  if (Status status = checkArguments(loaded.source, arguments); !status)
    return status;
  if (results.size() != loaded.source.results.size())
    return refuse("expected {} results of {}, got {}", loaded.source.results.size(),
                  loaded.source.name, results.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto *tensor = std::get_if<Tensor>(&arguments[i]); tensor && hasElements(*tensor))
      plan->callers.push_back(static_cast<unsigned>(i));
  // Tensors must not move: host arguments point at them.
  made.reserve(loaded.bufferCount - arguments.size());
  for (const Launch &launch : loaded.source.launches)
    if (Status status = planLaunch(launch); !status)
      return status;
  planResults();
  return std::move(plan);
}

void PlanBuilder::bindInputs(const Launch &launch) {
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

Status PlanBuilder::checkRequirements(const KernelManifest &manifest, unsigned before) const {
  for (const Requirement &requirement : manifest.requirements)
    if (requirement.value < before && values[requirement.value] == 0)
      return refuse("{}", fillMessage(requirement, values));
  return Status::ok();
}

Status PlanBuilder::evaluate(const KernelManifest &manifest, std::span<const unsigned> order) {
  std::optional<HostFailure> failure = evaluateHostProgram(manifest.host, order, bound, values);
  if (!failure)
    return Status::ok();
  // A requirement says better what is wrong than the division that it should have prevented. Values
  // that were not computed yet are 1, which breaks none.
  if (Status status = checkRequirements(manifest, failure->value); !status)
    return status;
  return refuse("kernel '{}': {}", manifest.symbol, failure->message);
}

Status PlanBuilder::place(Tensor &tensor, unsigned buffer) {
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
      plan->given.push_back({buffer, static_cast<unsigned>(result)});
      if (hasElements(given))
        plan->callers.push_back(buffer);
      return Status::ok();
    }
  }
  if (auto bytes = static_cast<uint64_t>(tensor.elements()) * byteWidth(tensor.type))
    plan->allocations.push_back({buffer, result, bytes});
  return Status::ok();
}

Status PlanBuilder::bindOutput(unsigned buffer, const Launch &launch, size_t output,
                               const KernelManifest::Output &declared) {
  Tensor tensor;
  tensor.type = declared.type;
  for (unsigned extent : declared.extents) {
    if (values[extent] < 0)
      return refuse("{}: expected extents of at least 0, got {}", loaded.bufferName(buffer),
                    values[extent]);
    tensor.shape.push_back(values[extent]);
  }
  int64_t into = launch.into[output];
  if (into >= 0) {
    const Tensor &before = made[static_cast<size_t>(into) - arguments.size()];
    if (before.shape != tensor.shape)
      return refuse("{}: expected shape {}, as another kernel made it, got {}",
                    loaded.bufferName(buffer), shapeText(before.shape), shapeText(tensor.shape));
    made.push_back(before);
    return Status::ok();
  }
  // An empty tensor has strides too.
  int64_t bytes = byteWidth(tensor.type);
  for (int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      return refuse("{}: expected fewer than 2^63 bytes, got shape {}", loaded.bufferName(buffer),
                    shapeText(tensor.shape));
  tensor.strides = contiguousStrides(tensor.shape);
  if (Status status = place(tensor, buffer); !status)
    return status;
  made.push_back(std::move(tensor));
  return Status::ok();
}

Status PlanBuilder::bindOutputs(const Launch &launch, const KernelManifest &manifest) {
  for (size_t output = 0; output < manifest.outputs.size(); ++output) {
    auto buffer = static_cast<unsigned>(arguments.size() + made.size());
    if (Status status = bindOutput(buffer, launch, output, manifest.outputs[output]); !status)
      return status;
    buffers.push_back(buffer);
    bound.push_back({&made.back(), 0});
  }
  return Status::ok();
}

Result<int64_t> PlanBuilder::countItems(const KernelManifest &manifest) const {
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

Result<unsigned> PlanBuilder::countBlocks(const KernelManifest &manifest, int64_t items) const {
  int64_t blocks = items;
  if (manifest.blocksPerMultiprocessor > 0)
    blocks = std::min(items, int64_t{manifest.blocksPerMultiprocessor} *
                                 loaded.device->properties().multiprocessors);
  if (blocks > std::numeric_limits<int32_t>::max())
    return refuse("kernel '{}': expected at most 2^31 - 1 blocks, got {}", manifest.symbol, blocks);
  return static_cast<unsigned>(blocks);
}

Status PlanBuilder::planMaps(const KernelManifest &manifest, PlannedLaunch &planned) const {
  const driver::Address scratch = loaded.counters->scratch();
  for (const TensorMapRecipe &recipe : manifest.maps) {
    const Tensor &tensor = *bound[recipe.tensor].tensor;
    Result<TensorMapKey> key = makeTensorMapKey(recipe, tensor, values, scratch);
    if (!key)
      return Status::error(
          key.status().code(),
          fmt::format("{}: {}", loaded.bufferName(buffers[recipe.tensor]), key.status().message()));
    PlannedMap map{.map = {}, .key = *key, .type = tensor.type, .buffer = {}, .offset = 0};
    if (key->address != scratch) {
      map.buffer = rootOf(recipe.tensor);
      map.offset = key->address - reinterpret_cast<uint64_t>(tensor.data);
    }
    planned.maps.push_back(map);
  }
  return Status::ok();
}

void PlanBuilder::planFields(const KernelManifest &manifest, PlannedLaunch &planned) const {
  for (const ArgumentField &field : manifest.fields) {
    auto number = static_cast<unsigned>(planned.fields.size());
    uint64_t bits = 0;
    switch (field.kind) {
    case ArgumentField::Kind::Pointer:
      planned.pointers.push_back({number, rootOf(field.index)});
      break;
    case ArgumentField::Kind::Integer:
      bits = static_cast<uint64_t>(values[field.index]);
      break;
    case ArgumentField::Kind::Float:
      std::memcpy(&bits, &floats[field.index], sizeof(bits));
      break;
    case ArgumentField::Kind::WorkCounter:
      planned.counters.push_back(number);
      break;
    }
    planned.fields.push_back(bits);
  }
}

Status PlanBuilder::planLaunch(const Launch &launch) {
  const KernelManifest &manifest = loaded.source.kernels[launch.kernel].manifest;
  const HostSchedule &schedule = loaded.kernels[launch.kernel].schedule;
  const auto all = static_cast<unsigned>(manifest.host.code.size());
  bindInputs(launch);
  values.assign(all, 1);
  if (Status status = evaluate(manifest, schedule.beforeOutputs); !status)
    return status;
  // Values that wait for outputs are 1 here and checked below.
  if (Status status = checkRequirements(manifest, all); !status)
    return status;
  if (Status status = bindOutputs(launch, manifest); !status)
    return status;
  if (!schedule.afterOutputs.empty()) {
    if (Status status = evaluate(manifest, schedule.afterOutputs); !status)
      return status;
    if (Status status = checkRequirements(manifest, all); !status)
      return status;
  }
  Result<int64_t> items = countItems(manifest);
  if (!items)
    return items.status();
  if (*items == 0)
    return Status::ok();
  Result<unsigned> blocks = countBlocks(manifest, *items);
  if (!blocks)
    return blocks.status();
  PlannedLaunch planned;
  planned.kernel = launch.kernel;
  planned.blocks = *blocks;
  if (Status status = planMaps(manifest, planned); !status)
    return status;
  planFields(manifest, planned);
  plan->launches.push_back(std::move(planned));
  return Status::ok();
}

void PlanBuilder::planResults() {
  for (size_t i = 0; i < results.size(); ++i) {
    unsigned buffer = loaded.source.results[i];
    if (!results[i].data)
      plan->made.push_back(
          {static_cast<unsigned>(i), loaded.root[buffer], made[buffer - arguments.size()]});
  }
}

} // namespace lacuna
