//===- SparsityGridSets.td - sets given by distances per axis -------------===//
#ifndef LACUNA_SPARSITY_GRID_SETS_TD
#define LACUNA_SPARSITY_GRID_SETS_TD

def Sparsity_BlockDiagonalOp : Sparsity_LeafOp<"block_diagonal", ["emitTerm"],
    [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "pairs inside the same block";
  let description = [{
    Live pairs: `p_d(i) div n_d == j_d div n_d` on every axis d. A run-time n
    below 1 counts as 1.

    ```mlir
    %chunk = sparsity.block_diagonal 128
    %cube = sparsity.block_diagonal [4, 8, 8] in %video : !sparsity.domain<3>
    ```
  }];
  let arguments = (ins Variadic<Sparsity_Number>:$sizes, DenseI64ArrayAttr:$static_sizes,
                       Optional<Sparsity_Domain>:$domain, UnitAttr:$from_start);
  let assemblyFormat = [{
    custom<NumberList>($sizes, type($sizes), $static_sizes)
    (`from_start` $from_start^)? (`in` $domain^ `:` type($domain))? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Sparsity_Norm : I32EnumAttr<"Norm", "how distances per axis combine", [
    I32EnumAttrCase<"Box", 0, "box">, I32EnumAttrCase<"L1", 1, "l1">,
    I32EnumAttrCase<"L2", 2, "l2">]> {
  let cppNamespace = "::lacuna::sparsity";
}

def Sparsity_Border : I32EnumAttr<"Border", "what a neighbourhood does at the border", [
    I32EnumAttrCase<"Clip", 0, "clip">, I32EnumAttrCase<"Shift", 1, "shift">]> {
  let cppNamespace = "::lacuna::sparsity";
}

def Sparsity_RadiusOp : Sparsity_LeafOp<"radius", ["emitTerm"], [InferTypeOpAdaptor]> {
  let summary = "keys near the query on a grid";
  let description = [{
    Write `x_d = p_d(i) div u_d` and `y_d = j_d div u_d` with the `unit` u (1 by
    default), and `t` for the `dilation` (1 by default).

    `norm(box)`, the default, with a radius per axis: on every axis
    `(x_d - y_d) mod t_d == 0` and
    * border `clip`: `|x_d - y_d| <= r_d t_d`, and `y_d <= x_d` on a causal axis;
    * border `shift`: of the `2 r_d + 1` units with the query's residue mod t_d
      that are centred on x_d, those that remain when the window moves as little
      as needed to stay inside the axis (on a causal axis: inside `[0, x_d]`);
      the whole axis when it is shorter.

    `norm(l1)`, with one radius: `sum_d |x_d - y_d| <= r`; `norm(l2)`:
    `sum_d (x_d - y_d)^2 <= r^2` with `r >= 0`; and `y_d <= x_d` on causal axes.

    `causal` lists axes. A negative radius makes the set empty.

    ```mlir
    %near = sparsity.radius [2, 5, %r] in %video : !sparsity.domain<3>
    %natten = sparsity.radius [3, 3] border(shift) dilation [1, 2] in %image : !sparsity.domain<2>
    %sliding = sparsity.radius [1, 1, 1] border(shift) unit [6, 8, 8] in %video : !sparsity.domain<3>
    ```
  }];
  let arguments = (ins Variadic<Sparsity_Number>:$radii, DenseI64ArrayAttr:$static_radii,
                       Sparsity_Domain:$domain,
                       DefaultValuedAttr<Sparsity_Norm, "::lacuna::sparsity::Norm::Box">:$norm,
                       DefaultValuedAttr<Sparsity_Border,
                                         "::lacuna::sparsity::Border::Clip">:$border,
                       OptionalAttr<DenseI64ArrayAttr>:$causal,
                       OptionalAttr<DenseI64ArrayAttr>:$dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$unit, UnitAttr:$from_start);
  let assemblyFormat = [{
    custom<NumberList>($radii, type($radii), $static_radii)
    (`norm` `` `(` $norm^ `)`)? (`border` `` `(` $border^ `)`)? (`causal` $causal^)?
    (`dilation` $dilation^)? (`unit` $unit^)? (`from_start` $from_start^)?
    `in` $domain `:` qualified(type($domain)) attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Sparsity_BandsOp : Sparsity_LeafOp<"bands", [], [InferTypeOpAdaptor]> {
  let summary = "a window over tokens that narrows with the distance in frames";
  let description = [{
    On a grid of frames and tokens per frame, with `f = |p_0(i) - j_0|` and
    `s = |p_1(i) - j_1|`. Live pairs: for some level l in `0 .. levels - 1`,
    `f < near * 2^(l+1)` and `s <= width floordiv 2^l`. In words: the window has
    the full width up to a distance of `2 near - 1` frames, then it halves each
    time the distance doubles; there is nothing from `near * 2^levels` frames on.
    `near` is 1 by default.

    ```mlir
    %decay = sparsity.bands 256 levels 5 in %frames : !sparsity.domain<2>
    ```
  }];
  let arguments = (ins Optional<Sparsity_Number>:$width, OptionalAttr<I64Attr>:$width_value,
                       I64Attr:$levels, DefaultValuedAttr<I64Attr, "1">:$near,
                       Sparsity_Domain:$domain, UnitAttr:$from_start);
  let assemblyFormat = [{
    custom<Count>($width, type($width), $width_value) `levels` $levels (`near` $near^)?
    (`from_start` $from_start^)? `in` $domain `:` qualified(type($domain)) attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif
