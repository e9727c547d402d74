//===- NativeProgram.h - CPU programs behind the public interface ----------===//
#pragma once

#include "compiler/Driver/CpuProgram.h"

namespace lacuna {

/// A compiled CPU program as runtimes see it.
std::shared_ptr<const NativeCode> makeNative(std::unique_ptr<CpuProgram> program);

} // namespace lacuna
