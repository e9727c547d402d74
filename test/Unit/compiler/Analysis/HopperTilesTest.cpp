//===- HopperTilesTest.cpp - tile shapes against direct counts ------------===//
#include "compiler/Analysis/HopperTiles.h"

#include "compiler/Analysis/MaskCost.h"
#include "dialects/Sparsity/Sparsity.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace mlir;

namespace {

/// A set that is written as text over a grid %g of two or three axes.
class HopperTiles : public testing::Test {
protected:
  HopperTiles() {
    context.loadDialect<func::FuncDialect, SparsityDialect, arith::ArithDialect,
                        tensor::TensorDialect, scf::SCFDialect>();
  }

  Value parse(const std::string &grid, const std::string &ops,
              const std::string &arguments = "%r: index") {
    std::string text = "func.func @f(" + arguments + ") {\n%g = sparsity.grid " + grid + "\n" +
                       ops + "\n return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    Value set;
    if (module)
      module->walk([&](SetOpInterface op) { set = op->getResult(0); });
    return set;
  }

  KeySpans spansOf(Value set, ArrayRef<int64_t> sizes) {
    FailureOr<KeySpans> spans = KeySpans::compute(set, sizes, AssumedNumbers());
    EXPECT_TRUE(succeeded(spans));
    return *spans;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// Keys of a query along one axis.
struct Range {
  int64_t first, end;
};
using RangeFn = llvm::function_ref<Range(int64_t query, int64_t size)>;

/// Key boxes that a query tile visits along one axis, and those that all of its rows see.
struct AxisCount {
  int64_t live = 0, full = 0;
};
AxisCount countAxis(int64_t size, int64_t from, int64_t extent, int64_t keys, RangeFn range) {
  int64_t first = size, end = 0, allFirst = 0, allEnd = size;
  for (int64_t query = from; query < std::min(from + extent, size); ++query) {
    Range one = range(query, size);
    first = std::min(first, one.first), end = std::max(end, one.end);
    allFirst = std::max(allFirst, one.first), allEnd = std::min(allEnd, one.end);
  }
  AxisCount count;
  for (int64_t key = first; key < end; key += keys) {
    ++count.live;
    count.full += key >= allFirst && key + keys <= allEnd;
  }
  return count;
}

/// The same over a grid whose axes have one range each.
std::pair<int64_t, int64_t> countGrid(ArrayRef<int64_t> sizes, ArrayRef<int64_t> query,
                                      ArrayRef<int64_t> key, ArrayRef<int64_t> radii,
                                      llvm::function_ref<Range(int64_t, int64_t, int64_t)> range) {
  int64_t live = 0, full = 0;
  auto visit = [&](auto &&self, size_t axis, int64_t all, int64_t allFull) -> void {
    if (axis == sizes.size()) {
      live += all, full += allFull;
      return;
    }
    for (int64_t from = 0; from < sizes[axis]; from += query[axis]) {
      AxisCount count =
          countAxis(sizes[axis], from, query[axis], key[axis],
                    [&](int64_t q, int64_t size) { return range(q, size, radii[axis]); });
      self(self, axis + 1, all * count.live, allFull * count.full);
    }
  };
  visit(visit, 0, 1, 1);
  return {live, full};
}

Range clipped(int64_t query, int64_t size, int64_t radius) {
  return {std::max<int64_t>(query - radius, 0), std::min(query + radius + 1, size)};
}

/// The neighbourhood moves inward at the border.
Range shifted(int64_t query, int64_t size, int64_t radius) {
  int64_t first =
      std::clamp<int64_t>(query - radius, 0, std::max<int64_t>(size - 2 * radius - 1, 0));
  return {first, std::min(first + 2 * radius + 1, size)};
}

const int64_t boxes[][2][3] = {{{4, 4, 8}, {4, 4, 8}},
                               {{2, 8, 8}, {2, 7, 8}},
                               {{8, 1, 16}, {3, 3, 8}},
                               {{3, 4, 16}, {1, 5, 24}}};

TEST_F(HopperTiles, NeighbourhoodsAreCountedAsTheyAreVisited) {
  const int64_t sizes[] = {7, 20, 33}, radii[] = {1, 5, 8};
  for (bool shift : {false, true}) {
    Value set = parse("[7, 20, 33]",
                      std::string("%s = sparsity.radius [1, 5, %r] ") +
                          (shift ? "border(shift) " : "") + "in %g : !sparsity.domain<3>",
                      "%r: index {lacuna.default = 8}");
    ASSERT_TRUE(set);
    KeySpans spans = spansOf(set, sizes);
    EXPECT_TRUE(spans.isProduct());
    for (const auto &[query, key] : boxes) {
      HopperProblem problem;
      problem.headDim = problem.valueDim = 64;
      problem.query = Extents(ArrayRef<int64_t>(query));
      problem.key = Extents(ArrayRef<int64_t>(key));
      std::vector<HopperCandidate> shapes = compareForGrid(problem, spans);
      ASSERT_EQ(shapes.size(), 1u);
      auto [live, full] = countGrid(sizes, query, key, radii, shift ? shifted : clipped);
      EXPECT_EQ(shapes.front().keyTiles, static_cast<double>(live)) << shift;
      EXPECT_EQ(shapes.front().fullTiles, static_cast<double>(full)) << shift;
    }
  }
}

TEST_F(HopperTiles, LargeGridsAreSampled) {
  const int64_t sizes[] = {64, 512, 512}, radii[] = {2, 9, 9}, query[] = {2, 8, 8},
                key[] = {2, 4, 16};
  Value set = parse("[64, 512, 512]", "%s = sparsity.radius [2, 9, 9] in %g : !sparsity.domain<3>");
  KeySpans spans = spansOf(set, sizes);
  HopperProblem problem;
  problem.headDim = problem.valueDim = 128;
  problem.query = Extents(ArrayRef<int64_t>(query));
  problem.key = Extents(ArrayRef<int64_t>(key));
  auto [live, full] = countGrid(sizes, query, key, radii, clipped);
  HopperCandidate shape = compareForGrid(problem, spans).front();
  EXPECT_NEAR(shape.keyTiles, static_cast<double>(live), 0.02 * static_cast<double>(live));
  EXPECT_EQ(shape.queryTiles, 32.0 * 64 * 64);
}

TEST_F(HopperTiles, UnionsAreNoProduct) {
  Value set = parse("[16, 16]", "%a = sparsity.radius [1, 1] in %g : !sparsity.domain<2>\n"
                                "%b = sparsity.radius [0, 9] in %g : !sparsity.domain<2>\n"
                                "%s = sparsity.union %a, %b : !sparsity.set<2>");
  ASSERT_TRUE(set);
  EXPECT_FALSE(spansOf(set, {16, 16}).isProduct());
}

TEST_F(HopperTiles, EveryChoiceIsPossible) {
  Value set = parse("[9, 30, 50]", "%s = sparsity.radius [1, 3, 4] in %g : !sparsity.domain<3>");
  KeySpans spans = spansOf(set, {9, 30, 50});
  for (int64_t channels = 8; channels <= 256; channels += 8)
    for (bool grid : {false, true}) {
      HopperProblem problem;
      problem.headDim = problem.valueDim = channels;
      problem.elementRegisters = grid ? 12 : 0;
      std::vector<HopperCandidate> shapes =
          grid ? compareForGrid(problem, spans) : compareForSequence(problem);
      const HopperCandidate &chosen = shapes.front();
      EXPECT_EQ(chosen.refusal, HopperRefusal::None) << channels;
      EXPECT_LE(chosen.registers, chosen.registerLimit);
      EXPECT_LE(chosen.sharedBytes, sharedMemoryLimit);
      EXPECT_EQ(chosen.shape.keys % 16, 0);
      EXPECT_EQ(chosen.shape.rows % 64, 0);
      for (const HopperCandidate &other : llvm::drop_begin(shapes)) {
        EXPECT_NE(other.refusal, HopperRefusal::None);
        if (other.refusal == HopperRefusal::Registers)
          EXPECT_GT(other.registers, other.registerLimit);
        if (other.refusal == HopperRefusal::Slower)
          EXPECT_GE(other.cost, 0.99 * chosen.cost);
      }
    }
}

TEST_F(HopperTiles, SequencesHaveTheMeasuredShapes) {
  const int64_t expected[][3] = {{32, 192, 128},  {64, 192, 112}, {72, 128, 128}, {128, 128, 128},
                                 {160, 128, 112}, {192, 128, 96}, {256, 128, 80}};
  for (auto [channels, rows, keys] : expected) {
    HopperProblem problem;
    problem.headDim = problem.valueDim = channels;
    HopperCandidate chosen = compareForSequence(problem).front();
    EXPECT_EQ(chosen.shape.rows, rows) << channels;
    EXPECT_EQ(chosen.shape.keys, keys) << channels;
  }
}

TEST_F(HopperTiles, WhereNothingFitsTheLeastIsTaken) {
  HopperProblem problem;
  problem.headDim = problem.valueDim = 256;
  problem.elementRegisters = 1000;
  EXPECT_EQ(compareForSequence(problem).front().shape.keys, 64);
}

TEST_F(HopperTiles, MasksOfOneIntervalAreBounds) {
  auto costOf = [&](const std::string &ops, unsigned rank) {
    Value set = parse("[8, 8]", ops);
    EXPECT_TRUE(set) << ops;
    FormulaSpace space(&context, rank, rank);
    return estimateMask(*buildFormula(set, space), space);
  };
  MaskCost causal = costOf("%s = sparsity.causal", 1);
  EXPECT_EQ(causal.mask, ScoreMask::Bounds);
  MaskCost either = costOf("%a = sparsity.window left(3) right(0)\n%b = sparsity.prefix 4\n"
                           "%s = sparsity.union %a, %b",
                           1);
  EXPECT_EQ(either.mask, ScoreMask::Predicate);
  EXPECT_GT(either.registers, causal.registers);
  MaskCost strided = costOf("%s = sparsity.stride 5", 1);
  EXPECT_EQ(strided.mask, ScoreMask::Predicate);
  MaskCost near = costOf("%s = sparsity.radius [1, 1] in %g : !sparsity.domain<2>", 2);
  EXPECT_EQ(near.mask, ScoreMask::Bounds);
}

TEST(HopperRings, DeeperRingsAfterASecondQuerySlot) {
  HopperRings wide = fitHopperRings({64, 64, 192, 112});
  EXPECT_EQ(wide.querySlots, 2);
  EXPECT_EQ(wide.stages, 4);
  HopperRings narrow = fitHopperRings({256, 256, 128, 80});
  EXPECT_EQ(narrow.querySlots, 1);
  EXPECT_EQ(narrow.stages, 2);
  HopperRings asked = fitHopperRings({64, 64, 192, 112}, {1, 3});
  EXPECT_EQ(asked.querySlots, 1);
  EXPECT_EQ(asked.stages, 3);
}

TEST(HopperRegisters, TheFileIsNeverOverdrawn) {
  for (int64_t consumers = 1; consumers <= 3; ++consumers)
    for (int64_t values = 0; values < 80; ++values) {
      HopperRegisters registers = hopperRegistersFor(consumers, estimateProducer(values));
      EXPECT_LE(registers.producer + consumers * registers.consumer, registersAtLaunch(consumers));
      EXPECT_GE(registers.producer, estimateProducer(values));
      EXPECT_EQ(registers.producer % 8, 0);
      EXPECT_EQ(registers.consumer % 8, 0);
    }
}

} // namespace
