// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// CHECK-LABEL: func.func @masks(
// CHECK:         select.list_of_mask %{{[a-z0-9]+}} : tensor<?x8x?x?xi8> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
// CHECK:         select.list_of_mask %{{.*}} capacity(64) cut transposed :
// CHECK:         select.list_of_mask %{{.*}} capacity(%{{.*}}) :
// CHECK:         select.mask_of_list %{{.*}}, %{{.*}} columns(%{{.*}}) : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x?xi8>
// CHECK:         select.mask_of_list %{{.*}}, %{{.*}} columns(128) : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x128xi8>
func.func @masks(%mask: tensor<?x8x?x?xi8>, %n: index) {
  %0:2 = select.list_of_mask %mask : tensor<?x8x?x?xi8> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
  %1:2 = select.list_of_mask %mask capacity(64) cut transposed
      : tensor<?x8x?x?xi8> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
  %2:2 = select.list_of_mask %mask capacity(%n) : tensor<?x8x?x?xi8> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
  %3 = select.mask_of_list %0#0, %0#1 columns(%n)
      : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x?xi8>
  %4 = select.mask_of_list %0#0, %0#1 columns(128)
      : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x128xi8>
  return
}

// CHECK-LABEL: func.func @rows(
// CHECK:         select.list_of_csr %{{.*}}, %{{.*}} capacity(64) : tensor<1x8x?xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x64xi32>, tensor<1x8x?xi32>
// CHECK:         select.list_of_csr %{{.*}}, %{{.*}} capacity(%{{.*}}) cut :
// CHECK:         select.csr_of_list %{{.*}}, %{{.*}} : tensor<1x8x?x64xi32>, tensor<1x8x?xi32> -> tensor<1x8x?xi32>, tensor<1x8x?xi32>
// CHECK:         select.transpose %{{.*}}, %{{.*}} columns(%{{.*}}) : tensor<1x8x?x64xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
// CHECK:         select.transpose %{{.*}}, %{{.*}} columns(32) capacity(16) cut : tensor<1x8x?x64xi32>, tensor<1x8x?xi32> -> tensor<1x8x32x?xi32>, tensor<1x8x32xi32>
func.func @rows(%row_ptr: tensor<1x8x?xi32>, %columns: tensor<1x8x?xi32>, %n: index) {
  %0:2 = select.list_of_csr %row_ptr, %columns capacity(64)
      : tensor<1x8x?xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x64xi32>, tensor<1x8x?xi32>
  %1:2 = select.list_of_csr %row_ptr, %columns capacity(%n) cut
      : tensor<1x8x?xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %2:2 = select.csr_of_list %0#0, %0#1
      : tensor<1x8x?x64xi32>, tensor<1x8x?xi32> -> tensor<1x8x?xi32>, tensor<1x8x?xi32>
  %3:2 = select.transpose %0#0, %0#1 columns(%n)
      : tensor<1x8x?x64xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %4:2 = select.transpose %0#0, %0#1 columns(32) capacity(16) cut
      : tensor<1x8x?x64xi32>, tensor<1x8x?xi32> -> tensor<1x8x32x?xi32>, tensor<1x8x32xi32>
  return
}
