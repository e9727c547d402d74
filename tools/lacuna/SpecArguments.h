//===- SpecArguments.h - options that several commands take ----------------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "compiler/Pipelines/Pipelines.h"
#include "tools/lacuna/Command.h"

namespace lacuna::tool {

/// Each reads its options and returns Success, or an exit code after a message.

/// `--set`, `--seed` and `--inputs`.
int readBinding(const Arguments &arguments, BindOptions &binding);
/// `--query-tile` and `--key-tile`: `64` or `4x4x4`.
int readTiles(const Arguments &arguments, SpecToTileOptions &tiles);
/// `--target`: whether it names a GPU; the CPU without one.
int readTarget(const Arguments &arguments, bool &onGpu);
/// A number of at least `least` after `option`; `value` is left alone when it is not there.
int readCount(const Arguments &arguments, llvm::StringRef option, int64_t least, int64_t &value);
/// `--threads`, else what the environment says; 0 stands for one per core.
int readThreads(const Arguments &arguments, int64_t &threads);

} // namespace lacuna::tool
