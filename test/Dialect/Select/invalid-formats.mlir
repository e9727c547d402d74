// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule of docs/dialects/select.md and has its label in its name.

func.func @number_1_both(%mask: tensor<1x1x?x?xi8>, %n: index) {
  // expected-error @+1 {{'select.list_of_mask' op expected either a constant or a value for a capacity}}
  %0:2 = "select.list_of_mask"(%mask, %n) {capacity_value = 4 : i64}
      : (tensor<1x1x?x?xi8>, index) -> (tensor<1x1x?x?xi32>, tensor<1x1x?xi32>)
  return
}

// -----

func.func @number_1_negative(%mask: tensor<1x1x?x?xi8>) {
  // expected-error @+1 {{'select.list_of_mask' op expected a capacity from 0 to 2147483647, got -1}}
  %0:2 = select.list_of_mask %mask capacity(-1) : tensor<1x1x?x?xi8> -> tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @number_1_large(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.transpose' op expected columns from 0 to 2147483647, got 2147483648}}
  %0:2 = select.transpose %ids, %counts columns(2147483648)
      : tensor<1x1x?x?xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @number_2_missing(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.mask_of_list' op expected a number for columns}}
  %0 = "select.mask_of_list"(%ids, %counts) : (tensor<1x1x?x?xi32>, tensor<1x1x?xi32>) -> tensor<1x1x?x?xi8>
  return
}

// -----

func.func @cut_1_mask(%mask: tensor<1x1x?x?xi8>) {
  // expected-error @+1 {{'select.list_of_mask' op expected a capacity to cut lists to}}
  %0:2 = select.list_of_mask %mask cut : tensor<1x1x?x?xi8> -> tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @cut_1_transpose(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.transpose' op expected a capacity to cut lists to}}
  %0:2 = select.transpose %ids, %counts columns(4) cut
      : tensor<1x1x?x?xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @choose_1_counts(%ids: tensor<1x2x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.csr_of_list' op expected counts with extent 2 on axis 1, got 'tensor<1x1x?xi32>'}}
  %0:2 = select.csr_of_list %ids, %counts
      : tensor<1x2x?x?xi32>, tensor<1x1x?xi32> -> tensor<1x2x?xi32>, tensor<1x2x?xi32>
  return
}

// -----

func.func @csr_1_pointers(%row_ptr: tensor<1x1x0xi32>, %columns: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.list_of_csr' op expected one row pointer more than rows, got 'tensor<1x1x0xi32>'}}
  %0:2 = select.list_of_csr %row_ptr, %columns capacity(4)
      : tensor<1x1x0xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @shape_3_mask(%mask: tensor<1x2x8x16xi8>) {
  // expected-error @+1 {{'select.list_of_mask' op expected ids with extent 16 on axis 3, got 'tensor<1x2x8x8xi32>'}}
  %0:2 = select.list_of_mask %mask : tensor<1x2x8x16xi8> -> tensor<1x2x8x8xi32>, tensor<1x2x8xi32>
  return
}

// -----

// A list of a column has room for all rows.
func.func @shape_3_transposed(%mask: tensor<1x2x8x16xi8>) {
  // expected-error @+1 {{'select.list_of_mask' op expected ids with extent 8 on axis 3, got 'tensor<1x2x16x16xi32>'}}
  %0:2 = select.list_of_mask %mask transposed : tensor<1x2x8x16xi8> -> tensor<1x2x16x16xi32>, tensor<1x2x16xi32>
  return
}

// -----

// No list is longer than there are columns.
func.func @shape_3_capacity(%mask: tensor<1x2x8x16xi8>) {
  // expected-error @+1 {{'select.list_of_mask' op expected ids with extent 16 on axis 3, got 'tensor<1x2x8x32xi32>'}}
  %0:2 = select.list_of_mask %mask capacity(32) : tensor<1x2x8x16xi8> -> tensor<1x2x8x32xi32>, tensor<1x2x8xi32>
  return
}

// -----

func.func @shape_3_columns(%ids: tensor<1x1x8x4xi32>, %counts: tensor<1x1x8xi32>) {
  // expected-error @+1 {{'select.mask_of_list' op expected a mask with extent 64 on axis 3, got 'tensor<1x1x8x32xi8>'}}
  %0 = select.mask_of_list %ids, %counts columns(64) : tensor<1x1x8x4xi32>, tensor<1x1x8xi32> -> tensor<1x1x8x32xi8>
  return
}

// -----

func.func @shape_3_csr(%row_ptr: tensor<1x2x9xi32>, %columns: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.list_of_csr' op expected column ids with extent 2 on axis 1, got 'tensor<1x1x?xi32>'}}
  %0:2 = select.list_of_csr %row_ptr, %columns capacity(4)
      : tensor<1x2x9xi32>, tensor<1x1x?xi32> -> tensor<1x2x8x4xi32>, tensor<1x2x8xi32>
  return
}

// -----

func.func @shape_3_csr_rows(%row_ptr: tensor<1x2x9xi32>, %columns: tensor<1x2x?xi32>) {
  // expected-error @+1 {{'select.list_of_csr' op expected ids with extent 8 on axis 2, got 'tensor<1x2x9x4xi32>'}}
  %0:2 = select.list_of_csr %row_ptr, %columns capacity(4)
      : tensor<1x2x9xi32>, tensor<1x2x?xi32> -> tensor<1x2x9x4xi32>, tensor<1x2x9xi32>
  return
}

// -----

func.func @shape_3_row_pointers(%ids: tensor<1x1x8x4xi32>, %counts: tensor<1x1x8xi32>) {
  // expected-error @+1 {{'select.csr_of_list' op expected row pointers with extent 9 on axis 2, got 'tensor<1x1x8xi32>'}}
  %0:2 = select.csr_of_list %ids, %counts : tensor<1x1x8x4xi32>, tensor<1x1x8xi32> -> tensor<1x1x8xi32>, tensor<1x1x32xi32>
  return
}

// -----

func.func @shape_3_column_ids(%ids: tensor<1x1x8x4xi32>, %counts: tensor<1x1x8xi32>) {
  // expected-error @+1 {{'select.csr_of_list' op expected column ids with extent 32 on axis 2, got 'tensor<1x1x16xi32>'}}
  %0:2 = select.csr_of_list %ids, %counts : tensor<1x1x8x4xi32>, tensor<1x1x8xi32> -> tensor<1x1x9xi32>, tensor<1x1x16xi32>
  return
}

// -----

func.func @shape_3_row_ids(%ids: tensor<1x1x8x4xi32>, %counts: tensor<1x1x8xi32>) {
  // expected-error @+1 {{'select.transpose' op expected row ids with extent 16 on axis 2, got 'tensor<1x1x8x8xi32>'}}
  %0:2 = select.transpose %ids, %counts columns(16)
      : tensor<1x1x8x4xi32>, tensor<1x1x8xi32> -> tensor<1x1x8x8xi32>, tensor<1x1x8xi32>
  return
}
