//===- TileChoice.cpp - tile shapes of one attend -------------------------===//
#include "compiler/Passes/TileChoice.h"

#include "compiler/Analysis/MaskCost.h"
#include "compiler/Passes/FusedMerges.h"
#include "compiler/Passes/HeadTiles.h"
#include "compiler/Passes/Lists.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"

#include <algorithm>
#include <bit>

using namespace mlir;
using namespace lacuna;

/// A box of `tokens` (a power of two) as even as possible: the shortest extent that may still grow
/// is doubled, later axes first. `limits` are the next powers of two of constant sizes, 0 for
/// others. The last extent is at least `innermost`.
static SmallVector<int64_t> chooseBox(int64_t tokens, ArrayRef<int64_t> limits, int64_t innermost) {
  SmallVector<int64_t> box(limits.size(), 1);
  box.back() = std::min(innermost, tokens);
  for (int64_t left = tokens / box.back(); left > 1; left /= 2) {
    // When every axis has reached its limit the last one is padded.
    size_t best = box.size() - 1;
    bool found = false;
    for (size_t axis = box.size(); axis-- > 0;) {
      if (limits[axis] != 0 && box[axis] >= limits[axis])
        continue;
      if (!found || box[axis] < box[best])
        best = axis;
      found = true;
    }
    box[best] *= 2;
  }
  return box;
}

/// The next power of two of each constant size of `segment`, 0 for sizes known at run time only.
static SmallVector<int64_t> getLimits(const Segments &segments, unsigned segment) {
  SmallVector<int64_t> limits(segments.getRank(segment), 0);
  if (segments.isLoneSequence())
    return limits;
  for (auto [limit, size] : llvm::zip_equal(limits, segments.getSizes(segment)))
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      limit = std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(*constant, 1, 1 << 20)));
  return limits;
}

FailureOr<SmallVector<int64_t>> lacuna::chooseEvenTile(attn::AttendOp op, const Segments &segments,
                                                       ArrayRef<int64_t> asked, int64_t standard,
                                                       StringRef option, int64_t innermost) {
  int64_t axes = 0;
  for (unsigned segment = 0; segment < segments.size(); ++segment)
    axes += segments.getRank(segment);
  for (int64_t extent : asked)
    if (extent < 1)
      return op.emitOpError("expected positive extents for ") << option << ", got " << extent;
  if (static_cast<int64_t>(asked.size()) == axes)
    return SmallVector<int64_t>(asked);
  if (asked.size() > 1)
    return op.emitOpError("expected one number or one per axis for ")
           << option << ", got " << asked.size() << " for " << axes << " axes";
  int64_t tokens = asked.empty() ? standard : asked.front();
  if (segments.isLoneSequence())
    return SmallVector<int64_t>{tokens};
  if (!std::has_single_bit(static_cast<uint64_t>(tokens)))
    return op.emitOpError("expected a power of two for ")
           << option << " to share among axes, got " << tokens;
  SmallVector<int64_t> boxes;
  for (unsigned segment = 0; segment < segments.size(); ++segment)
    llvm::append_range(boxes, chooseBox(tokens, getLimits(segments, segment), innermost));
  return boxes;
}

/// The box of most tokens, at most `most`, whose extents divide those of `block`; of equals the one
/// that is longest along the last axes.
static Extents chooseInside(ArrayRef<int64_t> block, int64_t most) {
  Extents best(block.size(), 1), box = best;
  int64_t bestTokens = 1;
  auto visit = [&](auto &self, size_t axis, int64_t tokens) -> void {
    if (tokens > most)
      return;
    if (axis == block.size()) {
      bool isLater = tokens == bestTokens && box < best;
      if (tokens > bestTokens || isLater) {
        best = box;
        bestTokens = tokens;
      }
      return;
    }
    for (int64_t extent = 1; extent <= std::min(block[axis], most); ++extent)
      if (block[axis] % extent == 0) {
        box[axis] = extent;
        self(self, axis + 1, tokens * extent);
      }
  };
  visit(visit, 0, 1);
  return best;
}

