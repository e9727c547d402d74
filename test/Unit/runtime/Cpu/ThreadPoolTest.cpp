//===- ThreadPoolTest.cpp - every index once, on any number of threads ----===//
#include "runtime/Cpu/ThreadPool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

using lacuna::runtime::ThreadPool;

namespace {

/// How often each index was visited.
std::vector<int> countVisits(ThreadPool &pool, int64_t count) {
  std::vector<int> visits(static_cast<size_t>(count));
  // Ranges do not overlap, so plain writes do not race; the thread sanitizer would say otherwise.
  pool.parallelFor(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++visits[static_cast<size_t>(i)];
  });
  return visits;
}

TEST(ThreadPool, visitsEachIndexOnce) {
  for (int64_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 64, 1000, 10007})
      EXPECT_EQ(countVisits(pool, count), std::vector<int>(static_cast<size_t>(count), 1));
  }
}

TEST(ThreadPool, countsTheCaller) {
  EXPECT_EQ(ThreadPool(1).getThreads(), 1);
  EXPECT_EQ(ThreadPool(5).getThreads(), 5);
  EXPECT_GE(ThreadPool(0).getThreads(), 1);
}

TEST(ThreadPool, takesManyJobsInARow) {
  ThreadPool pool(4);
  std::atomic<int64_t> total{0};
  for (int job = 0; job < 2000; ++job)
    pool.parallelFor(5, [&](int64_t begin, int64_t end) { total += end - begin; });
  EXPECT_EQ(total.load(), 2000 * 5);
}

TEST(ThreadPool, callersTakeTurns) {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int job = 0; job < 100; ++job)
        pool.parallelFor(50, [&](int64_t begin, int64_t end) { total += end - begin; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total.load(), 4 * 100 * 50);
}

// The threads stay with the process that made them: a child works alone, and its copy goes away.
TEST(ThreadPool, forkedProcesses) {
  auto pool = std::make_unique<ThreadPool>(4);
  countVisits(*pool, 100);
  pid_t child = ::fork();
  if (child == 0) {
    bool right = countVisits(*pool, 100) == std::vector<int>(100, 1);
    pool.reset();
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(countVisits(*pool, 100), std::vector<int>(100, 1));
}

} // namespace
