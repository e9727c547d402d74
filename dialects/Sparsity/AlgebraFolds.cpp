//===- AlgebraFolds.cpp - canonical forms of sets made of sets ------------===//
//
// Complements stand at the leaves, unions and intersections are flat, and
// windows that meet are one window.
//
//===----------------------------------------------------------------------===//
#include "dialects/Sparsity/SparsityInternal.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lacuna;
using namespace lacuna::sparsity;

static bool isAll(Value set) { return set.getDefiningOp<AllOp>(); }
static bool isNone(Value set) { return set.getDefiningOp<NoneOp>(); }

/// Whether two values are the same set by definition.
static bool isSameSet(Value a, Value b) {
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  return a == b || (first && second &&
                    OperationEquivalence::isEquivalentTo(first, second,
                                                         OperationEquivalence::IgnoreLocations));
}

static bool contains(ArrayRef<Value> sets, Value set) {
  return llvm::any_of(sets, [&](Value other) { return isSameSet(other, set); });
}

/// A domain that the operands of `op` name, so that a simpler set can still say its sizes.
static Value getDomain(Operation *op) { return findDomain(op->getResult(0)); }

/// Replaces `op` by `set` unless that would lose the sizes of a grid.
static LogicalResult replaceBySet(PatternRewriter &rewriter, Operation *op, Value set) {
  auto type = cast<SetType>(set.getType());
  if (!type.isSequence() && getDomain(op) && !findDomain(set))
    return rewriter.notifyMatchFailure(op, "the simpler set names no domain");
  rewriter.replaceOp(op, set);
  return success();
}

//===----------------------------------------------------------------------===//
// Windows as intervals of distances
//===----------------------------------------------------------------------===//

namespace {
/// -right <= p - j <= left; a side without a number is open.
struct Interval {
  Number left, right;
  bool fromStart;
};
} // namespace

static std::optional<Interval> getInterval(Value set) {
  if (auto window = set.getDefiningOp<WindowOp>())
    return Interval{Number(window.getLeft(), window.getLeftValueAttr()),
                    Number(window.getRight(), window.getRightValueAttr()), window.getFromStart()};
  if (auto causal = set.getDefiningOp<CausalOp>(); causal && causal.getSet().getType().isSequence())
    return Interval{Number(Value(), {}), Number(0), causal.getFromStart()};
  return std::nullopt;
}

static Value makeWindow(PatternRewriter &rewriter, Location loc, const Interval &interval) {
  auto attribute = [&](const Number &side) {
    return side.constant ? rewriter.getI64IntegerAttr(*side.constant) : IntegerAttr();
  };
  return WindowOp::create(rewriter, loc, interval.left.operand, attribute(interval.left),
                          interval.right.operand, attribute(interval.right), interval.fromStart);
}

/// The nearer of two ends, if it is known which that is.
static std::optional<Number> getNearer(const Number &a, const Number &b) {
  if (!a || !b)
    return a ? a : b;
  if (a.constant && b.constant)
    return Number(std::min(*a.constant, *b.constant));
  if (a.operand && a.operand == b.operand)
    return a;
  return std::nullopt;
}

static std::optional<Interval> intersect(const Interval &a, const Interval &b) {
  if (a.fromStart != b.fromStart)
    return std::nullopt;
  std::optional<Number> left = getNearer(a.left, b.left), right = getNearer(a.right, b.right);
  if (!left || !right)
    return std::nullopt;
  return Interval{*left, *right, a.fromStart};
}

/// Whether `outer` reaches at least as far as `inner` on one side.
static bool reaches(const Number &outer, const Number &inner) {
  if (!outer)
    return true;
  return inner &&
         (outer.constant && inner.constant ? *outer.constant >= *inner.constant
                                           : outer.operand && outer.operand == inner.operand);
}

/// Whether no distance lies between `a`, which ends at `left`, and `b`, which starts at `-right`.
static bool meets(const Number &left, const Number &right) {
  return !left || !right ||
         (left.constant && right.constant && -*right.constant <= *left.constant + 1);
}

