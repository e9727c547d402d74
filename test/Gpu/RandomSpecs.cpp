//===- RandomSpecs.cpp - random specs as files, for a GPU elsewhere --------===//
//
//   lacuna-random-specs FOLDER COUNT [SEED]
//
// Writes FOLDER/<number>.mlir, and beside it <number>.sets with a line of values for each run. The
// same seed gives the same files.
//
//===----------------------------------------------------------------------===//
#include "lib/Support/File.h"
#include "lib/Support/Text.h"
#include "test/Support/RandomSpec.h"

#include <filesystem>
#include <fmt/format.h>
#include <iostream>

using namespace lacuna;
using lacuna::test::RandomSpec;

/// Values that each spec gets: compiling is the slow part.
static constexpr int runsPerSpec = 4;
static constexpr int64_t tile = 128;

static Status writeSpec(const std::string &folder, int64_t number, uint64_t seed) {
  Random random(seed, static_cast<uint64_t>(number));
  RandomSpec spec(random, RandomSpec::Scale::Gpu);
  std::string lines;
  for (int run = 0; run < runsPerSpec; ++run) {
    std::string text;
    for (const auto &[name, value] : spec.drawValues(tile))
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
    lines += text + "\n";
  }
  std::string path = fmt::format("{}/{:03}", folder, number);
  if (Status status = writeFile(path + ".mlir", spec.getText()); !status)
    return status;
  return writeFile(path + ".sets", lines);
}

int main(int argc, char **argv) {
  std::optional<int64_t> count = argc > 2 ? parseInteger(argv[2]) : std::nullopt;
  std::optional<int64_t> seed = argc > 3 ? parseInteger(argv[3]) : 1;
  if (!count || !seed || *count < 0 || *seed < 0) {
    std::cerr << "usage: lacuna-random-specs FOLDER COUNT [SEED]\n";
    return 2;
  }
  std::error_code problem;
  std::filesystem::create_directories(argv[1], problem);
  for (int64_t number = 0; number < *count; ++number)
    if (Status status = writeSpec(argv[1], number, static_cast<uint64_t>(*seed)); !status) {
      std::cerr << "lacuna-random-specs: " << status.message() << '\n';
      return 3;
    }
  return 0;
}
