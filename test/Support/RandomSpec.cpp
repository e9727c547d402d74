//===- RandomSpec.cpp - random specs as text, and sizes to run them with ---===//
#include "test/Support/RandomSpec.h"

#include <algorithm>
#include <fmt/format.h>

namespace lacuna::test {

std::string describe(const Assignments &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "--set " : ",", name, value);
  return text;
}

RandomSpec::RandomSpec(Random &random, Scale scale) : random(random), scale(scale) {
  keyHeads = random.between(1, 2);
  queryHeads = keyHeads * random.between(1, 3);
  channels = drawChannels();
  if (scale == Scale::Gpu) {
    valueChannels = chance(3) ? drawChannels() : channels;
    type = chance(2) ? "f16" : "bf16";
  } else {
    valueChannels = chance(3) ? random.between(1, 20) : channels;
    type = chance(5) ? "f16" : chance(5) ? "bf16" : "f32";
  }
  hasSinks = chance(5);
  writeDomain();
  std::string set = segments.size() > 1 ? writeSegments() : writeSet(segments[0], segments[0], 2);
  writeFunction(set);
}

int64_t RandomSpec::drawChannels() {
  if (scale == Scale::Small)
    return random.between(1, 3) * 8;
  // Small ones are frequent, since the oracle is slow.
  return 8 * (chance(3) ? random.between(4, 32) : random.between(4, 10));
}

std::string RandomSpec::define(const std::string &op) {
  std::string name = fmt::format("%s{}", nextName++);
  body += fmt::format("  {} = {}\n", name, op);
  return name;
}

std::string RandomSpec::parameter(Parameter::Kind kind, int64_t low, int64_t high) {
  parameters.push_back({fmt::format("p{}", parameters.size()), kind, low, high});
  return "%" + parameters.back().name;
}

std::string RandomSpec::number(int64_t low, int64_t high) {
  // Windows that reach over tiles of 128 as often as those of 20 over tiles of 16.
  if (scale == Scale::Gpu && chance(2)) {
    low *= 8;
    high *= 8;
  }
  if (chance(2))
    return std::to_string(random.between(low, high));
  if (chance(3))
    return parameter(Parameter::Kind::PerHead, low, high) + " : tensor<?xi32>";
  return parameter(Parameter::Kind::Scalar, low, high);
}

std::string RandomSpec::list(int64_t count, int64_t low, int64_t high) {
  std::string items;
  for (int64_t item = 0; item < count; ++item)
    items += fmt::format("{}{}", item == 0 ? "" : ", ", random.between(low, high));
  return "[" + items + "]";
}

std::string RandomSpec::typeText(const Segment &queries, const Segment &keys) {
  if (queries.axes != keys.axes)
    return fmt::format(" : !sparsity.set<{} to {}>", queries.axes, keys.axes);
  return queries.axes == 1 ? "" : fmt::format(" : !sparsity.set<{}>", queries.axes);
}

std::string RandomSpec::inDomain(const Segment &segment) {
  return fmt::format(" in {} : !sparsity.domain<{}>", segment.domain, segment.axes);
}

