//===- SelectFormats.td - lists of blocks in other formats ----------------===//
#ifndef LACUNA_SELECT_FORMATS_TD
#define LACUNA_SELECT_FORMATS_TD

/// batch x lists x rows x columns.
def Select_Mask : 4DTensorOf<[I8]>;
/// batch x lists x (rows + 1), or x entries.
def Select_Csr : 3DTensorOf<[I32]>;

def Select_ListOfMaskOp : Select_Op<"list_of_mask"> {
  let summary = "lists of what a map of bytes marks";
  let description = [{
    `ids[b, l, r]` are the columns c with `mask[b, l, r, c] != 0` in rising
    order, then -1; `transposed` lists the rows of each column instead.

    The capacity is the number of columns, or `capacity`. Where a row marks more,
    its first ones are kept and `counts` says how many there are, which is more than
    the capacity; with `cut` it says how many are kept.

    ```mlir
    %ids, %counts = select.list_of_mask %mask : tensor<?x8x?x?xi8> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
    ```
  }];
  let arguments = (ins Select_Mask:$mask, Optional<Index>:$capacity,
                       OptionalAttr<I64Attr>:$capacity_value, UnitAttr:$cut,
                       UnitAttr:$transposed);
  let results = (outs Select_Ids:$ids, Select_Counts:$counts);
  let assemblyFormat = [{
    $mask (`capacity` `` custom<Number>($capacity, type($capacity), $capacity_value)^)?
    (`cut` $cut^)? (`transposed` $transposed^)? attr-dict
    `:` type($mask) `->` type($ids) `,` type($counts)
  }];
  let hasVerifier = 1;
}

def Select_MaskOfListOp : Select_Op<"mask_of_list"> {
  let summary = "a map of bytes that marks what lists name";
  let description = [{
    `mask[b, l, r, c]` is 1 where `ids[b, l, r, e] == c` for an e with
    `0 <= e < counts[b, l, r]`, else 0, for `columns` columns. As in `sparsity.blocks`
    other ids are skipped and counts are clamped to the capacity.

    ```mlir
    %mask = select.mask_of_list %ids, %counts columns(%n)
        : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x?xi8>
    ```
  }];
  let arguments = (ins Select_Ids:$ids, Select_Counts:$counts, Optional<Index>:$columns,
                       OptionalAttr<I64Attr>:$columns_value);
  let results = (outs Select_Mask:$mask);
  let assemblyFormat = [{
    $ids `,` $counts `columns` `` custom<Number>($columns, type($columns), $columns_value)
    attr-dict `:` type($ids) `,` type($counts) `->` type($mask)
  }];
  let hasVerifier = 1;
}

def Select_ListOfCsrOp : Select_Op<"list_of_csr"> {
  let summary = "lists from row pointers and column ids";
  let description = [{
    Row r of list l names `columns[b, l, e]` for `row_ptr[b, l, r] <= e < row_ptr[b, l, r + 1]`,
    in that order; pointers are clamped to the extent of `columns`, and a row that
    ends before it begins is empty. Capacity, `counts` and `cut` as in
    `select.list_of_mask`; there is no capacity that follows from the inputs.

    ```mlir
    %ids, %counts = select.list_of_csr %row_ptr, %columns capacity(64)
        : tensor<?x8x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x64xi32>, tensor<?x8x?xi32>
    ```
  }];
  let arguments = (ins Select_Csr:$row_ptr, Select_Csr:$columns, Optional<Index>:$capacity,
                       OptionalAttr<I64Attr>:$capacity_value, UnitAttr:$cut);
  let results = (outs Select_Ids:$ids, Select_Counts:$counts);
  let assemblyFormat = [{
    $row_ptr `,` $columns
    `capacity` `` custom<Number>($capacity, type($capacity), $capacity_value) (`cut` $cut^)?
    attr-dict `:` type($row_ptr) `,` type($columns) `->` type($ids) `,` type($counts)
  }];
  let hasVerifier = 1;
}

def Select_CsrOfListOp : Select_Op<"csr_of_list"> {
  let summary = "row pointers and column ids of lists";
  let description = [{
    The entries of the rows after each other, those below 0 left out:
    `row_ptr[b, l, r]` is the number of entries before row r, and `columns` holds them in
    their order, then -1. Its extent is `rows * capacity`.

    ```mlir
    %row_ptr, %columns = select.csr_of_list %ids, %counts
        : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?xi32>, tensor<?x8x?xi32>
    ```
  }];
  let arguments = (ins Select_Ids:$ids, Select_Counts:$counts);
  let results = (outs Select_Csr:$row_ptr, Select_Csr:$columns);
  let assemblyFormat = [{
    $ids `,` $counts attr-dict `:` type($ids) `,` type($counts)
    `->` type($row_ptr) `,` type($columns)
  }];
  let hasVerifier = 1;
}

def Select_TransposeOp : Select_Op<"transpose", [AttrSizedOperandSegments]> {
  let summary = "the rows that name each column";
  let description = [{
    Column c, of `columns`, gets the rows r whose list names it, in rising order:
    the query blocks that see a key block. Entries are read as by
    `select.mask_of_list`, a row that names a column twice is listed once. The capacity
    is the number of rows, or `capacity` as in `select.list_of_mask`.

    ```mlir
    %rows, %counts = select.transpose %ids, %counts columns(%n)
        : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
    ```
  }];
  let arguments = (ins Select_Ids:$ids, Select_Counts:$counts, Optional<Index>:$columns,
                       OptionalAttr<I64Attr>:$columns_value, Optional<Index>:$capacity,
                       OptionalAttr<I64Attr>:$capacity_value, UnitAttr:$cut);
  let results = (outs Select_Ids:$row_ids, Select_Counts:$row_counts);
  let assemblyFormat = [{
    $ids `,` $counts `columns` `` custom<Number>($columns, type($columns), $columns_value)
    (`capacity` `` custom<Number>($capacity, type($capacity), $capacity_value)^)? (`cut` $cut^)?
    attr-dict `:` type($ids) `,` type($counts) `->` type($row_ids) `,` type($row_counts)
  }];
  let hasVerifier = 1;
}

#endif
