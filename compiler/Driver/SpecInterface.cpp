//===- SpecInterface.cpp - a spec's arguments, and values for them ---------===//
#include "compiler/Driver/SpecBinder.h"

#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/TranslateSet.h"
#include "compiler/Emit/ElementTypes.h"
#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"
#include "lib/Support/Memory.h"
#include "lib/Support/Npy.h"
#include "lib/Support/Random.h"
#include "lib/Support/Text.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <filesystem>

using namespace mlir;

namespace lacuna {

bool parseAssignments(StringRef text, std::vector<std::pair<std::string, std::string>> &pairs) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    if (name.trim().empty() || value.trim().empty())
      return false;
    pairs.emplace_back(name.trim().str(), value.trim().str());
  }
  return true;
}

LogicalResult Binder::checkTypes() {
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    std::string name = valueName(argument);
    spec.names.push_back(name.empty() ? std::to_string(index) : name);
    Type type = argument.getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool known = type.isIndex() || type.isInteger() || isa<FloatType>(type) ||
                 (tensor && elementTypeOf(tensor.getElementType()));
    if (!known)
      return error(index) << "expected argument '" << name
                          << "' to be an index, an integer, a float or a ranked tensor of f16, "
                             "bf16, f32, f64, i8, i32, i64 or index, got "
                          << type;
  }
  return success();
}

LogicalResult Binder::checkGivenNames() {
  for (const auto &[key, value] : options.given) {
    if (llvm::is_contained(spec.names, key))
      continue;
    bool isSize = SpecSizes::isSizeName(key);
    if (isSize && sizes.hasDynamicExtent(key))
      continue;
    if (isSize)
      return function.emitError("expected a dynamic extent that takes the size '")
             << key << "', but the types of this function fix it";
    return function.emitError("expected '")
           << key << "' to name a size (" << llvm::join(SpecSizes::names(), ", ")
           << ") or an argument (" << llvm::join(spec.names, ", ") << ")";
  }
  return success();
}

LogicalResult Binder::readFiles() {
  if (options.inputs.empty())
    return success();
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.inputs, ignored))
    return function.emitError("expected a folder of .npy files at '") << options.inputs << "'";
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    std::string path = options.inputs + "/" + spec.names[index] + ".npy";
    if (!type || !std::filesystem::exists(path, ignored))
      continue;
    Result<OwnedTensor> tensor = readNpy(path);
    if (!tensor)
      return error(index) << tensor.status().message();
    ElementType expected = *elementTypeOf(type.getElementType());
    if (tensor->view().type != expected)
      return error(index) << "expected elements of type " << toString(expected) << " in " << path
                          << ", got " << toString(tensor->view().type);
    if (failed(verifyCompatibleShape(type.getShape(), tensor->view().shape)))
      return error(index) << "expected " << path << " to fit " << type << ", got the shape "
                          << shapeText(tensor->view().shape);
    if (failed(sizes.learn(index, tensor->view().shape)))
      return failure();
    files[index] = std::move(*tensor);
  }
  return success();
}

LogicalResult Binder::bindInteger(unsigned index) {
  int64_t value;
  if (const std::string *text = given(name(index))) {
    std::optional<int64_t> number = parseInteger(*text);
    if (!number)
      return error(index) << "expected an integer for '" << name(index) << "', got '" << *text
                          << "'";
    value = *number;
  } else if (auto attr = function.getArgAttr(index, "lacuna.default")) {
    auto number = dyn_cast<IntegerAttr>(attr);
    if (!number)
      return error(index) << "expected lacuna.default of '" << name(index)
                          << "' to be an integer, got " << attr;
    value = number.getType().isInteger(1) ? static_cast<int64_t>(number.getValue().getZExtValue())
                                          : number.getValue().getSExtValue();
  } else if (SpecSizes::isSizeName(name(index))) {
    FailureOr<int64_t> size = sizes.lookup(name(index), function.getArgument(index).getLoc());
    if (failed(size))
      return failure();
    value = *size;
  } else {
    return error(index) << "expected a value for '" << name(index) << "': give --set "
                        << name(index) << "=... or declare lacuna.default";
  }
  auto type = dyn_cast<IntegerType>(function.getArgument(index).getType());
  bool isBit = type && type.getWidth() == 1 && (value == 0 || value == 1);
  if (type && type.getWidth() < 64 && !isBit && !llvm::isIntN(type.getWidth(), value))
    return error(index) << "expected '" << name(index) << "' to fit " << type << ", got " << value;
  spec.arguments[index] = value;
  return success();
}

