//===- EmulatedNvrtc.cpp - NVRTC whose machine code runs on this host ------===//
//
// A shared library with NVRTC's entry points. It has translate.py and a C++ compiler make a shared
// library of each kernel and gives that out as the machine code, with the header of a cubin; the
// fake driver (test/Unit/runtime) runs it.
//
//===----------------------------------------------------------------------===//
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {
struct Program {
  std::string source, log, code;
};
} // namespace

static std::string readAll(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A path without its ending, for one kernel of this process.
static std::string freshPath() {
  static std::atomic<int> count = 0;
  auto folder = std::filesystem::temp_directory_path();
  return folder / ("lacuna-emulated-" + std::to_string(getpid()) + "-" + std::to_string(count++));
}

extern "C" {
int nvrtcVersion(int *major, int *minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcCreateProgram(Program **program, const char *source, const char *, int,
                       const char *const *, const char *const *) {
  *program = new Program{source, "", ""};
  return 0;
}
int nvrtcDestroyProgram(Program **program) {
  delete *program;
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(Program *program, int, const char *const *) {
  std::string path = freshPath();
  std::ofstream(path + ".cu") << program->source;
  std::string command =
      std::string("{ " LACUNA_PYTHON " " LACUNA_SOURCE "/test/Emulator/translate.py ") + path +
      ".cu " LACUNA_SOURCE "/lib/Device > " + path +
      ".cpp && " LACUNA_COMPILER " -std=c++20 -O1 -w -shared -fPIC "
      "-ffp-contract=off -I" LACUNA_SOURCE " " +
      path + ".cpp -o " + path + ".so; } 2> " + path + ".log";
  int status = std::system(command.c_str());
  program->log = readAll(path + ".log");
  program->code = readAll(path + ".so");
  for (const char *ending : {".cu", ".cpp", ".so", ".log"})
    std::filesystem::remove(path + ending);
  if (status != 0 || program->code.size() < 64)
    return 6;
  // The machine of a cubin; the fake driver puts the host's back.
  program->code[18] = static_cast<char>(190);
  program->code[19] = 0;
  std::memcpy(&program->code[9], "LACUNA", 6);
  return 0;
}
int nvrtcGetProgramLogSize(Program *program, size_t *bytes) {
  *bytes = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program *program, char *text) {
  std::memcpy(text, program->log.c_str(), program->log.size() + 1);
  return 0;
}
int nvrtcGetPTXSize(Program *, size_t *bytes) {
  *bytes = 1;
  return 0;
}
int nvrtcGetPTX(Program *, char *text) {
  *text = 0;
  return 0;
}
int nvrtcGetCUBINSize(Program *program, size_t *bytes) {
  *bytes = program->code.size();
  return 0;
}
int nvrtcGetCUBIN(Program *program, char *bytes) {
  std::memcpy(bytes, program->code.data(), program->code.size());
  return 0;
}
}
