//===- TileTypes.td - tiles -----------------------------------------------===//
#ifndef LACUNA_TILE_TYPES_TD
#define LACUNA_TILE_TYPES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::lacuna::tile";
  let summary = "one program per kernel, on tiles of tokens and scores";
  let description = [{
    Structured control flow over tiles: no thread, no shared memory. A kernel
    computes one query tile of one head; loops over key tiles visit the live
    ones, and a mask stands only in a loop over partial tiles.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::lacuna::sparsity::SparsityDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
                           "::mlir::memref::MemRefDialect"];
}

def Tile_Tile : TypeDef<TileDialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "a small matrix or vector that one program holds";
  let description = [{
    `!tile.tile<64x128xbf16>` is 64 tokens of 128 channels, `!tile.tile<64x64xf32>`
    a tile of scores, `!tile.tile<64xf32>` one value a row.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape().front(); }
    int64_t getColumns() const { return getShape().back(); }
  }];
}

#endif
