//===- Passes.td - every pass of the compiler -----------------------------===//
#ifndef LACUNA_PASSES_TD
#define LACUNA_PASSES_TD

include "compiler/Passes/SelectPasses.td"
include "mlir/Pass/PassBase.td"

def SplitSegmentsPass : Pass<"lacuna-split-segments"> {
  let summary = "one set for each pair of segments of a concatenation";
  let description = [{
    Formulas speak about one segment of queries and one of keys. The algebra over
    concatenations is applied entry by entry, so that every use of a set over a
    concatenation outside the algebra names one `sparsity.segments`. `causal`
    becomes itself on the diagonal, everything below and nothing above it.

    Requires: sets defined by ops in the same function. Leaves: no set over a
    concatenation but results of `sparsity.segments` outside dead code.

    ```mlir
    %u = sparsity.complement %s : !sparsity.set<1, 3>
    attn.attend ... over %u
    // becomes, with %s = sparsity.segments %d [[%a, %b], [%c, %e]]
    %a1 = sparsity.complement %a
    ...
    %u = sparsity.segments %d [[%a1, %b1], [%c1, %e1]] : !sparsity.domain<1, 3>
    attn.attend ... over %u
    ```
  }];
  let dependentDialects = ["::lacuna::sparsity::SparsityDialect"];
  let statistics = [
    Statistic<"setsSplit", "sets-split", "sets that became segments">
  ];
}

