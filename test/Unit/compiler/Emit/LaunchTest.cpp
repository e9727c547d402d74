//===- LaunchTest.cpp - what a GPU is told about tensors of any layout -----===//
//
// Specs compiled to CUDA C++ and run on the fake driver, which writes down maps and fields.
//
//===----------------------------------------------------------------------===//
#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Emit/CudaPrinter.h"
#include "compiler/Pipelines/Pipelines.h"
#include "runtime/Launch/LoadedProgram.h"
#include "test/Unit/runtime/FakeDriverTest.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

#include <gmock/gmock.h>

using namespace lacuna;
using namespace mlir;
using testing::ElementsAre;

/// Addresses that nothing reads.
static constexpr uint64_t queryAt = 0x700000000000, keyAt = 0x710000000000,
                          valueAt = 0x720000000000, outputAt = 0x730000000000,
                          lseAt = 0x740000000000;

/// A tensor of bf16; contiguous without `strides`.
static Tensor tokens(uint64_t address, std::vector<int64_t> shape,
                     std::vector<int64_t> strides = {}) {
  if (strides.empty())
    strides = contiguousStrides(shape);
  return {ElementType::BF16, std::move(shape), std::move(strides),
          reinterpret_cast<void *>(address)};
}

static Tensor rowValues(uint64_t address, std::vector<int64_t> shape,
                        std::vector<int64_t> strides = {}) {
  Tensor result = tokens(address, std::move(shape), std::move(strides));
  result.type = ElementType::F32;
  return result;
}

namespace {
class LaunchTest : public FakeDriverTest {
protected:
  void load(const std::string &text) {
    MLIRContext context;
    context.appendDialectRegistry(lacunaDialects());
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
    OwningOpRef<ModuleOp> module = parseSpec(sources, &context);
    ASSERT_TRUE(module);
    SpecToHopperOptions options;
    options.queryTile = queryTile;
    options.keyTile = keyTile;
    PassManager passes(&context);
    buildSpecToHopper(passes, options);
    ASSERT_TRUE(succeeded(passes.run(*module)));
    FailureOr<Program> printed = printProgram(*module->getOps<func::FuncOp>().begin());
    ASSERT_TRUE(succeeded(printed));
    for (KernelCode &kernel : printed->kernels) {
      kernel.cubin = "machine code";
      state->counts[kernel.manifest.symbol] = {kernel.manifest.maps.size(),
                                               kernel.manifest.fields.size()};
    }
    auto device = openDevice();
    ASSERT_TRUE(device) << device.status().message();
    auto loaded = LoadedProgram::load(*device, std::move(*printed), {});
    ASSERT_TRUE(loaded) << loaded.status().message();
    program = std::move(*loaded);
  }

  Status run(std::vector<Argument> arguments, std::vector<Tensor> results) {
    state->launches.clear();
    return program->run(nullptr, arguments, results);
  }

  /// The map with this name that a launch was given.
  const fake::Map &map(size_t launch, const std::string &name) {
    const std::string &source = sourceOf(launch);
    size_t at = source.find("extern \"C\" __global__"), number = 0;
    for (size_t next; (next = source.find("TensorMap ", at)) != std::string::npos; ++number) {
      at = next + 10;
      if (source.compare(at, name.size() + 1, name + ",") == 0)
        return state->maps[state->launches[launch].maps[number]];
    }
    ADD_FAILURE() << "no map " << name;
    return state->maps.front();
  }
  /// The word that a launch was given for this field.
  int64_t field(size_t launch, const std::string &name) {
    const std::string &source = sourceOf(launch);
    size_t at = source.find("struct Arguments {"), end = source.find("};", at);
    for (size_t number = 0; (at = source.find('\n', at) + 1) < end; ++number) {
      size_t stop = source.find(';', at);
      if (stop - at > name.size() && source.compare(stop - name.size(), name.size(), name) == 0 &&
          !std::isalnum(source[stop - name.size() - 1]))
        return static_cast<int64_t>(state->launches[launch].fields[number]);
    }
    ADD_FAILURE() << "no field " << name;
    return 0;
  }

