//===- CheckArguments.cpp - do arguments fit their declarations? -----------===//
#include "runtime/Launch/CheckArguments.h"

#include <fmt/format.h>

namespace lacuna {

using Kind = ArgumentDeclaration::Kind;

template <typename... Values>
static Status refuse(const ArgumentDeclaration &declared, fmt::format_string<Values...> format,
                     Values &&...values) {
  return Status::error(StatusCode::InvalidArgument,
                       fmt::format("argument '{}': {}", declared.name,
                                   fmt::format(format, std::forward<Values>(values)...)));
}

static const char *kindText(Kind kind) {
  switch (kind) {
  case Kind::Tensor:
    return "a tensor";
  case Kind::Integer:
    return "an integer";
  case Kind::Float:
    return "a float";
  }
  return "unknown";
}

static Kind kindOf(const Argument &argument) {
  return argument.index() == 0 ? Kind::Tensor : argument.index() == 1 ? Kind::Integer : Kind::Float;
}

/// "2x?x64": what a declaration accepts.
static std::string declaredShape(const ArgumentDeclaration &declared) {
  std::string text;
  for (int64_t extent : declared.shape)
    text += (text.empty() ? "" : "x") + (extent < 0 ? std::string("?") : std::to_string(extent));
  return text;
}

static Status checkTensor(const ArgumentDeclaration &declared, const Tensor &tensor) {
  if (tensor.type != declared.type)
    return refuse(declared, "expected elements of type {}, got {}", toString(declared.type),
                  toString(tensor.type));
  if (tensor.shape.size() != declared.shape.size())
    return refuse(declared, "expected {} axes, got {}", declared.shape.size(), tensor.shape.size());
  if (tensor.strides.size() != tensor.shape.size())
    return refuse(declared, "expected one stride for each of {} axes, got {}", tensor.shape.size(),
                  tensor.strides.size());
  bool empty = false;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    int64_t extent = tensor.shape[axis];
    if (extent < 0 || (declared.shape[axis] >= 0 && declared.shape[axis] != extent))
      return refuse(declared, "expected shape {}, got {}", declaredShape(declared),
                    shapeText(tensor.shape));
    empty |= extent == 0;
  }
  auto address = reinterpret_cast<uint64_t>(tensor.data);
  if (!empty && address == 0)
    return refuse(declared, "expected an address in device memory, got null");
  if (address % byteWidth(tensor.type) != 0)
    return refuse(declared, "expected an address that is a multiple of {} bytes, got {:#x}",
                  byteWidth(tensor.type), address);
  return Status::ok();
}

Status checkArguments(const Program &program, std::span<const Argument> arguments) {
  if (arguments.size() != program.arguments.size())
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("expected {} arguments of {}, got {}",
                                     program.arguments.size(), program.name, arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentDeclaration &declared = program.arguments[i];
    Kind kind = kindOf(arguments[i]);
    if (kind != declared.kind)
      return refuse(declared, "expected {}, got {}", kindText(declared.kind), kindText(kind));
    if (const auto *tensor = std::get_if<Tensor>(&arguments[i]))
      if (Status status = checkTensor(declared, *tensor); !status)
        return status;
  }
  return Status::ok();
}

} // namespace lacuna
