//===- ResultShapes.h - what a program returns, before it runs -------------===//
#pragma once

#include "lacuna/Artifact.h"

namespace lacuna {

/// A function result as a caller sees it.
struct ResultDeclaration {
  std::string name;
  ElementType type = ElementType::F32;
  /// Extents, -1 where they follow from the arguments.
  std::vector<int64_t> shape;
  /// Values of `ResultShapes::code`, one per axis.
  std::vector<unsigned> extents;
};

/// The shapes of all results of a program as arithmetic on the function's arguments: what a caller
/// needs to allocate them, and what a tracer needs that has no numbers yet.
struct ResultShapes {
  /// Extents and scalars are of function arguments.
  HostProgram code;
  std::vector<ResultDeclaration> results;

  /// Unsupported when an extent depends on how a buffer between launches lies in memory.
  static Result<ResultShapes> of(const Program &program);

  /// Contiguous tensors without memory. The arguments' kinds and ranks are the declared ones.
  Result<std::vector<Tensor>> infer(std::span<const Argument> arguments) const;
};

} // namespace lacuna
