//===- FakeGraph.h - what is captured from the fake driver's streams -------===//
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace lacuna::fake {

/// Work in its order, and what is kept as long as somebody has it.
struct CapturedGraph {
  CapturedGraph() = default;
  CapturedGraph(const CapturedGraph &) = delete;
  CapturedGraph &operator=(const CapturedGraph &) = delete;
  ~CapturedGraph() {
    for (auto [destroy, argument] : kept)
      destroy(argument);
  }

  std::vector<std::function<void()>> nodes;
  std::vector<std::pair<void (*)(void *), void *>> kept;
};

/// What runs a kernel's launches; null where they are only written down.
struct Entry {
  void (*run)(unsigned blocks, void **parameters) = nullptr;
  /// Bytes of each parameter, then 0.
  const size_t *sizes = nullptr;
};

/// A launch with a copy of its parameters, for a graph that runs it later.
std::function<void()> nodeOf(const Entry &entry, unsigned blocks, void **parameters);

/// The graph that takes what streams are given, while an application captures; else null.
std::shared_ptr<CapturedGraph> &captured();

} // namespace lacuna::fake