LogicalResult Binder::bindFloat(unsigned index) {
  if (const std::string *text = given(name(index))) {
    std::optional<double> number = parseNumber(*text);
    if (!number)
      return error(index) << "expected a number for '" << name(index) << "', got '" << *text << "'";
    spec.arguments[index] = *number;
    return success();
  }
  Attribute attr = function.getArgAttr(index, "lacuna.default");
  if (!attr)
    return error(index) << "expected a value for '" << name(index) << "': give --set "
                        << name(index) << "=... or declare lacuna.default";
  auto number = dyn_cast<FloatAttr>(attr);
  if (!number)
    return error(index) << "expected lacuna.default of '" << name(index) << "' to be a float, got "
                        << attr;
  spec.arguments[index] = number.getValueAsDouble();
  return success();
}

FailureOr<std::optional<std::vector<double>>> Binder::valuesOf(unsigned index) {
  std::vector<double> values;
  const std::string *text = given(name(index));
  if (text && (text->find(':') != std::string::npos || parseNumber(*text))) {
    SmallVector<StringRef> parts;
    StringRef(*text).split(parts, ':');
    for (StringRef part : parts) {
      std::optional<double> number = parseNumber(part);
      if (!number)
        return error(index) << "expected numbers between ':' for '" << name(index) << "', got '"
                            << *text << "'";
      values.push_back(*number);
    }
    return std::optional(values);
  }
  Attribute attr = function.getArgAttr(index, "lacuna.values");
  if (!attr || text)
    return std::optional<std::vector<double>>();
  if (auto dense = dyn_cast<DenseI64ArrayAttr>(attr)) {
    values.assign(dense.asArrayRef().begin(), dense.asArrayRef().end());
    return std::optional(values);
  }
  auto array = dyn_cast<ArrayAttr>(attr);
  for (Attribute element : array ? array.getValue() : ArrayRef<Attribute>()) {
    if (auto integer = dyn_cast<IntegerAttr>(element))
      values.push_back(static_cast<double>(integer.getValue().getSExtValue()));
    else if (auto number = dyn_cast<FloatAttr>(element))
      values.push_back(number.getValueAsDouble());
    else
      array = {};
  }
  if (!array)
    return error(index) << "expected lacuna.values of '" << name(index)
                        << "' to be a list of numbers, got " << attr;
  return std::optional(values);
}

FailureOr<std::vector<int64_t>> Binder::shapeOf(unsigned index, RankedTensorType type) {
  const std::string *text = given(name(index));
  if (!text)
    return sizes.shapeOf(index, type);
  std::optional<std::vector<int64_t>> shape = parseShape(*text);
  if (!shape || failed(verifyCompatibleShape(type.getShape(), *shape)))
    return error(index) << "expected a shape that fits " << type << " for '" << name(index)
                        << "', got '" << *text << "'";
  if (failed(sizes.learn(index, *shape)))
    return failure();
  return *shape;
}

LogicalResult Binder::allocate(unsigned index, ElementType type, std::vector<int64_t> shape,
                               std::optional<std::vector<double>> values) {
  int64_t bytes = byteWidth(type);
  bool overflows = false;
  for (int64_t extent : shape)
    overflows |= llvm::MulOverflow(bytes, extent, bytes) != 0;
  bool isEmpty = llvm::is_contained(shape, 0);
  bool borrowed = options.withoutData && !values;
  if (!isEmpty && (overflows || (!borrowed && bytes > availableMemory())))
    return error(index) << "expected '" << name(index) << "' of shape " << shapeText(shape)
                        << " to fit this machine's memory";
  if (borrowed) {
    Tensor view{type, shape, contiguousStrides(shape), nullptr};
    spec.arguments[index] = view;
    return success();
  }
  OwnedTensor &owner = spec.storage.emplace_back(type, shape);
  if (values) {
    Tensor flat{type, {owner.view().elements()}, {1}, owner.view().data};
    for (size_t element = 0; element < values->size(); ++element)
      flat.set({static_cast<int64_t>(element)}, (*values)[element]);
  } else {
    Random random(options.seed, index);
    fillNormal(owner.view(), random);
  }
  spec.arguments[index] = owner.view();
  return success();
}

