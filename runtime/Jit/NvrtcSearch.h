//===- NvrtcSearch.h - where CUDA's compiler library may be ----------------===//
#pragma once

#include <string>
#include <vector>

namespace lacuna {

/// Parts of the environment that say where NVRTC is.
struct NvrtcSearch {
  /// A library to use and no other; empty when none is named.
  std::string library;
  /// Root of a CUDA toolkit; may be empty.
  std::string cudaHome;
  /// Folders of programs, separated by colons; a Python in one of them may have the wheel.
  std::string programPath;
  /// Home folder of the user; may be empty.
  std::string home;
  /// Folder of the running program; may be empty.
  std::string programFolder;
};

/// The folder that the running program lies in.
std::string runningProgramFolder();

/// Names and paths to try, best first: the loader's own path, toolkits, a folder `nvrtc` beside the
/// build folder (where `tools/install-packages.sh` puts the wheel), wheels of Pythons. Paths are
/// those that exist.
std::vector<std::string> nvrtcCandidates(const NvrtcSearch &search);

} // namespace lacuna