  std::unique_ptr<LoadedProgram> program;
  std::vector<int64_t> queryTile, keyTile;

private:
  const std::string &sourceOf(size_t launch) {
    for (const KernelCode &kernel : program->program().kernels)
      if (kernel.manifest.symbol == state->launches[launch].symbol)
        return kernel.source;
    return program->program().name;
  }
};
} // namespace

/// One attend with an LSE over `set`; 8 query and 2 key heads of 64 channels.
static std::string specOf(const std::string &set, const std::string &type = "",
                          const std::string &arguments = "") {
  return "func.func @f(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, "
         "%v: tensor<?x2x?x64xbf16>" +
         arguments + ") -> (tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>) {\n" + set +
         "  %o, %l = attn.attend %q, %k, %v over %set" + type +
         " : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>"
         " -> tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>\n"
         "  return %o, %l : tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>\n}\n";
}

static const char *const video = "  %set_domain = sparsity.grid [%t, %y, %x]\n"
                                 "  %set = sparsity.radius [1, 2, 2] in %set_domain : "
                                 "!sparsity.domain<3>\n";
static const char *const sizes = ", %t: index, %y: index, %x: index";

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

static std::string textAndVideo() {
  return specOf("  %words = sparsity.sequence [%text]\n"
                "  %video = sparsity.grid [%frames, 8, 12]\n"
                "  %tokens = sparsity.concat %words, %video : !sparsity.domain<1>, "
                "!sparsity.domain<3>\n"
                "  %past = sparsity.causal\n"
                "  %blind = sparsity.none : !sparsity.set<1 to 3>\n"
                "  %reads = sparsity.all : !sparsity.set<3 to 1>\n"
                "  %near = sparsity.radius [1, 2, 2] in %video : !sparsity.domain<3>\n"
                "  %set = sparsity.segments %tokens [[%past, %blind], [%reads, %near]] : "
                "!sparsity.domain<1, 3>\n",
                " : !sparsity.set<1, 3>", ", %text: index, %frames: index");
}

TEST_F(LaunchTest, segmentsStartInsideTheTensors) {
  ASSERT_NO_FATAL_FAILURE(load(textAndVideo()));
  int64_t n = 100 + 4 * 96;
  std::vector<Argument> arguments{tokens(queryAt, {3, 8, n, 64}), tokens(keyAt, {3, 2, n, 64}),
                                  tokens(valueAt, {3, 2, n, 64}), int64_t{100}, int64_t{4}};
  std::vector<Tensor> results{tokens(outputAt, {3, 8, n, 64}), rowValues(lseAt, {3, 8, n})};
  Status status = run(arguments, results);
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(state->launches.size(), 2u);

  EXPECT_THAT(map(0, "queryMap").extents, ElementsAre(64, 100, 8, 3));
  EXPECT_EQ(map(0, "outputMap").address, outputAt);
  EXPECT_THAT(map(0, "keyMap").extents, ElementsAre(64, 100, 2, 3));

  uint64_t start = 100 * 64 * 2;
  EXPECT_EQ(map(1, "queryMap").address, queryAt + start);
  EXPECT_THAT(map(1, "queryMap").extents, ElementsAre(64, 12, 8, 4, 24));
  EXPECT_THAT(map(1, "queryMap").strides, ElementsAre(128, 12 * 128, 96 * 128, n * 128));
  EXPECT_EQ(map(1, "outputMap").address, outputAt + start);
  EXPECT_EQ(map(1, "key0Map").address, keyAt);
  EXPECT_THAT(map(1, "key0Map").extents, ElementsAre(64, 100, 2, 3));
  EXPECT_EQ(map(1, "key1Map").address, keyAt + start);
  EXPECT_THAT(map(1, "key1Map").extents, ElementsAre(64, 12, 8, 4, 6));
  EXPECT_EQ(map(1, "value1Map").address, valueAt + start);
}