/// Whether constants or an open end show that the interval is not empty.
static bool isSurelySome(const Interval &interval) {
  const Number &left = interval.left, &right = interval.right;
  return !left || !right || (left.constant && right.constant && -*right.constant <= *left.constant);
}

static std::optional<Interval> unite(const Interval &a, const Interval &b) {
  if (a.fromStart != b.fromStart)
    return std::nullopt;
  if (reaches(a.left, b.left) && reaches(a.right, b.right))
    return a;
  if (reaches(b.left, a.left) && reaches(b.right, a.right))
    return b;
  // Two intervals that overlap or touch, neither of which is empty.
  if (!isSurelySome(a) || !isSurelySome(b) || !meets(a.left, b.right) || !meets(b.left, a.right))
    return std::nullopt;
  auto farther = [](const Number &x, const Number &y) -> std::optional<Number> {
    if (reaches(x, y))
      return x;
    return reaches(y, x) ? std::optional(y) : std::nullopt;
  };
  std::optional<Number> left = farther(a.left, b.left), right = farther(a.right, b.right);
  if (!left || !right)
    return std::nullopt;
  return Interval{*left, *right, a.fromStart};
}

//===----------------------------------------------------------------------===//
// Union and intersection
//===----------------------------------------------------------------------===//

namespace {
/// What differs between the two.
template <typename OpT> struct Lattice;
template <> struct Lattice<UnionOp> {
  using Dual = IntersectOp;
  static bool isNeutral(Value set) { return isNone(set); }
  static bool absorbs(Value set) { return isAll(set); }
  static std::optional<Interval> merge(const Interval &a, const Interval &b) { return unite(a, b); }
  static int64_t mergeCount(int64_t a, int64_t b) { return std::max(a, b); }
  static Value neutral(PatternRewriter &rewriter, Location loc, Type type, Value domain) {
    return NoneOp::create(rewriter, loc, type, domain);
  }
  static Value absorbing(PatternRewriter &rewriter, Location loc, Type type, Value domain) {
    return AllOp::create(rewriter, loc, type, domain);
  }
};
template <> struct Lattice<IntersectOp> {
  using Dual = UnionOp;
  static bool isNeutral(Value set) { return isAll(set); }
  static bool absorbs(Value set) { return isNone(set); }
  static std::optional<Interval> merge(const Interval &a, const Interval &b) {
    return intersect(a, b);
  }
  static int64_t mergeCount(int64_t a, int64_t b) { return std::min(a, b); }
  static Value neutral(PatternRewriter &rewriter, Location loc, Type type, Value domain) {
    return AllOp::create(rewriter, loc, type, domain);
  }
  static Value absorbing(PatternRewriter &rewriter, Location loc, Type type, Value domain) {
    return NoneOp::create(rewriter, loc, type, domain);
  }
};

/// Simplifies the operands of one union or intersection.
template <typename OpT> class Simplifier {
public:
  Simplifier(OpT op, PatternRewriter &rewriter) : op(op), rewriter(rewriter) {}

  LogicalResult run() {
    using L = Lattice<OpT>;
    for (Value set : op.getSets())
      add(set);
    Type type = op.getSet().getType();
    if (absorbed)
      return replaceBySet(rewriter, op, L::absorbing(rewriter, op.getLoc(), type, getDomain(op)));
    dropAbsorbed();
    while (mergeOnce())
      ;
    if (kept.empty())
      return replaceBySet(rewriter, op, L::neutral(rewriter, op.getLoc(), type, getDomain(op)));
    if (kept.size() == 1)
      return replaceBySet(rewriter, op, kept.front());
    if (llvm::equal(kept, op.getSets()))
      return rewriter.notifyMatchFailure(op, "nothing is redundant");
    // The operands that are left must still name the domain.
    bool named = llvm::any_of(kept, [](Value set) { return bool(findDomain(set)); });
    if (!cast<SetType>(type).isSequence() && !named && getDomain(op))
      return rewriter.notifyMatchFailure(op, "only a redundant operand names the domain");
    rewriter.replaceOpWithNewOp<OpT>(op, type, kept);
    return success();
  }

private:
  /// Adds one operand, or those of a nested op of the same kind.
  void add(Value set) {
    if (auto nested = set.getDefiningOp<OpT>()) {
      for (Value inner : nested.getSets())
        add(inner);
      return;
    }
    absorbed |= Lattice<OpT>::absorbs(set);
    // A set and its complement leave nothing out.
    for (Value other : kept) {
      auto mine = set.getDefiningOp<ComplementOp>(), theirs = other.getDefiningOp<ComplementOp>();
      absorbed |= (mine && isSameSet(mine.getRemoved(), other)) ||
                  (theirs && isSameSet(theirs.getRemoved(), set));
    }
    if (!Lattice<OpT>::isNeutral(set) && !contains(kept, set))
      kept.push_back(set);
  }

  /// a | (a & b) is a, and a & (a | b) is a.
  void dropAbsorbed() {
    SmallVector<Value> sets = kept;
    llvm::erase_if(kept, [&](Value set) {
      auto dual = set.getDefiningOp<typename Lattice<OpT>::Dual>();
      return dual &&
             llvm::any_of(dual.getSets(), [&](Value inner) { return contains(sets, inner); });
    });
  }

  /// Replaces two operands by one that says the same, in the place of the first.
  bool mergeOnce() {
    for (size_t first = 0; first < kept.size(); ++first)
      for (size_t second = first + 1; second < kept.size(); ++second)
        if (Value merged = merge(kept[first], kept[second])) {
          kept[first] = merged;
          kept.erase(kept.begin() + second);
          return true;
        }
    return false;
  }

  Value merge(Value a, Value b) {
    if (std::optional<Interval> x = getInterval(a), y = getInterval(b); x && y)
      if (std::optional<Interval> both = Lattice<OpT>::merge(*x, *y))
        return makeWindow(rewriter, op.getLoc(), *both);
    if (Value prefix = mergeCounts<PrefixOp>(a, b))
      return prefix;
    return mergeCounts<SuffixOp>(a, b);
  }

  template <typename CountT> Value mergeCounts(Value a, Value b) {
    auto x = a.getDefiningOp<CountT>(), y = b.getDefiningOp<CountT>();
    if (!x || !y || !x.getCountValueAttr() || !y.getCountValueAttr())
      return {};
    int64_t count =
        Lattice<OpT>::mergeCount(x.getCountValueAttr().getInt(), y.getCountValueAttr().getInt());
    return CountT::create(rewriter, op.getLoc(), Value(), rewriter.getI64IntegerAttr(count));
  }

  OpT op;
  PatternRewriter &rewriter;
  SmallVector<Value> kept;
  bool absorbed = false;
};
} // namespace

void UnionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](UnionOp op, PatternRewriter &rewriter) {
    return Simplifier<UnionOp>(op, rewriter).run();
  });
}

void IntersectOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](IntersectOp op, PatternRewriter &rewriter) {
    return Simplifier<IntersectOp>(op, rewriter).run();
  });
}

//===----------------------------------------------------------------------===//
// Complements
//===----------------------------------------------------------------------===//

/// not (a | b) is (not a) & (not b), and the other way round.
template <typename OpT>
static LogicalResult pushInwards(ComplementOp op, OpT inner, PatternRewriter &rewriter) {
  SmallVector<Value> parts;
  for (Value set : inner.getSets())
    parts.push_back(ComplementOp::create(rewriter, op.getLoc(), set.getType(), set));
  rewriter.replaceOpWithNewOp<typename Lattice<OpT>::Dual>(op, op.getSet().getType(), parts);
  return success();
}

/// A window with one constant end: what is beyond that end.
static LogicalResult flipWindow(ComplementOp op, const Interval &interval,
                                PatternRewriter &rewriter) {
  auto beyond = [](const Number &end) { return Number(-*end.constant - 1); };
  Number open(Value(), {});
  if (!interval.left && interval.right.constant && *interval.right.constant < maxConstant) {
    rewriter.replaceOp(
        op, makeWindow(rewriter, op.getLoc(), {beyond(interval.right), open, interval.fromStart}));
    return success();
  }
  if (!interval.right && interval.left.constant && *interval.left.constant < maxConstant) {
    rewriter.replaceOp(
        op, makeWindow(rewriter, op.getLoc(), {open, beyond(interval.left), interval.fromStart}));
    return success();
  }
  return rewriter.notifyMatchFailure(op, "the window has two ends, or one that is not constant");
}

