//===- CheckManifest.cpp - is a program well formed? -----------------------===//
#include "lib/Artifact/CheckManifest.h"

#include "lib/Artifact/HostProgram.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace lacuna {

template <typename... Values>
static Status corrupt(fmt::format_string<Values...> format, Values &&...values) {
  return Status::error(StatusCode::Corrupt, fmt::format(format, std::forward<Values>(values)...));
}

static Status checkMap(const KernelManifest &manifest, size_t number) {
  const TensorMapRecipe &map = manifest.maps[number];
  size_t arguments = manifest.inputs + manifest.outputs.size(), values = manifest.host.code.size();
  if (map.tensor >= arguments)
    return corrupt("expected map {} to be of one of {} arguments, got {}", number, arguments,
                   map.tensor);
  if (map.axes.empty() || map.axes.size() > 5)
    return corrupt("expected map {} to have 1 to 5 axes, got {}", number, map.axes.size());
  if (map.base && *map.base >= values)
    return corrupt("expected the base of map {} to be one of {} host values, got {}", number,
                   values, *map.base);
  for (size_t axis = 0; axis < map.axes.size(); ++axis) {
    const TensorMapRecipe::Axis &of = map.axes[axis];
    if (of.box == 0 || of.box > 256)
      return corrupt("expected boxes of map {} to have 1 to 256 elements along an axis, got {}",
                     number, of.box);
    // The stride of the first axis is not read.
    if (of.extent >= values || (axis > 0 && of.stride >= values))
      return corrupt("expected axis {} of map {} to use one of {} host values", axis, number,
                     values);
  }
  if (map.swizzle < TensorMapRecipe::Swizzle::None ||
      map.swizzle > TensorMapRecipe::Swizzle::Bytes128)
    return corrupt("expected a known swizzle in map {}, got number {}", number,
                   static_cast<int>(map.swizzle));
  return Status::ok();
}

static Status checkFields(const KernelManifest &manifest) {
  size_t arguments = manifest.inputs + manifest.outputs.size(), values = manifest.host.code.size();
  for (size_t number = 0; number < manifest.fields.size(); ++number) {
    const ArgumentField &field = manifest.fields[number];
    size_t limit = 0;
    switch (field.kind) {
    case ArgumentField::Kind::Pointer:
      limit = arguments;
      break;
    case ArgumentField::Kind::Integer:
      limit = values;
      break;
    case ArgumentField::Kind::Float:
      limit = manifest.inputs;
      break;
    case ArgumentField::Kind::WorkCounter:
      continue;
    }
    if (field.index >= limit)
      return corrupt("expected field {} to refer to a number below {}, got {}", number, limit,
                     field.index);
  }
  return Status::ok();
}

static Status checkOutputs(const KernelManifest &manifest) {
  HostSchedule schedule = scheduleHostProgram(manifest.host, manifest.inputs);
  for (size_t number = 0; number < manifest.outputs.size(); ++number)
    for (unsigned extent : manifest.outputs[number].extents) {
      if (extent >= manifest.host.code.size())
        return corrupt("expected extents of output {} to be host values, got {}", number, extent);
      if (std::binary_search(schedule.afterOutputs.begin(), schedule.afterOutputs.end(), extent))
        return corrupt("expected extents of output {} to depend on inputs only", number);
    }
  return Status::ok();
}

Status checkManifest(const KernelManifest &manifest) {
  size_t values = manifest.host.code.size();
  if (manifest.symbol.empty())
    return corrupt("expected the kernel to have a symbol");
  if (manifest.threads == 0 || manifest.threads > 1024)
    return corrupt("expected 1 to 1024 threads, got {}", manifest.threads);
  if (manifest.sharedBytes > largestSharedBytes)
    return corrupt("expected at most {} bytes of shared memory, got {}", largestSharedBytes,
                   manifest.sharedBytes);
  size_t parameters = manifest.maps.size() * 128 + manifest.fields.size() * 8;
  if (parameters > largestParameterBytes)
    return corrupt("expected at most {} bytes of parameters, got {}", largestParameterBytes,
                   parameters);
  auto arguments = static_cast<unsigned>(manifest.inputs + manifest.outputs.size());
  if (Status status = checkHostProgram(manifest.host, arguments); !status)
    return status;
  for (const Requirement &requirement : manifest.requirements) {
    auto absent = [&](unsigned value) { return value >= values; };
    if (absent(requirement.value) ||
        std::any_of(requirement.values.begin(), requirement.values.end(), absent))
      return corrupt("expected requirement '{}' to use one of {} host values", requirement.message,
                     values);
  }
  if (manifest.grid.empty())
    return corrupt("expected the grid to have at least one extent");
  for (unsigned extent : manifest.grid)
    if (extent >= values)
      return corrupt("expected the grid to use one of {} host values, got {}", values, extent);
  for (size_t number = 0; number < manifest.maps.size(); ++number)
    if (Status status = checkMap(manifest, number); !status)
      return status;
  if (Status status = checkFields(manifest); !status)
    return status;
  return checkOutputs(manifest);
}

