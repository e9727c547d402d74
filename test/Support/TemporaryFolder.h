//===- TemporaryFolder.h - a folder that ends with its test ----------------===//
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lacuna::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lacuna-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()))
      folder = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!folder.empty())
      std::filesystem::remove_all(folder, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Path of `name` inside the folder.
  std::string operator/(const std::string &name) const { return folder + "/" + name; }

private:
  std::string folder;
};

} // namespace lacuna::test
