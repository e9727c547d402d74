//===- ScalarLowering.cpp - what stands between tile ops ------------------===//
#include "compiler/Cpu/ScalarLowering.h"

#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace lacuna;

Type lacuna::convertInputType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  SmallVector<int64_t> strides(tensor.getRank(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(tensor.getShape(), tensor.getElementType(), layout);
}

/// A constant tensor as a read-only global of the module.
static LogicalResult cloneConstant(OpBuilder &builder, arith::ConstantOp op, IRMapping &mapping) {
  auto type = cast<RankedTensorType>(op.getType());
  Location loc = op.getLoc();
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  OpBuilder atModule(module.getContext());
  auto global = memref::GlobalOp::create(atModule, loc, "constant",
                                         atModule.getStringAttr("private"), plain, op.getValue(),
                                         /*constant=*/true, /*alignment=*/IntegerAttr());
  SymbolTable(module).insert(global);
  Value address = memref::GetGlobalOp::create(builder, loc, plain, global.getSymName());
  mapping.map(op.getResult(),
              memref::CastOp::create(builder, loc, convertInputType(type), address).getResult());
  return success();
}

/// An element, or 0 where the place lies outside: a user's region may ask for any.
static Value loadInside(OpBuilder &builder, Location loc, Value buffer, ValueRange at) {
  Value inside;
  for (auto [axis, index] : llvm::enumerate(at)) {
    Value extent = memref::DimOp::create(builder, loc, buffer, axis);
    // Negative places are large unsigned ones.
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, extent);
    inside = inside ? arith::AndIOp::create(builder, loc, inside, below).getResult() : below;
  }
  if (!inside)
    return memref::LoadOp::create(builder, loc, buffer, at);
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  auto branch = scf::IfOp::create(builder, loc, type, inside, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value element = memref::LoadOp::create(builder, loc, buffer, at);
  scf::YieldOp::create(builder, loc, element);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  scf::YieldOp::create(builder, loc, zero);
  return branch.getResult(0);
}

LogicalResult lacuna::cloneScalarOp(OpBuilder &builder, Operation &op, IRMapping &mapping) {
  Location loc = op.getLoc();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    mapping.map(dim.getResult(),
                memref::DimOp::create(builder, loc, mapping.lookup(dim.getSource()),
                                      mapping.lookup(dim.getIndex()))
                    .getResult());
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> at;
    for (Value index : extract.getIndices())
      at.push_back(mapping.lookup(index));
    mapping.map(extract.getResult(),
                loadInside(builder, loc, mapping.lookup(extract.getTensor()), at));
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && isa<RankedTensorType>(constant.getType()))
    return cloneConstant(builder, constant, mapping);

  bool tensors = llvm::any_of(op.getOperandTypes(), llvm::IsaPred<TensorType>) ||
                 llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
  if (tensors || isa<tile::TileDialect, sparsity::SparsityDialect>(op.getDialect()))
    return op.emitError("expected an op that the CPU target can run here, got '")
           << op.getName() << "'";
  Operation *clone = op.cloneWithoutRegions(mapping);
  builder.insert(clone);
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), clone->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    for (Block &block : from) {
      SmallVector<Location> locations(block.getNumArguments(), loc);
      Block *copy = builder.createBlock(&to, to.end(), block.getArgumentTypes(), locations);
      mapping.map(&block, copy);
      mapping.map(block.getArguments(), copy->getArguments());
    }
    for (Block &block : from) {
      builder.setInsertionPointToEnd(mapping.lookup(&block));
      for (Operation &inner : block)
        if (failed(cloneScalarOp(builder, inner, mapping)))
          return failure();
    }
  }
  return success();
}

FailureOr<Value> lacuna::emitPredicate(OpBuilder &builder, Region &region, IRMapping mapping,
                                       ValueRange arguments) {
  if (region.empty())
    return Value();
  Block &block = region.front();
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    if (failed(cloneScalarOp(builder, op, mapping)))
      return failure();
  return mapping.lookup(block.getTerminator()->getOperand(0));
}
