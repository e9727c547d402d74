//===- TranslateSet.cpp - set ops to the oracle's sets ---------------------===//
#include "compiler/Driver/TranslateSet.h"

#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using lacuna::reference::AffineTerm;
using lacuna::reference::AffineTree;
using lacuna::reference::Grid;
using lacuna::reference::Number;
using lacuna::reference::Set;

namespace lacuna {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

FailureOr<std::optional<Number>> SetTranslator::optionalNumber(Value operand,
                                                               std::optional<int64_t> constant) {
  if (constant)
    return std::optional<Number>(*constant);
  if (!operand)
    return std::optional<Number>();
  if (!isa<RankedTensorType>(operand.getType())) {
    FailureOr<int64_t> value = scalars.evaluateInteger(operand);
    if (failed(value))
      return failure();
    return std::optional<Number>(*value);
  }
  FailureOr<std::vector<int64_t>> values = scalars.evaluateIntegers(operand);
  if (failed(values))
    return failure();
  if (static_cast<int64_t>(values->size()) != heads)
    return emitError(operand.getLoc(), "expected one number per query head (")
           << heads << "), got " << values->size();
  return std::optional<Number>(Number(std::move(*values)));
}

FailureOr<Number> SetTranslator::number(Value operand, std::optional<int64_t> constant) {
  FailureOr<std::optional<Number>> found = optionalNumber(operand, constant);
  if (failed(found))
    return failure();
  return **found;
}

FailureOr<std::vector<Number>> SetTranslator::numbers(ValueRange operands,
                                                      ArrayRef<int64_t> constants) {
  std::vector<Number> result;
  auto next = operands.begin();
  for (int64_t constant : constants) {
    bool isGiven = ShapedType::isDynamic(constant);
    FailureOr<Number> found = isGiven ? number(*next++, std::nullopt) : number({}, constant);
    if (failed(found))
      return failure();
    result.push_back(*found);
  }
  return result;
}

FailureOr<std::vector<int64_t>> SetTranslator::sizes(ValueRange operands,
                                                     ArrayRef<int64_t> constants) {
  std::vector<int64_t> result;
  auto next = operands.begin();
  for (int64_t constant : constants) {
    FailureOr<int64_t> size = constant;
    if (ShapedType::isDynamic(constant))
      size = scalars.evaluateInteger(*next++);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  return result;
}

Value SetTranslator::findDomain(Value set) {
  if (cast<sparsity::SetType>(set.getType()).isSequence())
    return {};
  llvm::SetVector<Value> pending;
  pending.insert(set);
  for (size_t next = 0; next < pending.size(); ++next) {
    Operation *definition = pending[next].getDefiningOp();
    if (!definition)
      continue;
    for (Value operand : definition->getOperands()) {
      if (isa<sparsity::DomainType>(operand.getType()))
        return operand;
      if (isa<sparsity::SetType>(operand.getType()))
        pending.insert(operand);
    }
  }
  return {};
}

FailureOr<std::vector<Grid>> SetTranslator::translateDomain(Value domain) {
  FailureOr<std::vector<int64_t>> extents = failure();
  Operation *op = domain.getDefiningOp();
  if (auto concat = dyn_cast_or_null<sparsity::ConcatOp>(op)) {
    std::vector<Grid> grids;
    for (Value part : concat.getDomains()) {
      FailureOr<std::vector<Grid>> inner = translateDomain(part);
      if (failed(inner))
        return failure();
      grids.insert(grids.end(), inner->begin(), inner->end());
    }
    return grids;
  }
  if (auto grid = dyn_cast_or_null<sparsity::GridOp>(op))
    extents = sizes(grid.getSizes(), grid.getStaticSizes());
  else if (auto sequence = dyn_cast_or_null<sparsity::SequenceDomainOp>(op))
    extents = sizes(sequence.getSizes(), sequence.getStaticSizes());
  else
    return emitError(domain.getLoc(), "expected a domain that is built in this function");
  if (failed(extents))
    return failure();
  for (int64_t extent : *extents)
    if (extent < 0)
      return emitError(domain.getLoc(), "expected sizes of at least 0, got ") << extent;
  return std::vector<Grid>{Grid{*extents}};
}

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

/// `set(number)` when the number is there.
template <typename Make> static FailureOr<Set> with(FailureOr<Number> number, Make set) {
  if (failed(number))
    return failure();
  return set(*number);
}

FailureOr<std::vector<Set>> SetTranslator::translateAll(ValueRange values) {
  std::vector<Set> sets;
  for (Value value : values) {
    FailureOr<Set> set = translate(value);
    if (failed(set))
      return failure();
    sets.push_back(*set);
  }
  return sets;
}

FailureOr<Set> SetTranslator::translate(Value value) {
  if (auto found = translated.find(value); found != translated.end())
    return found->second;
  // attend-12 and algebra-2: sets are results of set ops.
  FailureOr<Set> set = translateOp(value.getDefiningOp());
  if (succeeded(set))
    translated[value] = *set;
  return set;
}

FailureOr<Set> SetTranslator::translateWindow(sparsity::WindowOp op) {
  FailureOr<std::optional<Number>> left = optionalNumber(op.getLeft(), op.getLeftValue());
  FailureOr<std::optional<Number>> right = optionalNumber(op.getRight(), op.getRightValue());
  if (failed(left) || failed(right))
    return failure();
  return reference::window(*left, *right, op.getFromStart());
}

FailureOr<Set> SetTranslator::translateDilated(sparsity::DilatedOp op) {
  FailureOr<std::optional<Number>> left = optionalNumber(op.getLeft(), op.getLeftValue());
  FailureOr<std::optional<Number>> right = optionalNumber(op.getRight(), op.getRightValue());
  FailureOr<Number> step = number(op.getStep(), op.getStepValue());
  if (failed(left) || failed(right) || failed(step))
    return failure();
  return reference::dilated(*left, *right, *step, op.getFromStart());
}

FailureOr<Set> SetTranslator::translateRows(sparsity::RowsOp op) {
  if (std::optional<ArrayRef<int64_t>> list = op.getList())
    return reference::rowList(list->vec(), op.getFromStart());
  return with(number(op.getCount(), op.getCountValue()),
              [&](const Number &count) { return reference::firstRows(count, op.getFromStart()); });
}

FailureOr<Set> SetTranslator::translateColumns(sparsity::ColumnsOp op) {
  if (std::optional<ArrayRef<int64_t>> list = op.getList())
    return reference::columnList(list->vec());
  return with(number(op.getCount(), op.getCountValue()), reference::prefix);
}

FailureOr<reference::Dyadic> SetTranslator::readDyadic(sparsity::DyadicOp op) {
  FailureOr<std::optional<Number>> near = optionalNumber(op.getNear(), op.getNearValue());
  if (failed(near))
    return failure();
  reference::Dyadic dyadic;
  dyadic.fenwick = op.getPartition() == sparsity::Partition::Fenwick;
  dyadic.causal = op.getCausal();
  dyadic.fromStart = op.getFromStart();
  dyadic.base = op.getBase();
  dyadic.fanout = op.getFanout();
  dyadic.near = *near;
  if (std::optional<uint64_t> levels = op.getLevels())
    dyadic.levels = static_cast<int64_t>(*levels);
  if (std::optional<ArrayRef<int64_t>> only = op.getOnly())
    dyadic.only = {(*only)[0], (*only)[1]};
  return dyadic;
}

FailureOr<Set> SetTranslator::translateDyadic(sparsity::DyadicOp op) {
  FailureOr<reference::Dyadic> dyadic = readDyadic(op);
  if (failed(dyadic))
    return failure();
  return reference::dyadic(*dyadic);
}

FailureOr<reference::Columns> SetTranslator::translateHierarchy(Value set) {
  auto op = set.getDefiningOp<sparsity::DyadicOp>();
  if (!op || !op.getColumns())
    return reference::Columns();
  FailureOr<reference::Dyadic> dyadic = readDyadic(op);
  if (failed(dyadic))
    return failure();
  return reference::dyadicColumns(*dyadic, static_cast<int64_t>(*op.getColumns()));
}

FailureOr<Set> SetTranslator::translateDocuments(sparsity::DocumentsOp op) {
  FailureOr<std::vector<int64_t>> queries = scalars.evaluateIntegers(op.getQueryOffsets());
  FailureOr<std::vector<int64_t>> keys = scalars.evaluateIntegers(op.getKeyOffsets());
  if (failed(queries) || failed(keys))
    return failure();
  return reference::documents(*queries, *keys, op.getCausal(), op.getFromStart());
}

FailureOr<Set> SetTranslator::translateBlocks(sparsity::BlocksOp op) {
  FailureOr<std::vector<int64_t>> ids = scalars.evaluateIntegers(op.getIds());
  FailureOr<std::vector<int64_t>> counts = scalars.evaluateIntegers(op.getCounts());
  if (failed(ids) || failed(counts))
    return failure();
  reference::BlockLists lists;
  lists.queryBlock = op.getQuery().vec();
  lists.keyBlock = op.getKey().vec();
  lists.group = static_cast<int64_t>(op.getGroup());
  lists.shape = scalars.evaluateTensor(op.getIds())->shape;
  lists.isBatchShared = op.getIds().getType().getDimSize(0) == 1;
  lists.isHeadShared = op.getIds().getType().getDimSize(1) == 1;
  lists.ids = std::move(*ids);
  lists.counts = std::move(*counts);
  return reference::blocks(std::move(lists));
}

FailureOr<Set> SetTranslator::translateBitmap(sparsity::BitmapOp op) {
  FailureOr<std::vector<int64_t>> bytes = scalars.evaluateIntegers(op.getMask());
  if (failed(bytes))
    return failure();
  reference::BlockMap map;
  map.queryBlock = op.getQuery().vec();
  map.keyBlock = op.getKey().vec();
  map.group = static_cast<int64_t>(op.getGroup());
  map.shape = scalars.evaluateTensor(op.getMask())->shape;
  map.isBatchShared = op.getMask().getType().getDimSize(0) == 1;
  map.isHeadShared = op.getMask().getType().getDimSize(1) == 1;
  map.bytes = std::move(*bytes);
  return reference::bitmap(std::move(map));
}

/// One number per axis; `missing` where the list is not there.
static std::vector<int64_t> perAxis(std::optional<ArrayRef<int64_t>> list, size_t axes) {
  return list ? list->vec() : std::vector<int64_t>(axes, 1);
}

FailureOr<Set> SetTranslator::translateRadius(sparsity::RadiusOp op) {
  FailureOr<std::vector<Number>> radii = numbers(op.getRadii(), op.getStaticRadii());
  if (failed(radii))
    return failure();
  auto axes = static_cast<size_t>(op.getSet().getType().getKeyRank());
  reference::Radius radius;
  radius.norm = op.getNorm() == sparsity::Norm::L1   ? reference::Radius::Norm::L1
                : op.getNorm() == sparsity::Norm::L2 ? reference::Radius::Norm::L2
                                                     : reference::Radius::Norm::Box;
  radius.shift = op.getBorder() == sparsity::Border::Shift;
  radius.fromStart = op.getFromStart();
  radius.radii = *radii;
  radius.dilation = perAxis(op.getDilation(), axes);
  radius.unit = perAxis(op.getUnit(), axes);
  radius.causal.assign(axes, false);
  if (std::optional<ArrayRef<int64_t>> causal = op.getCausal())
    for (int64_t axis : *causal)
      radius.causal[static_cast<size_t>(axis)] = true;
  return reference::radius(radius);
}

static AffineTree translateExpr(AffineExpr expr, unsigned dims) {
  AffineTerm term{AffineTerm::Kind::Constant};
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    term.value = constant.getValue();
  } else if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    term = {AffineTerm::Kind::Variable, dim.getPosition()};
  } else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    term = {AffineTerm::Kind::Variable, dims + symbol.getPosition()};
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    term.left = translateExpr(binary.getLHS(), dims);
    term.right = translateExpr(binary.getRHS(), dims);
    term.kind = expr.getKind() == AffineExprKind::Add        ? AffineTerm::Kind::Add
                : expr.getKind() == AffineExprKind::Mul      ? AffineTerm::Kind::Multiply
                : expr.getKind() == AffineExprKind::FloorDiv ? AffineTerm::Kind::FloorDivide
                : expr.getKind() == AffineExprKind::CeilDiv  ? AffineTerm::Kind::CeilDivide
                                                             : AffineTerm::Kind::Modulo;
  }
  return std::make_shared<AffineTerm>(term);
}