def AssignTilesPass : Pass<"lacuna-assign-tiles", "::mlir::func::FuncOp"> {
  let summary = "choose the tile shapes of every attend";
  let description = [{
    A program computes one query tile of one head and visits key tiles. On the
    CPU both have 64 tokens: scores of 64 x 64 f32 (16 KiB) stay in the first
    cache next to a key tile, rows fill whole vectors of any width, and a border
    wastes at most 63 rows. On a grid of r axes the 64 tokens form a box as even
    as possible (8x8, 4x4x4, 2x2x4x4): a neighbourhood then touches the fewest
    tiles. An axis of constant size takes no more than the next power of two; what
    it leaves goes to the other axes, and if all are that small the last one
    is padded, so that the number of rows stays the same.

    On sm_90a a model of the machine compares shapes (`compiler/Analysis/HopperTiles.h`,
    docs/hopper-planner.md): 64 query rows per consumer warpgroup, as many keys as
    registers and shared memory leave room for. On a grid all boxes of 128 or 192
    rows and of 64 to 176 keys are tried on the live keys of every query tile, for the
    sizes and widths that arguments have by default; extents need be neither powers
    of two nor divisors of the sizes. Domains of several segments or more than three
    axes, which that target refuses later, get even boxes.

    Where blocks are skipped by their scores, key tiles are those blocks, and query
    tiles hold whole ones; sm_90a takes query blocks of 64 alone.

    `query_tile` and `key_tile` list one extent per axis of the set's domain, for
    concatenated domains segment after segment. Attributes that are there
    already are kept. Where the query blocks of a list are too small for a
    warpgroup, `lacuna.head_tile` says how many neighbouring heads, with the same
    list and keys, share a tile on sm_90a.

    Requires: nothing beyond valid IR. Leaves: both attributes on every attend.

    ```mlir
    %o = attn.attend %q, %k, %v over %set : ...
    // becomes
    %o = attn.attend %q, %k, %v over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>} : ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "what the tiles are for: cpu or sm_90a">,
    ListOption<"queryTile", "query-tile", "int64_t",
               "tokens per query tile: one number, or one per axis of the domain">,
    ListOption<"keyTile", "key-tile", "int64_t",
               "tokens per key tile: one number, or one per axis of the domain">
  ];
  let dependentDialects = ["::lacuna::attn::AttnDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def AttnToTilePass : Pass<"lacuna-attn-to-tile", "::mlir::ModuleOp"> {
  let summary = "one kernel per attend and query segment, and a launch in its place";
  let description = [{
    Each `attn.attend` becomes a `tile.kernel` that computes one query tile of
    one head per grid point: load the rows, then for each key segment a loop over
    live tiles (load, product, score region, mask, softmax step), then finish and
    store. Kernels take all arguments of the function and the launch results
    they use; scalars and sets are computed again inside. A concatenated domain
    gives one kernel per query segment, and each overwrites its part of the
    previous one's output (`into`). `attn.merge` becomes a kernel over 64 rows.

    What shapes and sizes must satisfy at run time stands in the plan as
    `tile.require`: equal batches and lengths, heads that divide, one sink or
    per-head number for each head, grid sizes whose product is the token count.

    A set with opaque terms (`sparsity.where`) gets a kernel before it that stores
    the class of every tile of the set's hull, one byte per pair of tiles.

    Requires: tile shapes on every attend (`lacuna-assign-tiles`), one set per pair
    of segments (`lacuna-split-segments`), no select op (`lacuna-select-to-tile`),
    and functions of one block with nothing but attention, launches, sets and
    scalars.
    Leaves: no attn op; functions that hold only launches.

    ```mlir
    %o = attn.attend %q, %k, %v over %set {...} : ...
    // becomes, with @f_attend_0 in front of the function
    %o = tile.launch @f_attend_0(%q, %k, %v, %left) : (...) -> ...
    ```
  }];
  let dependentDialects = ["::lacuna::tile::TileDialect"];
}

def PeelFullTilesPass : Pass<"lacuna-peel-full-tiles"> {
  let summary = "split loops over live tiles so that masks stand only in partial tiles";
  let description = [{
    A loop over live tiles masks every tile. Most live tiles of a long sequence
    are full: visiting those first, in a loop of their own whose body has no
    mask, leaves the mask to the few partial ones.

    Ascending loops stay: two would visit full tiles first.

    Requires: nothing beyond valid IR. Leaves: of `tile.for_each live` ascending ones only.

    ```mlir
    %r = tile.for_each live %set ... { mask; step }
    // becomes
    %f = tile.for_each full %set ... init(%init) { step }
    %r = tile.for_each partial %set ... init(%f) { mask; step }
    ```
  }];
  let statistics = [
    Statistic<"loopsPeeled", "loops-peeled", "loops over live tiles that were split">
  ];
}

def ExpandMasksPass : Pass<"lacuna-expand-masks"> {
  let summary = "turn masks over sets into predicates on indices";
  let description = [{
    A mask that names a set becomes a mask that holds the set's predicate. What
    is the same for every pair of the tile, such as a width that is read per
    head, is computed before the mask.

    Requires: sets defined by ops in the same function or kernel. Leaves: no
    `tile.mask ... over`.

    ```mlir
    %m = tile.mask %s[%b, %h] over %set query (%i) ... key (%j) ...
    // becomes
    %m = tile.mask %s[%b, %h] query (%i) ... key (%j) ... where {
    ^bb0(%qi: index, %kj: index):
      %live = ...
      tile.yield %live : i1
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"masksExpanded", "masks-expanded", "masks that became predicates">
  ];
}

def ExpandFootprintsPass : Pass<"lacuna-expand-footprints"> {
  let summary = "turn loops over a set's key tiles into loops with closed-form bounds";
  let description = [{
    The key tiles of the wanted class are a union of disjoint boxes whose bounds
    are functions of the query tile and of run-time numbers (see
    `compiler/Analysis/Footprint.h`). Each box becomes a nest of `scf.for`; the
    carried values pass through the nests in order. Sets that nothing uses any
    more are erased.

    Key tiles lie on a grid from key 0. With `unaligned`, those of sets on several
    axes start at the first key that the query tile sees, which takes fewer of
    them; each is tested for being full. Sets whose footprint is not one box keep
    the grid.

    An `ascending` loop becomes one, also where its tiles are several boxes, with a
    test for what lies between them; each tile is tested for being full.

    Requires: masks expanded (`lacuna-expand-masks`), sets defined by ops in the
    same function or kernel. Leaves: no `tile.for_each` and no sparsity op.

    ```mlir
    %r = tile.for_each full %window[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64]
        init(%x : T) { ^bb0(%j: index, %x0: T): ... }
    // becomes
    %r = scf.for %t = %lower to %upper step %c1 iter_args(%x0 = %x) -> (T) {
      %j = arith.muli %t, %c64 : index
      ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"unaligned", "unaligned", "bool", "false",
           "key tiles of sets on several axes may start at any key">
  ];
}

def AttnToCountsPass : Pass<"lacuna-attn-to-counts", "::mlir::ModuleOp"> {
  let summary = "replace attention by kernels that count its live pairs and tiles";
  let description = [{
    For `lacuna explain` and for the counts of `lacuna run`. The loops are those
    that attention itself would run: over tiles of the shapes that the attend has,
    and over tiles of one query and one key for the pairs; each visit adds one.
    Tiles of sets with opaque terms are classified one by one.

    Per attend, query segment and key segment the function returns one tensor
    (i64, batch x head x query tile x 5): live pairs, live tiles, full tiles, all
    pairs, all tiles. An extent of 1 for batch or head says that all of them are
    alike.

    Requires: tile shapes on every attend (`lacuna-assign-tiles`), one set per pair
    of segments (`lacuna-split-segments`), functions of one block.
    Leaves: no attn op; functions that hold only launches and return counts.

    ```mlir
    func.func @f(...) -> tensor<...> { %o = attn.attend ... return %o }
    // becomes
    func.func @f(...) -> tensor<?x?x?x5xi64> {
      %c = tile.launch @f_set_0(...) : ...
      return %c : tensor<?x?x?x5xi64>
    }
    ```
  }];
  let dependentDialects = ["::lacuna::tile::TileDialect", "::mlir::tensor::TensorDialect"];
}

def AttnToMapPass : Pass<"lacuna-attn-to-map", "::mlir::ModuleOp"> {
  let summary = "replace attention by kernels that write the class of every tile";
  let description = [{
    For `lacuna plot`. Per attend, query segment and key segment the function
    returns one tensor (i8, batch x head x query tile x key tile): 0 for an empty
    tile, 1 for a partial and 2 for a full one, as the loops of attention find
    them. With `elements` rows are queries and columns keys, and the class of a
    live pair is 2. An extent of 1 for batch or head says that all are alike.

    Requires: tile shapes on every attend (`lacuna-assign-tiles`), one set per pair
    of segments (`lacuna-split-segments`), functions of one block.
    Leaves: no attn op; functions that hold only launches and return maps.

    ```mlir
    func.func @f(...) -> tensor<...> { %o = attn.attend ... return %o }
    // becomes
    func.func @f(...) -> tensor<?x?x?x?xi8> {
      %m = tile.launch @f_set_0(...) : ...
      return %m : tensor<?x?x?x?xi8>
    }
    ```
  }];
  let options = [Option<"elements", "elements", "bool", "false", "one cell per pair, not per tile">];
  let dependentDialects = ["::lacuna::tile::TileDialect", "::mlir::tensor::TensorDialect"];
}

def SeparateResultsPass : Pass<"lacuna-separate-results", "::mlir::func::FuncOp"> {
  let summary = "give each result of a function memory of its own";
  let description = [{
    A launch on a GPU writes its results where the caller wants them. Where a
    function returns a value twice, or one whose memory a later launch overwrites
    in part (`into`), the launches that make it run again into memory of its own.

    Requires: functions of launches (`lacuna-attn-to-tile`, `lacuna-select-to-tile`).
    Leaves: returned values of different launches or of different outputs.

    ```mlir
    return %o, %o
    // becomes, with the launch that makes %o once more
    return %o, %p
    ```
  }];
}

def TileToHopperPass : Pass<"lacuna-tile-to-hopper"> {
  let summary = "split an attention program into a producer's walk and consumers' element functions";
  let description = [{
    On Hopper one thread feeds the copy engine and whole warpgroups do the
    arithmetic. The loops over key tiles go to the producer; what each tile
    needs beyond the product (score function, mask) becomes an element function,
    one per distinct combination and source of keys, chosen by the tile's kind.
    In a kernel with `lacuna.head_tile` a point of the grid stands for so many heads,
    whose rows are one tile.

    Requires: masks as predicates (`lacuna-expand-masks`), loops with bounds
    (`lacuna-expand-footprints`), f16 or bf16 inputs, head dimensions of 32 to
    256 in steps of 8, at most three axes, as many keys in the tiles of every
    segment. Leaves: kernels of scalars and one `hopper.attend`, whose pipeline is
    still open (`lacuna-hopper-assign-roles` and the passes after it).

    ```mlir
    %r:3 = scf.for %j = %lo to %hi step %one iter_args(...) {
      %k = tile.load ...   %v = tile.load ...
      %s = tile.dot %q, %k ...
      %t = tile.mask %s ... where { predicate }
      %n:3 = tile.softmax_step %t, %v into ...
    }
    %o, %l = tile.finish %r#0, %r#1, %r#2
    // becomes
    hopper.attend %q ... walk {
      scf.for %j = %lo to %hi step %one { hopper.tile kind 0 ... at (%j) ... }
    } elements {
    ^bb0(%s: f32, %i: index, %j: index):
      hopper.yield (predicate ? %s : -inf)
    }
    ```
  }];
  let dependentDialects = ["::lacuna::hopper::HopperDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

def FactorMasksPass : Pass<"lacuna-factor-masks"> {
  let summary = "turn comparisons of key coordinates into bounds of element functions";
  let description = [{
    A mask is a conjunction. Those of its terms that compare one key coordinate
    with something of the query become a lower and an upper bound per key axis,
    which a thread evaluates once a row; what is left (a residue, a document)
    stays a predicate of each pair.

    Requires: element functions (`lacuna-tile-to-hopper`). Leaves: the same
    function of each pair.

    ```mlir
    ^bb0(%score: f32, %i: index, %j: index):
      %causal = arith.cmpi sle, %j, %i : index
      %result = arith.select %causal, %score, %minus_inf : f32
      hopper.yield %result
    // becomes
    ^bb0(%score: f32, %i: index, %j: index):
      %end = arith.addi %i, %c1 : index
      hopper.yield %score within (%c0) to (%end)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::lacuna::hopper::HopperDialect"];
  let statistics = [
    Statistic<"masksFactored", "masks-factored", "element functions that got bounds">
  ];
}

def HopperPackTilesPass : Pass<"lacuna-hopper-pack-tiles"> {
  let summary = "pack small key blocks of a list into one tile";
  let description = [{
    Where the walk goes along a list, `keys` becomes the largest multiple of the
    boxes' keys, at most 128, that fits into registers and shared memory. Boxes
    that follow each other and have no mask then share a tile. Query tiles of one
    warpgroup run in two blocks on a multiprocessor where both fit. Boxes of fewer
    than 16 keys, which are gathered, share tiles whatever their masks.

    Requires: `lacuna-tile-to-hopper`. Leaves: tiles that are a part of `keys`.

    ```mlir
    hopper.attend ... keys 32 ... walk { scf.for ... hopper.tile kind 0 ... box [32] }
    // becomes
    hopper.attend ... keys 128 ... walk { scf.for ... hopper.tile kind 0 ... box [32] }
    ```
  }];
}

def HopperAssignRolesPass : Pass<"lacuna-hopper-assign-roles"> {
  let summary = "consumer warpgroups and the registers of each role";
  let description = [{
    One consumer warpgroup per 64 query rows, and one warpgroup for the producer,
    which needs 32 registers per thread where its walk over key tiles keeps no more
    than six values, 56 up to 20, and more beyond. What is left of the 65,536 goes to
    the consumers in steps of 8: 240 per thread with one of them, 224 with two, 160 or
    152 with three; and what they leave goes back to the producer.
    `consumer-registers` overrides that; what is impossible the op refuses.

    Requires: `hopper.attend` ops. Leaves: `consumers`, `producer_registers` and
    `consumer_registers` on each.

    ```mlir
    hopper.attend %q ... box [128] ... {value_dim = 128}
    // becomes
    hopper.attend %q ... box [128] ... {value_dim = 128, consumers = 2, producer_registers = 64,
                                        consumer_registers = 224}
    ```
  }];
  let options = [
    Option<"consumerRegisters", "consumer-registers", "int64_t", "0",
           "registers per consumer thread, a multiple of 8; 0 chooses">
  ];
}

def HopperPlaceRingsPass : Pass<"lacuna-hopper-place-rings"> {
  let summary = "query slots and stages of keys and values in shared memory";
  let description = [{
    Shared memory (227 KiB) is filled in the order of what each step is worth: two
    stages of keys and values, without which nothing overlaps; a second query
    slot, which hides the prologue of the next work item and lets the output
    leave while it starts; then deeper rings, up to four stages. Options fix
    either number; what does not fit the op refuses.

    Requires: `hopper.attend` ops. Leaves: `stages` and `query_slots` on each.

    ```mlir
    hopper.attend %q ... box [128] keys 128 ... {value_dim = 128}
    // becomes
    hopper.attend %q ... box [128] keys 128 ... {value_dim = 128, stages = 2, query_slots = 2}
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "0", "depth of the rings of keys and values; 0 chooses">,
    Option<"querySlots", "query-slots", "int64_t", "0", "query tiles in shared memory; 0 chooses">
  ];
}

def HopperSchedulePass : Pass<"lacuna-hopper-schedule"> {
  let summary = "whether warpgroups take turns, and which work items come first";
  let description = [{
    With `ping-pong` the warpgroups of a block take turns at the tensor cores: while
    one multiplies, the other computes exponentials. The overlap inside each
    warpgroup does most of that already, so it is off unless asked for.

    Work items are handed out one by one, so the last ones should be short. The key
    tiles of a head's first and last query tile are counted for typical sizes; if the
    first has more, items are `ascending`. Otherwise the last query tile comes
    first, which is right for causal sets.

    Requires: `hopper.attend` ops. Leaves: `ping_pong` and `ascending` where they
    apply.

    ```mlir
    hopper.attend %q ... walk { scf.for %j = %i to %n ... } ... {value_dim = 128}
    // becomes
    hopper.attend %q ... walk { scf.for %j = %i to %n ... } ... {ascending, value_dim = 128}
    ```
  }];
  let options = [
    Option<"pingPong", "ping-pong", "bool", "false", "warpgroups take turns at the tensor cores">
  ];
}

def TileToCpuPass : Pass<"lacuna-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "turn kernels into functions on buffers and vectors";
  let description = [{
    Each `tile.kernel @k` becomes two functions. `@k_plan(inputs..., out)` writes
    to `out` 0, the grid's extents and the outputs' extents; or, when a
    requirement fails, its number (from 1) and the values of its message.
    `@k_body(inputs..., outputs..., extents..., begin, end)` computes the grid
    points `begin` to `end`, numbered with the last axis fastest; points are
    independent, so any split over threads gives the same bits. Inputs are
    memrefs with any strides.

    A tile is a buffer of f32 on the stack. Scores lie as `keys x rows` and
    accumulators as `channels x rows`: a vector holds neighbouring query rows, both
    products broadcast a scalar of the key or value against it, and the softmax
    goes lane by lane. Work on whole tiles stands in private functions, one per
    shape, which all loops share.

    Functions that hold launches are erased: the launch sequence is the host's,
    which reads it before this pass.

    Requires: no set left (`lacuna-expand-masks`, `lacuna-expand-footprints`).
    Leaves: func, scf, memref, vector, arith, math and cf.

    ```mlir
    tile.kernel @k plan { ... } body { ... }
    // becomes
    func.func @k_plan(%q: memref<...>, ..., %out: memref<?xi64>) { ... }
    func.func @k_body(%q: memref<...>, ..., %o: memref<...>, %grid: index, %begin: index, %end: index) {
      scf.for %point = %begin to %end step %c1 { ... }
      return
    }
    ```
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", "8",
           "f32 lanes of a vector: 4, 8 or 16">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
}

def CpuToLlvmPass : Pass<"lacuna-cpu-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower functions on buffers and vectors to the LLVM dialect";
  let description = [{
    Expands what has no instruction (floor division, 16-bit conversions,
    elementary functions), then converts every dialect in one go.

    Requires: what `lacuna-tile-to-cpu` leaves. Leaves: the LLVM dialect only.

    ```mlir
    func.func @f(%x: f32) -> f32 { %y = arith.addf %x, %x : f32  return %y : f32 }
    // becomes
    llvm.func @f(%x: f32) -> f32 { %y = llvm.fadd %x, %x : f32  llvm.return %y : f32 }
    ```
  }];
  let options = [
    Option<"nativeHalf", "native-half", "bool", "true", "the CPU converts between f16 and f32">,
    Option<"nativeFma", "native-fma", "bool", "true", "the CPU multiplies and adds in one step">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect"];
}

#endif