void RandomSpec::writeDomain() {
  int64_t kind = random.below(10);
  if (kind < 6) {
    segments.push_back({"", 1});
    return;
  }
  int64_t count = kind < 9 ? 1 : 2;
  for (int64_t segment = 0; segment < count; ++segment) {
    int64_t axes = count > 1 ? random.between(1, 3) : random.between(2, 4);
    int64_t longest = axes == 1 ? 24 : axes == 2 ? 8 : axes == 3 ? 5 : 3;
    if (scale == Scale::Gpu)
      longest = axes == 1 ? 400 : axes == 2 ? 30 : axes == 3 ? 11 : 5;
    std::string sizes;
    for (int64_t axis = 0; axis < axes; ++axis)
      sizes += (axis == 0 ? "" : ", ") + (chance(2) ? std::to_string(random.between(1, longest))
                                                    : parameter(Parameter::Kind::Size, 1, longest));
    std::string op = axes == 1 ? "sparsity.sequence" : "sparsity.grid";
    segments.push_back({define(fmt::format("{} [{}]", op, sizes)), axes});
  }
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

std::string RandomSpec::writeDyadic() {
  bool fenwick = chance(2);
  std::string op = fmt::format("sparsity.dyadic {} base {}", fenwick ? "fenwick" : "distance",
                               random.between(1, 6));
  if (chance(2))
    op += fmt::format(" fanout {}", random.between(2, 4));
  if (chance(2))
    op += fmt::format(" near({})", number(0, 9));
  int64_t top = chance(3) ? random.between(0, 2) : 3;
  if (top < 3)
    op += fmt::format(" levels {}", top + 1);
  if (chance(2)) {
    int64_t first = random.between(-1, top);
    op += fmt::format(" only [{}, {}]", first, random.between(first, top));
  }
  if (!fenwick && chance(2))
    op += " causal";
  return define(op + fromStart());
}

std::string RandomSpec::writeDocuments() {
  hasDocuments = true;
  return define(fmt::format("sparsity.documents %cu_q, %cu_k{}{} : tensor<?xi32>, tensor<?xi32>",
                            chance(2) ? " causal" : "", fromStart()));
}

std::string RandomSpec::writeAffine(const Segment &queries, const Segment &keys) {
  // Distances, blocks and residues of the first query axis and the last key axis.
  std::string dims;
  for (int64_t axis = 0; axis < queries.axes; ++axis)
    dims += fmt::format("{}i{}", axis == 0 ? "" : ", ", axis);
  for (int64_t axis = 0; axis < keys.axes; ++axis)
    dims += fmt::format(", j{}", axis);
  std::string i = "i0", j = fmt::format("j{}", keys.axes - 1);
  int64_t step = random.between(1, 4);
  std::string constraints[] = {
      fmt::format("w - {} + {} >= 0", i, j),
      fmt::format("{} - {} + w >= 0", i, j),
      fmt::format("{} + {} - w >= 0", i, j),
      fmt::format("({} - {}) mod {} == 0", i, j, step),
      fmt::format("{} floordiv {} - {} floordiv {} == 0", i, step, j, step),
      fmt::format("{} - 2 * {} >= 0", j, i),
      fmt::format("({} + {}) mod {} - 1 >= 0", i, j, step + 1),
  };
  std::string chosen = constraints[random.below(std::size(constraints))];
  if (chance(2))
    chosen += ", " + constraints[random.below(std::size(constraints))];
  std::string place =
      queries.axes == keys.axes && queries.axes > 1 ? inDomain(queries) : typeText(queries, keys);
  return define(fmt::format("sparsity.affine affine_set<({})[w] : ({})> [{}]{}{}", dims, chosen,
                            number(-3, 12), fromStart(), place));
}

std::string RandomSpec::writeWhere(const Segment &queries, const Segment &keys) {
  std::string arguments = "%b, %h", i = "%i0", j = fmt::format("%j{}", keys.axes - 1);
  for (int64_t axis = 0; axis < queries.axes; ++axis)
    arguments += fmt::format(", %i{}", axis);
  for (int64_t axis = 0; axis < keys.axes; ++axis)
    arguments += fmt::format(", %j{}", axis);
  std::string place = queries.axes == keys.axes && queries.axes > 1 ? inDomain(queries) : "";
  std::string type = place.empty() ? typeText(queries, keys) : "";
  std::string modulus = std::to_string(random.between(2, 5));
  return define(fmt::format("sparsity.where{}{} ({}) {{\n"
                            "    %c = arith.constant {} : index\n"
                            "    %x = arith.muli {}, {} : index\n"
                            "    %y = arith.addi %x, %h : index\n"
                            "    %z = arith.remui %y, %c : index\n"
                            "    %zero = arith.constant 0 : index\n"
                            "    %t = arith.cmpi {}, %z, %zero : index\n"
                            "    sparsity.yield %t : i1\n"
                            "  }}{}",
                            fromStart(), place, arguments, modulus, i, j, chance(2) ? "eq" : "ne",
                            type));
}

std::string RandomSpec::writeSequenceLeaf() {
  switch (random.below(14)) {
  case 0:
  case 1: {
    std::string left = chance(4) ? "" : fmt::format(" left({})", number(-3, 20));
    std::string right = chance(4) ? "" : fmt::format(" right({})", number(-3, 9));
    return define("sparsity.window" + left + right + fromStart());
  }
  case 2:
    return define("sparsity.causal" + fromStart());
  case 3:
    return define("sparsity.prefix " + number(0, 6));
  case 4:
    return define("sparsity.suffix " + number(0, 6));
  case 5:
    return define("sparsity.rows " + (chance(2) ? number(0, 6) : list(2, 0, 30)) + fromStart());
  case 6:
    return define("sparsity.columns " + (chance(2) ? number(0, 6) : list(3, 0, 30)));
  case 7:
    return define("sparsity.slashes " + list(random.between(1, 3), -4, 20) + fromStart());
  case 8:
    return define("sparsity.stride " + number(1, 7) + fromStart());
  case 9:
    return define(fmt::format("sparsity.dilated left({}) right({}) step({}){}", number(0, 6),
                              number(0, 4), number(1, 5), fromStart()));
  case 10:
    return define("sparsity.block_diagonal " + number(1, 20) + fromStart());
  case 11:
    return writeDyadic();
  case 12:
    // Offsets count from the first token, which inside a concatenation is not the segment's.
    return segments.size() == 1 ? writeDocuments() : define("sparsity.all");
  default:
    return chance(2) ? define("sparsity.all") : define("sparsity.none");
  }
}

std::string RandomSpec::writeRadius(const Segment &segment) {
  int64_t norm = random.below(4);
  std::string op = "sparsity.radius [";
  for (int64_t axis = 0; axis < (norm < 2 ? segment.axes : 1); ++axis)
    op += (axis == 0 ? "" : ", ") + number(0, 3);
  op += "]";
  if (norm >= 2)
    op += norm == 2 ? " norm(l1)" : " norm(l2)";
  if (norm == 1)
    op += " border(shift)";
  if (chance(3))
    op += fmt::format(" causal [{}]", random.below(segment.axes));
  if (norm < 2 && chance(3))
    op += " dilation " + list(segment.axes, 1, 2);
  if (chance(4))
    op += " unit " + list(segment.axes, 1, 2);
  return define(op + inDomain(segment));
}

std::string RandomSpec::writeGridLeaf(const Segment &segment) {
  switch (random.below(7)) {
  case 0: {
    std::string sizes;
    for (int64_t axis = 0; axis < segment.axes; ++axis)
      sizes += (axis == 0 ? "" : ", ") + number(1, 4);
    return define(fmt::format("sparsity.block_diagonal [{}]{}", sizes, inDomain(segment)));
  }
  case 1:
    return define("sparsity.causal" + inDomain(segment));
  case 2:
    return define((chance(3) ? "sparsity.none" : "sparsity.all") + inDomain(segment));
  case 3:
    if (segment.axes == 2)
      return define(fmt::format("sparsity.bands {} levels {} near {}{}", number(0, 6),
                                random.between(1, 4), random.between(1, 2), inDomain(segment)));
    return writeRadius(segment);
  default:
    return writeRadius(segment);
  }
}

std::string RandomSpec::writeMixedLeaf(const Segment &queries, const Segment &keys) {
  return define((chance(2) ? "sparsity.all" : "sparsity.none") + typeText(queries, keys));
}

std::string RandomSpec::writeLeaf(const Segment &queries, const Segment &keys) {
  if (chance(8))
    return writeWhere(queries, keys);
  if (chance(6))
    return writeAffine(queries, keys);
  if (queries.axes == 1 && keys.axes == 1)
    return writeSequenceLeaf();
  // Ops that name a grid relate it to itself.
  return queries.domain == keys.domain ? writeGridLeaf(queries) : writeMixedLeaf(queries, keys);
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

std::string RandomSpec::writeAlgebra(const Segment &queries, const Segment &keys, int depth) {
  std::string type = typeText(queries, keys);
  std::string a = writeSet(queries, keys, depth - 1);
  switch (random.below(6)) {
  case 0:
  case 1: {
    std::string b = writeSet(queries, keys, depth - 1);
    std::string c = chance(3) ? ", " + writeSet(queries, keys, depth - 1) : "";
    return define(fmt::format("sparsity.union {}, {}{}{}", a, b, c, type));
  }
  case 2:
  case 3:
    return define(
        fmt::format("sparsity.intersect {}, {}{}", a, writeSet(queries, keys, depth - 1), type));
  case 4:
    if (chance(2))
      return define(fmt::format("sparsity.complement {}{}", a, type));
    return define(
        fmt::format("sparsity.subtract {}, {}{}", a, writeSet(queries, keys, depth - 1), type));
  default: {
    std::string b = writeSet(queries, keys, depth - 1);
    std::string classes = chance(2)
                              ? list(queryHeads, 0, 1)
                              : parameter(Parameter::Kind::PerHead, 0, 2) + " : tensor<?xi32>";
    return define(fmt::format("sparsity.per_head {} [{}, {}]{}", classes, a, b, type));
  }
  }
}

std::string RandomSpec::writeSet(const Segment &queries, const Segment &keys, int depth) {
  return depth == 0 || chance(3) ? writeLeaf(queries, keys) : writeAlgebra(queries, keys, depth);
}

std::string RandomSpec::writeSegments() {
  std::string names, ranks, rows, types;
  for (const Segment &segment : segments) {
    names += (names.empty() ? "" : ", ") + segment.domain;
    types += fmt::format("{}!sparsity.domain<{}>", types.empty() ? "" : ", ", segment.axes);
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", segment.axes);
  }
  std::string domain = define(fmt::format("sparsity.concat {} : {}", names, types));
  for (const Segment &queries : segments) {
    std::string row;
    for (const Segment &keys : segments)
      row += (row.empty() ? "" : ", ") + writeSet(queries, keys, 1);
    rows += (rows.empty() ? "[" : ", [") + row + "]";
  }
  return define(
      fmt::format("sparsity.segments {} [{}] : !sparsity.domain<{}>", domain, rows, ranks));
}

//===----------------------------------------------------------------------===//
// The function and its values
//===----------------------------------------------------------------------===//

std::string RandomSpec::writeClauses() {
  std::string clauses = hasSinks ? " sinks %sinks : tensor<?xf32>" : "";
  clauses += " scale 0.25" + fromStart();
  if (chance(8))
    clauses += R"( score (%s, %b, %h, %i, %j) {
    %t = math.tanh %s : f32
    attn.yield %t : f32
  })";
  else if (chance(8))
    clauses += R"( score (%s, %b, %h, %i, %j) {
    %d = arith.subi %j, %i : index
    %w = arith.index_cast %d : index to i32
    %f = arith.sitofp %w : i32 to f32
    %slope = arith.constant 0.125 : f32
    %bias = arith.mulf %slope, %f : f32
    %t = arith.addf %s, %bias : f32
    attn.yield %t : f32
  })";
  return clauses;
}

