//===- ProgramCacheTest.cpp - when a compiler is reached --------------------===//
#include "runtime/Cache/ProgramCache.h"

#include "lacuna/ArtifactFile.h"

#include "test/Unit/lib/Artifact/SampleArtifact.h"
#include "test/Unit/runtime/Cache/CacheTest.h"

using namespace lacuna;

namespace {
class ProgramCacheTest : public CacheTest {
protected:
  /// Steps that count how often they are taken; the program is named like the meaning.
  ProgramSteps steps(const std::string &text, const std::string &meaning) {
    return {sha256(text),
            [this, meaning]() -> Result<Digest> {
              ++simplified;
              return sha256(meaning);
            },
            [this, meaning]() -> Result<std::string> {
              ++compiled;
              Artifact artifact = sampleArtifact();
              artifact.program.name = meaning;
              return writeArtifact(artifact);
            },
            [this](const std::string &bytes) {
              Result<Artifact> artifact = readArtifact(bytes);
              name = artifact ? artifact->program.name : "";
              return artifact.status();
            },
            "label"};
  }
  std::string nameOf(BlobStore &store, const std::string &text, const std::string &meaning) {
    Status status = findOrCompile(store, steps(text, meaning));
    return status ? name : status.message();
  }
  int simplified = 0, compiled = 0;
  std::string name;
};
} // namespace

TEST_F(ProgramCacheTest, compilesEachMeaningOnce) {
  {
    BlobStore store(options());
    EXPECT_EQ(nameOf(store, "text", "meaning"), "meaning");
    EXPECT_EQ(nameOf(store, "text", "meaning"), "meaning");
    EXPECT_EQ(simplified, 1);
    EXPECT_EQ(nameOf(store, "text // comment", "meaning"), "meaning");
    EXPECT_EQ(simplified, 2);
    EXPECT_EQ(compiled, 1);
  }
  BlobStore store(options());
  EXPECT_EQ(nameOf(store, "text", "meaning"), "meaning");
  EXPECT_EQ(nameOf(store, "text // comment", "meaning"), "meaning");
  EXPECT_EQ(simplified, 2) << "both texts lead to the program";
  EXPECT_EQ(nameOf(store, "other", "another"), "another");
  EXPECT_EQ(compiled, 2);
}

// The text is known, its program was evicted.
TEST_F(ProgramCacheTest, compilesWhatWasEvicted) {
  {
    BlobStore store(options());
    nameOf(store, "text", "meaning");
  }
  std::filesystem::remove(pathOf({"program", sha256("meaning")}));
  BlobStore store(options());
  EXPECT_EQ(nameOf(store, "text", "meaning"), "meaning");
  EXPECT_EQ(simplified, 2);
  EXPECT_EQ(compiled, 2);
}

TEST_F(ProgramCacheTest, replacesWhatItCannotRead) {
  BlobStore store(options());
  setLogLevel(LogLevel::Off);
  store.put({"program", sha256("meaning")}, "no artifact");
  EXPECT_EQ(nameOf(store, "text", "meaning"), "meaning");
  EXPECT_EQ(compiled, 1);
  store.put({"spec", sha256("text")}, "no digest");
  EXPECT_EQ(nameOf(store, "text", "meaning"), "meaning");
  EXPECT_EQ(compiled, 1);
  setLogLevel(LogLevel::Warning);
}

TEST_F(ProgramCacheTest, givesFailuresBack) {
  BlobStore store(options());
  ProgramSteps wrong = steps("text", "meaning"), later = wrong;
  wrong.simplify = []() -> Result<Digest> {
    return Status::error(StatusCode::InvalidArgument, "no such op");
  };
  later.compile = []() -> Result<std::string> {
    return Status::error(StatusCode::Unsupported, "too large");
  };
  EXPECT_EQ(findOrCompile(store, wrong).message(), "no such op");
  EXPECT_EQ(findOrCompile(store, later).message(), "too large");
  EXPECT_EQ(nameOf(store, "text", "meaning"), "meaning") << "neither was kept";
}

// One folder, machines of two kinds: each makes its own.
TEST_F(ProgramCacheTest, kindsAreKeptApart) {
  BlobStore store(options());
  ProgramSteps program = steps("text", "meaning"), native = steps("text for the CPU", "meaning");
  native.kind = "native";
  EXPECT_TRUE(findOrCompile(store, program).isOk());
  EXPECT_TRUE(findOrCompile(store, native).isOk());
  EXPECT_EQ(compiled, 2);
  EXPECT_TRUE(findOrCompile(store, native).isOk());
  EXPECT_EQ(compiled, 2);
}

// What cannot be read after it was made again is a failure, and not made for ever.
TEST_F(ProgramCacheTest, makesUnreadableBytesTwice) {
  BlobStore store(options());
  setLogLevel(LogLevel::Off);
  ProgramSteps never = steps("text", "meaning");
  never.read = [](const std::string &) {
    return Status::error(StatusCode::Corrupt, "for another CPU");
  };
  EXPECT_EQ(findOrCompile(store, never).message(), "for another CPU");
  EXPECT_EQ(compiled, 2);
  setLogLevel(LogLevel::Warning);
}