namespace {
/// A buffer of a program: kind, element type and rank.
using Buffer = ArgumentDeclaration;

/// Follows the launches and the buffers that they make.
class ProgramChecker {
public:
  explicit ProgramChecker(const Program &program)
      : program(program), buffers(program.arguments.begin(), program.arguments.end()) {}
  Status check();

private:
  Status checkSize() const;
  Status checkLaunch(const Launch &launch);
  Status checkInto(const Launch &launch, const KernelManifest &manifest) const;
  /// Whether what the host program and the fields read is there.
  Status checkReads(const KernelManifest &manifest, const std::vector<Buffer> &arguments) const;
  Status checkMaps(const KernelManifest &manifest, const std::vector<Buffer> &arguments) const;

  const Program &program;
  std::vector<Buffer> buffers;
};
} // namespace

Status ProgramChecker::checkReads(const KernelManifest &manifest,
                                  const std::vector<Buffer> &arguments) const {
  using Op = HostInstruction::Op;
  for (const HostInstruction &instruction : manifest.host.code) {
    if (instruction.op == Op::Scalar) {
      if (arguments[static_cast<size_t>(instruction.a)].kind != Buffer::Kind::Integer)
        return corrupt("expected argument {} of {} to be an integer", instruction.a,
                       manifest.symbol);
    } else if (instruction.op == Op::Extent || instruction.op == Op::Stride) {
      const Buffer &buffer = arguments[static_cast<size_t>(instruction.a)];
      if (buffer.kind != Buffer::Kind::Tensor ||
          instruction.b >= static_cast<int64_t>(buffer.shape.size()))
        return corrupt("expected argument {} of {} to be a tensor with an axis {}", instruction.a,
                       manifest.symbol, instruction.b);
    }
  }
  for (const ArgumentField &field : manifest.fields) {
    if (field.kind == ArgumentField::Kind::Pointer &&
        arguments[field.index].kind != Buffer::Kind::Tensor)
      return corrupt("expected argument {} of {} to be a tensor", field.index, manifest.symbol);
    if (field.kind == ArgumentField::Kind::Float &&
        arguments[field.index].kind != Buffer::Kind::Float)
      return corrupt("expected argument {} of {} to be a float", field.index, manifest.symbol);
  }
  return Status::ok();
}

/// Bytes that one row of a swizzled box may have.
static unsigned widestRow(TensorMapRecipe::Swizzle swizzle) {
  switch (swizzle) {
  case TensorMapRecipe::Swizzle::None:
    return 256 * 8;
  case TensorMapRecipe::Swizzle::Bytes32:
    return 32;
  case TensorMapRecipe::Swizzle::Bytes64:
    return 64;
  case TensorMapRecipe::Swizzle::Bytes128:
    return 128;
  }
  return 0;
}

Status ProgramChecker::checkMaps(const KernelManifest &manifest,
                                 const std::vector<Buffer> &arguments) const {
  for (size_t number = 0; number < manifest.maps.size(); ++number) {
    const TensorMapRecipe &map = manifest.maps[number];
    const Buffer &buffer = arguments[map.tensor];
    if (buffer.kind != Buffer::Kind::Tensor)
      return corrupt("expected map {} of {} to be of a tensor", number, manifest.symbol);
    unsigned row = map.axes.front().box * byteWidth(buffer.type);
    if (row % 16 != 0 || row > widestRow(map.swizzle))
      return corrupt("expected rows of boxes of map {} of {} to be multiples of 16 bytes up to {}, "
                     "got {}",
                     number, manifest.symbol, widestRow(map.swizzle), row);
    uint64_t bytes = byteWidth(buffer.type);
    for (const TensorMapRecipe::Axis &axis : map.axes)
      bytes = std::min<uint64_t>(bytes * axis.box, uint64_t{1} << 32);
    if (bytes > largestSharedBytes)
      return corrupt("expected boxes of map {} of {} to fit into shared memory, got {} bytes",
                     number, manifest.symbol, bytes);
  }
  return Status::ok();
}