LogicalResult Binder::bindTensor(unsigned index) {
  auto type = cast<RankedTensorType>(function.getArgument(index).getType());
  if (auto file = files.find(index); file != files.end()) {
    OwnedTensor &owner = spec.storage.emplace_back(std::move(file->second));
    spec.arguments[index] = owner.view();
    return success();
  }
  if (std::optional<ListArgument> list = findListArgument(function.getArgument(index)))
    return bindList(index, *list);
  if (sparsity::BitmapOp map = findBitmapArgument(function.getArgument(index)))
    return bindBitmap(index, map);
  ElementType element = *elementTypeOf(type.getElementType());
  FailureOr<std::optional<std::vector<double>>> values = valuesOf(index);
  if (failed(values))
    return failure();
  if (*values) {
    std::vector<int64_t> shape = {static_cast<int64_t>((*values)->size())};
    if (failed(verifyCompatibleShape(type.getShape(), shape)))
      return error(index) << "expected '" << name(index) << "' to be " << type << ", got "
                          << shape[0] << " values";
    return allocate(index, element, shape, *values);
  }
  if (!isFloat(element))
    return error(index) << "expected values for '" << name(index)
                        << "': declare lacuna.values, give --set " << name(index)
                        << "=0:1:2, or put " << name(index) << ".npy into the --inputs folder";
  FailureOr<std::vector<int64_t>> shape = shapeOf(index, type);
  if (failed(shape))
    return failure();
  return allocate(index, element, *shape, std::nullopt);
}

void Binder::readImpliedLength() {
  // Sizes may come from tensors, which have no shape yet: then nothing is implied.
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  function.walk([&](attn::AttendOp attend) {
    Value domain = SetTranslator::findDomain(attend.getSet());
    if (!domain)
      return;
    ScalarTranslator scalars(function.getArguments(), spec.arguments);
    auto grids = SetTranslator(scalars, /*heads=*/0).translateDomain(domain);
    if (failed(grids))
      return;
    int64_t tokens = 0;
    for (const reference::Grid &grid : *grids)
      tokens += grid.tokens();
    sizes.setImpliedLength(tokens);
  });
}

FailureOr<BoundSpec> Binder::bind() {
  spec.function = function;
  spec.seed = options.seed;
  if (failed(checkTypes()) || failed(checkGivenNames()) || failed(readFiles()))
    return failure();
  // Shapes given by name come first, so that other tensors can follow them.
  for (auto [index, argument] : llvm::enumerate(function.getArguments()))
    if (auto type = dyn_cast<RankedTensorType>(argument.getType());
        type && type.getRank() > 1 && given(name(index)) && !findListArgument(argument) &&
        !findBitmapArgument(argument) && failed(shapeOf(index, type)))
      return failure();
  spec.storage.reserve(function.getNumArguments());
  spec.arguments.resize(function.getNumArguments());
  // Scalars come before tensors, whose lengths may follow from a grid's sizes.
  auto isTensor = [&](unsigned index) {
    return isa<RankedTensorType>(function.getArgument(index).getType());
  };
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    bool isFloat = isa<FloatType>(function.getArgument(index).getType());
    if (!isTensor(index) && failed(isFloat ? bindFloat(index) : bindInteger(index)))
      return failure();
  }
  readImpliedLength();
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (isTensor(index) && failed(bindTensor(index)))
      return failure();
  WalkResult lists = function.walk([&](sparsity::BlocksOp op) -> WalkResult {
    if (!options.checkInputs)
      return WalkResult::interrupt();
    // Lists that the function makes are no inputs.
    for (Value list : {Value(op.getIds()), Value(op.getCounts())})
      if (Operation *made = list.getDefiningOp();
          made && isa<select::SelectDialect>(made->getDialect()))
        return WalkResult::advance();
    ScalarTranslator scalars(function.getArguments(), spec.arguments);
    auto ids = scalars.evaluateTensor(op.getIds()), counts = scalars.evaluateTensor(op.getCounts());
    FailureOr<int64_t> blocks = countBlocks(op, /*isQuery=*/false);
    bool isKnown = succeeded(ids) && succeeded(counts) && succeeded(blocks);
    return isKnown ? WalkResult(checkLists(op, *ids, *counts, *blocks)) : WalkResult::interrupt();
  });
  if (options.checkInputs && lists.wasInterrupted())
    return failure();
  spec.sizes = sizes.getLearned();
  return std::move(spec);
}

FailureOr<BoundSpec> bindSpec(func::FuncOp function, const BindOptions &options) {
  return Binder(function, options).bind();
}

} // namespace lacuna
