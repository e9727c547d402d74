//===- HostProgramBuilder.h - scalar IR as a host program -----------------===//
#pragma once

#include "lacuna/Artifact.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>

namespace lacuna {

/// Collects the host values of one kernel. Arguments of the kernel's plan and body blocks stand for
/// the kernel's inputs.
class HostProgramBuilder {
public:
  explicit HostProgramBuilder(HostProgram &program) : program(program) {}

  /// The host value of an index, integer or i1 value, or nothing when the host cannot compute it
  /// (it depends on tensor elements or on a grid coordinate).
  std::optional<unsigned> value(mlir::Value value);

  unsigned constant(int64_t number);
  unsigned extent(unsigned tensor, unsigned axis);
  unsigned stride(unsigned tensor, unsigned axis);
  unsigned scalar(unsigned argument);
  unsigned add(HostInstruction::Op op, unsigned a, unsigned b);
  unsigned select(unsigned condition, unsigned yes, unsigned no);
  /// Product of several values, 1 for none.
  unsigned product(llvm::ArrayRef<unsigned> values);

private:
  unsigned emit(HostInstruction instruction);

  HostProgram &program;
  llvm::DenseMap<mlir::Value, unsigned> known;
};

} // namespace lacuna
