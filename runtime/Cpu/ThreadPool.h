//===- ThreadPool.h - threads that share the points of a grid -------------===//
#pragma once

#include "lacuna/Executor.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace lacuna::runtime {

/// Threads that wait for work. Ranges are handed out as threads ask for them, so that uneven
/// points balance; calls from several threads take turns. A process that was forked off has none of
/// the threads: there the caller does all work itself.
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
  /// What the threads share.
  struct Shared {
    void serve();
    /// Takes ranges of the current job until none is left.
    void drain(const Work &work);

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
  bool isForked() const;

  /// The process that has the threads.
  const pid_t owner;
  std::unique_ptr<Shared> shared = std::make_unique<Shared>();
  std::vector<std::thread> workers;
};

} // namespace lacuna::runtime
