//===- TileEnums.td - which tiles a loop visits ---------------------------===//
#ifndef LACUNA_TILE_ENUMS_TD
#define LACUNA_TILE_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Tile_Live : I32EnumAttrCase<"Live", 0, "live">;
def Tile_Full : I32EnumAttrCase<"Full", 1, "full">;
def Tile_Partial : I32EnumAttrCase<"Partial", 2, "partial">;
def Tile_TileClass : I32EnumAttr<"TileClass", "which key tiles a loop visits",
                                 [Tile_Live, Tile_Full, Tile_Partial]> {
  let cppNamespace = "::lacuna::tile";
}

#endif
