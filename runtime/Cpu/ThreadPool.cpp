//===- ThreadPool.cpp - threads that share the points of a grid -----------===//
#include "runtime/Cpu/ThreadPool.h"

#include <algorithm>

namespace lacuna::runtime {

/// Ranges per thread: enough to balance rows of a triangle, few enough to cost nothing.
static constexpr int64_t rangesPerThread = 32;

ThreadPool::ThreadPool(int64_t threads) {
  if (threads <= 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  for (int64_t i = 1; i < threads; ++i)
    workers.emplace_back([this] { serve(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::drain(const Work &work) {
  for (int64_t begin = next.fetch_add(chunk); begin < end; begin = next.fetch_add(chunk))
    work(begin, std::min(begin + chunk, end));
}

void ThreadPool::serve() {
  uint64_t seen = 0;
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stopping || generation != seen; });
    if (stopping)
      return;
    seen = generation;
    const Work *work = job;
    lock.unlock();
    drain(*work);
    lock.lock();
    if (--busy == 0)
      done.notify_one();
  }
}

void ThreadPool::parallelFor(int64_t count, const Work &work) {
  if (count <= 0)
    return;
  if (workers.empty() || count == 1)
    return work(0, count);
  std::lock_guard oneJob(turn);
  {
    std::lock_guard lock(mutex);
    job = &work;
    end = count;
    chunk = std::max<int64_t>(1, count / (getThreads() * rangesPerThread));
    next = 0;
    busy = workers.size();
    ++generation;
  }
  wake.notify_all();
  drain(work);
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return busy == 0; });
}

} // namespace lacuna::runtime
