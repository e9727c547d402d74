//===- File.cpp - whole files ----------------------------------------------===//
#include "lib/Support/File.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace lacuna {

Result<std::string> readFile(const std::string &path) {
  struct stat information;
  if (::stat(path.c_str(), &information) != 0)
    return Status::error(errno == ENOENT || errno == ENOTDIR ? StatusCode::NotFound
                                                             : StatusCode::Io,
                         fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (S_ISDIR(information.st_mode))
    return Status::error(StatusCode::InvalidArgument,
                         fmt::format("cannot read {}: it is a folder", path));
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Status::error(StatusCode::Io,
                         fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad())
    return Status::error(StatusCode::Io, fmt::format("cannot read all of {}", path));
  return bytes;
}

Status writeFile(const std::string &path, const std::string &bytes) {
  std::string staged = fmt::format("{}.{}.partial", path, ::getpid());
  std::ofstream stream(staged, std::ios::binary | std::ios::trunc);
  if (!stream)
    return Status::error(StatusCode::Io,
                         fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  std::error_code failure;
  if (stream)
    std::filesystem::rename(staged, path, failure);
  if (stream && !failure)
    return Status::ok();
  std::string why = failure ? failure.message() : std::strerror(errno);
  std::filesystem::remove(staged, failure);
  return Status::error(StatusCode::Io, fmt::format("cannot write {}: {}", path, why));
}

} // namespace lacuna
