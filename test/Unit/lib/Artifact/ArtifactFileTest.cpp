//===- ArtifactFileTest.cpp - artifacts survive, damage is found -----------===//
#include "lacuna/ArtifactFile.h"

#include "lib/Artifact/CheckManifest.h"
#include "lib/Artifact/ProgramCoder.h"
#include "lib/Support/File.h"
#include "lib/Support/Random.h"
#include "lib/Support/Sha256.h"
#include "test/Support/ArtifactBytes.h"
#include "test/Unit/lib/Artifact/SampleArtifact.h"

#include <cstring>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using testing::HasSubstr;

static std::string written() {
  Result<std::string> bytes = writeArtifact(sampleArtifact());
  return bytes ? *bytes : "";
}

/// The message for `bytes`; "" when they are an artifact.
static std::string messageOf(std::string_view bytes) {
  return readArtifact({bytes.data(), bytes.size()}).status().message();
}

TEST(ArtifactFile, readsWhatItWrites) {
  Artifact sample = sampleArtifact();
  std::string bytes = written();
  EXPECT_TRUE(isArtifact(bytes));
  Result<Artifact> read = readArtifact(bytes);
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(writeProgram(read->program), writeProgram(sample.program));
  EXPECT_EQ(writeOrigin(read->origin), writeOrigin(sample.origin));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->program.kernels[i].source, sample.program.kernels[i].source);
    EXPECT_EQ(read->program.kernels[i].cubin, sample.program.kernels[i].cubin);
  }
  EXPECT_EQ(read->program.kernels[0].manifest.maps[0].base, 4u);
  EXPECT_EQ(read->program.kernels[1].manifest.host.code[5].a, -(int64_t{1} << 40));
  EXPECT_EQ(read->program.launches[2].into[0], 3);
  EXPECT_EQ(*writeArtifact(*read), bytes);
}

// Files of this version exist: other bytes for the same program need a new version, and a reader
// of this one. The sample has something in every member.
TEST(ArtifactFile, bytesOfVersion1AreFixed) {
  EXPECT_EQ(artifactVersion, 1u);
  EXPECT_EQ(sha256(written()).hex(),
            "c94a216ab688bca4df0a827fe8b65808be357178128a842d2d5ec45a3cf53791");
}

TEST(ArtifactFile, refusesProgramsThatBreakARule) {
  Artifact sample = sampleArtifact();
  sample.program.results = {4, 9};
  EXPECT_THAT(writeArtifact(sample).status().message(), HasSubstr("results to be tensors"));
  struct Native final : NativeCode {
    Status run(std::span<const Argument>, std::span<const Tensor>, Executor &) const override {
      return Status::ok();
    }
  };
  sample = sampleArtifact();
  sample.program.native = std::make_shared<Native>();
  EXPECT_EQ(writeArtifact(sample).status().code(), StatusCode::Unsupported);
}

TEST(ArtifactFile, findsEveryTruncation) {
  std::string bytes = written();
  for (size_t length = 0; length < bytes.size(); ++length) {
    Result<Artifact> read = readArtifact({bytes.data(), length});
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(read.status().code(), StatusCode::Corrupt) << length;
    EXPECT_THAT(read.status().message(), HasSubstr("expected an artifact")) << length;
  }
  EXPECT_THAT(messageOf(bytes + "x"), HasSubstr("bytes, got"));
}

TEST(ArtifactFile, findsEveryFlippedBit) {
  std::string bytes = written();
  for (size_t byte = 0; byte < bytes.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[byte] = static_cast<char>(flipped[byte] ^ 1 << bit);
      ASSERT_NE(messageOf(flipped), "") << "byte " << byte << ", bit " << bit;
    }
}

TEST(ArtifactFile, saysWhatIsDamaged) {
  std::string bytes = written();
  EXPECT_EQ(messageOf("func.func @spec"), "expected an artifact, got other bytes");
  EXPECT_EQ(messageOf(""), "expected an artifact, got other bytes");
  std::string flipped = bytes;
  flipped.back() ^= 1;
  EXPECT_THAT(messageOf(flipped), HasSubstr("section 4 of the artifact (cubin) is damaged"));
  flipped = bytes;
  flipped[30] ^= 1;
  EXPECT_THAT(messageOf(flipped), HasSubstr("header is damaged"));
}

