//===- SpecArguments.h - options that several commands take ----------------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/PlanOptions.h"
#include "tools/lacuna/Spec.h"

namespace lacuna::tool {

/// Each reads its options and returns Success, or an exit code after a message.

/// `--set`, `--seed` and `--inputs`.
int readBinding(const Arguments &arguments, BindOptions &binding);
/// `--target`, whose default is the CPU, `--query-tile` and `--key-tile` (`64` or `4x4x4`), and
/// what else the planner can be told about a GPU. Whether a command has these options is its own
/// choice.
int readPlan(const Arguments &arguments, PlanOptions &plan);
/// Refuses options that the plan's target does not have.
int checkPlan(const Arguments &arguments, const PlanOptions &plan);
/// Whether the plan is for a GPU.
bool isOnGpu(const PlanOptions &plan);
/// A number of at least `least` after `option`; `value` is left alone when it is not there.
int readCount(const Arguments &arguments, llvm::StringRef option, int64_t least, int64_t &value);
/// `--threads`, else what the environment says; 0 stands for one per core.
int readThreads(const Arguments &arguments, int64_t &threads);

/// A spec with a value for each of its arguments.
struct LoadedSpec {
  std::unique_ptr<Spec> spec;
  BoundSpec bound;
};
/// Reads the spec that the command line names and binds its arguments.
int loadSpec(const Arguments &arguments, const BindOptions &binding, LoadedSpec &loaded);

// Options that several commands have, as help shows them.
inline constexpr Option queryTileOption = {"--query-tile", "SHAPE",
                                           "tokens per query tile: 64, or 4x4x4 on a grid"};
inline constexpr Option keyTileOption = {"--key-tile", "SHAPE", "tokens per key tile"};
inline constexpr Option stagesOption = {"--stages", "NUMBER",
                                        "depth of the rings of keys and values (target cuda)"};
inline constexpr Option querySlotsOption = {"--query-slots", "NUMBER",
                                            "query tiles in shared memory (target cuda)"};
inline constexpr Option consumerRegistersOption = {
    "--consumer-registers", "NUMBER",
    "registers per thread that computes, a multiple of 8 (target cuda)"};
inline constexpr Option pingPongOption = {
    "--ping-pong", "", "warpgroups take turns at the tensor cores (target cuda)"};
inline constexpr Option lineInfoOption = {"--line-info", "",
                                          "profilers show lines of the spec (target cuda)"};
inline constexpr Option noCacheOption = {"--no-cache", "",
                                         "compile, whatever was kept, and keep nothing"};

} // namespace lacuna::tool
