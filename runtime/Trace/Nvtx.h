//===- Nvtx.h - ranges that profilers show ---------------------------------===//
#pragma once

namespace lacuna {

/// Entry points of a profiler; null when none is there.
struct NvtxCalls {
  int (*push)(const char *text) = nullptr;
  int (*pop)() = nullptr;
};

/// Loads the tool that NVTX_INJECTION64_PATH names, as NVIDIA's headers do it, and asks it for its
/// entry points. A tool that cannot be loaded is no error of ours and is logged. Not for several
/// threads at once.
NvtxCalls loadNvtx(const char *tool);

/// Those of this process; the environment is read once.
const NvtxCalls &nvtx();

/// What a thread does between here and the end of the scope. Costs a nanosecond without a profiler.
class NvtxRange {
public:
  explicit NvtxRange(const char *text) {
    if (nvtx().push)
      nvtx().push(text);
  }
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;
  ~NvtxRange() {
    if (nvtx().pop)
      nvtx().pop();
  }
};

} // namespace lacuna
