//===- CompileSpecTest.cpp - specs through the public interface ------------===//
#include "lacuna/Compiler.h"
#include "lacuna/Log.h"
#include "lacuna/Runtime.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <thread>

using namespace lacuna;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
const char *const window = R"(
func.func @window(%q: tensor<?x2x?x16xf32>, %k: tensor<?x1x?x16xf32>, %v: tensor<?x1x?x16xf32>,
                  %left: index) -> (tensor<?x2x?x16xf32>, tensor<?x2x?xf32>) {
  %near = sparsity.window left(%left) right(0)
  %o, %lse = attn.attend %q, %k, %v over %near : tensor<?x2x?x16xf32>, tensor<?x1x?x16xf32>,
      tensor<?x1x?x16xf32> -> tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
})";

/// `window` with elements and channels that the GPU takes.
std::string windowForGpu() {
  std::string text = window;
  for (size_t at = 0; (at = text.find("16xf32", at)) != std::string::npos;)
    text.replace(at, 6, "64xbf16");
  return text;
}

/// Inputs of `window` with n tokens.
struct Inputs {
  explicit Inputs(int64_t n, int64_t batch = 1)
      : query(ElementType::F32, {batch, 2, n, 16}), key(ElementType::F32, {batch, 1, n, 16}) {
    fill(query, 37);
    fill(key, 53);
  }
  static void fill(OwnedTensor &tensor, int64_t step) {
    auto *numbers = static_cast<float *>(tensor.view().data);
    for (int64_t i = 0; i < tensor.view().elements(); ++i)
      numbers[i] = static_cast<float>(i * step % 101) / 50 - 1;
  }
  std::vector<Argument> arguments(int64_t left) const {
    return {query.view(), key.view(), key.view(), left};
  }
  OwnedTensor query, key;
};

/// The program of `window` on the CPU.
std::shared_ptr<const Executable> loadWindow() {
  CompileOptions options;
  options.target = Target::Cpu;
  Result<Program> program = compileSpec(window, options);
  EXPECT_TRUE(program.isOk()) << program.status().message();
  Result<std::shared_ptr<const Executable>> loaded = Cpu::open({2}).load(std::move(*program));
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
  return *loaded;
}

/// Log-sum-exp of a row of `window`, by its definition.
double exactLse(const Inputs &inputs, int64_t head, int64_t row, int64_t left) {
  double sum = 0;
  for (int64_t key = std::max<int64_t>(0, row - left); key <= row; ++key) {
    double score = 0;
    for (int64_t channel = 0; channel < 16; ++channel)
      score += inputs.query.view().at({0, head, row, channel}) *
               inputs.key.view().at({0, 0, key, channel});
    sum += std::exp(score / 4);
  }
  return std::log(sum);
}

void expectWindow(const Executable &program, int64_t n, int64_t left) {
  Inputs inputs(n);
  std::vector<Tensor> results(2);
  Status status = program.run(nullptr, inputs.arguments(left), results);
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_THAT(results[0].shape, ElementsAre(1, 2, n, 16));
  ASSERT_THAT(results[1].shape, ElementsAre(1, 2, n));
  for (int64_t row = 0; row < n; ++row)
    EXPECT_NEAR(results[1].at({0, 1, row}), exactLse(inputs, 1, row, left), 1e-5);
  for (Tensor &result : results)
    Cpu::free(result);
}

std::string messageOf(std::string_view text, CompileOptions options = {}) {
  Result<Program> program = compileSpec(text, options);
  EXPECT_FALSE(program.isOk());
  EXPECT_EQ(program.status().code(), StatusCode::InvalidArgument);
  return program.status().message();
}
} // namespace

// Lengths, windows and batches are values of a run.
TEST(CompileSpec, oneProgramRunsForAllSizes) {
  std::shared_ptr<const Executable> program = loadWindow();
  for (auto [n, left] : {std::pair<int64_t, int64_t>(0, 3), {1, 0}, {33, 4}, {130, 500}})
    expectWindow(*program, n, left);
}

