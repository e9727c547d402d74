// RUN: lacuna-opt %s --canonicalize | FileCheck %s

// What holds at compile time is no requirement; what never holds is left for
// the launch to report.
// CHECK-LABEL: tile.kernel @requirements
// CHECK-NOT:     "always"
// CHECK:         tile.require %false, "never"
// CHECK:         tile.require %arg0, "perhaps"
tile.kernel @requirements attributes {inputs = 1, outputs = 0} plan {
^bb0(%c: i1):
  %true = arith.constant true
  %false = arith.constant false
  tile.require %true, "always"
  tile.require %false, "never"
  tile.require %c, "perhaps"
  tile.plan grid() shapes()
} body {
^bb0(%c: i1):
  tile.end
}

// A loop over no tile returns what it was given.
// CHECK-LABEL: func.func @empty_loop(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: f32)
// CHECK-NEXT:    return %[[X]]
func.func @empty_loop(%b: index, %n: index, %x: f32) -> f32 {
  %set = sparsity.none
  %r = tile.for_each live %set[%b, %b] query (%b) of (%n) box [8] key of (%n) box [8] init (%x : f32) {
  ^bb0(%j: index, %y: f32):
    %z = arith.addf %y, %y : f32
    tile.yield %z : f32
  } : !sparsity.set<1>
  return %r : f32
}

// A set that may be live somewhere keeps its loop.
// CHECK-LABEL: func.func @live_loop(
// CHECK:         tile.for_each live
func.func @live_loop(%b: index, %n: index, %x: f32) -> f32 {
  %set = sparsity.causal
  %r = tile.for_each live %set[%b, %b] query (%b) of (%n) box [8] key of (%n) box [8] init (%x : f32) {
  ^bb0(%j: index, %y: f32):
    %z = arith.addf %y, %y : f32
    tile.yield %z : f32
  } : !sparsity.set<1>
  return %r : f32
}

// No pair of the empty set is live in any tile. That all are is never known
// here: keys outside the grid are dead.
// CHECK-LABEL: func.func @classes(
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK:         %[[C:.*]] = tile.classify
// CHECK:         return %[[ZERO]], %[[C]]
func.func @classes(%b: index, %n: index) -> (i8, i8) {
  %none = sparsity.none
  %all = sparsity.all
  %c = tile.classify[%b, %b] over %none : !sparsity.set<1> query (%b) of (%n) box [8] key (%b) of (%n) box [8]
  %d = tile.classify[%b, %b] over %all : !sparsity.set<1> query (%b) of (%n) box [8] key (%b) of (%n) box [8]
  return %c, %d : i8, i8
}

// One part is its own merge, unless the merge also converts it.
// CHECK-LABEL: func.func @merges(
// CHECK-SAME:      %[[O:[a-z0-9]+]]: !tile.tile<8x4xf32>
// CHECK:         %[[M:.*]], %{{.*}} = tile.merge(
// CHECK:         return %[[O]], %[[M]]
func.func @merges(%o: !tile.tile<8x4xf32>, %p: !tile.tile<8x4xf16>, %l: !tile.tile<8xf32>)
    -> (!tile.tile<8x4xf32>, !tile.tile<8x4xf32>) {
  %a, %la = tile.merge (%o : !tile.tile<8x4xf32>), (%l : !tile.tile<8xf32>) -> !tile.tile<8x4xf32>, !tile.tile<8xf32>
  %c, %lc = tile.merge (%p : !tile.tile<8x4xf16>), (%l : !tile.tile<8xf32>) -> !tile.tile<8x4xf32>, !tile.tile<8xf32>
  return %a, %c : !tile.tile<8x4xf32>, !tile.tile<8x4xf32>
}
