//===- FileOperations.h - what the cache asks of the file system -----------===//
#pragma once

#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>

namespace lacuna {

/// The system calls that may fail on a bad day, as POSIX has them: -1 and `errno`. Tests replace
/// single ones.
class FileOperations {
public:
  virtual ~FileOperations() = default;
  /// `name` in the open folder `folder`; closed on exec, no link is followed.
  virtual int open(int folder, const char *name, int flags);
  virtual ssize_t read(int file, char *bytes, size_t count);
  virtual ssize_t write(int file, const char *bytes, size_t count);
  virtual int sync(int file);
  virtual int rename(int folder, const char *from, const char *to);
  virtual int unlink(int folder, const char *name);
  /// `operation` as flock takes it.
  virtual int lock(int file, int operation);
  /// The last use becomes now.
  virtual int touch(int file);
};

/// An open file or folder, closed at the end.
class FileHandle {
public:
  FileHandle() = default;
  explicit FileHandle(int number) : number(number) {}
  FileHandle(FileHandle &&other) noexcept : number(std::exchange(other.number, -1)) {}
  FileHandle &operator=(FileHandle &&other) noexcept;
  FileHandle(const FileHandle &) = delete;
  FileHandle &operator=(const FileHandle &) = delete;
  ~FileHandle() { reset(); }

  explicit operator bool() const { return number >= 0; }
  int get() const { return number; }
  void reset();

private:
  int number = -1;
};

/// Writes all of `bytes`; false with `errno` when that fails. A limit on the size of files is a
/// failure like others and does not end the process.
bool writeAll(FileOperations &files, int file, std::string_view bytes);
/// Fills `bytes`; false when the file ends before, or with `errno`.
bool readAll(FileOperations &files, int file, std::string &bytes);

/// "No space left on device" and so on, for the current `errno`.
std::string errorText();

} // namespace lacuna