void RandomSpec::writeFunction(const std::string &set) {
  auto tensor = [&](int64_t heads, int64_t width) {
    return fmt::format("tensor<?x{}x?x{}x{}>", heads, width, type);
  };
  std::string query = tensor(queryHeads, channels), key = tensor(keyHeads, channels);
  std::string value = tensor(keyHeads, valueChannels), output = tensor(queryHeads, valueChannels);
  std::string lse = fmt::format("tensor<?x{}x?xf32>", queryHeads);
  std::string arguments = fmt::format("%q: {}, %k: {}, %v: {}", query, key, value);
  for (const Parameter &parameter : parameters)
    arguments +=
        fmt::format(", %{}: {}", parameter.name,
                    parameter.kind == Parameter::Kind::PerHead ? "tensor<?xi32>" : "index");
  if (hasDocuments)
    arguments += ", %cu_q: tensor<?xi32>, %cu_k: tensor<?xi32>";
  if (hasSinks)
    arguments += ", %sinks: tensor<?xf32>";
  std::string setType = typeText(segments[0], segments[0]);
  if (segments.size() > 1)
    setType = fmt::format(" : !sparsity.set<{}, {}>", segments[0].axes, segments[1].axes);
  text = fmt::format("func.func @random({}) -> ({}, {}) {{\n{}  %o, %lse = attn.attend %q, %k, %v "
                     "over {}{}{}\n    : {}, {}, {} -> {}, {}\n  return %o, %lse : {}, {}\n}}\n",
                     arguments, output, lse, body, set, setType, writeClauses(), query, key, value,
                     output, lse, output, lse);
}

