//===- ExpandHierarchiesTest.cpp - every key is covered once ---------------===//
#include "compiler/Passes/Passes.h"
#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"
#include "test/Support/SpecRunner.h"
#include "test/Support/SpecText.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::sparsity::Formula;
using lacuna::test::SpecRunner;
using lacuna::test::SpecText;
using mlir::AffineExpr;

static int64_t divideDown(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// The value at a query and a column.
static int64_t evaluate(AffineExpr expr, int64_t query, int64_t column) {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return dim.getPosition() == 0 ? query : column;
  auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary) {
    ADD_FAILURE() << "a length in a hierarchy from the start";
    return 0;
  }
  int64_t a = evaluate(binary.getLHS(), query, column);
  int64_t b = evaluate(binary.getRHS(), query, column);
  switch (binary.getKind()) {
  case mlir::AffineExprKind::Add:
    return a + b;
  case mlir::AffineExprKind::Mul:
    return a * b;
  case mlir::AffineExprKind::FloorDiv:
    return divideDown(a, b);
  default:
    ADD_FAILURE() << "an expression that no hierarchy has";
    return 0;
  }
}

namespace {
/// Columns from the first up to, and without, the end.
struct Run {
  int64_t first, end;
};

/// The columns of one level, or the keys of the exact part, that queries see.
class Part {
public:
  Part(mlir::MLIRContext *context, attn::AttendOp attend, int64_t width)
      : width(width), space(context, 1, 1) {
    mlir::FailureOr<Formula> built = sparsity::buildFormula(attend.getSet(), space);
    // Numbers are constants: only the two lengths are symbols, and no formula asks for them.
    EXPECT_TRUE(mlir::succeeded(built) && space.getSymbols().size() == 2);
    if (mlir::succeeded(built))
      formula = *built;
  }

  /// The runs of one query, among `columns` of them.
  std::vector<Run> at(int64_t query, int64_t columns) const {
    return at(*formula, query, {{0, columns}});
  }

  /// Keys of a column.
  int64_t width;

private:
  static std::vector<Run> at(const Formula &part, int64_t query, std::vector<Run> among);

  sparsity::FormulaSpace space;
  std::optional<Formula> formula;
};
} // namespace

std::vector<Run> Part::at(const Formula &part, int64_t query, std::vector<Run> among) {
  std::vector<Run> result;
  switch (part.getKind()) {
  case Formula::Kind::True:
    return among;
  case Formula::Kind::And:
    for (const Formula &inner : part.getParts())
      among = at(inner, query, std::move(among));
    return among;
  case Formula::Kind::Or:
    for (const Formula &inner : part.getParts())
      llvm::append_range(result, at(inner, query, among));
    return result;
  case Formula::Kind::NonNegative:
    break;
  default:
    return {};
  }
  // Columns stand in no division: the expression is a line.
  int64_t start = evaluate(part.getExpr(), query, 0);
  int64_t slope = evaluate(part.getExpr(), query, 1) - start;
  for (Run run : among) {
    if (slope > 0)
      run.first = std::max(run.first, -divideDown(start, slope));
    else if (slope < 0)
      run.end = std::min(run.end, divideDown(start, -slope) + 1);
    if (run.first < run.end && (slope != 0 || start >= 0))
      result.push_back(run);
  }
  return result;
}

namespace {
/// The parts of an attend over one hierarchy.
class Expansion {
public:
  explicit Expansion(const std::string &options)
      : spec(fmt::format("func.func @f(%q: tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32> {{\n"
                         "  %set = sparsity.dyadic {} from_start\n"
                         "  %o = attn.attend %q, %q, %q over %set : tensor<1x1x?x16xf32>, "
                         "tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>\n"
                         "  return %o : tensor<1x1x?x16xf32>\n}}\n",
                         options)) {
    if (!spec.isParsed()) {
      ADD_FAILURE() << spec.getMessages();
      return;
    }
    mlir::MLIRContext *context = spec.getModule().getContext();
    mlir::PassManager passes(context);
    passes.addPass(createExpandHierarchiesPass());
    passes.addPass(mlir::createCanonicalizerPass());
    EXPECT_TRUE(mlir::succeeded(passes.run(spec.getModule()))) << spec.getMessages();
    spec.getFunction().walk([&](attn::AttendOp attend) {
      parts.emplace_back(context, attend, countKeys(attend.getKey()));
    });
  }

  /// How often a query sees each of `keys`. No column reaches beyond `end`.
  std::vector<int> cover(int64_t query, int64_t keys, int64_t end) const {
    std::vector<int> steps(static_cast<size_t>(keys) + 1);
    for (const Part &part : parts)
      for (Run run : part.at(query, llvm::divideCeil(keys, part.width))) {
        EXPECT_LE(run.end * part.width, end);
        ++steps[static_cast<size_t>(run.first * part.width)];
        --steps[static_cast<size_t>(std::min(run.end * part.width, keys))];
      }
    for (size_t key = 1; key < steps.size(); ++key)
      steps[key] += steps[key - 1];
    return steps;
  }

private:
  /// Keys that a row of `keys` is the mean of.
  static int64_t countKeys(mlir::Value keys) {
    int64_t count = 1;
    while (auto summary = keys.getDefiningOp<select::SummarizeOp>()) {
      count *= summary.getBlock().front();
      keys = summary.getTokens();
    }
    return count;
  }

  SpecText spec;
  std::vector<Part> parts;
};
} // namespace

