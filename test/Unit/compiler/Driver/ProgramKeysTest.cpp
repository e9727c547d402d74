//===- ProgramKeysTest.cpp - what decides about a program -------------------===//
#include "compiler/Driver/ProgramKeys.h"

#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <functional>
#include <gtest/gtest.h>
#include <set>

using namespace lacuna;
using namespace mlir;

/// A window with `left` and a name for its argument and its result.
static std::string spec(const std::string &left, const std::string &name = "q",
                        const std::string &result = "o", const std::string &more = "") {
  std::string type = "tensor<?x2x?x64xbf16>";
  return "func.func @f(%" + name + ": " + type + ", %k: " + type + ") -> " + type + " {\n" + more +
         "  %w = arith.constant " + left + " : index\n" +
         "  %s = sparsity.window left(%w) right(0)\n  %" + result + " = attn.attend %" + name +
         ", %k, %k over %s : " + type + ", " + type + ", " + type + " -> " + type + "\n  return %" +
         result + " : " + type + "\n}\n";
}

namespace {
class ProgramKeysTest : public testing::Test {
protected:
  ProgramKeysTest() : context(lacunaDialects(), MLIRContext::Threading::DISABLED) {}
  Digest meaning(const std::string &text, const SpecToHopperOptions &options) {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "spec"), llvm::SMLoc());
    OwningOpRef<ModuleOp> module = parseSpec(sources, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return {};
    FailureOr<Digest> digest = digestOfMeaning(*module, options);
    EXPECT_TRUE(succeeded(digest));
    return succeeded(digest) ? *digest : Digest();
  }
  MLIRContext context;
};
} // namespace

using Change = std::function<void(SpecToHopperOptions &)>;
static const Change changes[] = {
    [](SpecToHopperOptions &) {},
    [](SpecToHopperOptions &options) { options.target = "cpu"; },
    [](SpecToHopperOptions &options) { options.queryTile = {64}; },
    [](SpecToHopperOptions &options) { options.queryTile = {64, 1}; },
    [](SpecToHopperOptions &options) { options.keyTile = {64}; },
    [](SpecToHopperOptions &options) { options.stages = 3; },
    [](SpecToHopperOptions &options) { options.querySlots = 3; },
    [](SpecToHopperOptions &options) { options.consumerRegisters = 3; },
    [](SpecToHopperOptions &options) { options.pingPong = true; },
};

TEST_F(ProgramKeysTest, thisCompilerHasABuild) { EXPECT_NE(compilerBuild(), ""); }

// Text, path (with lines), and every option are in the first key.
TEST_F(ProgramKeysTest, textKeysHoldEveryInput) {
  std::set<Digest> digests;
  for (const Change &change : changes) {
    SpecToHopperOptions options;
    change(options);
    digests.insert(digestOfText("text", "path", options, false));
  }
  EXPECT_EQ(digests.size(), std::size(changes));
  SpecToHopperOptions options;
  Digest digest = digestOfText("text", "path", options, false);
  EXPECT_EQ(digestOfText("text", "other", options, false), digest) << "nothing names the file";
  digests.insert(digestOfText("text ", "path", options, false));
  digests.insert(digestOfText("text", "path", options, true));
  digests.insert(digestOfText("text", "other", options, true));
  EXPECT_EQ(digests.size(), std::size(changes) + 3);
}

TEST_F(ProgramKeysTest, meaningKeysHoldEveryOption) {
  std::set<Digest> digests;
  for (const Change &change : changes) {
    SpecToHopperOptions options;
    change(options);
    digests.insert(meaning(spec("255"), options));
  }
  EXPECT_EQ(digests.size(), std::size(changes));
}

// What simplification removes does not count; numbers and names that a launch's messages or its
// caller see do.
TEST_F(ProgramKeysTest, meaningKeysForgetHowItWasWritten) {
  SpecToHopperOptions options;
  Digest digest = meaning(spec("255"), options);
  EXPECT_EQ(meaning("// A comment.\n\n" + spec("255"), options), digest);
  EXPECT_EQ(meaning(spec("255", "q", "o", "  %unused = arith.constant 7 : index\n"), options),
            digest);
  EXPECT_NE(meaning(spec("254"), options), digest);
  EXPECT_NE(meaning(spec("255", "query"), options), digest);
  EXPECT_NE(meaning(spec("255", "q", "out"), options), digest);
}
