//===- Disassembly.cpp - which instructions machine code has --------------===//
#include "tools/lacuna/Disassembly.h"

#include "lib/Support/Settings.h"
#include "runtime/Jit/NvrtcSearch.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

using llvm::StringRef;

namespace lacuna::tool {

namespace {
/// A line that holds an instruction.
struct Instruction {
  std::string name;
  /// The whole instruction, without its predicate.
  StringRef text;
  /// The label that a branch goes to, if it is one.
  std::string target;
};

/// Instructions in order, and the number of the first one after each label.
struct Listing {
  std::vector<Instruction> instructions;
  llvm::StringMap<size_t> labels;
};
} // namespace

/// Reads lines such as `.L_x_1:` and `/*0270*/ @!P0 BRA `(.L_x_3) ;`.
static Listing parseListing(StringRef text) {
  Listing listing;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.trim();
    if (line.consume_back(":")) {
      listing.labels[line] = listing.instructions.size();
      continue;
    }
    if (!line.consume_front("/*"))
      continue;
    StringRef rest = line.split("*/").second.trim();
    if (rest.starts_with("@"))
      rest = rest.split(' ').second.trim();
    StringRef name = rest.take_until([](char c) { return c == '.' || c == ' ' || c == ';'; });
    if (name.empty())
      continue;
    StringRef target;
    if (name == "BRA")
      target = rest.split("`(").second.split(')').first;
    listing.instructions.push_back({name.str(), rest, target.str()});
  }
  return listing;
}

static InstructionCounts countRange(const Listing &listing, size_t begin, size_t end) {
  InstructionCounts counts;
  for (size_t index = begin; index < end; ++index)
    ++counts[listing.instructions[index].name];
  return counts;
}

static int64_t countOverlapped(const Listing &listing, size_t begin, size_t end) {
  int64_t count = 0;
  for (size_t index = begin; index < end; ++index) {
    StringRef text = listing.instructions[index].text;
    if (text.starts_with("HGMMA"))
      count = 0;
    else if (text.starts_with("MUFU.EX2"))
      ++count;
    else if (text.starts_with("WARPGROUP.DEPBAR") && text.contains("gsb0, 0x0"))
      break;
  }
  return count;
}

InstructionMix countInstructions(StringRef text) {
  Listing listing = parseListing(text);
  InstructionMix mix;
  mix.all = countRange(listing, 0, listing.instructions.size());
  // A branch back is the end of a loop. The shortest one that multiplies matrices does the work.
  size_t shortest = listing.instructions.size() + 1;
  for (size_t last = 0; last < listing.instructions.size(); ++last) {
    auto first = listing.labels.find(listing.instructions[last].target);
    if (first == listing.labels.end() || first->second > last ||
        last + 1 - first->second >= shortest)
      continue;
    InstructionCounts counts = countRange(listing, first->second, last + 1);
    if (!counts.contains("HGMMA"))
      continue;
    shortest = last + 1 - first->second;
    mix.mainLoop = std::move(counts);
    mix.overlappedExponentials = countOverlapped(listing, first->second, last + 1);
  }
  return mix;
}

int64_t InstructionMix::loopSpills() const {
  int64_t spills = 0;
  for (const char *name : {"LDL", "STL"})
    if (auto found = mainLoop.find(name); found != mainLoop.end())
      spills += found->second;
  return spills;
}

std::optional<Disassembler> Disassembler::find() {
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return std::nullopt;
  if (!settings->nvdisasm.empty())
    return Disassembler(settings->nvdisasm);
  llvm::SmallVector<std::string> folders;
  if (!settings->cudaHome.empty())
    folders.push_back(settings->cudaHome + "/bin");
  folders.emplace_back("/usr/local/cuda/bin");
  // build/release/bin -> build
  llvm::SmallString<128> build(runningProgramFolder());
  llvm::sys::path::append(build, "..", "..", "nvdisasm", "nvidia");
  llvm::sys::path::append(build, "cu13", "bin");
  folders.push_back(build.str().str());
  auto program = llvm::sys::findProgramByName("nvdisasm");
  for (const std::string &folder : folders)
    if (!program)
      program = llvm::sys::findProgramByName("nvdisasm", {folder});
  if (!program)
    return std::nullopt;
  return Disassembler(*program);
}

Result<std::string> Disassembler::disassemble(StringRef cubin) const {
  auto failed = [&](const std::string &why) {
    return Status::error(StatusCode::Missing, fmt::format("cannot run {}: {}", path, why));
  };
  llvm::SmallString<128> input, output;
  int file = 0;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("lacuna", "cubin", file, input))
    return failed(error.message());
  llvm::FileRemover removeInput(input);
  {
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream << cubin;
  }
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("lacuna", "sass", output))
    return failed(error.message());
  llvm::FileRemover removeOutput(output);
  constexpr unsigned seconds = 60;
  std::string message;
  std::optional<StringRef> redirects[] = {std::nullopt, output.str(), StringRef()};
  int code = llvm::sys::ExecuteAndWait(path, {path, "-c", input.str()}, std::nullopt, redirects,
                                       seconds, /*MemoryLimit=*/0, &message);
  if (code != 0)
    return failed(message.empty() ? fmt::format("it ended with exit code {}", code) : message);
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return failed(buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

} // namespace lacuna::tool
