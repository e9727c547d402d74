//===- LogTest.cpp - levels and sinks --------------------------------------===//
#include "lib/Support/Log.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>
#include <vector>

using namespace lacuna;
using testing::ElementsAre;

namespace {
class LogTest : public testing::Test {
protected:
  void TearDown() override {
    setLogSink({});
    setLogLevel(before);
  }
  LogLevel before = logLevel();
};
} // namespace

TEST_F(LogTest, levels) {
  std::vector<std::string> lines;
  setLogSink([&](LogLevel level, std::string_view text) {
    lines.push_back(std::string(toString(level)) + " " + std::string(text));
  });
  for (LogLevel level :
       {LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error, LogLevel::Off}) {
    setLogLevel(level);
    EXPECT_EQ(logLevel(), level);
    log(LogLevel::Info, "at {}", toString(level));
    log(LogLevel::Error, "at {}", toString(level));
    log(LogLevel::Off, "never");
  }
  EXPECT_THAT(lines, ElementsAre("info at debug", "error at debug", "info at info", "error at info",
                                 "error at warning", "error at error"));
}

TEST_F(LogTest, stderrIsTheSinkAtFirst) {
  setLogLevel(LogLevel::Warning);
  testing::internal::CaptureStderr();
  log(LogLevel::Warning, "a {} line", "whole");
  log(LogLevel::Info, "dropped");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lacuna: warning: a whole line\n");
}

// A sink that logs does not call itself.
TEST_F(LogTest, sinksMayLog) {
  setLogLevel(LogLevel::Warning);
  int calls = 0;
  setLogSink([&](LogLevel, std::string_view) {
    ++calls;
    log(LogLevel::Error, "from the sink");
  });
  testing::internal::CaptureStderr();
  log(LogLevel::Error, "once");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lacuna: error: from the sink\n");
  EXPECT_EQ(calls, 1);
}

// After a sink is replaced it is not called any more, whatever other threads do.
TEST_F(LogTest, replacedSinksAreLeft) {
  setLogLevel(LogLevel::Error);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  setLogSink([](LogLevel, std::string_view) {});
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      while (!done)
        log(LogLevel::Error, "line");
    });
  for (int round = 0; round < 200; ++round) {
    auto alive = std::make_unique<std::atomic<bool>>(true);
    setLogSink([flag = alive.get()](LogLevel, std::string_view) { EXPECT_TRUE(*flag); });
    setLogSink([](LogLevel, std::string_view) {});
    *alive = false;
  }
  done = true;
  for (std::thread &thread : threads)
    thread.join();
}
