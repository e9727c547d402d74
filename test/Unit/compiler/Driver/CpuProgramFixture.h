//===- CpuProgramFixture.h - specs compiled and run, and a naive loop -----===//
#pragma once

#include "compiler/Driver/CpuProgram.h"
#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Pipelines/Pipelines.h"
#include "lib/Support/Random.h"
#include "runtime/Cpu/ThreadPool.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lacuna::test {

/// The program of a module's only function; null when something on the way failed.
inline std::unique_ptr<CpuProgram> compileSpec(mlir::MLIRContext &context, const std::string &text,
                                               int64_t vectorWidth = 0) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module = parseSpec(sources, &context);
  if (!module)
    return nullptr;
  mlir::PassManager passes(&context);
  buildSpecToTile(passes);
  buildTileToLoops(passes);
  if (failed(passes.run(*module)))
    return nullptr;
  CpuProgramOptions options;
  options.vectorWidth = vectorWidth;
  options.poisonOutputs = true;
  auto program = CpuProgram::compile(*module->getOps<mlir::func::FuncOp>().begin(), options);
  return failed(program) ? nullptr : std::move(*program);
}

/// An attention problem with its inputs.
struct Problem {
  int64_t batch = 1, heads = 2, keyHeads = 2, queries = 64, keys = 64, channels = 16,
          valueChannels = 16;
  ElementType type = ElementType::F32;
  /// What stands for %set; `%left` and the sizes are not known to it.
  std::string set = "sparsity.all";
  /// Live pairs, the last query at the last key.
  std::function<bool(int64_t, int64_t)> isLive = [](int64_t, int64_t) { return true; };

  OwnedTensor q, k, v;

  std::string tensorType(int64_t headCount, int64_t width) const {
    return "tensor<?x" + std::to_string(headCount) + "x?x" + std::to_string(width) + "x" +
           toString(type) + ">";
  }
  std::string spec() const {
    std::string qt = tensorType(heads, channels), kt = tensorType(keyHeads, channels),
                vt = tensorType(keyHeads, valueChannels), ot = tensorType(heads, valueChannels),
                lt = "tensor<?x" + std::to_string(heads) + "x?xf32>";
    return "func.func @f(%q: " + qt + ", %k: " + kt + ", %v: " + vt + ") -> (" + ot + ", " + lt +
           ") {\n  %set = " + set + "\n  %o, %lse = attn.attend %q, %k, %v over %set : " + qt +
           ", " + kt + ", " + vt + " -> " + ot + ", " + lt + "\n  return %o, %lse : " + ot + ", " +
           lt + "\n}\n";
  }
  void fill(uint64_t seed) {
    Random random(seed);
    q = OwnedTensor(type, {batch, heads, queries, channels});
    k = OwnedTensor(type, {batch, keyHeads, keys, channels});
    v = OwnedTensor(type, {batch, keyHeads, keys, valueChannels});
    for (OwnedTensor *tensor : {&q, &k, &v})
      fillNormal(tensor->view(), random);
  }
};

/// Checks outputs and log-sum-exp against a double loop over pairs, in f64.
inline void expectAttention(const Problem &p, const Tensor &q, const Tensor &k, const Tensor &v,
                            const Tensor &o, const Tensor &lse) {
  double unit = p.type == ElementType::BF16  ? 0x1p-8
                : p.type == ElementType::F16 ? 0x1p-11
                                             : 0x1p-21;
  double scale = static_cast<float>(1.0 / std::sqrt(double(p.channels)));
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t i = 0; i < p.queries; ++i) {
        int64_t kh = h / (p.heads / p.keyHeads), position = i + p.keys - p.queries;
        std::vector<double> scores;
        double largest = -HUGE_VAL;
        for (int64_t j = 0; j < p.keys; ++j) {
          double score = 0;
          for (int64_t c = 0; c < p.channels; ++c)
            score += q.at({b, h, i, c}) * k.at({b, kh, j, c});
          scores.push_back(p.isLive(position, j) ? score * scale : -HUGE_VAL);
          largest = std::max(largest, scores.back());
        }
        double sum = 0;
        std::vector<double> exact(static_cast<size_t>(p.valueChannels)), size(exact);
        for (int64_t j = 0; j < p.keys; ++j) {
          if (!p.isLive(position, j))
            continue;
          double weight = std::exp(scores[static_cast<size_t>(j)] - largest);
          sum += weight;
          for (int64_t c = 0; c < p.valueChannels; ++c) {
            exact[static_cast<size_t>(c)] += weight * v.at({b, kh, j, c});
            size[static_cast<size_t>(c)] += weight * std::fabs(v.at({b, kh, j, c}));
          }
        }
        double exactLse = sum == 0 ? -HUGE_VAL : largest + std::log(sum);
        if (std::isinf(exactLse))
          ASSERT_EQ(lse.at({b, h, i}), exactLse) << b << ' ' << h << ' ' << i;
        else
          ASSERT_NEAR(lse.at({b, h, i}), exactLse, 1e-5 * std::max(1.0, std::fabs(exactLse)))
              << b << ' ' << h << ' ' << i;
        for (int64_t c = 0; c < p.valueChannels; ++c) {
          auto at = static_cast<size_t>(c);
          double expected = sum == 0 ? 0 : exact[at] / sum;
          double allowed = sum == 0 ? 0 : unit * (std::fabs(expected) + 4 * size[at] / sum) + 1e-6;
          ASSERT_NEAR(o.at({b, h, i, c}), expected, allowed)
              << "at " << b << ' ' << h << ' ' << i << ' ' << c;
        }
      }
}

} // namespace lacuna::test
