//===- FakeGraph.cpp - graphs of the fake driver ---------------------------===//
//
// The calls of an application that captures and replays. One stream captures at a time.
//
//===----------------------------------------------------------------------===//
#include "test/Unit/runtime/FakeGraph.h"

#include "test/Unit/runtime/FakeDriver.h"

using namespace lacuna;
using driver::Code;
using fake::CapturedGraph;

std::shared_ptr<CapturedGraph> &fake::captured() {
  static std::shared_ptr<CapturedGraph> graph;
  return graph;
}

std::function<void()> fake::nodeOf(const Entry &entry, unsigned blocks, void **parameters) {
  auto copies = std::make_shared<std::vector<std::vector<uint64_t>>>();
  for (const size_t *size = entry.sizes; size && *size; ++size) {
    const auto *words = static_cast<const uint64_t *>(parameters[copies->size()]);
    copies->emplace_back(words, words + *size / sizeof(uint64_t));
  }
  return [run = entry.run, blocks, copies] {
    std::vector<void *> addresses;
    for (std::vector<uint64_t> &copy : *copies)
      addresses.push_back(copy.data());
    if (run)
      run(blocks, addresses.data());
  };
}

/// Handles of graphs and of what is instantiated from them: each shares what was captured.
using Handle = std::shared_ptr<CapturedGraph> *;

extern "C" {
Code cuStreamBeginCapture_v2(driver::Stream, int) {
  fake::captured() = std::make_shared<CapturedGraph>();
  fakeDriverState()->capturing = true;
  return driver::success;
}
Code cuStreamEndCapture(driver::Stream, Handle *graph) {
  *graph = new std::shared_ptr<CapturedGraph>(std::move(fake::captured()));
  fake::captured() = nullptr;
  fakeDriverState()->capturing = false;
  return driver::success;
}
Code cuGraphInstantiateWithFlags(Handle *exec, Handle graph, unsigned long long) {
  *exec = new std::shared_ptr<CapturedGraph>(*graph);
  return driver::success;
}
Code cuGraphLaunch(Handle exec, driver::Stream) {
  for (const std::function<void()> &node : (*exec)->nodes)
    node();
  return driver::success;
}
Code cuGraphDestroy(Handle graph) {
  delete graph;
  return driver::success;
}
Code cuGraphExecDestroy(Handle exec) {
  delete exec;
  return driver::success;
}
}
