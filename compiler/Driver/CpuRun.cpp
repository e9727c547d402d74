//===- CpuRun.cpp - one run of a CPU program ------------------------------===//
#include "compiler/Driver/CpuProgram.h"
#include "lib/Support/Half.h"
#include "lib/Support/Text.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>

namespace lacuna {

/// What a launch reads or writes. Tensors are views.
struct CpuProgram::Buffer {
  Argument value;
  /// Memory that the run allocated; null for arguments and for results that the caller gave.
  std::shared_ptr<OwnedTensor> owner;
  /// Where the caller wants it, or null.
  const Tensor *given = nullptr;
};

/// The addresses that a packed function takes, and what lies there.
class CpuProgram::Arguments {
public:
  void add(const Tensor &tensor) {
    addPointer(tensor.data); // allocated
    addPointer(tensor.data); // aligned
    addInteger(0);           // offset
    for (int64_t extent : tensor.shape)
      addInteger(extent);
    for (int64_t stride : tensor.strides)
      addInteger(stride);
  }
  void addInteger(int64_t value) { push(&value, sizeof(value)); }
  void addScalar(const Argument &value, Scalar type) {
    auto integer = [&] { return std::get<int64_t>(value); };
    auto number = [&] { return std::get<double>(value); };
    switch (type) {
    case Scalar::None:
      return;
    case Scalar::I1:
    case Scalar::I8:
    case Scalar::I16:
    case Scalar::I32:
    case Scalar::I64:
      return addInteger(integer()); // Little-endian: the low bytes come first.
    case Scalar::F16:
      return addInteger(toF16(number()));
    case Scalar::BF16:
      return addInteger(toBF16(number()));
    case Scalar::F32: {
      auto single = static_cast<float>(number());
      return push(&single, sizeof(single));
    }
    case Scalar::F64: {
      double wide = number();
      return push(&wide, sizeof(wide));
    }
    }
  }
  /// Valid while the arguments live; each thread takes its own and appends its range.
  std::vector<void *> addresses() const { return pointers; }

private:
  void addPointer(void *pointer) { push(&pointer, sizeof(pointer)); }
  void push(const void *bytes, size_t size) {
    uint64_t &cell = cells.emplace_back(0);
    std::memcpy(&cell, bytes, size);
    pointers.push_back(&cell);
  }

