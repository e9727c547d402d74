//===- KernelPrinter.cpp - what all kernels have in text and manifest -----===//
#include "compiler/Emit/KernelPrinter.h"

#include "compiler/Emit/ValueName.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Manifest
//===----------------------------------------------------------------------===//

std::string KernelPrinter::field(StringRef name, ArgumentField field) {
  for (auto &[known, existing] : fields)
    if (known == name)
      return "args." + known;
  fields.emplace_back(name.str(), field);
  return ("args." + name).str();
}

LogicalResult KernelPrinter::buildPlan() {
  KernelManifest &manifest = code.manifest;
  manifest.symbol = kernel.getSymName().str();
  manifest.inputs = kernel.getInputs();
  Block &plan = kernel.getPlan().front();
  auto hostValue = [&](Value value, Operation *at) -> FailureOr<unsigned> {
    if (std::optional<unsigned> result = host.value(value))
      return *result;
    at->emitOpError("expected values that the host can compute from sizes and scalars");
    return failure();
  };
  for (auto require : plan.getOps<tile::RequireOp>()) {
    FailureOr<unsigned> condition = hostValue(require.getCondition(), require);
    if (failed(condition))
      return failure();
    Requirement requirement{*condition, require.getMessage().str(), {}};
    for (Value value : require.getValues()) {
      FailureOr<unsigned> shown = hostValue(value, require);
      if (failed(shown))
        return failure();
      requirement.values.push_back(*shown);
    }
    manifest.requirements.push_back(std::move(requirement));
  }
  auto terminator = cast<tile::PlanOp>(plan.getTerminator());
  for (Value extent : terminator.getGrid()) {
    FailureOr<unsigned> value = hostValue(extent, terminator);
    if (failed(value))
      return failure();
    manifest.grid.push_back(*value);
  }
  size_t next = 0;
  for (BlockArgument output : kernel.getOutputArguments()) {
    auto type = cast<MemRefType>(output.getType());
    KernelManifest::Output &shape = manifest.outputs.emplace_back();
    shape.type = *elementTypeOf(type.getElementType());
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      FailureOr<unsigned> value = hostValue(terminator.getShapes()[next++], terminator);
      if (failed(value))
        return failure();
      shape.extents.push_back(*value);
    }
  }
  return success();
}

std::string KernelPrinter::describe(unsigned argument) {
  if (argument >= code.manifest.inputs)
    return "result";
  std::string name = valueName(kernel.getBody().getArgument(argument));
  return "argument '" + (name.empty() ? std::to_string(argument) : name) + "'";
}

