//===- Executable.h - a program that is ready to run, wherever -------------===//
#pragma once

#include "lacuna/ResultShapes.h"

/// A CUDA stream, as the driver and the CUDA runtime declare it; null is the default stream.
struct CUstream_st;

namespace lacuna {

/// A program on a GPU or on the CPU. Threads may run it at the same time.
class Executable {
public:
  virtual ~Executable() = default;

  /// Runs the program: a GPU queues it on `stream`; on the CPU it has run when the call returns,
  /// and `stream` is null. Tensors lie in the device's memory. A result with an address is written
  /// in place, has the right type and shape and overlaps with no other tensor; one without is
  /// allocated, contiguous, and the caller's to free through the device. A wrong argument is
  /// refused by name before its launch.
  virtual Status run(CUstream_st *stream, std::span<const Argument> arguments,
                     std::span<Tensor> results) const = 0;
  /// What was loaded, without its sources.
  virtual const Program &program() const = 0;
};

} // namespace lacuna
