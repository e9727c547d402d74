//===- FileOperations.cpp - what the cache asks of the file system ---------===//
#include "runtime/Cache/FileOperations.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace lacuna {

int FileOperations::open(int folder, const char *name, int flags) {
  return ::openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}
ssize_t FileOperations::read(int file, char *bytes, size_t count) {
  return ::read(file, bytes, count);
}
ssize_t FileOperations::write(int file, const char *bytes, size_t count) {
  return ::write(file, bytes, count);
}
int FileOperations::sync(int file) { return ::fsync(file); }
int FileOperations::rename(int folder, const char *from, const char *to) {
  return ::renameat(folder, from, folder, to);
}
int FileOperations::unlink(int folder, const char *name) { return ::unlinkat(folder, name, 0); }
int FileOperations::lock(int file, int operation) { return ::flock(file, operation); }
int FileOperations::touch(int file) { return ::futimens(file, nullptr); }

FileHandle &FileHandle::operator=(FileHandle &&other) noexcept {
  if (this != &other) {
    reset();
    number = std::exchange(other.number, -1);
  }
  return *this;
}

void FileHandle::reset() {
  if (number >= 0)
    ::close(number);
  number = -1;
}

namespace {
/// While it lives, a write beyond the limit of file sizes fails in this thread and sends no signal.
class NoFileSizeSignal {
public:
  NoFileSizeSignal() {
    ::sigemptyset(&signal);
    ::sigaddset(&signal, SIGXFSZ);
    sigset_t pending;
    ::sigpending(&pending);
    wasPending = ::sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal, &before);
  }
  ~NoFileSizeSignal() {
    int error = errno;
    const timespec now = {0, 0};
    while (!wasPending && ::sigtimedwait(&signal, nullptr, &now) < 0 && errno == EINTR)
      ;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
  }

private:
  sigset_t signal, before;
  bool wasPending;
};
} // namespace

bool writeAll(FileOperations &files, int file, std::string_view bytes) {
  NoFileSizeSignal quiet;
  while (!bytes.empty()) {
    ssize_t written = files.write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written == 0)
      errno = ENOSPC;
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool readAll(FileOperations &files, int file, std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = files.read(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      errno = count == 0 ? 0 : errno;
      return false;
    }
    done += static_cast<size_t>(count);
  }
  return true;
}

std::string errorText() { return std::generic_category().message(errno); }

} // namespace lacuna
