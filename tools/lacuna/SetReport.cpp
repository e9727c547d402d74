//===- SetReport.cpp - what the compiler knows about the sets of a spec ---===//
#include "tools/lacuna/SetReport.h"

#include "compiler/Analysis/Footprint.h"
#include "compiler/Driver/CountPairs.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Passes/Lists.h"
#include "compiler/Passes/Segments.h"
#include "tools/lacuna/Formulas.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using lacuna::sparsity::FormulaSpace;
using lacuna::sparsity::Symbol;
using llvm::formatv;

namespace lacuna::tool {

namespace {
/// Names and values of a footprint's symbols.
class SymbolNamer {
public:
  SymbolNamer(const FormulaSpace &space, const Segments &segments, unsigned querySegment,
              unsigned keySegment, bool equalLengths)
      : space(space), segments(segments), querySegment(querySegment), keySegment(keySegment),
        equalLengths(equalLengths) {}

  /// Fills names and, per symbol, what stands for it.
  void name(const Footprint &footprint, FormulaNames &names,
            SmallVectorImpl<AffineExpr> &replacements, std::vector<std::string> &notes);

private:
  std::string nameOf(const Symbol &symbol, std::vector<std::string> &notes);
  std::string sizeName(bool isQuery, unsigned axis);
  std::optional<int64_t> knownSize(const Symbol &symbol);

  const FormulaSpace &space;
  const Segments &segments;
  unsigned querySegment, keySegment;
  bool equalLengths;
};
} // namespace

/// The name of an index value in the spec, or one that says what it is.
static std::string nameOfValue(Value value) {
  std::string name = valueName(value);
  if (!name.empty())
    return name;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return "arg" + std::to_string(argument.getArgNumber());
  return value.getDefiningOp()->getName().stripDialect().str();
}

std::string SymbolNamer::sizeName(bool isQuery, unsigned axis) {
  if (segments.isLoneSequence())
    return equalLengths ? "n" : isQuery ? "nq" : "nk";
  OpFoldResult size = segments.getSizes(isQuery ? querySegment : keySegment)[axis];
  return nameOfValue(cast<Value>(size));
}

std::optional<int64_t> SymbolNamer::knownSize(const Symbol &symbol) {
  bool isQuery = symbol.kind == Symbol::Kind::QuerySize;
  if ((!isQuery && symbol.kind != Symbol::Kind::KeySize) || segments.isLoneSequence())
    return std::nullopt;
  return getConstantIntValue(segments.getSizes(isQuery ? querySegment : keySegment)[symbol.axis]);
}

std::string SymbolNamer::nameOf(const Symbol &symbol, std::vector<std::string> &notes) {
  switch (symbol.kind) {
  case Symbol::Kind::QuerySize:
    return sizeName(/*isQuery=*/true, symbol.axis);
  case Symbol::Kind::KeySize:
    return sizeName(/*isQuery=*/false, symbol.axis);
  case Symbol::Kind::Scalar:
    return nameOfValue(symbol.value);
  case Symbol::Kind::PerHead:
    return nameOfValue(symbol.value) + "[h]";
  case Symbol::Kind::Monotone:
    break;
  }
  std::string name = symbol.op->getName().stripDialect().str() + std::to_string(symbol.term);
  std::string note = name + ": term " + std::to_string(symbol.term) + " of " +
                     symbol.op->getName().getStringRef().str() +
                     ", at the tile's first or last row";
  if (!llvm::is_contained(notes, note))
    notes.push_back(note);
  return name;
}

void SymbolNamer::name(const Footprint &footprint, FormulaNames &names,
                       SmallVectorImpl<AffineExpr> &replacements, std::vector<std::string> &notes) {
  MLIRContext *context = space.getContext();
  for (const TileSymbol &tileSymbol : footprint.symbols) {
    const Symbol &symbol = space.getSymbols()[tileSymbol.symbol];
    if (std::optional<int64_t> size = knownSize(symbol)) {
      replacements.push_back(getAffineConstantExpr(*size, context));
      names.symbols.push_back(std::to_string(*size));
      continue;
    }
    std::string name = nameOf(symbol, notes);
    if (tileSymbol.at == TileSymbol::At::FirstRow)
      name += "(first)";
    else if (tileSymbol.at == TileSymbol::At::LastRow)
      name += "(last)";
    // Symbols of one name are one number: the sizes of queries and keys, often.
    auto known = llvm::find(names.symbols, name);
    replacements.push_back(
        getAffineSymbolExpr(static_cast<unsigned>(known - names.symbols.begin()), context));
    names.symbols.push_back(name);
  }
}

static std::vector<std::string> dimNames(char letter, unsigned rank) {
  if (rank == 1)
    return {std::string(1, letter)};
  std::vector<std::string> names;
  for (unsigned axis = 0; axis < rank; ++axis)
    names.push_back(letter + std::to_string(axis));
  return names;
}

/// "2, 7, 8".
static std::string listText(ArrayRef<int64_t> numbers) {
  return llvm::join(llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }), ", ");
}

