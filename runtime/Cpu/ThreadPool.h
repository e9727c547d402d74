//===- ThreadPool.h - threads that share the points of a grid -------------===//
#pragma once

#include "lacuna/Executor.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace lacuna::runtime {

/// Threads that wait for work. Ranges are handed out as threads ask for them, so that uneven
/// points balance; calls from several threads take turns.
class ThreadPool final : public Executor {
public:
  /// `threads` counts the caller of parallelFor; 0 stands for one per core.
  explicit ThreadPool(int64_t threads = 0);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int64_t getThreads() const { return static_cast<int64_t>(workers.size()) + 1; }
  void parallelFor(int64_t count, const Work &work) override;

private:
  void serve();
  /// Takes ranges of the current job until none is left.
  void drain(const Work &work);

  std::vector<std::thread> workers;
  /// One job at a time.
  std::mutex turn;

  /// Guards what follows; `next` is handed out without it.
  std::mutex mutex;
  std::condition_variable wake, done;
  const Work *job = nullptr;
  uint64_t generation = 0;
  size_t busy = 0;
  bool stopping = false;
  int64_t end = 0, chunk = 1;
  std::atomic<int64_t> next{0};
};

} // namespace lacuna::runtime