TEST(CompileSpec, describesArgumentsAndResults) {
  Result<Program> program = compileSpec(windowForGpu());
  ASSERT_TRUE(program.isOk()) << program.status().message();
  EXPECT_EQ(program->name, "window");
  EXPECT_EQ(program->architecture, "sm_90a");
  EXPECT_EQ(program->arguments[3].name, "left");
  EXPECT_THAT(program->resultNames, ElementsAre("o", "o.lse"));
  Result<ResultShapes> shapes = ResultShapes::of(*program);
  ASSERT_TRUE(shapes.isOk()) << shapes.status().message();
  EXPECT_THAT(shapes->results[0].shape, ElementsAre(-1, 2, -1, 64));
  Inputs inputs(5, 3);
  Result<std::vector<Tensor>> inferred = shapes->infer(inputs.arguments(1));
  ASSERT_TRUE(inferred.isOk()) << inferred.status().message();
  EXPECT_THAT((*inferred)[0].shape, ElementsAre(3, 2, 5, 64));
  EXPECT_THAT((*inferred)[1].shape, ElementsAre(3, 2, 5));
}

// Results of any layout are filled; the gaps between rows keep their contents.
TEST(CompileSpec, writesGivenResults) {
  std::shared_ptr<const Executable> program = loadWindow();
  Inputs inputs(9);
  std::vector<Tensor> made(2);
  ASSERT_TRUE(program->run(nullptr, inputs.arguments(2), made).isOk());
  OwnedTensor wide(ElementType::F32, {1, 2, 9, 20}), lse(ElementType::F32, {1, 2, 9});
  for (int64_t i = 0; i < wide.view().elements(); ++i)
    static_cast<float *>(wide.view().data)[i] = -7;
  Tensor inner = wide.view();
  inner.shape[3] = 16;
  std::vector<Tensor> given = {inner, lse.view()};
  Status status = program->run(nullptr, inputs.arguments(2), given);
  ASSERT_TRUE(status.isOk()) << status.message();
  for (int64_t row = 0; row < 9; ++row) {
    for (int64_t channel = 0; channel < 16; ++channel)
      EXPECT_EQ(wide.view().at({0, 1, row, channel}), made[0].at({0, 1, row, channel}));
    EXPECT_EQ(wide.view().at({0, 1, row, 18}), -7);
    EXPECT_EQ(lse.view().at({0, 1, row}), made[1].at({0, 1, row}));
  }
  for (Tensor &result : made)
    Cpu::free(result);
}

TEST(CompileSpec, refusesWrongArgumentsByName) {
  std::shared_ptr<const Executable> program = loadWindow();
  Inputs inputs(9);
  OwnedTensor output(ElementType::F32, {1, 2, 8, 16}), lse(ElementType::F32, {1, 2, 9});
  std::vector<Tensor> given = {output.view(), lse.view()};
  EXPECT_THAT(program->run(nullptr, inputs.arguments(2), given).message(),
              HasSubstr("shape 1x2x9x16, got f32 of shape 1x2x8x16"));
  std::vector<Argument> arguments = inputs.arguments(2);
  arguments[3] = 2.0;
  std::vector<Tensor> results(2);
  EXPECT_THAT(program->run(nullptr, arguments, results).message(), HasSubstr("'left'"));
  EXPECT_EQ(results[0].data, nullptr);
  arguments.pop_back();
  EXPECT_THAT(program->run(nullptr, arguments, results).message(), HasSubstr("4 arguments"));
  EXPECT_THAT(program->run(reinterpret_cast<CUstream_st *>(8), arguments, results).message(),
              HasSubstr("no stream"));
  Result<Program> other = compileSpec(windowForGpu());
  ASSERT_TRUE(other.isOk()) << other.status().message();
  EXPECT_THAT(Cpu::open({1}).load(std::move(*other)).status().message(),
              HasSubstr("expected a program for the CPU, got one for sm_90a"));
}

TEST(CompileSpec, diagnosticsHaveLineAndColumn) {
  EXPECT_THAT(messageOf(window), HasSubstr("5:14: error: 'tile.load' op expected f16 or bf16"));
  EXPECT_THAT(messageOf("func.func @f() {\n  nonsense\n}"), HasSubstr("2:3: error: "));
  EXPECT_THAT(messageOf(""), HasSubstr("expected a spec to have one function, got 0"));
  EXPECT_THAT(messageOf("func.func private @f()\nfunc.func private @g()"),
              HasSubstr("2:1: error: expected a spec to have one function, got 2"));
  EXPECT_THAT(messageOf("func.func private @f()"),
              HasSubstr("expected the function of a spec to have a body"));
  std::string text = window;
  text.replace(text.find("left(%left)"), 11, "left(%lost)");
  EXPECT_THAT(messageOf(text), HasSubstr("4:32: error: use of undeclared SSA value name"));
}

