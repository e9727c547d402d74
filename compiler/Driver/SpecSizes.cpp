//===- SpecSizes.cpp - what each extent of a spec's tensors is called ------===//
#include "compiler/Driver/SpecSizes.h"

#include "compiler/Driver/ParseSpec.h"
#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"
#include "lib/Support/Text.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace lacuna {

ArrayRef<StringRef> SpecSizes::names() {
  static const StringRef sizeNames[] = {"b", "n", "nq", "nk", "hq", "hkv", "d", "dv"};
  return sizeNames;
}

bool SpecSizes::isSizeName(StringRef name) { return llvm::is_contained(names(), name); }

/// Size names along the axes of a tensor that `use` takes; empty when the use gives it no role.
static std::vector<std::string> roleOf(OpOperand &use) {
  if (auto attend = dyn_cast<attn::AttendOp>(use.getOwner())) {
    if (use.get() == attend.getQuery())
      return {"b", "hq", "nq", "d"};
    if (use.get() == attend.getKey())
      return {"b", "hkv", "nk", "d"};
    if (use.get() == attend.getValue())
      return {"b", "hkv", "nk", "dv"};
    if (use.get() == attend.getBelow())
      return {"b", "hq", "nq"};
    return {"hq"};
  }
  if (auto merge = dyn_cast<attn::MergeOp>(use.getOwner())) {
    if (llvm::is_contained(merge.getOutputs(), use.get()))
      return {"b", "hq", "nq", "dv"};
    return {"b", "hq", "nq"};
  }
  if (auto state = dyn_cast<attn::LinearStateOp>(use.getOwner()))
    return {"b", "hkv", "nk", use.get() == state.getKey() ? "d" : "dv"};
  if (auto read = dyn_cast<attn::LinearReadOp>(use.getOwner()))
    return use.get() == read.getQuery() ? std::vector<std::string>{"b", "hq", "nq", "d"}
                                        : std::vector<std::string>{};
  if (auto merge = dyn_cast<attn::GatedMergeOp>(use.getOwner())) {
    if (llvm::is_contained(merge.getOutputs(), use.get()))
      return {"b", "hq", "nq", "dv"};
    if (cast<RankedTensorType>(use.get().getType()).getRank() == 1)
      return {"hq"};
    return {"b", "hq", "nq"};
  }
  return {};
}

/// Whether `use` is of tokens of which an op makes other rows.
static bool isTokens(OpOperand &use) {
  return isa<select::SummarizeOp, select::FoldOp, select::ProjectOp>(use.getOwner()) &&
         use.getOperandNumber() == 0;
}

/// Whether what comes of `rows` is scored as queries; ops that make other rows pass it on.
static bool isScoredAsQuery(Value rows) {
  for (OpOperand &use : rows.getUses()) {
    Operation *user = use.getOwner();
    if (isa<select::ScoreOp, select::LogSumExpOp, select::ScoreListOp>(user) &&
        use.getOperandNumber() == 0)
      return true;
    if (isTokens(use) && isScoredAsQuery(user->getResult(0)))
      return true;
  }
  return false;
}

/// The same for a select op. Heads and channels have no name: those of an indexer are its own. Rows
/// that are scored as they are may be tokens or blocks; they are taken for tokens where no
/// attention says what else is.
static std::vector<std::string> roleInSelection(OpOperand &use, bool hasAttention) {
  Operation *user = use.getOwner();
  if (isTokens(use) || (!hasAttention && isa<select::ScoreOp, select::LogSumExpOp>(user)))
    if (auto type = dyn_cast<RankedTensorType>(use.get().getType()); type && type.getRank() == 4)
      return {"b", "", isScoredAsQuery(use.get()) ? "nq" : "nk", ""};
  return {};
}

/// The size that an axis of rows which are scored as they are usually has beside attention. Other
/// numbers are as right, so that nothing is learned from it.
static StringRef usualSize(BlockArgument argument, int64_t axis) {
  bool isKey = false, isQuery = false;
  for (OpOperand &use : argument.getUses()) {
    Operation *op = use.getOwner();
    if (isa<select::ScoreOp, select::LogSumExpOp>(op))
      (use.getOperandNumber() == 0 ? isQuery : isKey) = true;
  }
  if (!isKey && !isQuery)
    return "";
  return axis == 0 ? "b" : axis == 2 ? (isKey ? "nk" : "nq") : "";
}