// A segment without tokens is no launch, and its maps show memory that exists.
TEST_F(LaunchTest, emptySegments) {
  ASSERT_NO_FATAL_FAILURE(load(textAndVideo()));
  auto run = [&](int64_t text, int64_t frames) {
    int64_t n = text + frames * 96;
    Status status = LaunchTest::run({tokens(queryAt, {1, 8, n, 64}), tokens(keyAt, {1, 2, n, 64}),
                                     tokens(valueAt, {1, 2, n, 64}), text, frames},
                                    {tokens(outputAt, {1, 8, n, 64}), rowValues(lseAt, {1, 8, n})});
    EXPECT_TRUE(status) << status.message();
  };
  run(0, 2);
  ASSERT_EQ(state->launches.size(), 1u);
  EXPECT_EQ(state->launches[0].symbol, "f_attend_0_segment_1");
  EXPECT_NE(map(0, "key0Map").address, 0u);
  EXPECT_NE(map(0, "key0Map").address, keyAt);
  EXPECT_EQ(map(0, "key1Map").address, keyAt);
  run(70, 0);
  ASSERT_EQ(state->launches.size(), 1u);
  EXPECT_EQ(state->launches[0].symbol, "f_attend_0_segment_0");
  run(0, 0);
  EXPECT_TRUE(state->launches.empty());
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

// Tokens before heads, as projections leave them: on grids of three axes head and batch share an
// axis whose step is the distance of heads.
TEST_F(LaunchTest, tokensBeforeHeads) {
  ASSERT_NO_FATAL_FAILURE(load(specOf(video, " : !sparsity.set<3>", sizes)));
  int64_t n = 4 * 6 * 10, b = 3;
  auto interleaved = [&](uint64_t address, int64_t heads) {
    return tokens(address, {b, heads, n, 64}, {n * heads * 64, 64, heads * 64, 1});
  };
  Status status = run({interleaved(queryAt, 8), interleaved(keyAt, 2), interleaved(valueAt, 2),
                       int64_t{4}, int64_t{6}, int64_t{10}},
                      {interleaved(outputAt, 8), rowValues(lseAt, {b, 8, n}, {n * 8, 1, 8})});
  ASSERT_TRUE(status) << status.message();
  EXPECT_THAT(map(0, "queryMap").extents, ElementsAre(64, 10, 6, 4, 2 * n * 8 + 8));
  EXPECT_THAT(map(0, "queryMap").strides, ElementsAre(1024, 10240, 61440, 128));
  EXPECT_EQ(field(0, "queryHeadStep"), 1);
  EXPECT_EQ(field(0, "queryBatchStep"), n * 8);
  EXPECT_THAT(map(0, "keyMap").strides, ElementsAre(256, 2560, 15360, 128));
  EXPECT_EQ(field(0, "keyBatchStep"), n * 2);
  EXPECT_THAT(map(0, "outputMap").strides, ElementsAre(1024, 10240, 61440, 128));
  EXPECT_EQ(field(0, "lseStride0"), n * 8);
  EXPECT_EQ(field(0, "lseStride1"), 1);
  EXPECT_EQ(field(0, "lseStride2"), 8);
}

// Any other layout too: the step is the greatest common divisor of both distances.
TEST_F(LaunchTest, headsAndBatchesApart) {
  ASSERT_NO_FATAL_FAILURE(load(specOf(video, " : !sparsity.set<3>", sizes)));
  int64_t n = 4 * 6 * 10;
  Tensor padded = tokens(queryAt, {2, 8, n, 64}, {8 * n * 64 + 24, n * 64, 64, 1});
  Tensor repeated = tokens(keyAt, {2, 2, n, 64}, {0, n * 64, 64, 1});
  Tensor headsFirst = tokens(valueAt, {2, 2, n, 64}, {n * 64, 2 * n * 64, 64, 1});
  std::vector<Argument> arguments{padded,     repeated,   headsFirst,
                                  int64_t{4}, int64_t{6}, int64_t{10}};
  std::vector<Tensor> results{tokens(outputAt, {2, 8, n, 64}), rowValues(lseAt, {2, 8, n})};
  Status status = run(arguments, results);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(map(0, "queryMap").strides.back(), 24u * 2);
  EXPECT_EQ(field(0, "queryHeadStep"), n * 64 / 24);
  EXPECT_EQ(field(0, "queryBatchStep"), (8 * n * 64 + 24) / 24);
  EXPECT_EQ(map(0, "queryMap").extents.back(),
            static_cast<uint64_t>((8 * n * 64 + 24) / 24 + 7 * (n * 64 / 24) + 1));
  EXPECT_EQ(map(0, "keyMap").extents.back(), 2u);
  EXPECT_EQ(field(0, "keyBatchStep"), 0);
  EXPECT_EQ(field(0, "valueBatchStep"), 1);
  EXPECT_EQ(field(0, "valueHeadStep"), 2);

  std::get<Tensor>(arguments[1]).strides[1] = -n * 64;
  EXPECT_EQ(run(arguments, results).message(),
            "argument 'k': expected strides of batch and head of at least 0, got 0 and -15360");
  arguments[1] = tokens(keyAt, {2, 2, n, 64}, {int64_t{1} << 40, 8, 64, 1});
  EXPECT_EQ(
      run(arguments, results).message(),
      "argument 'k': expected heads of all batches within 2147483647 times the greatest common "
      "divisor of their strides, got strides 1099511627776 and 8");
  arguments[1] = tokens(keyAt, {2, 2, n, 64}, {2 * n * 64 + 4, n * 64, 64, 1});
  EXPECT_EQ(run(arguments, results).message(),
            "argument 'k': expected strides that are multiples of 8 elements (16 bytes), got 4");
}

// More than 2^31 elements, and batches further apart than 32 bits count.
TEST_F(LaunchTest, largeTensors) {
  ASSERT_NO_FATAL_FAILURE(load(specOf("  %set = sparsity.causal\n")));
  int64_t n = int64_t{1} << 24;
  std::vector<Argument> arguments{tokens(queryAt, {2, 8, n, 64}), tokens(keyAt, {2, 2, n, 64}),
                                  tokens(valueAt, {2, 2, n, 64})};
  Status status = run(arguments, {tokens(outputAt, {2, 8, n, 64}), rowValues(lseAt, {2, 8, n})});
  ASSERT_TRUE(status) << status.message();
  EXPECT_THAT(map(0, "queryMap").strides, ElementsAre(128, uint64_t{1} << 31, uint64_t{1} << 34));
  EXPECT_EQ(field(0, "lseStride0"), n * 8);
  EXPECT_EQ(state->launches[0].grid, 132u);
  EXPECT_GT(field(0, "items"), 65535);

  // Beyond the index arithmetic of the kernel.
  n = (int64_t{1} << 28) + 1;
  arguments = {tokens(queryAt, {1, 8, 5, 64}), tokens(keyAt, {1, 2, n, 64}),
               tokens(valueAt, {1, 2, n, 64})};
  EXPECT_EQ(
      run(arguments, {tokens(outputAt, {1, 8, 5, 64}), rowValues(lseAt, {1, 8, 5})}).message(),
      "argument 'k': expected at most 268435456 elements along axis 2, got 268435457");
  arguments = {tokens(queryAt, {int64_t{1} << 30, 8, 5, 64}),
               tokens(keyAt, {int64_t{1} << 30, 2, 5, 64}),
               tokens(valueAt, {int64_t{1} << 30, 2, 5, 64})};
  EXPECT_EQ(run(arguments, {tokens(outputAt, {int64_t{1} << 30, 8, 5, 64}),
                            rowValues(lseAt, {int64_t{1} << 30, 8, 5})})
                .message(),
            "expected at most 2147483647 query tiles of all heads, got 8589934592");
}

// No query leaves nothing to do; no key leaves rows that see none.
TEST_F(LaunchTest, emptyLengths) {
  ASSERT_NO_FATAL_FAILURE(load(specOf("  %set = sparsity.causal\n")));
  EXPECT_TRUE(
      run({tokens(0, {2, 8, 0, 64}), tokens(keyAt, {2, 2, 9, 64}), tokens(valueAt, {2, 2, 9, 64})},
          {tokens(0, {2, 8, 0, 64}), rowValues(0, {2, 8, 0})}));
  EXPECT_TRUE(state->launches.empty());
  Status status =
      run({tokens(queryAt, {2, 8, 9, 64}), tokens(0, {2, 2, 0, 64}), tokens(0, {2, 2, 0, 64})},
          {tokens(outputAt, {2, 8, 9, 64}), rowValues(lseAt, {2, 8, 9})});
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(state->launches.size(), 1u);
  EXPECT_NE(map(0, "keyMap").address, 0u);
  EXPECT_THAT(map(0, "keyMap").extents, ElementsAre(1, 1, 1, 1));
}

//===----------------------------------------------------------------------===//
// Other kernels
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, classesServeAllHeads) {
  queryTile = keyTile = {128};
  ASSERT_NO_FATAL_FAILURE(load(specOf("  %set = sparsity.where (%b, %h, %i, %j) {\n"
                                      "    %ci = tensor.extract %colour[%i] : tensor<?xi32>\n"
                                      "    %cj = tensor.extract %colour[%j] : tensor<?xi32>\n"
                                      "    %same = arith.cmpi eq, %ci, %cj : i32\n"
                                      "    sparsity.yield %same : i1\n  }\n",
                                      "", ", %colour: tensor<?xi32>")));
  Tensor colour{ElementType::I32, {1000}, {1}, reinterpret_cast<void *>(0x5000)};
  Status status = run({tokens(queryAt, {3, 8, 1000, 64}), tokens(keyAt, {3, 2, 1000, 64}),
                       tokens(valueAt, {3, 2, 1000, 64}), colour},
                      {tokens(outputAt, {3, 8, 1000, 64}), rowValues(lseAt, {3, 8, 1000})});
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(state->launches.size(), 2u);
  EXPECT_EQ(state->launches[0].symbol, "f_attend_0_classes");
  EXPECT_EQ(state->launches[0].grid, 8u);
  EXPECT_EQ(field(0, "output4"), field(1, "input4"));
  EXPECT_EQ(field(1, "extent4_0"), 1);
  EXPECT_EQ(field(1, "extent4_1"), 1);
  EXPECT_EQ(field(1, "extent4_2"), 8);
}