  /// A deque: addresses stay.
  std::deque<uint64_t> cells;
  std::vector<void *> pointers;
};

Status CpuProgram::check(std::span<const Argument> arguments) const {
  auto fail = [](std::string text) {
    return Status::error(StatusCode::InvalidArgument, std::move(text));
  };
  if (arguments.size() != declarations.size())
    return fail(
        fmt::format("expected {} arguments, got {}", declarations.size(), arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentDeclaration &declared = declarations[i];
    using Kind = ArgumentDeclaration::Kind;
    const auto *tensor = std::get_if<Tensor>(&arguments[i]);
    if ((declared.kind == Kind::Tensor) != (tensor != nullptr) ||
        (declared.kind == Kind::Integer) != std::holds_alternative<int64_t>(arguments[i])) {
      const char *kinds[] = {"a tensor", "an integer", "a float"};
      return fail(fmt::format("expected argument '{}' to be {}, got {}", declared.name,
                              kinds[static_cast<int>(declared.kind)], kinds[arguments[i].index()]));
    }
    if (!tensor)
      continue;
    if (tensor->type != declared.type)
      return fail(fmt::format("expected argument '{}' to have elements of type {}, got {}",
                              declared.name, toString(declared.type), toString(tensor->type)));
    if (tensor->shape.size() != declared.shape.size() ||
        tensor->strides.size() != tensor->shape.size())
      return fail(fmt::format("expected argument '{}' to have {} axes, got {}", declared.name,
                              declared.shape.size(), shapeText(tensor->shape)));
    for (size_t axis = 0; axis < declared.shape.size(); ++axis) {
      int64_t extent = tensor->shape[axis];
      if (extent < 0 || (declared.shape[axis] >= 0 && extent != declared.shape[axis]))
        return fail(fmt::format("expected argument '{}' to have extent {} along axis {}, got {}",
                                declared.name,
                                declared.shape[axis] < 0 ? std::string("at least 0")
                                                         : std::to_string(declared.shape[axis]),
                                axis, extent));
    }
    if (!tensor->data && tensor->elements() > 0)
      return fail(fmt::format("expected argument '{}' to have memory, got none", declared.name));
  }
  return Status::ok();
}

bool CpuProgram::isReadAfter(const Step &step, unsigned buffer) const {
  auto contains = [&](const std::vector<unsigned> &list) {
    return std::find(list.begin(), list.end(), buffer) != list.end();
  };
  if (contains(results) || contains(step.inputs))
    return true;
  for (const Step *later = &step + 1; later != steps.data() + steps.size(); ++later)
    if (contains(later->inputs) || contains(later->into))
      return true;
  return false;
}

/// The product of extents; nothing when one is negative or the product does not fit.
static std::optional<int64_t> product(const int64_t *extents, size_t count) {
  int64_t total = 1;
  for (size_t i = 0; i < count; ++i) {
    if (extents[i] == 0)
      return 0;
    if (extents[i] < 0 || __builtin_mul_overflow(total, extents[i], &total))
      return std::nullopt;
  }
  return total;
}

/// Gives a new output its memory. Kernels write contiguous tensors; what the caller gave with
/// another layout is filled at the end.
Status CpuProgram::placeOutput(ElementType type, const std::vector<int64_t> &shape,
                               Buffer &target) {
  if (const Tensor *given = target.given) {
    if (given->type != type || given->shape != shape)
      return Status::error(StatusCode::InvalidArgument,
                           fmt::format("expected a result of {} elements and shape {}, got {} of "
                                       "shape {}",
                                       toString(type), shapeText(shape), toString(given->type),
                                       shapeText(given->shape)));
    if (given->isContiguous()) {
      target.value = *given;
      return Status::ok();
    }
  }
  target.owner = std::make_shared<OwnedTensor>(type, shape);
  target.value = target.owner->view();
  return Status::ok();
}

Status CpuProgram::allocateOutputs(const Step &step, const int64_t *extents,
                                   std::vector<Buffer> &buffers) const {
  // What one process can hold; beyond it the request is a mistake.
  constexpr int64_t mostElements = int64_t(1) << 48;
  const Kernel &kernel = kernels[step.kernel];
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const Output &output = kernel.outputs[i];
    std::vector<int64_t> shape(extents, extents + output.rank);
    extents += output.rank;
    std::optional<int64_t> elements = product(shape.data(), shape.size());
    if (!elements || *elements > mostElements)
      return Status::error(
          StatusCode::InvalidArgument,
          fmt::format("expected a result that fits into memory, got one of {}", shapeText(shape)));
    Buffer &target = buffers[step.firstResult + i];
    const Buffer *before = nullptr;
    if (!step.into.empty()) {
      before = &buffers[step.into[i]];
      const Tensor &old = std::get<Tensor>(before->value);
      if (old.shape != shape || old.type != output.type)
        return Status::error(StatusCode::InvalidArgument,
                             fmt::format("expected to continue a result of {}, got {}",
                                         shapeText(shape), shapeText(old.shape)));
      if (step.into[i] >= declarations.size() && !isReadAfter(step, step.into[i])) {
        target.value = before->value;
        target.owner = before->owner;
        continue;
      }
    }
    if (Status status = placeOutput(output.type, shape, target); !status)
      return status;
    Tensor &made = std::get<Tensor>(target.value);
    if (before)
      copyElements(std::get<Tensor>(before->value), made);
    else if (options.poisonOutputs && *elements > 0)
      std::memset(made.data, 0xFF, static_cast<size_t>(*elements) * byteWidth(output.type));
  }
  return Status::ok();
}

Status CpuProgram::runStep(const Step &step, std::vector<Buffer> &buffers,
                           Executor &executor) const {
  const Kernel &kernel = kernels[step.kernel];
  Arguments plan, body;
  for (unsigned input : step.inputs) {
    const Argument &value = buffers[input].value;
    for (Arguments *list : {&plan, &body}) {
      if (const auto *tensor = std::get_if<Tensor>(&value))
        list->add(*tensor);
      else
        list->addScalar(value, scalars[input]);
    }
  }
  size_t numbers = kernel.gridRank;
  for (const Output &output : kernel.outputs)
    numbers += output.rank;
  for (const Requirement &requirement : kernel.requirements)
    numbers = std::max(numbers, requirement.values);
  std::vector<int64_t> out(1 + numbers);
  Tensor outView;
  outView.type = ElementType::I64;
  outView.shape = {static_cast<int64_t>(out.size())};
  outView.strides = {1};
  outView.data = out.data();
  plan.add(outView);
  kernel.plan(plan.addresses().data());
  if (out[0] != 0) {
    const Requirement &broken = kernel.requirements[static_cast<size_t>(out[0] - 1)];
    std::string text = broken.message;
    for (size_t i = 0; i < broken.values; ++i) {
      std::string hole = fmt::format("{{{}}}", i);
      for (size_t at = text.find(hole); at != std::string::npos; at = text.find(hole))
        text.replace(at, hole.size(), std::to_string(out[1 + i]));
    }
    return Status::error(StatusCode::InvalidArgument, text);
  }

  const int64_t *grid = out.data() + 1;
  Status allocated = allocateOutputs(step, grid + kernel.gridRank, buffers);
  if (!allocated)
    return allocated;
  for (size_t i = 0; i < kernel.outputs.size(); ++i)
    body.add(std::get<Tensor>(buffers[step.firstResult + i].value));
  std::optional<int64_t> points = product(grid, kernel.gridRank);
  if (!points)
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("expected a grid that fits 64 bits, got {}",
                                     shapeText({grid, grid + kernel.gridRank})));
  for (size_t axis = 0; axis < kernel.gridRank; ++axis)
    body.addInteger(grid[axis]);
  executor.parallelFor(*points, [&](int64_t begin, int64_t end) {
    std::vector<void *> addresses = body.addresses();
    addresses.push_back(&begin);
    addresses.push_back(&end);
    kernel.body(addresses.data());
  });
  return Status::ok();
}