Status ProgramChecker::checkInto(const Launch &launch, const KernelManifest &manifest) const {
  for (size_t output = 0; output < launch.into.size(); ++output) {
    int64_t buffer = launch.into[output];
    if (buffer == -1)
      continue;
    if (buffer < static_cast<int64_t>(program.arguments.size()) ||
        buffer >= static_cast<int64_t>(buffers.size()))
      return corrupt("expected output {} of {} to overwrite a result of an earlier launch, got "
                     "buffer {}",
                     output, manifest.symbol, buffer);
    const Buffer &before = buffers[static_cast<size_t>(buffer)];
    if (before.type != manifest.outputs[output].type ||
        before.shape.size() != manifest.outputs[output].extents.size())
      return corrupt("expected output {} of {} to have the type and rank of buffer {}", output,
                     manifest.symbol, buffer);
  }
  return Status::ok();
}

Status ProgramChecker::checkLaunch(const Launch &launch) {
  if (launch.kernel >= program.kernels.size())
    return corrupt("expected a launch of one of {} kernels, got {}", program.kernels.size(),
                   launch.kernel);
  const KernelManifest &manifest = program.kernels[launch.kernel].manifest;
  if (launch.inputs.size() != manifest.inputs)
    return corrupt("expected a launch of {} to have {} inputs, got {}", manifest.symbol,
                   manifest.inputs, launch.inputs.size());
  if (launch.into.size() != manifest.outputs.size())
    return corrupt("expected a launch of {} to have {} outputs, got {}", manifest.symbol,
                   manifest.outputs.size(), launch.into.size());
  std::vector<Buffer> arguments;
  for (unsigned input : launch.inputs) {
    if (input >= buffers.size())
      return corrupt("expected inputs of {} to be made before, got buffer {}", manifest.symbol,
                     input);
    arguments.push_back(buffers[input]);
  }
  if (Status status = checkInto(launch, manifest); !status)
    return status;
  for (const KernelManifest::Output &output : manifest.outputs) {
    Buffer buffer;
    buffer.type = output.type;
    buffer.shape.assign(output.extents.size(), -1);
    arguments.push_back(buffer);
    buffers.push_back(buffer);
  }
  if (Status status = checkReads(manifest, arguments); !status)
    return status;
  return checkMaps(manifest, arguments);
}

/// A kernel may be launched again and again: what launches take together is bounded, not only what
/// each kernel has.
Status ProgramChecker::checkSize() const {
  size_t values = 0;
  for (const Launch &launch : program.launches) {
    if (launch.kernel >= program.kernels.size())
      continue;
    const KernelManifest &manifest = program.kernels[launch.kernel].manifest;
    values += manifest.host.code.size() + manifest.outputs.size();
    for (const KernelManifest::Output &output : manifest.outputs)
      values += output.extents.size();
    if (values > mostHostValues)
      return corrupt("expected launches with at most {} host values together", mostHostValues);
  }
  return Status::ok();
}

Status ProgramChecker::check() {
  if (Status status = checkSize(); !status)
    return status;
  for (const KernelCode &kernel : program.kernels)
    if (Status status = checkManifest(kernel.manifest); !status)
      return corrupt("kernel '{}': {}", kernel.manifest.symbol, status.message());
  for (const Launch &launch : program.launches)
    if (Status status = checkLaunch(launch); !status)
      return status;
  if (!program.resultNames.empty() && program.resultNames.size() != program.results.size())
    return corrupt("expected names of {} results, got {}", program.results.size(),
                   program.resultNames.size());
  for (unsigned result : program.results)
    if (result >= buffers.size() || buffers[result].kind != Buffer::Kind::Tensor)
      return corrupt("expected results to be tensors of the program, got buffer {}", result);
  return Status::ok();
}

Status checkProgram(const Program &program) { return ProgramChecker(program).check(); }

} // namespace lacuna