TEST_F(LaunchTest, mergesRowsOfAnyStride) {
  ASSERT_NO_FATAL_FAILURE(
      load("func.func @f(%a: tensor<?x8x?x64xbf16>, %la: tensor<?x8x?xf32>, %b: "
           "tensor<?x8x?x64xbf16>, %lb: tensor<?x8x?xf32>)\n"
           "    -> (tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>) {\n"
           "  %o, %l = attn.merge (%a, %la), (%b, %lb) : tensor<?x8x?x64xbf16>, "
           "tensor<?x8x?xf32>\n"
           "  return %o, %l : tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>\n}\n"));
  Tensor part = tokens(keyAt, {2, 8, 300, 64}, {-1000, 3, 5, 7});
  std::vector<Argument> arguments{tokens(queryAt, {2, 8, 300, 64}), rowValues(lseAt, {2, 8, 300}),
                                  part, rowValues(lseAt, {2, 8, 300}, {1, 2, 3})};
  std::vector<Tensor> results{tokens(outputAt, {2, 8, 300, 64}), rowValues(lseAt, {2, 8, 300})};
  Status status = run(arguments, results);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(state->launches[0].grid, 2u * 8 * 5);
  EXPECT_EQ(field(0, "stride2_0"), -1000);
  EXPECT_EQ(field(0, "stride2_3"), 7);
  EXPECT_EQ(field(0, "stride3_2"), 3);
  EXPECT_EQ(field(0, "input2"), static_cast<int64_t>(keyAt));

  std::get<Tensor>(arguments[3]).shape[2] = 299;
  EXPECT_EQ(run(arguments, results).message(),
            "expected all parts of a merge to have one shape, got 300 and 299");
  int64_t b = int64_t{1} << 28;
  arguments = {tokens(queryAt, {b, 8, 300, 64}), rowValues(lseAt, {b, 8, 300}),
               tokens(keyAt, {b, 8, 300, 64}), rowValues(lseAt, {b, 8, 300})};
  results = {tokens(outputAt, {b, 8, 300, 64}), rowValues(lseAt, {b, 8, 300})};
  EXPECT_EQ(run(arguments, results).message(),
            "kernel 'f_merge_0': expected at most 2^31 - 1 blocks, got 10737418240");
}
