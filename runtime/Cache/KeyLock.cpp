//===- KeyLock.cpp - one process at a time per key -------------------------===//
#include "runtime/Cache/KeyLock.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace lacuna {

/// Whether `name` still is the open file: the holder before us removes it, and a lock on a removed
/// file keeps nobody out.
static bool isNamed(int folder, const char *name, int file) {
  struct stat open, named;
  return ::fstat(file, &open) == 0 && ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool KeyLock::attempt() {
  file = FileHandle(files.open(folder, name.c_str(), O_RDWR | O_CREAT));
  if (!file) {
    result = Outcome::Unavailable;
    return true;
  }
  if (files.lock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    bool taken = errno == EWOULDBLOCK || errno == EINTR;
    file.reset();
    result = taken ? result : Outcome::Unavailable;
    return !taken;
  }
  if (!isNamed(folder, name.c_str(), file.get())) {
    file.reset();
    return false;
  }
  result = Outcome::Held;
  return true;
}

KeyLock::KeyLock(FileOperations &files, int folder, std::string name,
                 std::chrono::milliseconds wait, const std::function<bool()> &enough)
    : files(files), folder(folder), name(std::move(name)) {
  using namespace std::chrono_literals;
  auto end = std::chrono::steady_clock::now() + wait;
  // There is no wait of bounded length for such a lock: ask again, soon at first.
  for (std::chrono::milliseconds pause = 1ms; !attempt(); pause = std::min(2 * pause, 16ms)) {
    if (enough()) {
      result = Outcome::Enough;
      return;
    }
    if (std::chrono::steady_clock::now() >= end)
      return;
    std::this_thread::sleep_for(pause);
  }
}

KeyLock::~KeyLock() {
  if (result != Outcome::Held)
    return;
  files.unlink(folder, name.c_str());
  // A child of a fork may have the file open: closing alone would leave the lock with it.
  files.lock(file.get(), LOCK_UN);
}

void KeyLock::sweep(FileOperations &files, int folder, const char *name) {
  FileHandle file(files.open(folder, name, O_RDWR));
  if (!file)
    return;
  bool locked = files.lock(file.get(), LOCK_EX | LOCK_NB) == 0;
  // Where nothing can be locked, nobody works for a day on one file.
  constexpr time_t day = time_t{24} * 60 * 60;
  struct stat facts;
  bool old = !locked && errno != EWOULDBLOCK && ::fstat(file.get(), &facts) == 0 &&
             ::time(nullptr) - facts.st_mtim.tv_sec > day;
  if ((locked || old) && isNamed(folder, name, file.get()))
    files.unlink(folder, name);
  if (locked)
    files.lock(file.get(), LOCK_UN);
}

} // namespace lacuna