SpecSizes::SpecSizes(func::FuncOp function, ArrayRef<std::pair<std::string, std::string>> given)
    : function(function), given(given) {
  bool hasAttention =
      function.walk([](attn::AttendOp) { return WalkResult::interrupt(); }).wasInterrupted();
  for (BlockArgument argument : function.getArguments()) {
    std::vector<std::string> role;
    for (OpOperand &use : argument.getUses())
      if (std::vector<std::string> found = roleOf(use); found.size() > role.size())
        role = std::move(found);
    for (OpOperand &use : argument.getUses())
      if (role.empty())
        role = roleInSelection(use, hasAttention);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || role.size() != static_cast<size_t>(type.getRank()))
      role.assign(type ? type.getRank() : 0, "");
    roles.push_back(std::move(role));
  }
}

bool SpecSizes::hasDynamicExtent(StringRef name) {
  auto isIt = [&](StringRef size) {
    return size == name || (name == "n" && (size == "nq" || size == "nk"));
  };
  for (auto [argument, role] : llvm::zip(function.getArguments(), roles))
    for (auto [axis, size] : llvm::enumerate(role))
      if (cast<RankedTensorType>(argument.getType()).isDynamicDim(axis) &&
          isIt(size.empty() ? usualSize(argument, static_cast<int64_t>(axis)) : StringRef(size)))
        return true;
  return false;
}

bool SpecSizes::hasPartnerUnlike(BlockArgument argument, int64_t extent) const {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto attend = dyn_cast<attn::AttendOp>(user);
    return attend && llvm::any_of(attend.getOperands(), [&](Value other) {
             bool isKey = other == attend.getKey() || other == attend.getValue();
             return isKey && keyLengths.contains(other) && keyLengths.lookup(other) != extent;
           });
  });
}

LogicalResult SpecSizes::learn(unsigned index, ArrayRef<int64_t> shape) {
  for (auto [size, extent] : llvm::zip(roles[index], shape)) {
    if (size.empty())
      continue;
    auto [known, isNew] = learned.try_emplace(size, extent);
    bool disagrees = !isNew && known->second != extent;
    // Attends may have keys of their own; those of one have its values' length.
    if (size == "nk") {
      keyLengths[function.getArgument(index)] = extent;
      disagrees = disagrees && hasPartnerUnlike(function.getArgument(index), extent);
    }
    if (disagrees) {
      BlockArgument argument = function.getArgument(index);
      return emitError(argument.getLoc(), "expected '")
             << valueName(argument) << "' to have " << size << " = " << known->second
             << " like the arguments before it, got " << extent;
    }
  }
  return success();
}

/// Sizes that stand in for one that is not there.
static StringRef fallback(StringRef name) {
  if (name == "nq" || name == "nk")
    return "n";
  return name == "dv" ? "d" : "";
}

FailureOr<std::optional<int64_t>> SpecSizes::findGiven(StringRef name, Location loc) {
  std::optional<int64_t> size;
  for (const auto &[key, text] : given) {
    // A tensor argument of this name takes a shape instead.
    if (key != name || text.find_first_of("x:") != std::string::npos)
      continue;
    size = parseInteger(text);
    if (!size || *size < 0)
      return emitError(loc, "expected the size '")
             << name << "' to be a number of at least 0, got '" << text << "'";
  }
  return size;
}

