//===- CompileReport.cpp - what the assembler says about kernels -----------===//
#include "runtime/Jit/CompileReport.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace lacuna {

const KernelReport *CompileReport::find(std::string_view name) const {
  auto found = std::find_if(kernels.begin(), kernels.end(),
                            [&](const KernelReport &kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

bool CompileReport::spills() const {
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelReport &kernel) {
    return kernel.spillStoreBytes + kernel.spillLoadBytes > 0;
  });
}

/// Calls `visit` for every line.
template <typename Visit> static void forEachLine(std::string_view text, Visit visit) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    visit(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

static bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number that stands before `unit`, as in "352 bytes stack frame".
static void readBefore(std::string_view line, std::string_view unit, unsigned &number) {
  size_t end = line.find(unit);
  if (end == std::string_view::npos)
    return;
  size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9')
    --start;
  std::from_chars(line.data() + start, line.data() + end, number);
}

/// The text between the first pair of quotes after `before`.
static std::optional<std::string_view> quotedAfter(std::string_view line, std::string_view before) {
  size_t start = line.find(before);
  if (start == std::string_view::npos)
    return std::nullopt;
  start += before.size();
  size_t end = line.find('\'', start);
  if (end == std::string_view::npos)
    return std::nullopt;
  return line.substr(start, end - start);
}

/// Reads the numbers of one line into the kernel that it follows.
static void readNumbers(std::string_view line, KernelReport &kernel) {
  readBefore(line, " bytes stack frame", kernel.stackBytes);
  readBefore(line, " bytes spill stores", kernel.spillStoreBytes);
  readBefore(line, " bytes spill loads", kernel.spillLoadBytes);
  readBefore(line, " registers", kernel.registers);
  readBefore(line, " barriers", kernel.barriers);
  readBefore(line, " bytes smem", kernel.sharedBytes);
  readBefore(line, " bytes cmem[0]", kernel.constantBytes);
}

CompileReport parseCompileLog(std::string_view log) {
  CompileReport report;
  forEachLine(log, [&](std::string_view line) {
    if (auto name = quotedAfter(line, "Compiling entry function '"))
      report.kernels.push_back({.name = std::string(*name)});
    // Numbers of device functions that were not inlined stand behind their own heading, which
    // the assembler prints after those of the kernel that calls them.
    else if (!report.kernels.empty() && !contains(line, "Performance Loss"))
      readNumbers(line, report.kernels.back());
    // The numbers of these messages change between versions, and the words do not.
    bool serialized = contains(line, "serialized");
    bool ignored = contains(line, "setmaxnreg") && contains(line, "ignored");
    report.wgmmaSerialized |= serialized;
    report.setmaxnregIgnored |= ignored;
    if (serialized || ignored || contains(line, "Performance Loss"))
      report.losses.emplace_back(line);
  });
  return report;
}

std::string firstError(std::string_view log) {
  std::string error, first;
  forEachLine(log, [&](std::string_view line) {
    if (first.empty() && line.find_first_not_of(" \t\r") != std::string_view::npos)
      first = line;
    if (error.empty() && (contains(line, "error:") || contains(line, "error :") ||
                          contains(line, ": error") || contains(line, "fatal")))
      error = line;
  });
  return error.empty() ? first : error;
}

} // namespace lacuna
