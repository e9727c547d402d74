//===- NvrtcSearch.cpp - where CUDA's compiler library may be --------------===//
#include "runtime/Jit/NvrtcSearch.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace fs = std::filesystem;

namespace lacuna {

/// Newest first.
static constexpr const char *libraryNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

std::string runningProgramFolder() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : program.parent_path().string();
}

static void addLibraries(const fs::path &folder, std::vector<std::string> &found) {
  for (const char *name : libraryNames) {
    std::error_code ignored;
    fs::path library = folder / name;
    if (fs::is_regular_file(library, ignored))
      found.push_back(library.string());
  }
}

/// Folders of `parent` whose names begin with `prefix`, greatest name first.
static std::vector<fs::path> foldersNamed(const fs::path &parent, std::string_view prefix) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with(prefix))
      folders.push_back(entry->path());
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

static void addToolkit(const fs::path &root, std::vector<std::string> &found) {
  for (const char *folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
    addLibraries(root / folder, found);
}

/// `packages` is a folder that holds installed Python packages.
static void addWheels(const fs::path &packages, std::vector<std::string> &found) {
  addLibraries(packages / "nvidia/cu13/lib", found);
  addLibraries(packages / "nvidia/cuda_nvrtc/lib", found);
}

/// Packages of the Python whose program lies in `<prefix>/bin`.
static void addPython(const fs::path &prefix, std::vector<std::string> &found) {
  for (const fs::path &version : foldersNamed(prefix / "lib", "python3")) {
    addWheels(version / "site-packages", found);
    addWheels(version / "dist-packages", found);
  }
}

std::vector<std::string> nvrtcCandidates(const NvrtcSearch &search) {
  if (!search.library.empty())
    return {search.library};
  std::vector<std::string> found(std::begin(libraryNames), std::end(libraryNames));
  if (!search.cudaHome.empty())
    addToolkit(search.cudaHome, found);
  addToolkit("/usr/local/cuda", found);
  for (const fs::path &toolkit : foldersNamed("/usr/local", "cuda-"))
    addToolkit(toolkit, found);
  if (!search.programFolder.empty()) {
    fs::path folder = search.programFolder;
    addWheels(folder.parent_path().parent_path() / "nvrtc", found); // build/release/bin -> build
    addWheels(folder.parent_path() / "lib/lacuna/nvrtc", found);    // an installed program
  }
  std::string_view rest = search.programPath;
  while (!rest.empty()) {
    fs::path folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(
        std::min(rest.size(), rest.find(':') == rest.npos ? rest.size() : rest.find(':') + 1));
    std::error_code ignored;
    if (!folder.empty() && fs::exists(folder / "python3", ignored))
      addPython(folder.parent_path(), found);
  }
  if (!search.home.empty())
    addPython(fs::path(search.home) / ".local", found);
  std::vector<std::string> unique;
  for (std::string &candidate : found)
    if (std::find(unique.begin(), unique.end(), candidate) == unique.end())
      unique.push_back(std::move(candidate));
  return unique;
}

} // namespace lacuna