FailureOr<std::optional<int64_t>> SpecSizes::findDeclared(StringRef name) {
  Attribute attr = function->getAttr("lacuna.sizes");
  if (!attr)
    return std::optional<int64_t>();
  auto dictionary = dyn_cast<DictionaryAttr>(attr);
  if (!dictionary)
    return function.emitError("expected lacuna.sizes to be a dictionary such as {n = 4096, b = 1}, "
                              "got ")
           << attr;
  for (NamedAttribute entry : dictionary) {
    auto size = dyn_cast<IntegerAttr>(entry.getValue());
    if (!isSizeName(entry.getName()) || !size || size.getValue().isNegative())
      return function.emitError("expected lacuna.sizes to map sizes (")
             << llvm::join(names(), ", ") << ") to numbers of at least 0, got '"
             << entry.getName().getValue() << " = " << entry.getValue() << "'";
  }
  if (auto size = dictionary.getAs<IntegerAttr>(name))
    return std::optional<int64_t>(size.getInt());
  return std::optional<int64_t>();
}

FailureOr<std::optional<int64_t>> SpecSizes::find(StringRef name, Location loc) {
  if (auto known = learned.find(name.str()); known != learned.end())
    return std::optional<int64_t>(known->second);
  StringRef other = fallback(name);
  // What the caller gives wins over what the spec declares, the exact name over its stand-in.
  for (StringRef candidate : {name, other == "n" ? other : StringRef()}) {
    if (candidate.empty())
      continue;
    FailureOr<std::optional<int64_t>> size = findGiven(candidate, loc);
    if (failed(size) || *size)
      return size;
  }
  for (StringRef candidate : {name, other}) {
    if (candidate.empty())
      continue;
    FailureOr<std::optional<int64_t>> size = findDeclared(candidate);
    if (failed(size) || *size)
      return size;
  }
  if (name == "dv")
    return find("d", loc);
  if (name == "n" || other == "n")
    return impliedLength;
  return std::optional<int64_t>();
}

FailureOr<int64_t> SpecSizes::lookup(StringRef name, Location loc) {
  FailureOr<std::optional<int64_t>> size = find(name, loc);
  if (failed(size))
    return failure();
  if (*size)
    return **size;
  StringRef option = fallback(name) == "n" ? "n" : name;
  return emitError(loc, "expected the size '")
         << option << "': give --set " << option << "=... or declare lacuna.sizes";
}

FailureOr<std::vector<int64_t>> SpecSizes::shapeOf(unsigned index, RankedTensorType type) {
  BlockArgument argument = function.getArgument(index);
  std::vector<int64_t> declared;
  if (Attribute attr = function.getArgAttr(index, "lacuna.shape")) {
    if (auto dense = dyn_cast<DenseI64ArrayAttr>(attr))
      declared = dense.asArrayRef().vec();
    else if (auto array = dyn_cast<ArrayAttr>(attr))
      for (auto extent : array.getAsRange<IntegerAttr>())
        declared.push_back(extent.getInt());
    if (failed(verifyCompatibleShape(type.getShape(), declared)) ||
        llvm::any_of(declared, [](int64_t extent) { return extent < 0; }))
      return emitError(argument.getLoc(), "expected lacuna.shape of '")
             << valueName(argument) << "' to fit " << type << ", got " << attr;
  }
  std::vector<int64_t> shape;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    StringRef role = roles[index][static_cast<size_t>(axis)];
    std::optional<int64_t> extent;
    if (!type.isDynamicDim(axis))
      extent = type.getDimSize(axis);
    if (!extent && !role.empty()) {
      for (StringRef name : {role, fallback(role) == "n" ? StringRef("n") : role}) {
        FailureOr<std::optional<int64_t>> found = findGiven(name, argument.getLoc());
        if (failed(found))
          return failure();
        extent = extent ? extent : *found;
      }
    }
    if (!extent && !declared.empty())
      extent = declared[static_cast<size_t>(axis)];
    if (!extent && role.empty())
      role = usualSize(argument, axis);
    if (!extent && role.empty())
      return emitError(argument.getLoc(), "expected a shape for '")
             << valueName(argument) << "': give --set " << valueName(argument)
             << "=... or declare lacuna.shape";
    if (!extent) {
      FailureOr<int64_t> size = lookup(role, argument.getLoc());
      if (failed(size))
        return failure();
      extent = *size;
    }
    shape.push_back(*extent);
  }
  if (failed(learn(index, shape)))
    return failure();
  return shape;
}

} // namespace lacuna
