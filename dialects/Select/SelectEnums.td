//===- SelectEnums.td - kinds of summaries, scores and choices ------------===//
#ifndef LACUNA_SELECT_ENUMS_TD
#define LACUNA_SELECT_ENUMS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

class Select_Enum<string name, string what, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::lacuna::select";
}

def Select_SummaryAttr : Select_Enum<"Summary", "what is kept of a block", [
  I32EnumAttrCase<"Mean", 0, "mean">, I32EnumAttrCase<"Sum", 1, "sum">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"Variance", 4, "variance">, I32EnumAttrCase<"First", 5, "first">,
  I32EnumAttrCase<"Radius", 6, "radius">, I32EnumAttrCase<"Norm", 7, "norm">,
  I32EnumAttrCase<"Similarity", 8, "similarity">, I32EnumAttrCase<"Count", 9, "count">]>;

def Select_ScoreKindAttr : Select_Enum<"ScoreKind", "how a query row meets a key row", [
  I32EnumAttrCase<"Dot", 0, "dot">, I32EnumAttrCase<"Box", 1, "box">,
  I32EnumAttrCase<"Ball", 2, "ball">, I32EnumAttrCase<"Quadratic", 3, "quadratic">]>;

def Select_ReductionAttr : Select_Enum<"Reduction", "how a block becomes one score", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"LogSumExp", 3, "log_sum_exp">]>;

def Select_RuleAttr : Select_Enum<"Rule", "how many columns are chosen", [
  I32EnumAttrCase<"TopK", 0, "top_k">, I32EnumAttrCase<"Share", 1, "share">,
  I32EnumAttrCase<"TopP", 2, "top_p">, I32EnumAttrCase<"Above", 3, "above">,
  I32EnumAttrCase<"NearMax", 4, "near_max">, I32EnumAttrCase<"Deviation", 5, "deviation">]>;

def Select_ScopeAttr : Select_Enum<"Scope", "which candidates compete", [
  I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Head", 1, "head">,
  I32EnumAttrCase<"Batch", 2, "batch">]>;

#endif