/// A list that the set of the only segment is made of; null without one.
static sparsity::BlocksOp findList(attn::AttendOp op, const Segments &segments) {
  SmallVector<sparsity::BlocksOp> lists =
      segments.size() == 1 ? findLists(op.getSet()) : SmallVector<sparsity::BlocksOp>();
  return lists.empty() ? sparsity::BlocksOp() : lists.front();
}

/// A bitmap that the set of the only segment is made of and whose blocks hold whole tiles: then no
/// tile is partly live because of it. Null without one.
static sparsity::BitmapOp findLargeBitmap(attn::AttendOp op, const Segments &segments) {
  if (segments.size() == 1)
    for (sparsity::BitmapOp map : findBitmaps(op.getSet()))
      if (countTokens(map.getQuery()) % 64 == 0 && countTokens(map.getKey()) % 64 == 0)
        return map;
  return {};
}

std::optional<std::pair<Extents, Extents>> lacuna::chooseListTiles(attn::AttendOp op,
                                                                   const Segments &segments,
                                                                   int64_t queries, int64_t keys) {
  sparsity::BlocksOp list = findList(op, segments);
  if (!list)
    return std::nullopt;
  return std::pair(chooseInside(list.getQuery(), queries), chooseInside(list.getKey(), keys));
}

LogicalResult lacuna::requireSkipTile(attn::AttendOp op, ArrayRef<int64_t> queryOption,
                                      ArrayRef<int64_t> keyOption) {
  auto require = [&](StringRef side, std::optional<ArrayRef<int64_t>> written,
                     ArrayRef<int64_t> option, int64_t block, bool several) -> LogicalResult {
    ArrayRef<int64_t> asked = written ? *written : option;
    bool fits = asked.empty() || (asked.size() == 1 && asked.front() > 0 &&
                                  (several ? asked.front() % block == 0 : asked.front() == block));
    // assign-tiles-7
    if (!fits)
      return op.emitOpError("expected ") << side << " tiles "
                                         << (several ? "of whole blocks that are skipped, of "
                                                     : "as large as the blocks that are skipped, ")
                                         << block << ", got [" << llvm::interleaved(asked) << "]";
    return success();
  };
  return success(succeeded(require("query", op.getQueryTile(), queryOption,
                                   op.getSkipQuery()->front(), /*several=*/true)) &&
                 succeeded(require("key", op.getKeyTile(), keyOption, op.getSkipKey()->front(),
                                   /*several=*/false)));
}

/// Whether a walk goes along the list of the attend's set.
static bool isListWalked(attn::AttendOp op) {
  return !op.isOrdered() && findAdditiveList(op.getSet());
}

/// The box that the attend has or the option asks for; empty when the planner chooses.
static FailureOr<Extents> getAsked(attn::AttendOp op, const Segments &segments,
                                   std::optional<ArrayRef<int64_t>> written,
                                   ArrayRef<int64_t> option, StringRef name, int64_t innermost) {
  if (written)
    return Extents(*written);
  if (option.empty())
    return Extents();
  FailureOr<SmallVector<int64_t>> tile = chooseEvenTile(op, segments, option, 0, name, innermost);
  if (failed(tile))
    return failure();
  return Extents(tile->begin(), tile->end());
}

/// Whether `value` of a score region depends on which pair it is.
static bool dependsOnPair(Value value, Block &body) {
  // Score, batch, head, query, key.
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &body && argument.getArgNumber() >= 3;
  Operation *op = value.getDefiningOp();
  return op->getBlock() == &body && llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOnPair(operand, body);
         });
}

/// Registers that a score function takes: elements of tensors are addressed pair by pair.
static int64_t estimateScore(attn::AttendOp op) {
  constexpr int64_t ofReads = 76;
  if (op.getScore().empty())
    return 0;
  Block &body = op.getScore().front();
  bool reads = llvm::any_of(body.getOps<tensor::ExtractOp>(), [&](tensor::ExtractOp extract) {
    return llvm::any_of(extract.getIndices(),
                        [&](Value index) { return dependsOnPair(index, body); });
  });
  return reads ? ofReads : 0;
}

/// How many neighbouring heads read the same of a list.
static int64_t getSharingHeads(sparsity::BlocksOp list) {
  // One list for all heads: any tile of them.
  constexpr int64_t allHeads = 128;
  return list.getIds().getType().getDimSize(1) == 1 ? allHeads
                                                    : static_cast<int64_t>(list.getGroup());
}

