//===- RandomSpecs.cpp - random specs as files, for a GPU elsewhere --------===//
//
//   lacuna-random-specs FOLDER COUNT [SEED] [select]
//
// Writes FOLDER/<number>.mlir, and beside it <number>.sets with a line of values for each run. The
// same seed gives the same files. With `select` the specs choose their lists from data.
//
//===----------------------------------------------------------------------===//
#include "lib/Support/File.h"
#include "lib/Support/Text.h"
#include "test/Support/RandomSelectSpec.h"

#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <string_view>

using namespace lacuna;
using lacuna::test::Assignments;
using lacuna::test::RandomSelectSpec;
using lacuna::test::RandomSpec;

/// Values that each spec gets: compiling is the slow part.
static constexpr int runsPerSpec = 4;
static constexpr int64_t tile = 128;

/// A spec and the values of each run.
static Status write(const std::string &path, const std::string &spec,
                    const std::function<Assignments()> &draw) {
  std::string lines;
  for (int run = 0; run < runsPerSpec; ++run) {
    std::string text;
    for (const auto &[name, value] : draw())
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
    lines += text + "\n";
  }
  if (Status status = writeFile(path + ".mlir", spec); !status)
    return status;
  return writeFile(path + ".sets", lines);
}

static Status writeSpec(const std::string &folder, int64_t number, uint64_t seed, bool selects) {
  Random random(seed, static_cast<uint64_t>(number));
  std::string path = fmt::format("{}/{:03}", folder, number);
  if (selects) {
    RandomSelectSpec spec(random, RandomSpec::Scale::Gpu);
    return write(path, spec.getText(), [&] { return spec.drawValues(); });
  }
  RandomSpec spec(random, RandomSpec::Scale::Gpu);
  return write(path, spec.getText(), [&] { return spec.drawValues(tile); });
}

int main(int argc, char **argv) {
  std::optional<int64_t> count = argc > 2 ? parseInteger(argv[2]) : std::nullopt;
  std::optional<int64_t> seed = argc > 3 ? parseInteger(argv[3]) : 1;
  bool selects = argc > 4 && std::string_view(argv[4]) == "select";
  if (!count || !seed || *count < 0 || *seed < 0 || (argc > 4 && !selects)) {
    std::cerr << "usage: lacuna-random-specs FOLDER COUNT [SEED] [select]\n";
    return 2;
  }
  std::error_code problem;
  std::filesystem::create_directories(argv[1], problem);
  for (int64_t number = 0; number < *count; ++number)
    if (Status status = writeSpec(argv[1], number, static_cast<uint64_t>(*seed), selects);
        !status) {
      std::cerr << "lacuna-random-specs: " << status.message() << '\n';
      return 3;
    }
  return 0;
}
