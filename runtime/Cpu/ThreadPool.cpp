//===- ThreadPool.cpp - threads that share the points of a grid -----------===//
#include "runtime/Cpu/ThreadPool.h"

#include <algorithm>
#include <unistd.h>
#include <utility>
#include <vector>

namespace lacuna::runtime {

/// Ranges per thread: enough to balance rows of a triangle, few enough to cost nothing.
static constexpr int64_t rangesPerThread = 32;

bool ThreadPool::isForked() const { return ::getpid() != owner; }

ThreadPool::ThreadPool(int64_t threads) : owner(::getpid()) {
  if (threads <= 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  for (int64_t i = 1; i < threads; ++i)
    workers.emplace_back([state = shared.get()] { state->serve(); });
}

ThreadPool::~ThreadPool() {
  if (isForked()) {
    // Nobody to wait for, and nobody to detach. Locks may be held by threads that are not there,
    // and conditions know them as waiting, so that destroying one would never end: all of it stays.
    static_cast<void>(new std::vector<std::thread>(std::move(workers)));
    static_cast<void>(shared.release());
    return;
  }
  {
    std::lock_guard lock(shared->mutex);
    shared->stopping = true;
  }
  shared->wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::Shared::drain(const Work &work) {
  for (int64_t begin = next.fetch_add(chunk); begin < end; begin = next.fetch_add(chunk))
    work(begin, std::min(begin + chunk, end));
}

void ThreadPool::Shared::serve() {
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
  if (workers.empty() || count == 1 || isForked())
    return work(0, count);
  std::lock_guard oneJob(shared->turn);
  {
    std::lock_guard lock(shared->mutex);
    shared->job = &work;
    shared->end = count;
    shared->chunk = std::max<int64_t>(1, count / (getThreads() * rangesPerThread));
    shared->next = 0;
    shared->busy = workers.size();
    ++shared->generation;
  }
  shared->wake.notify_all();
  shared->drain(work);
  std::unique_lock lock(shared->mutex);
  shared->done.wait(lock, [&] { return shared->busy == 0; });
}

} // namespace lacuna::runtime
