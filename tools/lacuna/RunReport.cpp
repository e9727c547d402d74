//===- RunReport.cpp - what a run found, as text or JSON -------------------===//
#include "tools/lacuna/RunReport.h"

#include "lib/Support/Text.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <fmt/format.h>

namespace lacuna::tool {

static double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// `q: 1x8x4096x64 f32` or `left = 255`.
static std::string argumentText(const std::string &name, const Argument &argument) {
  if (const auto *tensor = std::get_if<Tensor>(&argument))
    return fmt::format("{}: {} {}", name, shapeText(tensor->shape), toString(tensor->type));
  if (const auto *integer = std::get_if<int64_t>(&argument))
    return fmt::format("{} = {}", name, *integer);
  return fmt::format("{} = {}", name, std::get<double>(argument));
}

static std::string checkText(const CheckReport &check, uint64_t seed) {
  std::string rows =
      check.checkedRows == check.allRows
          ? fmt::format("all {} rows", groupedText(check.allRows))
          : fmt::format("{} of {} rows: the first, last and tile-border rows of "
                        "every head, others drawn with seed {}",
                        groupedText(check.checkedRows), groupedText(check.allRows), seed);
  std::string text = fmt::format("check       {}\n", rows);
  size_t width = 10;
  for (const ResultCheck &result : check.results)
    width = std::max(width, result.name.size() + 1);
  for (const ResultCheck &result : check.results) {
    const reference::Comparison &found = result.comparison;
    text += fmt::format("  {:<{}}max abs {:.2e}, max rel {:.2e}, relative L2 {:.2e}, worst {:.3g} "
                        "of its tolerance\n",
                        result.name, width, found.maxAbsolute, found.maxRelative, found.relativeL2,
                        found.worst);
  }
  return text + check.failures() +
         fmt::format("result      {}\n", check.passes() ? "ok" : "beyond tolerance");
}

std::string RunReport::text() const {
  std::string text = fmt::format("function    {}\n", function);
  if (!set.empty())
    text += fmt::format("set         {}\n", set);
  for (size_t index = 0; index < spec->names.size(); ++index)
    text += fmt::format("  {}\n", argumentText(spec->names[index], spec->arguments[index]));
  text += fmt::format("seed        {}\n", spec->seed);
  text += fmt::format("target      {}, {} thread{}\n", target, threads, threads == 1 ? "" : "s");
  text += fmt::format("live pairs  {} of {} ({:.3g} %)\n", groupedText(livePairs),
                      groupedText(allPairs), 100 * share(livePairs, allPairs));
  text += fmt::format("work        {}FLOP\n", siText(flops));
  text += fmt::format("compile     {}\n", durationText(compileSeconds));
  std::string rate = runSeconds > 0 ? siText(flops / runSeconds) + "FLOP/s" : "-";
  std::string best = repeats > 1 ? fmt::format(", best of {}", repeats) : "";
  text += fmt::format("run         {} ({}{})\n", durationText(runSeconds), rate, best);
  return check ? text + checkText(*check, sampleSeed) : text;
}

/// JSON has neither NaN nor infinities.
static llvm::json::Value numberValue(double number) {
  if (std::isfinite(number))
    return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

static void writeArguments(llvm::json::OStream &json, const BoundSpec &spec) {
  for (size_t index = 0; index < spec.names.size(); ++index)
    json.object([&] {
      json.attribute("name", spec.names[index]);
      if (const auto *tensor = std::get_if<Tensor>(&spec.arguments[index])) {
        json.attribute("type", toString(tensor->type));
        json.attribute("shape", llvm::json::Array(tensor->shape));
      } else if (const auto *integer = std::get_if<int64_t>(&spec.arguments[index])) {
        json.attribute("value", *integer);
      } else {
        json.attribute("value", numberValue(std::get<double>(spec.arguments[index])));
      }
    });
}

static void writeResult(llvm::json::OStream &json, const ResultCheck &result) {
  const reference::Comparison &found = result.comparison;
  json.object([&] {
    json.attribute("name", result.name);
    json.attribute("passed", found.passes());
    json.attribute("values", found.values);
    json.attribute("beyond", found.beyond);
    json.attribute("max_abs", numberValue(found.maxAbsolute));
    json.attribute("max_rel", numberValue(found.maxRelative));
    json.attribute("relative_l2", numberValue(found.relativeL2));
    json.attribute("worst_of_tolerance", numberValue(found.worst));
    json.attribute("worst_at", llvm::json::Array(found.where));
    json.attribute("worst_got", numberValue(found.got));
    json.attribute("worst_exact", numberValue(found.exact));
  });
}

std::string RunReport::json() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("function", function);
    if (!set.empty())
      json.attribute("set", set);
    json.attributeArray("arguments", [&] { writeArguments(json, *spec); });
    json.attribute("seed", static_cast<int64_t>(spec->seed));
    json.attribute("target", target);
    json.attribute("threads", threads);
    json.attribute("live_pairs", livePairs);
    json.attribute("pairs", allPairs);
    json.attribute("flops", flops);
    json.attribute("compile_seconds", compileSeconds);
    json.attribute("run_seconds", runSeconds);
    json.attribute("repeats", repeats);
    json.attribute("gflops", runSeconds > 0 ? flops / runSeconds / 1e9 : 0);
    if (!check)
      return;
    json.attributeObject("check", [&] {
      json.attribute("passed", check->passes());
      json.attribute("checked_rows", check->checkedRows);
      json.attribute("rows", check->allRows);
      json.attribute("sample_seed", static_cast<int64_t>(sampleSeed));
      json.attributeArray("results", [&] {
        for (const ResultCheck &result : check->results)
          writeResult(json, result);
      });
    });
  });
  return os.str() + "\n";
}

} // namespace lacuna::tool