/// Checks every query of `keys` keys.
static void expectEachKeyOnce(const std::string &options, int64_t keys) {
  SCOPED_TRACE(options);
  Expansion parts(options);
  bool isPast = options.find("fenwick") == 0 || options.find("causal") != std::string::npos;
  for (int64_t query = 0; query < keys; ++query) {
    std::vector<int> seen = parts.cover(query, keys, isPast ? query + 1 : INT64_MAX);
    for (int64_t key = 0; key < keys; ++key)
      ASSERT_EQ(seen[static_cast<size_t>(key)], !isPast || key <= query ? 1 : 0)
          << "query " << query << " and key " << key << " of " << keys;
  }
}

static const char *const hierarchies[] = {
    "fenwick base 1 columns 1",
    "fenwick base 64 levels 4 columns 16",
    "fenwick base 48 fanout 3 columns 1",
    "fenwick base 64 near(1) columns 64",
    "fenwick base 64 near(64) columns 1",
    "fenwick base 32 fanout 4 near(200) levels 3 columns 8",
    "fenwick base 16 near(5000) columns 16",
    "distance base 64 levels 3 columns 8 causal",
    "distance base 64 near(40) columns 8 causal",
    "distance base 32 fanout 4 near(100) levels 3 columns 4 causal",
    "distance base 16 fanout 3 near(333) columns 1 causal",
    "distance base 32 levels 4 columns 8",
    "distance base 32 near(100) levels 4 columns 8",
    "distance base 48 fanout 4 near(49) columns 1",
};

// What an earlier query or a shorter sequence under an order sees are the same pairs, so one length
// stands for all up to it; from both sides the end of the keys matters.
TEST(ExpandHierarchies, eachPastKeyIsCoveredOnceUpTo4096) {
  for (const char *options : hierarchies)
    expectEachKeyOnce(options, 4096);
}

TEST(ExpandHierarchies, eachKeyIsCoveredOnceAtEveryLength) {
  for (const char *options : hierarchies)
    if (std::string(options).find("distance") == 0)
      for (int64_t keys = 1; keys < 200; ++keys)
        expectEachKeyOnce(options, keys);
}

/// Attention over a hierarchy, and over what its order allows.
static std::string besideExact(const std::string &options, const std::string &exact) {
  return fmt::format("func.func @f(%q: tensor<?x2x?x16xf32>, %k: tensor<?x1x?x16xf32>, %v: "
                     "tensor<?x1x?x16xf32>, %near: index) -> (tensor<?x2x?x16xf32>, "
                     "tensor<?x2x?x16xf32>) {{\n"
                     "  %set = sparsity.dyadic {}\n  %exact = sparsity.{}\n"
                     "  %o = attn.attend %q, %k, %v over %set : {}\n"
                     "  %e = attn.attend %q, %k, %v over %exact : {}\n"
                     "  return %o, %e : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>\n}}\n",
                     options, exact,
                     "tensor<?x2x?x16xf32>, tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32> -> "
                     "tensor<?x2x?x16xf32>",
                     "tensor<?x2x?x16xf32>, tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32> -> "
                     "tensor<?x2x?x16xf32>");
}

// Each run is also compared with the oracle.
TEST(ExpandHierarchies, wideWindowsAndLargeBlocksAreExactAttention) {
  for (auto [options, exact] :
       {std::pair("fenwick base 32 near(%near) levels 2 columns 4", "causal"),
        {"fenwick base 512 levels 2 columns 4", "causal"},
        {"distance base 32 near(%near) levels 2 columns 4 causal", "causal"},
        {"distance base 32 near(%near) levels 2 columns 4", "all"},
        {"distance base 512 levels 2 columns 4", "all"}}) {
    SpecRunner runner(besideExact(options, exact));
    ASSERT_EQ(runner.getMistake(), "");
    for (const char *near : {"300", "512", "4611686018427387904"}) {
      ASSERT_EQ(runner.run({{"b", "1"}, {"n", "300"}, {"near", near}}), "") << options;
      Tensor seen = runner.result(0), expected = runner.result(1);
      for (int64_t head = 0; head < 2; ++head)
        for (int64_t row = 0; row < 300; ++row)
          for (int64_t channel = 0; channel < 16; ++channel)
            ASSERT_NEAR(seen.at({0, head, row, channel}), expected.at({0, head, row, channel}),
                        1e-5)
                << options << ": row " << row;
    }
  }
}

// Windows that a run gives, none among them, and lengths around blocks, against the oracle.
TEST(ExpandHierarchies, windowsOfEverySizeAgreeWithTheOracle) {
  for (const char *options :
       {"fenwick base 32 near(%near) levels 3 columns 4", "fenwick base 32 near(70) columns 8",
        "distance base 16 near(%near) levels 3 columns 4 causal",
        "distance base 16 near(%near) levels 3 columns 2",
        "distance base 16 fanout 3 near(40) levels 2 columns 8 from_start"}) {
    SpecRunner runner(besideExact(options, "all"));
    ASSERT_EQ(runner.getMistake(), "");
    for (const char *near : {"-5", "0", "1", "32", "100"})
      for (auto [queries, keys] : {std::pair("1", "1"), {"250", "250"}, {"30", "257"}, {"0", "0"}})
        EXPECT_EQ(runner.run({{"b", "1"}, {"nq", queries}, {"nk", keys}, {"near", near}}), "")
            << options << ", near " << near << ", " << queries << " of " << keys;
  }
}