// A number that is not ours to read is refused with both numbers, whatever follows.
TEST(ArtifactFile, refusesNewerVersions) {
  std::string bytes = written();
  bytes[8] = 7;
  Result<Artifact> read = readArtifact(bytes);
  EXPECT_EQ(read.status().code(), StatusCode::Unsupported);
  EXPECT_THAT(read.status().message(), HasSubstr("format version 1 or older, got version 7"));
  bytes[8] = 0;
  EXPECT_THAT(messageOf(bytes), HasSubstr("got version 0"));
}

namespace {
struct Hostile {
  const char *message;
  std::function<void(std::string &bytes)> change;
};
} // namespace

/// Writes a little-endian number over bytes.
template <typename T> static void put(std::string &bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// Lengths that lie, under checksums that fit.
TEST(ArtifactFile, refusesHostileLengths) {
  constexpr size_t table = 24, row = 48;
  std::string whole = written();
  size_t program = table + 5 * row + 32;
  uint64_t origin = 0;
  std::memcpy(&origin, whole.data() + table + 8, 8);
  program += origin;
  const Hostile cases[] = {
      {"section 1 to have at most", [](std::string &b) { put(b, table + row + 8, ~uint64_t{0}); }},
      {"sections of", [](std::string &b) { put(b, table + 4 * row + 8, uint64_t{1}); }},
      {"of a known kind, got number 9", [](std::string &b) { put(b, table, uint32_t{9}); }},
      {"got program as section 0", [](std::string &b) { put(b, table, uint32_t{1}); }},
      {"got origin as section 1", [](std::string &b) { put(b, table + row, uint32_t{0}); }},
      {"in order, got that of kernel 5",
       [](std::string &b) { put(b, table + 2 * row + 4, uint32_t{5}); }},
      {"in order, got that of kernel 0",
       [](std::string &b) { put(b, table + 4 * row + 4, uint32_t{0}); }},
      {"byte 4: expected a text of at most",
       [=](std::string &b) { put(b, program, ~uint32_t{0}); }},
      {"byte 23: expected a list of at most",
       [=](std::string &b) { put(b, program + 4 + 5 + 4 + 6, ~uint32_t{0}); }},
  };
  for (const Hostile &hostile : cases) {
    std::string bytes = whole;
    hostile.change(bytes);
    // A table that lies about lengths has no sections to sign; only its own checksum counts.
    uint64_t second = 0;
    std::memcpy(&second, bytes.data() + table + row + 8, 8);
    if (second < bytes.size()) {
      repairChecksums(bytes);
    } else {
      Digest header = sha256(std::string_view(bytes).substr(0, table + 5 * row));
      std::memcpy(bytes.data() + table + 5 * row, header.bytes.data(), 32);
    }
    EXPECT_THAT(messageOf(bytes), HasSubstr(hostile.message));
  }
  put(whole, 12, uint32_t{1} << 30);
  EXPECT_THAT(messageOf(whole), HasSubstr("at most 65536 sections"));
}

// Any bytes under checksums that fit are an error or a program that may be launched.
TEST(ArtifactFile, survivesRandomChanges) {
  std::string whole = written();
  Random random(1);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    size_t payload = 24 + 5 * 48 + 32;
    for (uint64_t change = random.below(4) + 1; change > 0; --change)
      bytes[payload + random.below(bytes.size() - payload)] =
          static_cast<char>(random.below(4) == 0 ? 0xff : random.below(256));
    repairChecksums(bytes);
    Result<Artifact> read = readArtifact(bytes);
    if (!read)
      continue;
    ++accepted;
    ASSERT_TRUE(checkProgram(read->program));
    ASSERT_TRUE(writeArtifact(*read));
  }
  EXPECT_GT(accepted, 100);
}

TEST(ArtifactFile, namesFilesInMessages) {
  std::string path = testing::TempDir() + "/lacuna-sample.artifact";
  ASSERT_TRUE(saveArtifact(path, sampleArtifact()));
  EXPECT_TRUE(loadArtifact(path));
  ASSERT_TRUE(writeFile(path, written().substr(0, 50)));
  EXPECT_THAT(loadArtifact(path).status().message(), HasSubstr("lacuna-sample.artifact: expected"));
  std::filesystem::remove(path);
  EXPECT_EQ(loadArtifact(path).status().code(), StatusCode::NotFound);
}
