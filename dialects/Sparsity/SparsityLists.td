//===- SparsityLists.td - sets that memory lists ---------------------------===//
#ifndef LACUNA_SPARSITY_LISTS_TD
#define LACUNA_SPARSITY_LISTS_TD

def Sparsity_BlocksOp : Sparsity_LeafOp<"blocks", ["emitTerm"], [InferTypeOpAdaptor]> {
  let summary = "key blocks that a list names for each query block";
  let description = [{
    Queries and keys are cut into blocks of `query` and `key` tokens, boxes on a
    grid, numbered in row-major order. Query block t of head h in batch entry b
    attends to the key blocks `ids[b, h div group, t, e]` for
    `0 <= e < counts[b, h div group, t]`.

    Live pairs: `block(j)` is one of them, where t is the block of the query's
    own coordinates. Ids that name no block are skipped, a count below 0 is 0 and
    one beyond the list's capacity is the capacity. Ids of one list must differ.

    `ids` has the shape batch x lists x query blocks x capacity, `counts` the same
    without the last. A batch or list extent that is the constant 1 serves all
    batch entries or heads; otherwise there is a list for each `group` query
    heads.

    ```mlir
    %set = sparsity.blocks %ids, %counts query [128] key [128]
        : tensor<?x16x?x?xi32>, tensor<?x16x?xi32>
    %cubes = sparsity.blocks %ids, %counts query [4, 4, 4] key [4, 4, 4] group 4
        in %video : tensor<1x4x?x?xi32>, tensor<1x4x?xi32>, !sparsity.domain<3>
    ```
  }];
  let arguments = (ins 4DTensorOf<[I32, I64, Index]>:$ids, 3DTensorOf<[I32, I64, Index]>:$counts,
                       DenseI64ArrayAttr:$query, DenseI64ArrayAttr:$key,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       Optional<Sparsity_Domain>:$domain);
  let assemblyFormat = [{
    $ids `,` $counts `query` $query `key` $key (`group` $group^)? (`in` $domain^)? attr-dict `:`
    type($ids) `,` type($counts) (`,` type($domain)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where the list of one query block stands: batch entry, list and query block, clamped to
    /// extents of 1.
    ::llvm::SmallVector<::mlir::Value> emitListIndex(::mlir::OpBuilder &builder,
                                                     ::mlir::Location loc,
                                                     const PairContext &pair);
    /// Entries of that list, from 0 to the capacity.
    ::mlir::Value emitCount(::mlir::OpBuilder &builder, ::mlir::Location loc,
                            ::mlir::ValueRange list);
    /// Number of the block that entry `entry` names, moved to -1 or one behind the last block when
    /// there is no such block.
    ::mlir::Value emitBlock(::mlir::OpBuilder &builder, ::mlir::Location loc,
                            ::mlir::ValueRange list, ::mlir::Value entry,
                            const PairContext &pair);
  }];
}

def Sparsity_BitmapOp : Sparsity_LeafOp<"bitmap", ["emitTerm"], [InferTypeOpAdaptor]> {
  let summary = "key blocks that a map of bytes marks for each query block";
  let description = [{
    Blocks as those of `sparsity.blocks`. Live pairs:
    `mask[b, h div group, block(i), block(j)] != 0`. `mask` has the shape
    batch x lists x query blocks x key blocks; an extent of batch or lists that
    is the constant 1 serves all batch entries or heads.

    Each pair of blocks costs a byte, and attention has to look at all of them.
    Where a set allows it, `lacuna-bitmaps-to-lists` makes lists first.

    ```mlir
    %set = sparsity.bitmap %mask query [128] key [64] : tensor<?x16x?x?xi8>
    %cubes = sparsity.bitmap %mask query [4, 4, 4] key [4, 4, 4] group 4 in %video
        : tensor<1x4x?x?xi8>, !sparsity.domain<3>
    ```
  }];
  let arguments = (ins 4DTensorOf<[I8]>:$mask, DenseI64ArrayAttr:$query, DenseI64ArrayAttr:$key,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       Optional<Sparsity_Domain>:$domain);
  let assemblyFormat = [{
    $mask `query` $query `key` $key (`group` $group^)? (`in` $domain^)? attr-dict `:`
    type($mask) (`,` type($domain)^)?
  }];
  let hasVerifier = 1;
}

def Sparsity_KeyBlockOp : Sparsity_LeafOp<"key_block"> {
  let summary = "the keys of one block";
  let description = [{
    Live pairs: `n_d c_d <= j_d < n_d (c_d + 1)` on every axis d, for a block of
    `sizes` n at the block coordinates c. It is what one entry of a list adds to
    `sparsity.blocks`.

    ```mlir
    %one = sparsity.key_block (%c) of [128] : !sparsity.set<1>
    ```
  }];
  let arguments = (ins Variadic<Index>:$at, DenseI64ArrayAttr:$sizes);
  let assemblyFormat = "`(` $at `)` `of` $sizes attr-dict `:` type($set)";
  let hasVerifier = 1;
}

#endif