void KernelPrinter::addExtentLimits() {
  using HostOp = HostInstruction::Op;
  for (auto [input, axis] : narrowExtents) {
    unsigned extent = host.extent(input, axis);
    code.manifest.requirements.push_back(
        {host.add(HostOp::LessEqual, extent, host.constant(ScalarPrinter::limit)),
         formatv("{0}: expected at most {1} elements along axis {2}, got {{0}", describe(input),
                 ScalarPrinter::limit, axis)
             .str(),
         {extent}});
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

StringRef lacuna::elementName(Type type) {
  return type.isBF16() ? "Bf16" : type.isF16() ? "F16" : type.isF64() ? "double" : "float";
}

std::string KernelPrinter::pointerOf(unsigned argument) {
  StringRef kind = argument < code.manifest.inputs ? "input" : "output";
  return field((kind + Twine(argument)).str(), {ArgumentField::Kind::Pointer, argument});
}

std::string KernelPrinter::strideOf(unsigned argument, unsigned axis) {
  return hostField(formatv("stride{0}_{1}", argument, axis).str(), host.stride(argument, axis));
}

std::string KernelPrinter::readElement(unsigned input, ArrayRef<std::string> indices) {
  auto type = cast<RankedTensorType>(kernel.getBody().getArgument(input).getType());
  std::string pointer = pointerOf(input);
  SmallVector<std::string> terms;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    std::string extent =
        hostField(formatv("extent{0}_{1}", input, axis).str(), host.extent(input, axis));
    terms.push_back("inside(" + index + ", " + extent + ") * " + strideOf(input, axis));
  }
  std::string offset = terms.empty() ? "0" : llvm::join(terms, " + ");
  std::optional<ElementType> element = elementTypeOf(type.getElementType());
  // The printer of the op then says that CUDA C++ has no such operation.
  if (!element)
    return "";
  std::string place = "(" + pointer + ", " + offset + ")";
  switch (*element) { // No default: a new enumerator must break this build.
  case ElementType::BF16:
    return "readBf16" + place;
  case ElementType::F16:
    return "readF16" + place;
  case ElementType::F32:
    return "readElement<float>" + place;
  case ElementType::F64:
    return "readElement<double>" + place;
  case ElementType::I8:
    return "readElement<signed char>" + place;
  case ElementType::I32:
    return "readElement<int>" + place;
  case ElementType::I64:
    return "readElement<i64>" + place;
  }
  return "";
}

ScalarSources KernelPrinter::sources() {
  ScalarSources result;
  result.extent = [this](unsigned input, unsigned axis) {
    narrowExtents.insert({input, axis});
    return "static_cast<int>(" +
           hostField(formatv("extent{0}_{1}", input, axis).str(), host.extent(input, axis)) + ")";
  };
  result.scalar = [this](unsigned input) -> std::string {
    Type type = kernel.getBody().getArgument(input).getType();
    if (isa<FloatType>(type))
      return "static_cast<float>(" +
             field(formatv("input{0}", input).str(), {ArgumentField::Kind::Float, input}) + ")";
    // Saturated, so that index arithmetic stays inside int; a wider window changes nothing.
    using HostOp = HostInstruction::Op;
    unsigned value =
        host.add(HostOp::Max, host.scalar(input), host.constant(-ScalarPrinter::limit));
    value = host.add(HostOp::Min, value, host.constant(ScalarPrinter::limit));
    return "static_cast<int>(" + hostField(formatv("input{0}", input).str(), value) + ")";
  };
  result.element = [this](unsigned input, ArrayRef<std::string> indices) {
    return readElement(input, indices);
  };
  return result;
}

void KernelPrinter::writeLibrary(CodeWriter &out, ArrayRef<std::string_view> parts) {
  out.line(formatv("// {0}: generated by Lacuna for sm_90a.", kernel.getSymName()));
  out.blank();
  for (std::string_view text : parts) {
    out.append(text);
    out.blank();
  }
}

void KernelPrinter::writeArguments(CodeWriter &out) {
  out.open("struct Arguments {");
  for (auto &[name, field] : fields) {
    StringRef type = field.kind == ArgumentField::Kind::Pointer       ? "void *"
                     : field.kind == ArgumentField::Kind::WorkCounter ? "int *"
                     : field.kind == ArgumentField::Kind::Float       ? "double "
                                                                      : "i64 ";
    out.line(type + name + ";");
  }
  out.close("};");
  out.blank();
}

void KernelPrinter::writeGridPoint(CodeWriter &out, ScalarPrinter &scalars,
                                   ArrayRef<int64_t> tile) {
  auto grid = kernel.getGridArguments();
  out.line("i64 rest = blockIdx.x;");
  for (size_t axis = grid.size(); axis-- > 0;) {
    std::string name = axis == 0   ? "batch"
                       : axis == 1 ? "head"
                                   : formatv("tile{0}", axis - 2).str();
    if (axis == 0) {
      out.line("const int batch = static_cast<int>(rest);");
    } else {
      std::string extent = hostField(formatv("grid{0}", axis).str(), code.manifest.grid[axis]);
      out.line(formatv("const int {0} = static_cast<int>(rest % {1});", name, extent));
      out.line("rest /= " + extent + ";");
    }
    scalars.bind(grid[axis], name, 0, axis < 2 ? INT32_MAX : ScalarPrinter::limit / tile[axis - 2]);
  }
}

KernelPrinter::BoxPlace KernelPrinter::writeBoxPlace(CodeWriter &out, ScalarPrinter &scalars,
                                                     StringRef letter, StringRef row, ValueRange at,
                                                     ValueRange sizes, ArrayRef<int64_t> box) {
  BoxPlace place;
  for (size_t axis = 0; axis < box.size(); ++axis) {
    std::string size = scalars.use(sizes[axis]), name = (letter + Twine(axis)).str();
    out.line(formatv("const int {0} = {1};", name,
                     boxCoordinate(scalars.use(at[axis]), row, "", box, axis)));
    place.inside += formatv("{0}{1} < {2}", axis ? " && " : "", name, size).str();
    place.number = axis ? formatv("({0}) * {1} + {2}", place.number, size, name).str()
                        : formatv("i64({0})", name).str();
  }
  return place;
}

FailureOr<KernelCode> KernelPrinter::finishPlain(unsigned threads, StringRef body,
                                                 ArrayRef<std::string_view> parts,
                                                 unsigned blocks) {
  code.manifest.threads = threads;
  code.manifest.blocksPerMultiprocessor = 0;
  CodeWriter out;
  writeLibrary(out, parts);
  writeArguments(out);
  std::string bounds = std::to_string(threads) + (blocks ? ", " + std::to_string(blocks) : "");
  out.line(formatv("extern \"C\" __global__ void __launch_bounds__({0})", bounds));
  out.open(kernel.getSymName() + "(const __grid_constant__ Arguments args) {");
  out.append(body);
  out.close();
  return finish(out.str());
}

FailureOr<KernelCode> KernelPrinter::finish(std::string source) {
  addExtentLimits();
  for (auto &[name, field] : fields)
    code.manifest.fields.push_back(field);
  code.source = std::move(source);
  return std::move(code);
}

FailureOr<KernelCode> lacuna::printCuda(tile::KernelOp kernel, CudaOptions options) {
  auto holds = [&](auto isWanted) {
    return kernel.getBody()
        .walk([&](Operation *op) {
          return isWanted(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  if (holds(llvm::IsaPred<hopper::AttendOp>))
    return printAttend(kernel, options);
  if (holds(llvm::IsaPred<tile::ClassifyOp>))
    return printClassify(kernel);
  if (holds(llvm::IsaPred<tile::SummarizeOp, tile::FoldOp, tile::ProjectOp, tile::ScoreBlocksOp,
                          tile::RestrictOp, tile::ScoreListOp, tile::RefineOp, tile::ChooseOp,
                          tile::SampleOp, tile::MarginOp, tile::GateOp, tile::LinearStateOp,
                          tile::LinearPrefixOp, tile::LinearFoldOp, tile::LinearReadOp,
                          tile::GatedMergeOp>))
    return printSelect(kernel);
  if (holds(llvm::IsaPred<tile::ListOfMaskOp, tile::MaskOfListOp, tile::ListOfCsrOp,
                          tile::CsrOfListOp, tile::ChildrenOp, tile::PickOp, tile::WithoutOp>))
    return printListFormat(kernel);
  return printRows(kernel);
}
