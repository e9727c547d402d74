//===- SelectCalls.cpp - choices as calls of the library -------------------===//
//
// Choosing is branches and counting, not arithmetic on vectors: kernels fill a
// request of lib/Selection and call the function of its name.
//
//===----------------------------------------------------------------------===//
#include "compiler/Cpu/KernelLowering.h"
#include "lib/Selection/Selection.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace lacuna;

namespace {
/// Fills a request word by word, in the order of its fields.
class RequestWriter {
public:
  RequestWriter(VectorBuilder &builder, Value words) : b(builder), words(words) {}

  void add(Value number) {
    Type type = number.getType(), word = b.getI64Type();
    if (type.isIndex())
      number = arith::IndexCastOp::create(b, word, number);
    else if (type.isF64())
      number = arith::BitcastOp::create(b, word, number);
    Value place = b.index(next++);
    memref::StoreOp::create(b, number, words, place);
  }
  void add(int64_t number) { add(arith::ConstantIntOp::create(b, number, 64).getResult()); }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void add(Enum number) {
    add(static_cast<int64_t>(number));
  }
  void add(const APFloat &number) {
    add(arith::ConstantOp::create(b, b.getF64FloatAttr(number.convertToDouble())).getResult());
  }
  /// A View of a buffer with any strides.
  void addView(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
    Value width = b.index(type.getElementTypeBitWidth() / 8);
    Value offset = arith::MulIOp::create(b, metadata.getOffset(), width);
    add(b.add(start, offset));
    for (Value extent : metadata.getSizes())
      add(extent);
    for (Value stride : metadata.getStrides())
      add(stride);
  }
  /// A View of nothing.
  void addNone(int64_t rank) {
    for (int64_t word = 0; word < 1 + 2 * rank; ++word)
      add(int64_t{0});
  }
  /// Coordinates, in a field for three.
  void addPlace(ValueRange at) {
    for (Value coordinate : at)
      add(coordinate);
    for (size_t axis = at.size(); axis < 3; ++axis)
      add(int64_t{0});
  }
  int64_t size() const { return next; }

private:
  VectorBuilder &b;
  Value words;
  int64_t next = 0;
};
} // namespace

/// Calls `name` with a request that `write` fills.
template <typename Request, typename Write>
static void callWith(VectorBuilder &b, HelperFunctions &helpers, Value words, StringRef name,
                     Write write) {
  RequestWriter writer(b, words);
  write(writer);
  assert(writer.size() == int64_t(sizeof(Request) / sizeof(int64_t)) && "a word per field");
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, words);
  helpers.callExternal(b, name, address);
}

template <typename Request> Value KernelLowering::allocateRequest(Operation *op) {
  Type word = IntegerType::get(op->getContext(), 64);
  return allocate(MemRefType::get({sizeof(Request) / sizeof(int64_t)}, word), op->getLoc());
}

/// The number of a rule as an f64; null where each row has its own.
static Value getNumber(VectorBuilder &b, tile::ChooseOp op, Value number) {
  if (std::optional<APFloat> constant = op.getConstant())
    return arith::ConstantOp::create(b, b.getF64FloatAttr(constant->convertToDouble()));
  if (isa<MemRefType>(number.getType()))
    return {};
  if (number.getType().isF32())
    return arith::ExtFOp::create(b, b.getF64Type(), number);
  Value word = arith::IndexCastOp::create(b, b.getI64Type(), number);
  return arith::SIToFPOp::create(b, b.getF64Type(), word);
}

LogicalResult KernelLowering::lowerChoose(VectorBuilder &b, tile::ChooseOp op) {
  Value number = op.getNumber() ? scalar(op.getNumber()) : Value();
  if (number && !number.getType().isIndex() && !number.getType().isF32() &&
      !isa<MemRefType>(number.getType()))
    return op.emitOpError("expected an index, an f32 or a tensor as the rule's number, got ")
           << op.getNumber().getType();
  if (op.getRestricted() || !op.getWithin().empty() || !op.getForce().empty())
    return op.emitOpError("expected scores that are restricted on their own on a CPU");
  using Request = selection::ChooseRequest;
  callWith<Request>(b, helpers, allocateRequest<Request>(op), "lacuna_choose",
                    [&](RequestWriter &request) {
                      request.addView(scalar(op.getScores()));
                      request.addView(scalar(op.getIds()));
                      request.addView(scalar(op.getCounts()));
                      Value same = getNumber(b, op, number);
                      same ? request.addNone(3) : request.addView(number);
                      same ? request.add(same) : request.add(int64_t{0});
                      request.add(op.getRule());
                      request.add(op.getScope());
                      request.add(static_cast<int64_t>(op.getFloor().value_or(0)));
                      request.add(static_cast<int64_t>(op.getCap().value_or(INT32_MAX)));
                      request.addPlace(scalars(op.getAt()));
                    });
  return success();
}

LogicalResult KernelLowering::lowerSample(VectorBuilder &b, tile::SampleOp op) {
  using Request = selection::SampleRequest;
  callWith<Request>(
      b, helpers, allocateRequest<Request>(op), "lacuna_sample", [&](RequestWriter &request) {
        request.addView(scalar(op.getScores()));
        request.addView(scalar(op.getIds()));
        request.addView(scalar(op.getCounts()));
        request.addView(scalar(op.getWeights()));
        request.add(op.getNumber());
        request.add(scalar(op.getSeed()));
        request.addPlace({scalar(op.getBatch()), scalar(op.getHead()), scalar(op.getRow())});
      });
  return success();
}

LogicalResult KernelLowering::lowerMargin(VectorBuilder &b, tile::MarginOp op) {
  using Request = selection::MarginRequest;
  callWith<Request>(
      b, helpers, allocateRequest<Request>(op), "lacuna_margin", [&](RequestWriter &request) {
        request.addView(scalar(op.getScores()));
        request.addView(scalar(op.getTarget()));
        request.add(static_cast<int64_t>(op.getNumber()));
        request.addPlace({scalar(op.getBatch()), scalar(op.getHead()), scalar(op.getRow())});
      });
  return success();
}

LogicalResult KernelLowering::lowerGate(VectorBuilder &b, tile::GateOp op) {
  using Request = selection::GateRequest;
  callWith<Request>(b, helpers, allocateRequest<Request>(op), "lacuna_gate",
                    [&](RequestWriter &request) {
                      request.addView(scalar(op.getValues()));
                      request.addView(scalar(op.getTarget()));
                      request.add(op.getShare());
                      request.add(static_cast<int64_t>(op.getLow()));
                      request.add(static_cast<int64_t>(op.getHigh()));
                      request.add(scalar(op.getBatch()));
                    });
  return success();
}
