//===- AppendTest.cpp - summaries of appended tokens -----------------------===//
#include "lib/Support/Random.h"
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace lacuna;
using lacuna::test::Assignments;
using lacuna::test::describe;
using lacuna::test::SpecRunner;

/// Summaries of everything, of what was appended, and of the whole blocks of either.
static std::string appendSpec(const std::string &kind, const std::string &result, int64_t block) {
  std::string body, names, types;
  auto add = [&](const std::string &name, const std::string &clauses) {
    body += fmt::format("  %{} = select.summarize {} %k block [{}]{} : tensor<?x2x?x9xf16> -> {}\n",
                        name, kind, block, clauses, result);
    names += (names.empty() ? "%" : ", %") + name;
    types += (types.empty() ? "" : ", ") + result;
  };
  add("all", "");
  add("tail", " from(%start)");
  add("whole", " whole");
  add("both", " from(%start) whole");
  return fmt::format("func.func @f(%k: tensor<?x2x?x9xf16>, %start: index) -> ({}) {{\n{}"
                     "  return {} : {}\n}}\n",
                     types, body, names, types);
}

/// Checks that `part` are the rows of `all` from `first` up to `end`.
static void expectRows(const Tensor &part, const Tensor &all, int64_t first, int64_t end) {
  ASSERT_EQ(part.shape[2], std::max<int64_t>(end - first, 0));
  forEachIndex(part.shape, [&](const std::vector<int64_t> &index) {
    std::vector<int64_t> there = index;
    there[2] += first;
    EXPECT_EQ(part.at(index), all.at(there)) << "row " << index[2];
  });
}

// What a part says is what the whole says about the same blocks, bit by bit.
TEST(Append, tailsAreRowsOfTheWhole) {
  for (auto [kind, result] : {std::pair("mean", "tensor<?x2x?x9xf16>"),
                              {"variance", "tensor<?x2x?x9xf32>"},
                              {"count", "tensor<?x2x?x1xf32>"}})
    for (int64_t block : {1, 8, 33}) {
      SpecRunner runner(appendSpec(kind, result, block));
      ASSERT_EQ(runner.getMistake(), "");
      for (int64_t length : {0, 1, 8, 33, 100})
        for (int64_t start : {int64_t{0}, int64_t{7}, block, length - 1, length, length + 50}) {
          Assignments values = {{"b", "1"},
                                {"nk", std::to_string(length)},
                                {"start", std::to_string(std::max<int64_t>(start, 0))}};
          ASSERT_EQ(runner.run(values), "") << describe(values);
          int64_t first = std::max<int64_t>(start, 0) / block, end = (length + block - 1) / block;
          expectRows(runner.result(1), runner.result(0), first, end);
          expectRows(runner.result(2), runner.result(0), 0, length / block);
          expectRows(runner.result(3), runner.result(0), first, length / block);
        }
    }
}

TEST(Append, startsBeforeTheFirstTokenAreRefused) {
  SpecRunner runner(appendSpec("mean", "tensor<?x2x?x9xf16>", 8));
  ASSERT_EQ(runner.getMistake(), "");
  EXPECT_NE(runner.run({{"b", "1"}, {"nk", "20"}, {"start", "-1"}})
                .find("expected summaries from a token of at least 0, got -1"),
            std::string::npos);
}

/// A hierarchy of two levels whose columns are kept between calls, as
/// examples/hierarchy_decode.mlir has it, over blocks of 16 keys.
static const char *const decodeSpec = R"(
!q = tensor<1x2x?x8xf32>
!k = tensor<1x1x?x8xf32>
!l = tensor<1x2x?xf32>
func.func @f(%q: !q, %k: !k, %v: !k, %k0: !k, %v0: !k, %k1: !k, %v1: !k) -> (!q, !k, !k, !k, !k) {
  %axis = arith.constant 2 : index
  %tokens = tensor.dim %k, %axis : !k
  %queries = tensor.dim %q, %axis : !q
  %old = arith.subi %tokens, %queries : index
  %k0n = select.summarize mean %k block [4] from(%old) whole : !k -> !k
  %v0n = select.summarize mean %v block [4] from(%old) whole : !k -> !k
  %k1n = select.summarize mean %k block [8] from(%old) whole : !k -> !k
  %v1n = select.summarize mean %v block [8] from(%old) whole : !k -> !k
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %first0 = arith.divui %old, %c4 : index
  %first1 = arith.divui %old, %c8 : index
  %own = sparsity.dyadic fenwick base 16 only [-1, -1]
  %o, %l = attn.attend %q, %k, %v over %own : !q, !k, !k -> !q, !l
  %log4 = arith.constant 1.38629436 : f32
  %near = sparsity.affine affine_set<(i, j)[s] : (((i + s) floordiv 16) * 4 - j - 1 >= 0,
      j - ((i + s) floordiv 32) * 8 >= 0)> [%old] from_start
  %o0, %l0 = attn.attend %q, %k0, %v0 over %near score (%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %log4 : f32
    attn.yield %y : f32
  } : !q, !k, !k -> !q, !l
  %near_new = sparsity.affine affine_set<(i, j)[s, f] : (((i + s) floordiv 16) * 4 - j - f - 1 >= 0,
      j + f - ((i + s) floordiv 32) * 8 >= 0)> [%old, %first0] from_start
  %o1, %l1 = attn.attend %q, %k0n, %v0n over %near_new score (%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %log4 : f32
    attn.yield %y : f32
  } : !q, !k, !k -> !q, !l
  %log8 = arith.constant 2.07944154 : f32
  %far = sparsity.affine affine_set<(i, j)[s] : (((i + s) floordiv 32) * 4 - j - 1 >= 0)>
      [%old] from_start
  %o2, %l2 = attn.attend %q, %k1, %v1 over %far score (%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %log8 : f32
    attn.yield %y : f32
  } : !q, !k, !k -> !q, !l
  %far_new = sparsity.affine affine_set<(i, j)[s, f] : (((i + s) floordiv 32) * 4 - j - f - 1 >= 0)>
      [%old, %first1] from_start
  %o3, %l3 = attn.attend %q, %k1n, %v1n over %far_new score (%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %log8 : f32
    attn.yield %y : f32
  } : !q, !k, !k -> !q, !l
  %out, %lse = attn.merge (%o, %l), (%o0, %l0), (%o1, %l1), (%o2, %l2), (%o3, %l3) : !q, !l
  return %out, %k0n, %v0n, %k1n, %v1n : !q, !k, !k, !k, !k
}
)";

