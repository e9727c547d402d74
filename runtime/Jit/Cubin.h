//===- Cubin.h - facts in the headers of machine code ----------------------===//
#pragma once

#include "runtime/Jit/CompileReport.h"

namespace lacuna {

/// Registers, stack and static shared memory of every kernel of a cubin, by name. Spills are not
/// told apart from other frames there. Corrupt when the bytes are no cubin.
Result<std::vector<KernelReport>> readCubin(std::string_view cubin);

} // namespace lacuna