TEST(CompileSpec, optionsOutOfRange) {
  CompileOptions options;
  options.stages = -1;
  EXPECT_EQ(messageOf(window, options), "stages: expected a number from 0 to 16, got -1");
  options.stages = 2;
  options.target = Target::Cpu;
  EXPECT_THAT(messageOf(window, options), HasSubstr("for target cuda only"));
  options.stages = 0;
  for (std::vector<int64_t> tile : {std::vector<int64_t>{0}, {-8}, {64, 64}}) {
    options.queryTile = tile;
    EXPECT_THAT(messageOf(window, options), HasSubstr("query"));
    options.target = Target::Cuda;
    EXPECT_THAT(messageOf(window, options), HasSubstr("query"));
  }
}

// Comments do not matter to what a spec says; names of arguments, options and lines do.
TEST(CompileSpec, keys) {
  auto keys = [](const std::string &text, CompileOptions options = {}) {
    Compilation compilation(text, options);
    Result<std::string> meaning = compilation.meaningKey();
    EXPECT_TRUE(meaning.isOk()) << meaning.status().message();
    return std::pair(compilation.textKey(), *meaning);
  };
  std::string text = windowForGpu(), comment = "// the same\n" + text, renamed = text;
  for (size_t at = 0; (at = renamed.find("%q", at)) != std::string::npos; ++at)
    renamed.replace(at, 2, "%queries");
  auto [textKey, meaning] = keys(text);
  EXPECT_EQ(textKey.size(), 64U);
  EXPECT_NE(keys(comment).first, textKey);
  EXPECT_EQ(keys(comment).second, meaning);
  EXPECT_NE(keys(renamed).second, meaning);
  CompileOptions options;
  options.stages = 2;
  EXPECT_NE(keys(text, options).first, textKey);
  EXPECT_NE(keys(text, options).second, meaning);
  options = {};
  options.lineInfo = true;
  EXPECT_NE(keys(text, options).second, keys(comment, options).second);
}

// One compilation gives the same program again, with its origin.
TEST(CompileSpec, artifact) {
  std::string text = windowForGpu();
  Compilation compilation(text, {});
  Result<Artifact> first = compilation.compile(), second = compilation.compile();
  ASSERT_TRUE(first.isOk()) << first.status().message();
  ASSERT_TRUE(second.isOk()) << second.status().message();
  EXPECT_EQ(first->program.kernels[0].source, second->program.kernels[0].source);
  EXPECT_EQ(first->origin.spec, text);
  EXPECT_EQ(first->origin.irDigest, *compilation.meaningKey());
  Result<std::string> bytes = writeArtifact(*first);
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  Result<Artifact> read = readArtifact(*bytes);
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_THAT(read->program.resultNames, ElementsAre("o", "o.lse"));
}

TEST(CompileSpec, threadsCompileAndRunAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([=] {
      std::shared_ptr<const Executable> program = loadWindow();
      expectWindow(*program, 20 + thread, thread);
    });
  for (std::thread &thread : threads)
    thread.join();
}

// What an application can learn of a compilation: all of it at level info, each pass at debug.
TEST(CompileSpec, logsTimes) {
  std::vector<std::string> lines;
  setLogSink([&](LogLevel level, std::string_view text) {
    lines.push_back(fmt::format("{} {}", level == LogLevel::Info ? "info" : "debug", text));
  });
  CompileOptions cpu;
  cpu.target = Target::Cpu;
  for (LogLevel level : {LogLevel::Debug, LogLevel::Info, LogLevel::Warning}) {
    lines.clear();
    setLogLevel(level);
    EXPECT_TRUE(compileSpec(window, cpu).isOk());
    EXPECT_TRUE(compileSpec(windowForGpu()).isOk());
    if (level == LogLevel::Debug) {
      EXPECT_THAT(lines, testing::Contains(HasSubstr("debug lacuna-attn-to-tile took ")));
      EXPECT_THAT(lines, testing::Contains(HasSubstr("debug lacuna-tile-to-cpu took ")));
      EXPECT_THAT(lines, testing::Contains(HasSubstr("debug lacuna-tile-to-hopper took ")));
      EXPECT_THAT(lines, testing::Contains(HasSubstr("debug machine code took ")));
    } else if (level == LogLevel::Info) {
      EXPECT_THAT(lines, ElementsAre(HasSubstr("info compiled window for cpu in "),
                                     HasSubstr("info compiled window for sm_90a in ")));
    } else {
      EXPECT_THAT(lines, testing::IsEmpty());
    }
  }
  setLogSink(nullptr);
}