/// The same hierarchy, seen by all queries at once.
static const char *const wholeSpec = R"(
!q = tensor<1x2x?x8xf32>
!k = tensor<1x1x?x8xf32>
func.func @f(%q: !q, %k: !k, %v: !k) -> !q {
  %set = sparsity.dyadic fenwick base 16 levels 2 columns 4
  %o = attn.attend %q, %k, %v over %set : !q, !k, !k -> !q
  return %o : !q
}
)";

/// Copies rows of the third axis of `from`, starting at `first`.
static void copyRows(const Tensor &from, int64_t first, Tensor &to) {
  forEachIndex(to.shape, [&](const std::vector<int64_t> &index) {
    std::vector<int64_t> there = index;
    there[2] += first;
    to.set(index, from.at(there));
  });
}

namespace {
/// Rows that a caller keeps and appends to.
struct Kept {
  OwnedTensor rows{ElementType::F32, {1, 1, 0, 8}};

  void append(const Tensor &more) {
    int64_t before = rows.view().shape[2];
    OwnedTensor longer(ElementType::F32, {1, 1, before + more.shape[2], 8});
    forEachIndex(longer.view().shape, [&](const std::vector<int64_t> &index) {
      bool isOld = index[2] < before;
      std::vector<int64_t> there = index;
      there[2] -= isOld ? 0 : before;
      longer.view().set(index, isOld ? rows.view().at(there) : more.at(there));
    });
    rows = std::move(longer);
  }
};
} // namespace

// Steps of any length, each with what the steps before it left, see what one call sees.
TEST(Append, stepsSeeWhatOneCallSees) {
  constexpr int64_t length = 203;
  Random random(5);
  OwnedTensor query(ElementType::F32, {1, 2, length, 8}), key(ElementType::F32, {1, 1, length, 8}),
      value(ElementType::F32, {1, 1, length, 8});
  for (OwnedTensor *tensor : {&query, &key, &value})
    forEachIndex(tensor->view().shape, [&](const std::vector<int64_t> &index) {
      tensor->view().set(index, static_cast<double>(random.between(-1000, 1000)) / 500);
    });
  SpecRunner whole(wholeSpec), step(decodeSpec);
  ASSERT_EQ(whole.getMistake(), "");
  ASSERT_EQ(step.getMistake(), "");
  ASSERT_EQ(whole.run({{"n", std::to_string(length)}},
                      [&](BoundSpec &spec) {
                        copyRows(query.view(), 0, input(spec, 0));
                        copyRows(key.view(), 0, input(spec, 1));
                        copyRows(value.view(), 0, input(spec, 2));
                      }),
            "");
  Kept kept[4];
  for (int64_t old = 0; old < length;) {
    int64_t count = std::min(length - old, random.between(1, 40)), now = old + count;
    Assignments shapes = {{"q", fmt::format("1x2x{}x8", count)},
                          {"k", fmt::format("1x1x{}x8", now)},
                          {"v", fmt::format("1x1x{}x8", now)}};
    for (auto [index, name] : {std::pair(0, "k0"), {1, "v0"}, {2, "k1"}, {3, "v1"}})
      shapes.emplace_back(name, fmt::format("1x1x{}x8", kept[index].rows.view().shape[2]));
    ASSERT_EQ(step.run(shapes,
                       [&](BoundSpec &spec) {
                         copyRows(query.view(), old, input(spec, 0));
                         copyRows(key.view(), 0, input(spec, 1));
                         copyRows(value.view(), 0, input(spec, 2));
                         for (size_t index = 0; index < 4; ++index)
                           copyRows(kept[index].rows.view(), 0, input(spec, 3 + index));
                       }),
              "")
        << describe(shapes);
    for (unsigned index = 0; index < 4; ++index)
      kept[index].append(step.result(1 + index));
    forEachIndex(step.result(0).shape, [&](const std::vector<int64_t> &index) {
      std::vector<int64_t> there = index;
      there[2] += old;
      ASSERT_NEAR(step.result(0).at(index), whole.result(0).at(there), 1e-5)
          << "query " << there[2];
    });
    old = now;
  }
  EXPECT_EQ(kept[0].rows.view().shape[2], length / 4);
  EXPECT_EQ(kept[3].rows.view().shape[2], length / 8);
}
