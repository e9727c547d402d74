// RUN: lacuna-opt %s --lacuna-select-to-tile --canonicalize --cse --lacuna-share-summaries --cse | FileCheck %s

// Each level reads what the nearest finer one adds up to, and only the finest reads tokens.
// CHECK-LABEL: tile.kernel @levels_summarize_0_0
// CHECK:       } body {
// CHECK:         %[[N:.*]] = tensor.dim %arg0, %c2
// CHECK:         %[[ROWS:.*]] = tensor.dim %arg1, %c2
// CHECK:         tile.summarize mean %arg1[%arg3, %arg4] at(%{{.*}}) of(%[[ROWS]]) box [8] channels [0, 64] unit 128 of(%[[N]]) into %arg2[%{{.*}}] : tensor<?x2x?x64xf32>, memref<?x2x?x64xf16>
// CHECK-LABEL: tile.kernel @levels_summarize_1_0
// CHECK:         tile.summarize mean %arg1{{.*}} box [4] channels [0, 64] unit 32 of(%{{.*}}) into %arg2[%{{.*}}] partial %arg3 : memref<?x2x?x64xf32>
// CHECK-LABEL: tile.kernel @levels_summarize_2_0
// CHECK:         tile.plan grid(%[[B:.*]], %c2, %[[R:.*]]) shapes(%[[B]], %c2, %[[R]], %c64, %[[B]], %c2, %[[R]], %c64{{.*}})
// CHECK:         tile.summarize mean %arg0{{.*}} box [32] channels [0, 64] into %arg1[%{{.*}}] partial %arg2 : memref<?x2x?x64xf32>
// CHECK-LABEL: func.func @levels(
// CHECK-NEXT:    %[[FINE:.*]]:2 = tile.launch @levels_summarize_2_0(%arg0)
// CHECK-NEXT:    %[[MIDDLE:.*]]:2 = tile.launch @levels_summarize_1_0(%arg0, %[[FINE]]#1)
// CHECK-NEXT:    %[[TOP:.*]] = tile.launch @levels_summarize_0_0(%arg0, %[[MIDDLE]]#1)
// CHECK-NEXT:    return %[[TOP]], %[[MIDDLE]]#0, %[[FINE]]#0
func.func @levels(%k: tensor<?x2x?x64xf16>) -> (tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) {
  %0 = select.summarize mean %k block [1024] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  %1 = select.summarize mean %k block [128] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  %2 = select.summarize mean %k block [32] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  return %0, %1, %2 : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>
}

// Sums and means add up alike; parts of the channels are kept as parts.
// CHECK-LABEL: tile.kernel @parts_summarize_1_0
// CHECK:         tile.summarize mean %arg1{{.*}} box [2] channels [0, 16] unit 64 of
// CHECK-LABEL: func.func @parts(
// CHECK-NEXT:    %[[FINE:.*]]:2 = tile.launch @parts_summarize_0_0(%arg0) : {{.*}} -> (tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>)
// CHECK-NEXT:    tile.launch @parts_summarize_1_0(%arg0, %[[FINE]]#1)
func.func @parts(%k: tensor<?x2x?x64xf16>) -> (tensor<?x2x?x16xf32>, tensor<?x2x?x16xf16>) {
  %0 = select.summarize sum %k block [64] channels [8, 24] : tensor<?x2x?x64xf16> -> tensor<?x2x?x16xf32>
  %1 = select.summarize mean %k block [128] channels [8, 24] : tensor<?x2x?x64xf16> -> tensor<?x2x?x16xf16>
  return %0, %1 : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf16>
}

// Blocks that do not nest, small ones, other kinds, other channels, and parts of a sequence.
// CHECK-LABEL: func.func @alone(
// CHECK-NEXT:    tile.launch @alone_summarize_0(%
// CHECK-NEXT:    tile.launch @alone_summarize_1(%
// CHECK-NEXT:    tile.launch @alone_summarize_2(%
// CHECK-NEXT:    tile.launch @alone_summarize_3(%
// CHECK-NEXT:    tile.launch @alone_summarize_4(%
// CHECK-NEXT:    tile.launch @alone_summarize_5(%
// CHECK-NEXT:    tile.launch @alone_summarize_6(%
func.func @alone(%k: tensor<?x2x?x64xf16>, %n: index)
    -> (tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>,
        tensor<?x2x?x16xf16>, tensor<?x2x?x64xf16>) {
  %0 = select.summarize mean %k block [48] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  %1 = select.summarize mean %k block [64] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  %2 = select.summarize mean %k block [4] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  %3 = select.summarize max %k block [128] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  %4 = select.summarize variance %k block [128] : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  %5 = select.summarize mean %k block [128] channels [0, 16] : tensor<?x2x?x64xf16> -> tensor<?x2x?x16xf16>
  %6 = select.summarize mean %k block [128] from(%n) whole : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>,
        tensor<?x2x?x16xf16>, tensor<?x2x?x64xf16>
}