/// Tiles divide blocks of a hierarchy that are multiples of this.
static constexpr int64_t hierarchyBlock = 128;

/// What one attend asks for by itself.
static FailureOr<HopperProblem> getOwnProblem(attn::AttendOp op) {
  // A head dimension that is not known, or is none at all, is refused later.
  auto channels = [](RankedTensorType type) { return std::max<int64_t>(type.getDimSize(3), 1); };
  HopperProblem problem;
  problem.headDim = channels(op.getQuery().getType());
  problem.valueDim = channels(op.getValue().getType());
  // Limits of rows and where marks stand.
  constexpr int64_t ofSkip = 12;
  problem.elementRegisters = estimateScore(op) + (op.hasSkip() ? ofSkip : 0);
  auto type = cast<sparsity::SetType>(op.getSet().getType());
  if (!type.isSingle())
    return problem;
  sparsity::FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
  FailureOr<sparsity::Formula> formula = sparsity::buildFormula(op.getSet(), space);
  if (failed(formula))
    return failure();
  bool isWalked = isListWalked(op);
  if (isWalked) {
    // Masks do not ask for the block, but for what the list adds to the rest of the set.
    sparsity::Formula rest = formula->withoutOpaque(false);
    formula = formula->withoutOpaque(true) & !rest;
  }
  MaskCost cost = estimateMask(*formula, space);
  problem.mask = cost.mask;
  problem.elementRegisters += cost.registers;
  // A walk along a list reads memory.
  problem.producerRegisters = isWalked ? 0 : cost.producer;
  problem.isFull = formula->isAlways();
  // Functions such as tanh take registers of their own, which matters where few are left.
  constexpr int64_t manyRegisters = 40, ofFunction = 16;
  bool hasFunction =
      !op.getScore().empty() && llvm::any_of(op.getScore().front(), [](Operation &inner) {
        return isa<math::MathDialect>(inner.getDialect());
      });
  if (hasFunction && cost.registers > manyRegisters)
    problem.elementRegisters += ofFunction;
  return problem;
}

FailureOr<HopperProblem> lacuna::getHopperProblem(attn::AttendOp op) {
  FailureOr<HopperProblem> problem = getOwnProblem(op);
  attn::MergeOp merge = findFusedMerge(op);
  if (failed(problem) || !merge)
    return problem;
  // One kernel has what any of its parts needs, and its producer the places of several tensors.
  constexpr int64_t producerOfParts = 56;
  for (attn::AttendOp part : findFusedParts(merge)) {
    FailureOr<HopperProblem> other = getOwnProblem(part);
    if (failed(other))
      return failure();
    problem->mask = std::max(problem->mask, other->mask);
    problem->elementRegisters = std::max(problem->elementRegisters, other->elementRegisters);
    problem->producerRegisters = std::max(problem->producerRegisters, other->producerRegisters);
    problem->isFull &= other->isFull;
  }
  problem->producerRegisters = std::max(problem->producerRegisters, producerOfParts);
  return problem;
}

bool lacuna::hasHopperModel(const Segments &segments) {
  return segments.size() == 1 && segments.getRank(0) <= 3;
}

Attribute HierarchyPart::write(MLIRContext *context) const {
  return DenseI64ArrayAttr::get(context, {level, nodeKeys, columns, static_cast<int64_t>(side)});
}

std::optional<HierarchyPart> HierarchyPart::read(Operation *op) {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(attribute);
  if (!numbers || numbers.size() != 4 || numbers[1] < 1 || numbers[2] < 1 ||
      numbers[1] % numbers[2] != 0 || numbers[3] < -1 || numbers[3] > 1)
    return std::nullopt;
  return HierarchyPart{numbers[0], numbers[1], numbers[2], static_cast<Side>(numbers[3])};
}

/// Keys of a base block of the hierarchy that the attend is over, or is the exact part of; 0
/// without one.
static int64_t findHierarchyBase(attn::AttendOp op) {
  if (auto dyadic = op.getSet().getDefiningOp<sparsity::DyadicOp>())
    return static_cast<int64_t>(dyadic.getBase());
  std::optional<HierarchyPart> part = HierarchyPart::read(op);
  return part && part->isExact() ? part->nodeKeys : 0;
}

