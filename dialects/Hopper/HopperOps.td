//===- HopperOps.td - roles, rings and element functions ------------------===//
#ifndef LACUNA_HOPPER_OPS_TD
#define LACUNA_HOPPER_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HopperDialect : Dialect {
  let name = "hopper";
  let cppNamespace = "::lacuna::hopper";
  let summary = "warp roles and pipelines of an sm_90a kernel";
  let description = [{
    A kernel body at this level holds scalar arithmetic and one `hopper.attend`,
    which names every decision of the pipeline: tile, stages, warpgroups,
    registers. The printer of CUDA C++ adds none.
  }];
}

class Hopper_Op<string opMnemonic, list<Trait> traits = []>
    : Op<HopperDialect, opMnemonic, traits>;

def Hopper_AttendOp : Hopper_Op<"attend", [AttrSizedOperandSegments, NoTerminator, SingleBlock,
                                           MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one query tile: a producer walks key tiles, warpgroups consume them";
  let description = [{
    The producer runs `walk`, whose `hopper.tile` ops name the key tiles in
    order. Each has `keys` keys, or a part of them: then tiles that follow each
    other and have no mask are packed into one of `keys` keys. Boxes of fewer than
    16 keys of a sequence are gathered: whatever their masks, as many as there is room for
    share a tile, and every thread of the producer's warpgroup copies rows. Each of
    `consumers` warpgroups owns 64 rows of
    the query tile (`query_box`, at `at`, on a grid of `sizes` whose first token
    is row `base` of the query tensor, of each of `heads` heads from `head` on) and for each key tile computes
    `scale * q k^T`, applies the element function of the tile's kind, and
    absorbs the result as `tile.softmax_step` does. The output and the natural
    LSE are written at the end as `tile.finish` says, to the query's rows.

    `elements` has one region per kind: its block has the score, the query's and
    the key's coordinates, and `hopper.yield` returns the new score. Tiles of one
    kind have one box. With `natural` the element functions get scaled scores;
    without it they get the raw products, which is right for masks alone, and
    the scale is folded into the exponential.

    With `skip`, a warpgroup leaves the softmax and the second product of a tile
    out as `tile.skip` says, for blocks of its 64 rows and the keys of a tile, and
    marks the blocks that it took in `taken`, whose bytes of the query tile are 0
    at first.

    `stages` is the depth of the key and the value ring, `query_slots` how many
    query tiles are in shared memory, `ping_pong` whether warpgroups take turns
    at the tensor cores. The register counts are those of `setmaxnreg`. Work items
    go from the last query tile to the first, which ends with short ones under
    causality, or from the first to the last with `ascending`. `blocks` thread
    blocks share a multiprocessor.
  }];
  let arguments = (ins AnyRankedTensor:$query, Index:$batch, Index:$head, Variadic<Index>:$at,
                       Variadic<Index>:$sizes, Index:$base, Optional<F32>:$sink, AnyMemRef:$output,
                       Optional<AnyMemRef>:$lse, Optional<AnyRankedTensor>:$below,
                       Optional<AnyMemRef>:$taken, DenseI64ArrayAttr:$query_box,
                       I64Attr:$keys, I64Attr:$value_dim, F32Attr:$scale,
                       OptionalAttr<F32Attr>:$margin,
                       UnitAttr:$natural,
                       OptionalAttr<I64Attr>:$consumers, OptionalAttr<I64Attr>:$stages,
                       OptionalAttr<I64Attr>:$query_slots,
                       OptionalAttr<I64Attr>:$producer_registers,
                       OptionalAttr<I64Attr>:$consumer_registers, UnitAttr:$ping_pong,
                       UnitAttr:$ascending, DefaultValuedAttr<I64Attr, "1">:$blocks,
                       DefaultValuedAttr<I64Attr, "1">:$heads);
  let regions = (region SizedRegion<1>:$walk, VariadicRegion<SizedRegion<1>>:$elements);
  let assemblyFormat = [{
    $query `[` $batch `,` $head `]` `at` `(` $at `)` `of` `(` $sizes `)` `base` $base `box` $query_box
    `keys` $keys (`sink` $sink^)? `into` $output (`,` $lse^)?
    (`skip` `into` $taken^ `:` type($taken))? (`below` $below^ `:` type($below))?
    (`margin` $margin^)? `scale` $scale
    `walk` $walk `elements` $elements attr-dict
    `:` type($query) `->` type($output) (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Query rows of one tile: those of the box in each head.
    int64_t getRows();
    int64_t getRowsOfHead();
    /// Dynamic shared memory; the rings must have been placed.
    int64_t getSharedBytes();
    /// Keys of the boxes that the walk names: `keys`, or a part of them. At least 1.
    int64_t getPieceKeys();
    /// Whether keys are gathered one by one: boxes are too short for the copy engine.
    bool isGathered();
    /// The key box of tiles of a kind; empty for a kind that the walk never names.
    ::llvm::ArrayRef<int64_t> getKeyBox(unsigned kind);
  }];
}

def Hopper_TileOp : Hopper_Op<"tile", [AttrSizedOperandSegments,
                                       MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the producer's word for one key tile";
  let description = [{
    Copies the keys and values of the box at `at` on a grid of `sizes`, whose
    first token is row `base` of both tensors, into the rings and tells the
    consumers the tile's place and which element function applies. Tokens outside
    the grid arrive as zero.
  }];
  let arguments = (ins I64Attr:$kind, AnyRankedTensor:$key, AnyRankedTensor:$value, Index:$batch,
                       Index:$head, Variadic<Index>:$at, Variadic<Index>:$sizes, Index:$base,
                       DenseI64ArrayAttr:$box);
  let assemblyFormat = [{
    `kind` $kind $key `,` $value `[` $batch `,` $head `]` `at` `(` $at `)` `of` `(` $sizes `)`
    `base` $base `box` $box attr-dict `:` type($key) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Hopper_YieldOp : Hopper_Op<"yield", [Pure, Terminator, AttrSizedOperandSegments]> {
  let summary = "the score an element function returns";
  let description = [{
    With bounds, one pair per key axis, the pair's score is `score` where
    `lower[a] <= key[a] < upper[a]` on every axis and -inf elsewhere. Bounds
    depend on the query alone, so that a thread turns them into a mask of bits
    once a row.
  }];
  let arguments = (ins F32:$score, Variadic<Index>:$lower, Variadic<Index>:$upper);
  let assemblyFormat = "$score (`within` `(` $lower^ `)` `to` `(` $upper `)`)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::Value":$score),
      "build($_builder, $_state, score, ::mlir::ValueRange(), ::mlir::ValueRange());">];
  let extraClassDeclaration = [{
    /// Whether live pairs keep the score that the element function got.
    bool keepsScore() { return getScore() == (*this)->getBlock()->getArgument(0); }
    /// Whether all pairs do.
    bool isIdentity() { return keepsScore() && getLower().empty(); }
  }];
}

#endif