FailureOr<Set> SetTranslator::translateAffine(sparsity::AffineOp op) {
  FailureOr<std::vector<Number>> parameters = numbers(op.getNumbers(), op.getStaticNumbers());
  if (failed(parameters))
    return failure();
  IntegerSet given = op.getConstraints();
  std::vector<reference::AffineConstraint> constraints;
  for (unsigned index = 0; index < given.getNumConstraints(); ++index)
    constraints.push_back(
        {translateExpr(given.getConstraint(index), given.getNumDims()), given.isEq(index)});
  return reference::affine(op.getFromStart(), constraints, *parameters);
}

FailureOr<Set> SetTranslator::translatePerHead(sparsity::PerHeadOp op) {
  FailureOr<std::vector<Set>> sets = translateAll(op.getSets());
  if (failed(sets))
    return failure();
  if (std::optional<ArrayRef<int64_t>> classes = op.getClassValues()) {
    // Heads beyond the list have no pair.
    std::vector<int64_t> padded = classes->vec();
    padded.resize(static_cast<size_t>(heads), -1);
    return reference::perHead(Number(std::move(padded)), *sets);
  }
  return with(number(op.getClasses(), std::nullopt),
              [&](const Number &classes) { return reference::perHead(classes, *sets); });
}

FailureOr<Set> SetTranslator::translateSegments(sparsity::SegmentsOp op) {
  FailureOr<std::vector<Grid>> grids = translateDomain(op.getDomain());
  FailureOr<std::vector<Set>> sets = translateAll(op.getSets());
  if (failed(grids) || failed(sets))
    return failure();
  return reference::segments(*grids, *sets);
}