/// With `unaligned`, tiles start at the first live key where they can.
static FailureOr<SegmentLoops> reportLoops(attn::AttendOp op, const Segments &segments,
                                           unsigned query, unsigned key, bool equalLengths,
                                           bool unaligned) {
  Value set = segments.getSets(query)[key];
  auto type = cast<sparsity::SetType>(set.getType());
  FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
  FailureOr<sparsity::Formula> formula = sparsity::buildFormula(set, space);
  if (failed(formula))
    return failure();
  TileShape shape{llvm::to_vector(segments.getBox(*op.getQueryTile(), query)),
                  llvm::to_vector(segments.getBox(*op.getKeyTile(), key))};
  SegmentLoops loops;
  std::optional<Footprint> keys;
  if (unaligned && shape.key.size() > 1 && !formula->hasOpaque())
    keys = computeKeyFootprint(*formula, space, shape);
  Footprint footprint = keys ? std::move(*keys) : computeFootprint(*formula, space, shape);
  if (keys) {
    footprint.partial = footprint.live;
    loops.notes.push_back("key tiles start at the first of these keys and follow in steps of " +
                          listText(shape.key) +
                          (footprint.full.empty() ? "" : "; those inside the full keys are full"));
  }

  loops.querySegment = query;
  loops.keySegment = key;
  loops.exact = footprint.exact;
  loops.listed = !op.isOrdered() && findAdditiveList(set);
  loops.opaque = formula->hasOpaque() && !loops.listed;
  std::vector<std::string> queryNames = dimNames('I', type.getQueryRank());
  std::vector<std::string> keyNames = dimNames(keys ? 'j' : 'J', type.getKeyRank());
  loops.queryTile = llvm::join(queryNames, ", ");
  loops.keyTile = llvm::join(keyNames, ", ");
  FormulaNames names;
  names.dims = queryNames;
  llvm::append_range(names.dims, keyNames);
  SmallVector<AffineExpr> replacements;
  SymbolNamer(space, segments, query, key, equalLengths)
      .name(footprint, names, replacements, loops.notes);
  footprint = withSymbols(footprint, replacements);
  auto print = [&](const std::vector<TileBox> &boxes, std::vector<std::string> &lines) {
    for (const TileBox &box : boxes)
      lines.push_back(boxText(box, names));
  };
  print(footprint.live, loops.live);
  print(footprint.full, loops.full);
  print(footprint.partial, loops.partial);
  return loops;
}

/// The line of the op in the spec's text, or 0.
static unsigned lineOf(Location loc) {
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    return place.getLine();
  return 0;
}

/// What is left out by a look at scores, in words.
static std::string skipText(attn::AttendOp op) {
  if (!op.hasSkip())
    return "";
  std::string text = formatv("blocks of {0} queries by {1} keys ", op.getSkipQuery()->front(),
                             op.getSkipKey()->front());
  if (op.getBelow())
    text += "below the limit of each row";
  if (op.getMargin())
    text += formatv("{0}{1} below the largest score of each row so far (order-dependent: key tiles "
                    "in ascending order)",
                    op.getBelow() ? ", or " : "", op.getMargin()->convertToFloat())
                .str();
  return text;
}

FailureOr<std::vector<AttendReport>> reportSets(const BoundSpec &spec,
                                                const SpecToTileOptions &tiles) {
  func::FuncOp original = spec.function;
  OwningOpRef<ModuleOp> module = original->getParentOfType<ModuleOp>().clone();
  PassManager passes(original.getContext());
  buildAssignTiles(passes, tiles);
  if (failed(passes.run(*module)))
    return failure();
  std::vector<AttendReport> reports;
  auto function = module->lookupSymbol<func::FuncOp>(original.getSymName());
  for (auto op : function.getBody().front().getOps<attn::AttendOp>()) {
    Segments segments;
    if (failed(segments.read(op)))
      return failure();
    AttendReport &report = reports.emplace_back();
    report.batch = boundExtent(spec, op.getQuery(), 0);
    report.heads = boundExtent(spec, op.getQuery(), 1);
    report.queries = boundExtent(spec, op.getQuery(), 2);
    report.keys = boundExtent(spec, op.getKey(), 2);
    bool equalLengths = report.queries == report.keys;
    report.line = lineOf(op.getLoc());
    report.part = HierarchyPart::read(op);
    report.queryTile = llvm::to_vector(*op.getQueryTile());
    report.keyTile = llvm::to_vector(*op.getKeyTile());
    report.segments = segments.size();
    report.skips = skipText(op);
    for (unsigned query = 0; query < segments.size(); ++query)
      for (unsigned key = 0; key < segments.size(); ++key) {
        FailureOr<SegmentLoops> loops = reportLoops(op, segments, query, key, equalLengths,
                                                    /*unaligned=*/tiles.target == "sm_90a");
        if (failed(loops))
          return failure();
        report.opaque |= loops->opaque;
        report.loops.push_back(std::move(*loops));
      }
  }
  return reports;
}

std::string boundText(const BoundSpec &spec) {
  std::vector<std::string> parts;
  auto sizes = spec.sizes;
  // One length for queries and keys is one number, as is that of a tensor which is both.
  if (auto queries = sizes.find("nq"), keys = sizes.find("nk");
      queries != sizes.end() && (keys == sizes.end() || queries->second == keys->second)) {
    sizes["n"] = queries->second;
    sizes.erase("nq");
    sizes.erase("nk");
  }
  for (const auto &[name, size] : sizes)
    parts.push_back(name + " = " + std::to_string(size));
  for (auto [name, argument] : llvm::zip(spec.names, spec.arguments)) {
    if (const auto *number = std::get_if<int64_t>(&argument))
      parts.push_back(name + " = " + std::to_string(*number));
    else if (const auto *real = std::get_if<double>(&argument))
      parts.push_back(name + " = " + llvm::formatv("{0}", *real).str());
  }
  return llvm::join(parts, ", ");
}

} // namespace lacuna::tool
