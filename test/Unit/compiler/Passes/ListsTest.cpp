//===- ListsTest.cpp - which sets may be walked along a list ---------------===//
#include "compiler/Passes/Lists.h"
#include "test/Support/SpecText.h"

#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::sparsity::BlocksOp;
using lacuna::test::SpecText;

namespace {
/// A set over `%l`, a list of 64 x 32 blocks, and `%m`, another.
class ListSet {
public:
  explicit ListSet(const std::string &sets)
      : spec("func.func @lists(%ids: tensor<1x4x?x?xi32>, %counts: tensor<1x4x?xi32>,\n"
             "    %class: tensor<?xindex>, %n: index, %at: index) -> !sparsity.set<1> {\n"
             "  %l = sparsity.blocks %ids, %counts query [64] key [32]\n"
             "      : tensor<1x4x?x?xi32>, tensor<1x4x?xi32>\n"
             "  %m = sparsity.blocks %ids, %counts query [128] key [128]\n"
             "      : tensor<1x4x?x?xi32>, tensor<1x4x?xi32>\n" +
             sets + "\n  return %s : !sparsity.set<1>\n}\n") {
    EXPECT_TRUE(spec.isParsed()) << spec.getMessages();
  }

  mlir::Value get() { return spec.getFunction().getBody().front().getTerminator()->getOperand(0); }
  bool isWalked() { return static_cast<bool>(findAdditiveList(get())); }
  /// The set without its list, or what a block adds to it, simplified by nobody.
  std::string rewrite(bool withABlock);

private:
  SpecText spec;
};
} // namespace

std::string ListSet::rewrite(bool withABlock) {
  mlir::Operation *end = spec.getFunction().getBody().front().getTerminator();
  mlir::OpBuilder builder(end);
  BlocksOp list = findLists(get()).front();
  mlir::Value set = get();
  mlir::Value at = spec.getFunction().getArgument(4);
  if (withABlock) {
    auto block =
        sparsity::KeyBlockOp::create(builder, end->getLoc(), set.getType(), at, list.getKey());
    set = withBlock(builder, set, list, block);
  } else {
    set = withoutList(builder, set, list);
  }
  // Names of ops, from the set down, each with its parts.
  auto print = [](auto &&self, mlir::Value value) -> std::string {
    mlir::Operation *op = value.getDefiningOp();
    std::string text = op->getName().stripDialect().str(), parts;
    for (mlir::Value operand : op->getOperands())
      if (llvm::isa<sparsity::SetType>(operand.getType()))
        parts += (parts.empty() ? "" : ", ") + self(self, operand);
    return parts.empty() ? text : text + "(" + parts + ")";
  };
  return print(print, set);
}

static bool isWalked(const std::string &sets) { return ListSet(sets).isWalked(); }

static const std::string near = "%w = sparsity.window left(9) right(0)\n%c = sparsity.causal\n";
static const std::string odd = "%o = sparsity.where (%b, %h, %i, %j) {\n"
                               "  %live = arith.cmpi ne, %i, %j : index\n"
                               "  sparsity.yield %live : i1\n}\n";

TEST(FindAdditiveList, unionsIntersectionsAndMixtures) {
  EXPECT_TRUE(isWalked("%s = sparsity.union %l, %l"));
  EXPECT_TRUE(isWalked(near + "%s = sparsity.union %w, %l"));
  EXPECT_TRUE(isWalked(near + "%u = sparsity.union %l, %w\n%s = sparsity.intersect %u, %c"));
  EXPECT_TRUE(isWalked(near + "%s = sparsity.per_head %class [%l, %w]"));
  EXPECT_TRUE(isWalked(near + "%s = sparsity.subtract %l, %w"));
  // An element of a union may name the list again.
  EXPECT_TRUE(isWalked(near + "%i = sparsity.intersect %l, %c\n%s = sparsity.union %i, %l"));
}

TEST(FindAdditiveList, whatIsTakenAwayIsNotWalked) {
  EXPECT_FALSE(isWalked(near + "%s = sparsity.subtract %w, %l"));
  EXPECT_FALSE(isWalked("%s = sparsity.complement %l"));
  EXPECT_FALSE(isWalked("%s = sparsity.subtract %l, %l"));
  EXPECT_FALSE(isWalked(near + "%n0 = sparsity.complement %l\n%s = sparsity.intersect %w, %n0"));
}

// Pairs of two different blocks are in both sides only together.
TEST(FindAdditiveList, twoSidesOfAnIntersectionAreNotWalked) {
  EXPECT_FALSE(isWalked(near + "%u = sparsity.union %l, %w\n%s = sparsity.intersect %u, %l"));
}

TEST(FindAdditiveList, oneListAndNothingElseToClassify) {
  EXPECT_FALSE(isWalked(near + "%s = sparsity.union %w, %c"));
  EXPECT_FALSE(isWalked("%s = sparsity.union %l, %m"));
  EXPECT_FALSE(isWalked(odd + "%s = sparsity.union %l, %o"));
  EXPECT_FALSE(isWalked(odd + "%s = sparsity.intersect %l, %o"));
}

TEST(FindWalkedList, queryTilesLieInOneBlock) {
  ListSet set("%s = sparsity.union %l, %l");
  for (int64_t box : {1, 16, 32, 64})
    EXPECT_TRUE(findWalkedList(set.get(), {box})) << box;
  for (int64_t box : {48, 128})
    EXPECT_FALSE(findWalkedList(set.get(), {box})) << box;
}

TEST(FindLists, eachOnce) {
  ListSet set("%a = sparsity.union %l, %m\n%s = sparsity.intersect %a, %l");
  EXPECT_EQ(findLists(set.get()).size(), 2u);
  EXPECT_TRUE(findLists(ListSet(near + "%s = sparsity.union %w, %c").get()).empty());
}

// The other parts stay when the list goes, and go when one of its blocks is asked for.
TEST(RewriteLists, withoutTheListAndWithOneBlock) {
  const std::string mixed = near + "%u = sparsity.union %l, %w\n%s = sparsity.intersect %u, %c";
  EXPECT_EQ(ListSet(mixed).rewrite(false), "intersect(union(none, window), causal)");
  EXPECT_EQ(ListSet(mixed).rewrite(true), "intersect(union(key_block, none), causal)");
  const std::string heads = near + "%d = sparsity.subtract %l, %w\n"
                                   "%s = sparsity.per_head %class [%d, %c]";
  EXPECT_EQ(ListSet(heads).rewrite(false), "per_head(subtract(none, window), causal)");
  EXPECT_EQ(ListSet(heads).rewrite(true), "per_head(subtract(key_block, window), none)");
}
