//===- CacheFolder.cpp - a folder that only we can write -------------------===//
#include "runtime/Cache/CacheFolder.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace lacuna {

/// Tells programs that make copies of a disk that nothing here is worth one (bford.info/cachedir).
static constexpr std::string_view tag = "Signature: 8a477f597d28d172789f06886806bc55\n"
                                        "# Lacuna keeps compiled kernels here.\n";

/// Makes `path` and what is above it, for this user only.
static bool makeFolders(const std::string &path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  std::string parent = std::filesystem::path(path).parent_path().string();
  if (errno != ENOENT || parent.empty() || parent == path || !makeFolders(parent))
    return false;
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

static Status cannot(const char *what, const std::string &path) {
  StatusCode code = errno == ENOENT ? StatusCode::NotFound : StatusCode::Io;
  return Status::error(code, fmt::format("cannot {} cache folder {}: {}", what, path, errorText()));
}

static Status checkOwner(const FileHandle &folder, const std::string &path) {
  struct stat facts;
  if (::fstat(folder.get(), &facts) != 0)
    return cannot("open", path);
  if (facts.st_uid == ::geteuid() && (facts.st_mode & 022) == 0)
    return Status::ok();
  return Status::error(StatusCode::InvalidArgument,
                       fmt::format("expected cache folder {} to belong to user {} and to be "
                                   "writable by nobody else, got user {} and mode {:04o}",
                                   path, ::geteuid(), facts.st_uid, facts.st_mode & 07777));
}

Result<FileHandle> openCacheFolder(const std::string &path, bool create) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  FileHandle folder(::open(path.c_str(), flags));
  if (!folder && errno == ENOENT && create) {
    if (!makeFolders(path))
      return cannot("make", path);
    folder = FileHandle(::open(path.c_str(), flags));
    FileOperations files;
    if (FileHandle file(files.open(folder.get(), "CACHEDIR.TAG", O_WRONLY | O_CREAT | O_EXCL));
        file)
      writeAll(files, file.get(), tag);
  }
  if (!folder)
    return cannot("open", path);
  if (Status status = checkOwner(folder, path); !status)
    return status;
  std::string below = path + "/" + entriesFolder;
  if (create && ::mkdirat(folder.get(), entriesFolder, 0700) != 0 && errno != EEXIST)
    return cannot("make", below);
  FileHandle entries(::openat(folder.get(), entriesFolder, flags | O_NOFOLLOW));
  if (!entries)
    return cannot("open", below);
  if (Status status = checkOwner(entries, below); !status)
    return status;
  return entries;
}

} // namespace lacuna
