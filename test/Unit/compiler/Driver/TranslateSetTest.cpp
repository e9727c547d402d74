//===- TranslateSetTest.cpp - the oracle's sets against the formulas ------===//
//
// Two descriptions of every set op, written apart from each other: the oracle's
// and the formula that tiling uses. Here they meet, pair by pair, without any
// tile.
//
//===----------------------------------------------------------------------===//
#include "compiler/Driver/TranslateSet.h"
#include "compiler/Driver/BuildReference.h"
#include "dialects/Attn/Attn.h"
#include "lib/Support/Settings.h"
#include "test/Support/RandomSpec.h"
#include "test/Support/SpecText.h"

#include "dialects/Sparsity/Formula.h"

#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::reference::Grid;
using lacuna::reference::PairIndex;
using lacuna::test::RandomSpec;
using lacuna::test::SpecText;

namespace {
/// The formula of one set as a program of batch, head, query and key coordinates, and sizes.
class FormulaProgram {
public:
  FormulaProgram(mlir::Value set, ScalarTranslator &scalars) {
    auto type = mlir::cast<sparsity::SetType>(set.getType());
    sparsity::FormulaSpace space(set.getContext(), type.getQueryRank(), type.getKeyRank());
    mlir::FailureOr<sparsity::Formula> formula = sparsity::buildFormula(set, space);
    if (mlir::failed(formula))
      return;
    mlir::Region region;
    mlir::Block &block = region.emplaceBlock();
    mlir::OpBuilder builder(set.getContext());
    builder.setInsertionPointToStart(&block);
    auto add = [&](unsigned count, llvm::SmallVectorImpl<mlir::Value> &values) {
      for (unsigned axis = 0; axis < count; ++axis)
        values.push_back(block.addArgument(builder.getIndexType(), set.getLoc()));
    };
    sparsity::PairContext pair;
    pair.batch = block.addArgument(builder.getIndexType(), set.getLoc());
    pair.head = block.addArgument(builder.getIndexType(), set.getLoc());
    add(type.getQueryRank(), pair.query);
    add(type.getKeyRank(), pair.key);
    add(type.getQueryRank(), pair.querySizes);
    add(type.getKeyRank(), pair.keySizes);
    mlir::Value live = sparsity::emitPredicate(builder, set.getLoc(), *formula, space, pair);
    mlir::func::ReturnOp::create(builder, set.getLoc(), live);
    mlir::FailureOr<reference::ScalarProgram> translated = scalars.translateRegion(region);
    if (mlir::succeeded(translated))
      program = *translated;
  }

  explicit operator bool() const { return program.has_value(); }

  bool contains(const PairIndex &pair) const {
    std::vector<reference::Register> given = {{pair.batch, 0}, {pair.head, 0}};
    auto add = [&](const Grid &grid, const reference::Point &point) {
      for (size_t axis = 0; axis < grid.axes(); ++axis)
        given.push_back({point[axis], 0});
    };
    add(*pair.queryGrid, pair.position(/*fromStart=*/true));
    add(*pair.keyGrid, pair.keyPoint());
    for (const Grid *grid : {pair.queryGrid, pair.keyGrid})
      for (int64_t size : grid->sizes)
        given.push_back({size, 0});
    return (program->run(given).integer & 1) != 0;
  }

private:
  std::optional<reference::ScalarProgram> program;
};
} // namespace

/// Compares set `set` between two segments; the first difference, or "".
static std::string compare(mlir::Value set, ScalarTranslator &scalars, SetTranslator &oracle,
                           const Grid &queries, const Grid &keys, int64_t heads) {
  FormulaProgram formula(set, scalars);
  mlir::FailureOr<reference::Set> exact = oracle.translate(set);
  if (!formula || mlir::failed(exact))
    return "not translated";
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t query = 0; query < queries.tokens(); ++query)
      for (int64_t key = 0; key < keys.tokens(); ++key) {
        PairIndex pair{0, head, query, key, &queries, &keys};
        if (formula.contains(pair) != (*exact)->contains(pair))
          return "head " + std::to_string(head) + ", query " + std::to_string(query) + ", key " +
                 std::to_string(key) + ": the oracle says " +
                 ((*exact)->contains(pair) ? "live" : "dead");
      }
  return "";
}

static std::string compareSpec(const BoundSpec &bound) {
  auto attend = *mlir::func::FuncOp(bound.function).getOps<attn::AttendOp>().begin();
  mlir::Value set = attend.getSet();
  const auto &query = std::get<Tensor>(bound.arguments[0]).shape;
  const auto &key = std::get<Tensor>(bound.arguments[1]).shape;
  ScalarTranslator scalars(mlir::func::FuncOp(bound.function).getArguments(), bound.arguments);
  SetTranslator oracle(scalars, query[1]);
  mlir::Value domain = SetTranslator::findDomain(set);
  if (!domain)
    return compare(set, scalars, oracle, Grid{{query[2]}}, Grid{{key[2]}}, query[1]);
  mlir::FailureOr<std::vector<Grid>> grids = oracle.translateDomain(domain);
  if (mlir::failed(grids))
    return "no domain";
  auto segments = set.getDefiningOp<sparsity::SegmentsOp>();
  for (unsigned row = 0; row < grids->size(); ++row)
    for (unsigned column = 0; column < grids->size(); ++column) {
      mlir::Value entry = segments ? segments.getEntry(row, column) : set;
      std::string difference =
          compare(entry, scalars, oracle, (*grids)[row], (*grids)[column], query[1]);
      if (!difference.empty())
        return difference;
    }
  return "";
}

TEST(TranslateSetProperty, formulasAgreeWithTheOraclePairByPair) {
  Result<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings) << settings.status().message();
  int64_t cases = settings->propertyCases ? settings->propertyCases : 1200;
  uint64_t seed = settings->propertySeed;
  for (int64_t number = 0; number < cases; number += 4) {
    Random random(seed, static_cast<uint64_t>(number));
    RandomSpec spec(random);
    SCOPED_TRACE("LACUNA_PROPERTY_SEED=" + std::to_string(seed) + ", case " +
                 std::to_string(number) + "\n" + spec.getText());
    // Documents search their offsets in a loop, which scalar programs do not have.
    if (spec.getText().find("sparsity.documents") != std::string::npos)
      continue;
    SpecText text(spec.getText());
    ASSERT_TRUE(text.isParsed()) << text.getMessages();
    for (int64_t run = 0; run < 4; ++run) {
      BindOptions options;
      options.given = spec.drawValues(8);
      options.withoutData = true;
      mlir::FailureOr<BoundSpec> bound = bindSpec(text.getFunction(), options);
      ASSERT_TRUE(mlir::succeeded(bound)) << text.getMessages();
      ASSERT_EQ(compareSpec(*bound), "") << test::describe(options.given) << text.getMessages();
    }
  }
}
