//===- HelperFunctions.cpp - functions that kernels share -----------------===//
#include "compiler/Cpu/HelperFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace lacuna;

SmallVector<Value> HelperFunctions::call(VectorBuilder &builder, StringRef stem, const Twine &key,
                                         ValueRange operands, TypeRange results, WriteBody body) {
  auto type = FunctionType::get(builder.getContext(), operands.getTypes(), results);
  std::string name;
  llvm::raw_string_ostream(name) << stem << ' ' << key << ' ' << type;
  func::FuncOp &function = functions[name];
  if (!function) {
    OpBuilder atModule(builder.getContext());
    function = func::FuncOp::create(atModule, builder.getLoc(), stem, type);
    function.setPrivate();
    function->setAttr("llvm.linkage",
                      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
    // One copy for all loops: inlined, each of them would be compiled again.
    function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
    symbols.insert(function);
    Block *block = function.addEntryBlock();
    atModule.setInsertionPointToEnd(block);
    VectorBuilder inner(builder.getLoc(), atModule, buffers.width);
    func::ReturnOp::create(inner, body(inner, block->getArguments()));
  }
  return llvm::to_vector_of<Value>(func::CallOp::create(builder, function, operands).getResults());
}

void HelperFunctions::callExternal(VectorBuilder &builder, StringRef name, Value address) {
  func::FuncOp &function = functions[name];
  if (!function) {
    OpBuilder atModule(builder.getContext());
    function = func::FuncOp::create(atModule, builder.getLoc(), name,
                                    builder.getFunctionType(address.getType(), {}));
    function.setPrivate();
    symbols.insert(function);
  }
  func::CallOp::create(builder, function, address);
}

void HelperFunctions::callFill(VectorBuilder &builder, Value buffer, float number) {
  Value value = builder.scalar(number);
  call(builder, "fill", "", {buffer, value}, {},
       [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
         auto shape = cast<MemRefType>(buffer.getType()).getShape();
         Value vector = b.broadcast(arguments[1]);
         auto fillRow = [&](SmallVector<Value> at) {
           b.loop(shape.back(), buffers.width, [&](Value column) {
             at.push_back(column);
             b.store(vector, arguments[0], at);
           });
         };
         if (shape.size() == 1)
           fillRow({});
         else
           b.loop(shape[0], 1, [&](Value row) { fillRow({row}); });
         return {};
       });
}

void HelperFunctions::callCopy(VectorBuilder &builder, Value from, Value to) {
  call(builder, "copy", "", {from, to}, {},
       [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
         auto shape = cast<MemRefType>(from.getType()).getShape();
         auto copyRow = [&](SmallVector<Value> at) {
           b.loop(shape.back(), buffers.width, [&](Value column) {
             at.push_back(column);
             b.store(b.load(arguments[0], at), arguments[1], at);
           });
         };
         if (shape.size() == 1)
           copyRow({});
         else
           b.loop(shape[0], 1, [&](Value row) { copyRow({row}); });
         return {};
       });
}

Value HelperFunctions::callIsFinite(VectorBuilder &builder, Value buffer) {
  return call(builder, "is_finite", "", buffer, builder.getI1Type(),
              [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
                auto shape = cast<MemRefType>(buffer.getType()).getShape();
                Value zero = b.splat(0);
                int64_t chains = shape[1] / buffers.width;
                // 0 x stays 0 for every finite x, and becomes NaN for the others.
                SmallVector<Value> sums =
                    b.loop(shape[0], 1, SmallVector<Value>(chains, zero),
                           [&](Value row, ValueRange carried) {
                             SmallVector<Value> next;
                             for (int64_t chain = 0; chain < chains; ++chain) {
                               Value value =
                                   b.load(arguments[0], {row, b.index(chain * buffers.width)});
                               next.push_back(b.fma(value, zero, carried[chain]));
                             }
                             return next;
                           });
                Value total = sums.front();
                for (Value sum : ArrayRef(sums).drop_front())
                  total = b.add(total, sum);
                Value flat = vector::ReductionOp::create(b, vector::CombiningKind::ADD, total);
                return {b.isEqual(flat, b.scalar(0))};
              })
      .front();
}