Status CpuProgram::runSteps(std::span<const Argument> arguments, std::vector<Buffer> &buffers,
                            Executor &executor) const {
  if (Status status = check(arguments); !status)
    return status;
  for (size_t i = 0; i < arguments.size(); ++i)
    buffers[i].value = arguments[i];
  for (const Step &step : steps)
    if (Status status = runStep(step, buffers, executor); !status)
      return status;
  return Status::ok();
}

size_t CpuProgram::countBuffers() const {
  size_t count = declarations.size();
  for (const Step &step : steps)
    count += kernels[step.kernel].outputs.size();
  return count;
}

Result<std::vector<OwnedTensor>> CpuProgram::run(const std::vector<Argument> &arguments,
                                                 Executor &executor) const {
  std::vector<Buffer> buffers(countBuffers());
  if (Status status = runSteps(arguments, buffers, executor); !status)
    return status;
  std::vector<OwnedTensor> tensors;
  for (size_t i = 0; i < results.size(); ++i) {
    Buffer &buffer = buffers[results[i]];
    bool again = std::find(results.begin() + static_cast<ptrdiff_t>(i) + 1, results.end(),
                           results[i]) != results.end();
    // An earlier launch's result may share its memory with the one that continues it.
    if (again || !buffer.owner || buffer.owner.use_count() > 1)
      tensors.push_back(OwnedTensor::clone(std::get<Tensor>(buffer.value)));
    else
      tensors.push_back(std::move(*buffer.owner));
  }
  return tensors;
}

/// The launch that makes `buffer`.
const CpuProgram::Step &CpuProgram::makerOf(unsigned buffer) const {
  return *std::find_if(steps.rbegin(), steps.rend(),
                       [&](const Step &step) { return step.firstResult <= buffer; });
}

/// Says at the first buffer of the chain that becomes `buffer` where the caller wants it.
void CpuProgram::wantAt(unsigned buffer, const Tensor &given, std::vector<Buffer> &buffers) const {
  while (buffer >= declarations.size()) {
    const Step &step = makerOf(buffer);
    unsigned before = step.into.empty() ? 0 : step.into[buffer - step.firstResult];
    if (step.into.empty() || before < declarations.size() || isReadAfter(step, before))
      break;
    buffer = before;
  }
  if (buffer >= declarations.size() && !buffers[buffer].given)
    buffers[buffer].given = &given;
}

Status CpuProgram::run(std::span<const Argument> arguments, std::span<const Tensor> given,
                       Executor &executor) const {
  if (given.size() != results.size())
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("expected {} results, got {}", results.size(), given.size()));
  std::vector<Buffer> buffers(countBuffers());
  for (size_t i = 0; i < results.size(); ++i)
    wantAt(results[i], given[i], buffers);
  if (Status status = runSteps(arguments, buffers, executor); !status)
    return status;
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor &made = std::get<Tensor>(buffers[results[i]].value);
    if (made.type != given[i].type || made.shape != given[i].shape)
      return Status::error(StatusCode::InvalidArgument,
                           fmt::format("expected result {} to be {} of shape {}, got {} of shape "
                                       "{}",
                                       i, toString(made.type), shapeText(made.shape),
                                       toString(given[i].type), shapeText(given[i].shape)));
    if (made.data != given[i].data)
      copyElements(made, given[i]);
  }
  return Status::ok();
}

} // namespace lacuna
