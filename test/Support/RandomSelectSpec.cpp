//===- RandomSelectSpec.cpp - random specs that choose from data -----------===//
#include "test/Support/RandomSelectSpec.h"

#include <algorithm>
#include <fmt/format.h>

namespace lacuna::test {

std::string RandomSelectSpec::tokens(int64_t heads, int64_t width,
                                     const std::string &element) const {
  return fmt::format("tensor<?x{}x?x{}x{}>", heads, width, element);
}

std::string RandomSelectSpec::define(const std::string &op) {
  std::string name = fmt::format("%x{}", next++);
  body += fmt::format("  {} = {}\n", name, op);
  return name;
}

RandomSelectSpec::RandomSelectSpec(Random &random, RandomSpec::Scale scale)
    : random(random), isForGpu(scale == RandomSpec::Scale::Gpu) {
  keyHeads = random.between(1, 2);
  queryHeads = keyHeads * random.between(1, 3);
  channels = 8 * random.between(1, 5) + (chance(5) ? random.between(1, 7) : 0);
  type = chance(4) ? "f16" : chance(4) ? "bf16" : "f32";
  isGrid = chance(6);
  // On a grid of 8 x n tokens blocks are 4 x 4.
  queryBlock = isGrid ? 16 : 8 * random.between(1, 5);
  keyBlock = isGrid ? 16 : 8 * random.between(1, 9);
  if (isForGpu) {
    channels = 8 * random.between(4, 16);
    type = chance(2) ? "f16" : "bf16";
    queryBlock = 64 * random.between(1, 3);
    keyBlock = 16 << random.below(4);
    isGrid = false;
  }
  // A list is shared by heads that share keys.
  int64_t shared = queryHeads / keyHeads;
  group = chance(2) ? shared : 1;
  query = {"%q", tokens(queryHeads, channels, type)};
  key = {"%k", tokens(keyHeads, channels, type)};
  value = {"%v", tokens(keyHeads, channels, type)};
  int64_t lists = queryHeads / group;
  scoresType = fmt::format("tensor<?x{}x?x?xf32>", lists);
  idsType = fmt::format("tensor<?x{}x?x?xi32>", lists);
  countsType = fmt::format("tensor<?x{}x?xi32>", lists);
  if (isGrid)
    body += "  %rows = arith.constant 8 : index\n  %grid = sparsity.grid [%rows, %w]\n";
  std::string scores = writeRestriction(writeScores());
  writeChoice(scores);
  if (chance(3))
    writeFormats(scores);
  writeAttention();
}

RandomSelectSpec::Rows RandomSelectSpec::writeSummary(const Rows &from, int64_t heads,
                                                      int64_t block, const std::string &kind) {
  bool isOne = kind == "radius" || kind == "norm" || kind == "similarity" || kind == "count";
  std::string result = tokens(heads, isOne ? 1 : channels, type);
  if (isGrid)
    return {define(fmt::format("select.summarize {} {} block [4, 4] in %grid : {}, "
                               "!sparsity.domain<2> -> {}",
                               kind, from.name, from.type, result)),
            result};
  return {define(fmt::format("select.summarize {} {} block [{}] : {} -> {}", kind, from.name, block,
                             from.type, result)),
          result};
}

RandomSelectSpec::Rows RandomSelectSpec::writeFold(const Rows &from, int64_t heads,
                                                   bool isReversed) {
  std::string result = tokens(heads, 4 * channels, type);
  return {define(fmt::format("select.fold {} by 4{} : {} -> {}", from.name,
                             isReversed ? " reversed" : "", from.type, result)),
          result};
}

std::string RandomSelectSpec::writeFunction() {
  if (!chance(4))
    return "";
  std::string inner = oneOf({
      "    %f = arith.constant 4.0 : f32\n    %d = arith.divf %s, %f : f32\n"
      "    %t = math.tanh %d : f32\n    %y = arith.mulf %t, %f : f32\n",
      "    %d = arith.subi %i, %j : index\n    %n = arith.index_cast %d : index to i32\n"
      "    %x = arith.sitofp %n : i32 to f32\n    %f = arith.constant 0.0625 : f32\n"
      "    %t = arith.mulf %x, %f : f32\n    %y = arith.addf %s, %t : f32\n",
      "    %d = arith.addi %h, %b : index\n    %n = arith.index_cast %d : index to i32\n"
      "    %x = arith.sitofp %n : i32 to f32\n    %y = arith.subf %s, %x : f32\n",
  });
  return " function (%s, %b, %h, %i, %j) {\n" + inner + "    select.yield %y : f32\n  }";
}

std::string RandomSelectSpec::writeClauses(const Rows &rows, const Rows &columns) {
  std::string clauses;
  std::string rowValues = fmt::format("tensor<?x{}x?xf32>", queryHeads);
  auto total = [&](const std::string &over) {
    return define(fmt::format("select.log_sum_exp {}, {}{} : {}, {} -> {}", rows.name, columns.name,
                              over, rows.type, columns.type, rowValues));
  };
  std::string over;
  if (chance(2))
    over = " over " + define(oneOf({"sparsity.causal", "sparsity.causal from_start",
                                    "sparsity.window left(20) right(5)", "sparsity.prefix 7"}));
  clauses += over;
  if (chance(4))
    clauses += oneOf({" scale 0.5", " scale 1", " scale -0.25"});
  if (chance(4))
    clauses += " lse " + total(over) + " : " + rowValues;
  if (chance(6))
    clauses += " weights " + total("") + " : " + rowValues;
  return clauses;
}

std::string RandomSelectSpec::writeScores() {
  Rows rows = query, columns = key;
  int64_t perRow = queryBlock, perColumn = keyBlock;
  std::string kind = "dot", companion;
  if (!isGrid && chance(5)) {
    rows = writeFold(query, queryHeads, false);
    columns = writeFold(key, keyHeads, true);
    perRow = queryBlock / 4;
    perColumn = keyBlock / 4;
  } else {
    bool isPooled = isGrid || chance(2);
    if (isPooled) {
      rows = writeSummary(query, queryHeads, queryBlock, oneOf({"mean", "first", "max", "sum"}));
      perRow = 1;
    }
    if (isGrid || chance(2)) {
      kind = oneOf({"dot", "dot", "box", "ball", "quadratic"});
      columns = writeSummary(key, keyHeads, keyBlock, kind == "box" ? "max" : "mean");
      perColumn = 1;
      if (kind != "dot") {
        Rows other =
            writeSummary(key, keyHeads, keyBlock,
                         kind == "box"    ? "min"
                         : kind == "ball" ? oneOf({"radius", "similarity", "norm", "count"})
                                          : "variance");
        companion = fmt::format(" with {} : {}", other.name, other.type);
      }
    }
  }
  std::string clauses = writeClauses(rows, columns);
  std::vector<std::string> kinds = {"sum", "mean", "max", "log_sum_exp"};
  if (perRow > 1 || group > 1)
    clauses += fmt::format(" rows {} by {}", perRow, oneOf(kinds));
  if (perColumn > 1)
    clauses += fmt::format(" columns {} by {}", perColumn, oneOf(kinds));
  if (group > 1)
    clauses += fmt::format(" group {}", group);
  if (chance(4))
    clauses += " from_start";
  return define(fmt::format("select.score {} {}, {}{}{}{} : {}, {} -> {}", kind, rows.name,
                            columns.name, companion, clauses, writeFunction(), rows.type,
                            columns.type, scoresType));
}

std::string RandomSelectSpec::writeRestriction(const std::string &scores) {
  if (chance(4))
    return scores;
  std::string clauses;
  if (chance(2))
    clauses += " within " + define(oneOf({"sparsity.causal", "sparsity.window left(3) right(1)",
                                          "sparsity.where (%b, %h, %i, %j) {\n"
                                          "    %s = arith.addi %i, %j : index\n"
                                          "    %t = arith.addi %s, %h : index\n"
                                          "    %c = arith.constant 3 : index\n"
                                          "    %r = arith.remui %t, %c : index\n"
                                          "    %z = arith.constant 0 : index\n"
                                          "    %y = arith.cmpi ne, %r, %z : index\n"
                                          "    sparsity.yield %y : i1\n  }"}));
  if (clauses.empty() || chance(2))
    clauses += " force " + define(oneOf({"sparsity.prefix 1", "sparsity.suffix 2",
                                         "sparsity.window left(0) right(0)"}));
  return define(fmt::format("select.restrict {}{} : {}", scores, clauses, scoresType));
}

std::string RandomSelectSpec::writeNumber(const std::string &scores, bool hasScope,
                                          std::string &clauses) {
  if (chance(3))
    clauses += fmt::format(" floor {}", random.between(0, 4));
  if (chance(3))
    clauses += fmt::format(" cap {}", random.between(4, 9));
  if (hasScope) {
    clauses += oneOf({" scope head", " scope batch"});
    return oneOf({"top_k(12)", "top_k(0)", "share(0.3)", "share(0.07)"});
  }
  if (chance(6)) {
    std::string values = fmt::format("tensor<?x{}x?xf32>", queryHeads / group);
    std::string margin =
        define(fmt::format("select.margin(2) {} : {} -> {}", scores, scoresType, values));
    std::string numbers = define(
        fmt::format("select.gate(0.4) {} low 5 high 2 : {} -> {}", margin, values, countsType));
    results.push_back({margin, values});
    return fmt::format("top_k({} : {})", numbers, countsType);
  }
  if (chance(6)) {
    arguments += ", %number: index {lacuna.default = 3 : index}";
    return "top_k(%number)";
  }
  if (chance(8)) {
    arguments += ", %part: f32 {lacuna.default = 0.6 : f32}";
    return oneOf({"top_p", "share", "above", "deviation"}) + "(%part : f32)";
  }
  return oneOf({"top_k(3)", "top_k(0)", "top_k(100)", "share(0.25)", "share(1)", "top_p(0.7)",
                "top_p(0)", "top_p(1)", "above(0.1)", "near_max(-0.3)", "near_max(0)",
                "deviation(0.5)", "deviation(-1)"});
}

void RandomSelectSpec::writeChoice(const std::string &scores) {
  ids = {fmt::format("%x{}", next++), idsType};
  counts = {fmt::format("%x{}", next++), countsType};
  if (chance(6)) {
    arguments += ", %seed: index {lacuna.default = 77 : index}";
    body += fmt::format("  {}, {}, %x{} = select.sample({}) {} seed %seed : {} -> {}, {}, {}\n",
                        ids.name, counts.name, next++, oneOf({"4", "0.5", "0"}), scores, scoresType,
                        idsType, countsType, scoresType);
    return;
  }
  std::string clauses, rule = writeNumber(scores, chance(6), clauses);
  body += fmt::format("  {}, {} = select.choose {} {}{} : {} -> {}, {}\n", ids.name, counts.name,
                      rule, scores, clauses, scoresType, idsType, countsType);
}

void RandomSelectSpec::writeFormats(const std::string &scores) {
  std::string axis = define("arith.constant 3 : index");
  std::string columns = define(fmt::format("tensor.dim {}, {} : {}", scores, axis, scoresType));
  std::string lists = fmt::format("{}, {}", idsType, countsType);
  // Converts lists by `op` into two results of types that are known.
  auto convert = [&](const std::string &op, const std::string &from, const std::string &to) {
    std::string first = fmt::format("%x{}", next++), second = fmt::format("%x{}", next++);
    body += fmt::format("  {}, {} = {} : {} -> {}\n", first, second, op, from, to);
    return fmt::format("{}, {}", first, second);
  };
  auto take = [&](const std::string &names) {
    ids.name = names.substr(0, names.find(','));
    counts.name = names.substr(names.find(' ') + 1);
  };
  auto here = [&] { return fmt::format("{}, {}", ids.name, counts.name); };
  if (chance(3)) {
    std::string rows = convert("select.csr_of_list " + here(), lists,
                               fmt::format("{}, {}", countsType, countsType));
    take(convert(fmt::format("select.list_of_csr {} capacity({}){}", rows,
                             chance(2) ? columns : "3", chance(2) ? " cut" : ""),
                 fmt::format("{}, {}", countsType, countsType), lists));
  }
  if (chance(3)) {
    std::string bounds = chance(3) ? " capacity(2) cut" : "";
    take(convert(fmt::format("select.transpose {} columns({}){}", here(), columns, bounds), lists,
                 lists));
    std::string rowAxis = define("arith.constant 2 : index");
    std::string rows = define(fmt::format("tensor.dim {}, {} : {}", scores, rowAxis, scoresType));
    // Back again, so that a list belongs to a row.
    take(convert(fmt::format("select.transpose {} columns({})", here(), rows), lists, lists));
  }
  std::string maskType = idsType.substr(0, idsType.rfind("xi32")) + "xi8>";
  mask = define(fmt::format("select.mask_of_list {} columns({}) : {} -> {}", here(), columns, lists,
                            maskType));
  if (chance(2)) {
    take(convert("select.list_of_mask " + mask, maskType, lists));
    mask.clear();
  }
}

void RandomSelectSpec::writeAttention() {
  std::string sizes = isGrid ? "[4, 4]" : fmt::format("[{}]", queryBlock);
  std::string keySizes = isGrid ? "[4, 4]" : fmt::format("[{}]", keyBlock);
  std::string blocks =
      fmt::format("query {} key {}{}{} : ", sizes, keySizes,
                  group > 1 ? fmt::format(" group {}", group) : "", isGrid ? " in %grid" : "");
  std::string domain = isGrid ? ", !sparsity.domain<2>" : "";
  std::string set =
      mask.empty() ? define(fmt::format("sparsity.blocks {}, {} {}{}, {}{}", ids.name, counts.name,
                                        blocks, idsType, countsType, domain))
                   : define(fmt::format("sparsity.bitmap {} {}{}{}", mask, blocks,
                                        idsType.substr(0, idsType.rfind("xi32")) + "xi8>", domain));
  if (!mask.empty() && chance(3))
    set = define(fmt::format("sparsity.complement {}{}", set, isGrid ? " : !sparsity.set<2>" : ""));
  if (!isGrid && chance(2))
    set = define(
        fmt::format("sparsity.union {}, {}", set, define("sparsity.window left(9) right(2)")));
  if (!isGrid && chance(2))
    set = define(fmt::format("sparsity.intersect {}, {}", set, define("sparsity.causal")));
  std::string out = define(fmt::format(
      "attn.attend {}, {}, {} over {}{} : {}, {}, {} -> {}", query.name, key.name, value.name, set,
      isGrid ? " : !sparsity.set<2>" : "", query.type, key.type, value.type, query.type));
  std::string names = out, types = query.type;
  if (chance(2))
    results.push_back(counts);
  for (const Rows &result : results) {
    names += ", " + result.name;
    types += ", " + result.type;
  }
  text = fmt::format("func.func @random(%q: {}, %k: {}, %v: {}{}{}) -> ({}) {{\n{}"
                     "  return {} : {}\n}}\n",
                     query.type, key.type, value.type, isGrid ? ", %w: index" : "", arguments,
                     types, body, names, types);
}

Assignments RandomSelectSpec::drawValues() const {
  Assignments values = {{"b", std::to_string(random.between(1, 2))}};
  auto length = [&](int64_t block) {
    int64_t near = block * random.between(0, 5) + random.between(-1, 1);
    int64_t any = random.between(0, isForGpu ? 1500 : 200);
    return std::to_string(std::max<int64_t>(chance(2) ? near : any, 0));
  };
  if (isGrid) {
    int64_t width = random.between(0, 20);
    values.emplace_back("w", std::to_string(width));
    return values;
  }
  if (chance(2)) {
    values.emplace_back("n", length(queryBlock));
  } else {
    values.emplace_back("nq", length(queryBlock));
    values.emplace_back("nk", length(keyBlock));
  }
  return values;
}

} // namespace lacuna::test