FailureOr<Set> SetTranslator::translateOp(Operation *operation) {
  return llvm::TypeSwitch<Operation *, FailureOr<Set>>(operation)
      .Case([&](sparsity::AllOp) { return reference::allPairs(); })
      .Case([&](sparsity::NoneOp) { return reference::noPairs(); })
      .Case([&](sparsity::CausalOp op) { return reference::causal(op.getFromStart()); })
      .Case([&](sparsity::WindowOp op) { return translateWindow(op); })
      .Case([&](sparsity::PrefixOp op) {
        return with(number(op.getCount(), op.getCountValue()), reference::prefix);
      })
      .Case([&](sparsity::SuffixOp op) {
        return with(number(op.getCount(), op.getCountValue()), reference::suffix);
      })
      .Case([&](sparsity::RowsOp op) { return translateRows(op); })
      .Case([&](sparsity::ColumnsOp op) { return translateColumns(op); })
      .Case([&](sparsity::SlashesOp op) {
        return reference::slashes(op.getList().vec(), op.getFromStart());
      })
      .Case([&](sparsity::StrideOp op) {
        return with(number(op.getStep(), op.getStepValue()),
                    [&](const Number &step) { return reference::stride(step, op.getFromStart()); });
      })
      .Case([&](sparsity::DilatedOp op) { return translateDilated(op); })
      .Case([&](sparsity::DyadicOp op) { return translateDyadic(op); })
      .Case([&](sparsity::DocumentsOp op) { return translateDocuments(op); })
      .Case([&](sparsity::BlocksOp op) { return translateBlocks(op); })
      .Case([&](sparsity::BitmapOp op) { return translateBitmap(op); })
      .Case([&](sparsity::BlockDiagonalOp op) -> FailureOr<Set> {
        FailureOr<std::vector<Number>> blocks = numbers(op.getSizes(), op.getStaticSizes());
        if (failed(blocks))
          return failure();
        return reference::blockDiagonal(*blocks, op.getFromStart());
      })
      .Case([&](sparsity::RadiusOp op) { return translateRadius(op); })
      .Case([&](sparsity::BandsOp op) {
        return with(number(op.getWidth(), op.getWidthValue()), [&](const Number &width) {
          return reference::bands(width, op.getLevels(), op.getNear(), op.getFromStart());
        });
      })
      .Case([&](sparsity::AffineOp op) { return translateAffine(op); })
      .Case([&](sparsity::WhereOp op) -> FailureOr<Set> {
        FailureOr<reference::ScalarProgram> predicate = scalars.translateRegion(op.getPredicate());
        if (failed(predicate))
          return failure();
        return reference::where(op.getFromStart(), *predicate);
      })
      .Case([&](sparsity::UnionOp op) -> FailureOr<Set> {
        FailureOr<std::vector<Set>> sets = translateAll(op.getSets());
        return failed(sets) ? FailureOr<Set>(failure()) : reference::unionOf(*sets);
      })
      .Case([&](sparsity::IntersectOp op) -> FailureOr<Set> {
        FailureOr<std::vector<Set>> sets = translateAll(op.getSets());
        return failed(sets) ? FailureOr<Set>(failure()) : reference::intersectionOf(*sets);
      })
      .Case([&](sparsity::SubtractOp op) -> FailureOr<Set> {
        FailureOr<std::vector<Set>> sets = translateAll({op.getFrom(), op.getRemoved()});
        return failed(sets) ? FailureOr<Set>(failure())
                            : reference::difference((*sets)[0], (*sets)[1]);
      })
      .Case([&](sparsity::ComplementOp op) -> FailureOr<Set> {
        FailureOr<Set> set = translate(op.getRemoved());
        return failed(set) ? FailureOr<Set>(failure()) : reference::complementOf(*set);
      })
      .Case([&](sparsity::PerHeadOp op) { return translatePerHead(op); })
      .Case([&](sparsity::SegmentsOp op) { return translateSegments(op); })
      .Default([](Operation *op) -> FailureOr<Set> {
        return op->emitError("expected a set that the oracle knows, got '") << op->getName() << "'";
      });
}

} // namespace lacuna