static LogicalResult simplify(ComplementOp op, PatternRewriter &rewriter) {
  Value set = op.getRemoved();
  if (auto inner = set.getDefiningOp<ComplementOp>())
    return replaceBySet(rewriter, op, inner.getRemoved());
  if (isAll(set)) {
    rewriter.replaceOpWithNewOp<NoneOp>(op, set.getType(), getDomain(op));
    return success();
  }
  if (isNone(set)) {
    rewriter.replaceOpWithNewOp<AllOp>(op, set.getType(), getDomain(op));
    return success();
  }
  if (auto inner = set.getDefiningOp<UnionOp>())
    return pushInwards(op, inner, rewriter);
  if (auto inner = set.getDefiningOp<IntersectOp>())
    return pushInwards(op, inner, rewriter);
  if (std::optional<Interval> interval = getInterval(set))
    return flipWindow(op, *interval, rewriter);
  return rewriter.notifyMatchFailure(op, "the complement stands at a leaf");
}

void ComplementOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](ComplementOp op, PatternRewriter &rewriter) { return simplify(op, rewriter); });
}

void SubtractOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](SubtractOp op, PatternRewriter &rewriter) -> LogicalResult {
    Type type = op.getSet().getType();
    Value outside = ComplementOp::create(rewriter, op.getLoc(), type, op.getRemoved());
    rewriter.replaceOpWithNewOp<IntersectOp>(op, type, ValueRange{op.getFrom(), outside});
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Mixtures
//===----------------------------------------------------------------------===//

/// Classes that are known become a list.
static LogicalResult foldClasses(PerHeadOp op, PatternRewriter &rewriter) {
  DenseIntElementsAttr elements;
  if (!op.getClasses() || !matchPattern(op.getClasses(), m_Constant(&elements)))
    return rewriter.notifyMatchFailure(op, "the classes are not constant");
  SmallVector<int64_t> classes;
  for (const APInt &element : elements) {
    int64_t chosen = element.getSExtValue();
    if (chosen < 0 || chosen >= static_cast<int64_t>(op.getSets().size()))
      return rewriter.notifyMatchFailure(op, "a class names no set");
    classes.push_back(chosen);
  }
  if (classes.empty())
    return rewriter.notifyMatchFailure(op, "there are no heads");
  rewriter.replaceOpWithNewOp<PerHeadOp>(op, op.getSet().getType(), Value(),
                                         rewriter.getDenseI64ArrayAttr(classes), op.getSets());
  return success();
}

/// Sets that a constant list does not name, or that are equal, stand once or not at all.
static LogicalResult dropUnusedSets(PerHeadOp op, PatternRewriter &rewriter) {
  if (!op.getClassValues())
    return rewriter.notifyMatchFailure(op, "the classes are not constant");
  SmallVector<Value> kept;
  SmallVector<int64_t> classes;
  ArrayRef<int64_t> given = op.getClassValuesAttr().asArrayRef();
  for (int64_t chosen : given) {
    Value set = op.getSets()[chosen];
    auto *place = llvm::find_if(kept, [&](Value other) { return isSameSet(other, set); });
    classes.push_back(place - kept.begin());
    if (place == kept.end())
      kept.push_back(set);
  }
  bool named = llvm::any_of(kept, [](Value set) { return bool(findDomain(set)); });
  if (llvm::equal(kept, op.getSets()) || (!named && getDomain(op)))
    return rewriter.notifyMatchFailure(op, "every set is used");
  rewriter.replaceOpWithNewOp<PerHeadOp>(op, op.getSet().getType(), Value(),
                                         rewriter.getDenseI64ArrayAttr(classes), kept);
  return success();
}

void PerHeadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](PerHeadOp op, PatternRewriter &rewriter) { return foldClasses(op, rewriter); });
  patterns.add(
      +[](PerHeadOp op, PatternRewriter &rewriter) { return dropUnusedSets(op, rewriter); });
}
