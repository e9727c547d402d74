//===- CheckResults.cpp - results against the oracle -----------------------===//
#include "compiler/Driver/CheckResults.h"

#include "compiler/Driver/ParseSpec.h"
#include "lib/Reference/Skips.h"
#include "lib/Support/Random.h"
#include "lib/Support/Text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;

namespace lacuna {

bool CheckReport::passes() const {
  return llvm::all_of(results,
                      [](const ResultCheck &result) { return result.comparison.passes(); });
}

std::string CheckReport::failures() const {
  static constexpr const char *axes[] = {"batch", "head", "row", "channel", "value channel"};
  static constexpr const char *blockAxes[] = {"batch", "head", "query block", "key block"};
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const ResultCheck &result : results) {
    const reference::Comparison &found = result.comparison;
    if (found.passes())
      continue;
    os << result.name << ": " << groupedText(found.beyond) << " of " << groupedText(found.values)
       << " values are beyond tolerance, the worst at";
    for (size_t axis = 0; axis < found.where.size(); ++axis)
      os << ' ' << (result.isMarks ? blockAxes : axes)[axis] << ' ' << found.where[axis];
    os << ": got " << llvm::format("%.9g", found.got) << ", exact "
       << llvm::format("%.9g", found.exact) << '\n';
  }
  return text;
}

std::vector<std::string> resultNames(const ReferenceProgram &program) {
  std::vector<std::string> names;
  for (const ReferenceProgram::FunctionResult &result : program.getResults()) {
    if (result.isSelection) {
      names.push_back(result.name);
      continue;
    }
    std::string name = valueName(program.getSteps()[result.step].op->getResult(0));
    if (name.empty())
      name = "output";
    names.push_back(name + (result.isMarks ? ".taken" : result.isLse ? ".lse" : ""));
  }
  return names;
}

/// A result of the wrong shape is wrong everywhere.
static reference::Comparison wrongShape() {
  reference::Comparison comparison;
  comparison.values = comparison.beyond = 1;
  comparison.worst = comparison.maxAbsolute = std::numeric_limits<double>::infinity();
  return comparison;
}

/// Rows of long sequences may each cost a budget, even those at borders: then some of them are
/// drawn.
static void thin(reference::RowSample &sample, double cost, const CheckOptions &options) {
  constexpr double most = 16;
  double times = static_cast<double>(sample.rows.size()) * cost / (most * options.budget);
  if (sample.all || times <= 1)
    return;
  Random random(options.seed);
  std::vector<reference::RowIndex> kept = {sample.rows.back()};
  sample.rows.pop_back();
  for (const reference::RowIndex &row : sample.rows)
    if (random.uniform() * times < 1)
      kept.insert(kept.end() - 1, row);
  sample.rows = std::move(kept);
}

/// Compares the marks of the query blocks of a sample of rows.
static reference::Comparison checkMarks(const ReferenceProgram::Step &step, const Tensor &marks,
                                        const reference::RowSample &sample, unsigned threads) {
  const reference::Skip &skip = *step.attend->skip;
  if (marks.shape != skip.taken.shape)
    return wrongShape();
  std::vector<reference::BlockIndex> blocks;
  for (const reference::RowIndex &row : sample.rows) {
    reference::BlockIndex block{row.batch, row.head, row.query / skip.queryBlock};
    bool isKnown = !blocks.empty() && blocks.back().batch == block.batch &&
                   blocks.back().head == block.head && blocks.back().block == block.block;
    if (!isKnown)
      blocks.push_back(block);
  }
  // A block costs what its rows cost, those of the sample or not.
  constexpr size_t fewest = 8;
  size_t most = std::max(fewest, sample.rows.size() / static_cast<size_t>(skip.queryBlock) + 1);
  if (!sample.all && blocks.size() > most) {
    std::vector<reference::BlockIndex> kept;
    for (size_t number = 0; number < most; ++number)
      kept.push_back(blocks[number * (blocks.size() - 1) / (most - 1)]);
    blocks = std::move(kept);
  }
  return reference::compareTaken(*step.attend, blocks, step.keyChannels, threads);
}

/// Compares all results of a select op.
static std::vector<reference::Comparison> checkSelection(const reference::SelectOracle &oracle,
                                                         const std::vector<Tensor> &results,
                                                         const CheckOptions &options,
                                                         CheckReport &report) {
  if (!oracle.fits(results))
    return std::vector(results.size(), wrongShape());
  std::vector<int64_t> shape = oracle.rowShape();
  double cost = oracle.costPerRow();
  double budget = options.rows > 0 ? static_cast<double>(options.rows) * cost : options.budget;
  reference::RowSample sample = reference::chooseRows(shape[0], shape[1], shape[2],
                                                      options.tileRows, cost, budget, options.seed);
  thin(sample, cost, options);
  report.checkedRows += static_cast<int64_t>(sample.rows.size());
  report.allRows += shape[0] * shape[1] * shape[2];
  return oracle.compare(results, sample.rows, options.threads);
}

CheckReport checkResults(const ReferenceProgram &program, ArrayRef<Tensor> results,
                         const CheckOptions &options) {
  CheckReport report;
  std::vector<std::string> names = resultNames(program);
  // Output and lse of one step share their exact rows.
  std::map<unsigned, std::pair<reference::RowSample, std::vector<reference::RowResult>>> exact;
  // All results of a select op are compared at once.
  std::map<unsigned, std::vector<Tensor>> selected;
  std::map<unsigned, std::vector<reference::Comparison>> selections;
  for (auto [index, result] : llvm::enumerate(program.getResults()))
    if (result.isSelection) {
      std::vector<Tensor> &tensors = selected[result.step];
      tensors.resize(std::max<size_t>(tensors.size(), result.number + 1));
      tensors[result.number] = results[index];
    }
  for (auto [index, result] : llvm::enumerate(program.getResults())) {
    if (result.isSelection) {
      auto [found, isNew] = selections.try_emplace(result.step);
      if (isNew)
        found->second = checkSelection(*program.getSelections()[result.step].oracle,
                                       selected[result.step], options, report);
      report.results.push_back({names[index], found->second[result.number]});
      continue;
    }
    const ReferenceProgram::Step &step = program.getSteps()[result.step];
    const std::vector<int64_t> &shape = step.shape;
    if (!exact.contains(result.step)) {
      double budget =
          options.rows > 0 ? static_cast<double>(options.rows) * step.costPerRow : options.budget;
      reference::RowSample sample = reference::chooseRows(
          shape[0], shape[1], shape[2], options.tileRows, step.costPerRow, budget, options.seed);
      report.checkedRows += static_cast<int64_t>(sample.rows.size());
      report.allRows += shape[0] * shape[1] * shape[2];
      auto rows = program.evaluate(result.step, sample.rows, options.threads);
      exact[result.step] = {std::move(sample), std::move(rows)};
    }
    const auto &[sample, rows] = exact[result.step];
    std::vector<int64_t> expected = shape;
    expected.resize(result.isLse ? 3 : 4);
    reference::Comparison comparison;
    if (result.isMarks)
      comparison = checkMarks(step, results[index], sample, options.threads);
    else if (results[index].shape != expected)
      comparison = wrongShape();
    else if (result.isLse)
      comparison = reference::compareLse(results[index], sample.rows, rows, step.keyChannels);
    else
      comparison = reference::compareOutput(results[index], sample.rows, rows, step.keyChannels);
    report.results.push_back({names[index], comparison, result.isMarks});
  }
  return report;
}

} // namespace lacuna
