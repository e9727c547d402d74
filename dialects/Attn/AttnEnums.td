//===- AttnEnums.td - feature maps of linear attention --------------------===//
#ifndef LACUNA_ATTN_ENUMS_TD
#define LACUNA_ATTN_ENUMS_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Attn_FeatureAttr : I32EnumAttr<"Feature", "what a row of channels becomes", [
    I32EnumAttrCase<"Softmax", 0, "softmax">, I32EnumAttrCase<"Relu", 1, "relu">,
    I32EnumAttrCase<"Elu", 2, "elu">, I32EnumAttrCase<"Exp", 3, "exp">,
    I32EnumAttrCase<"Identity", 4, "identity">]> {
  let cppNamespace = "::lacuna::attn";
}

#endif