/// A length that is likely to lie at a border of tiles.
static int64_t drawLength(Random &random, int64_t tile) {
  int64_t lengths[] = {0,        1,           tile - 1, tile, tile + 1, 2 * tile, 2 * tile + 3,
                       3 * tile, 5 * tile - 1};
  return random.below(3) == 0 ? random.between(0, 4 * tile)
                              : lengths[random.below(std::size(lengths))];
}

/// Offsets of documents over `length` tokens, as `--set` takes them.
static std::string drawOffsets(Random &random, int64_t documents, int64_t length) {
  std::vector<int64_t> offsets = {0};
  for (int64_t document = 0; document < documents; ++document)
    offsets.push_back(random.between(0, length));
  if (random.below(2) == 0)
    offsets.back() = length;
  std::sort(offsets.begin(), offsets.end());
  std::string text;
  for (int64_t offset : offsets)
    text += fmt::format("{}{}", text.empty() ? "" : ":", offset);
  return text;
}

Assignments RandomSpec::drawValues(int64_t tile) const {
  Assignments values = {{"b", std::to_string(chance(3) ? random.between(0, 2) : 1)}};
  int64_t queries = drawLength(random, tile);
  int64_t keys = chance(2) ? drawLength(random, tile) : queries;
  if (segments[0].domain.empty()) {
    values.emplace_back("nq", std::to_string(queries));
    values.emplace_back("nk", std::to_string(keys));
  }
  for (const Parameter &parameter : parameters) {
    std::string value = std::to_string(random.between(parameter.low, parameter.high));
    int64_t count = parameter.kind == Parameter::Kind::PerHead ? queryHeads : 1;
    for (int64_t head = 1; head < count; ++head)
      value += fmt::format(":{}", random.between(parameter.low, parameter.high));
    values.emplace_back(parameter.name, value);
  }
  if (hasDocuments) {
    int64_t documents = random.between(1, 4);
    values.emplace_back("cu_q", drawOffsets(random, documents, queries));
    values.emplace_back("cu_k", drawOffsets(random, documents, keys));
  }
  return values;
}

} // namespace lacuna::test