FailureOr<std::vector<HopperCandidate>> lacuna::compareHopperTiles(attn::AttendOp op,
                                                                   const Segments &segments,
                                                                   ArrayRef<int64_t> queryOption,
                                                                   ArrayRef<int64_t> keyOption) {
  FailureOr<Extents> query =
      getAsked(op, segments, op.getQueryTile(), queryOption, "query-tile", 1);
  if (failed(query))
    return failure();
  FailureOr<Extents> key = getAsked(op, segments, op.getKeyTile(), keyOption, "key-tile", 8);
  if (failed(key))
    return failure();
  if (op.hasSkip()) {
    // assign-tiles-8
    if (op.getSkipQuery()->front() != 64)
      return op.emitOpError("expected blocks of 64 queries, those of a warpgroup, where blocks are "
                            "skipped on this target, got ")
             << op.getSkipQuery()->front();
    if (failed(requireSkipTile(op, queryOption, keyOption)))
      return failure();
    key = Extents(*op.getSkipKey());
  }
  FailureOr<HopperProblem> problem = getHopperProblem(op);
  if (failed(problem))
    return failure();
  // Queries that the type counts, and that one instruction holds, leave other rows of a tile empty.
  constexpr int64_t fewQueries = 64;
  int64_t queries = op.getQuery().getType().getDimSize(2);
  if (query->empty() && segments.isLoneSequence() && !ShapedType::isDynamic(queries) &&
      queries <= fewQueries)
    query->assign({fewQueries});
  problem->query = *query;
  problem->key = *key;
  sparsity::BlocksOp list = findList(op, segments);
  auto fitInto = [&](auto blocks) {
    problem->queryBlock.assign(blocks.getQuery().begin(), blocks.getQuery().end());
    problem->keyBlock.assign(blocks.getKey().begin(), blocks.getKey().end());
  };
  bool isWalked = isListWalked(op);
  if (list)
    fitInto(list);
  else if (sparsity::BitmapOp map = findLargeBitmap(op, segments))
    fitInto(map);
  // Only a walk names single keys; attends that share a kernel share its heads.
  if (list && !isWalked && countTokens(list.getKey()) < leastCopiedKeys) {
    problem->queryBlock.clear();
    problem->keyBlock.clear();
  }
  if (isWalked && !op.hasSkip() && !findFusedMerge(op))
    problem->headGroup = countHeadGroup(op, getSharingHeads(list));
  // Query tiles inside a block of a hierarchy see whole nodes, which are whole key tiles where
  // blocks are large enough.
  if (int64_t base = findHierarchyBase(op); base > 0 && base % hierarchyBlock == 0)
    problem->queryBlock = problem->keyBlock = {base};
  std::optional<KeySpans> spans;
  if (segments.getRank(0) > 1) {
    AssumedNumbers numbers;
    SmallVector<int64_t> sizes;
    for (OpFoldResult size : segments.getSizes(0))
      sizes.push_back(std::max<int64_t>(numbers.assume(size, AssumedNumbers::typicalSize), 1));
    FailureOr<KeySpans> found = KeySpans::compute(op.getSet(), sizes, numbers);
    if (failed(found))
      return failure();
    spans = std::move(*found);
  }
  auto compare = [&] {
    return spans ? compareForGrid(*problem, *spans) : compareForSequence(*problem);
  };
  std::vector<HopperCandidate> shapes = compare();
  // Sets that are classified work with any tiles; those in blocks are only the better ones.
  if (shapes.empty() && !isWalked) {
    problem->queryBlock.clear();
    problem->keyBlock.clear();
    shapes = compare();
  }
  // assign-tiles-5
  if (shapes.empty())
    return list.emitOpError("expected blocks that tiles of this target divide, 64 queries, or as "
                            "many in all heads of a group, and 1, 2, 4, 8, 16 or more keys, got [")
           << llvm::interleaved(list.getQuery()) << "] and [" << llvm::interleaved(list.getKey())
           << "]";
  return shapes;
}
