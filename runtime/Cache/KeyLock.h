//===- KeyLock.h - one process at a time per key ---------------------------===//
#pragma once

#include "runtime/Cache/FileOperations.h"

#include <chrono>
#include <functional>

namespace lacuna {

/// A lock on a file, which the system gives back when the holder dies.
class KeyLock {
public:
  enum class Outcome {
    Held,
    /// `enough` became true while another process held the lock.
    Enough,
    TimedOut,
    /// The file system has no locks, or the file cannot be made.
    Unavailable,
  };

  /// Waits up to `wait` for the lock file `name` in `folder`. Both must outlive the lock.
  KeyLock(FileOperations &files, int folder, std::string name, std::chrono::milliseconds wait,
          const std::function<bool()> &enough);
  KeyLock(const KeyLock &) = delete;
  KeyLock &operator=(const KeyLock &) = delete;
  /// Removes the file and gives the lock back.
  ~KeyLock();

  Outcome outcome() const { return result; }

  /// Removes the lock file `name` unless somebody holds it.
  static void sweep(FileOperations &files, int folder, const char *name);

private:
  /// One attempt; false when another process has the lock.
  bool attempt();

  FileOperations &files;
  int folder;
  std::string name;
  FileHandle file;
  Outcome result = Outcome::TimedOut;
};

} // namespace lacuna
