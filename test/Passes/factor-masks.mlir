// RUN: lacuna-opt %s --split-input-file --lacuna-factor-masks --canonicalize --cse | FileCheck %s

// A window is two comparisons of the key and one with the length: all become
// bounds and no predicate is left.
// CHECK-LABEL: tile.kernel @window
// CHECK:         ^bb0(%[[S:.*]]: f32, %[[I:.*]]: index, %{{.*}}: index):
// CHECK-DAG:       %[[LOW:.*]] = arith.addi %[[I]], %c-5
// CHECK-DAG:       %[[PAST:.*]] = arith.addi %[[I]], %c1
// CHECK-DAG:       %[[HIGH:.*]] = arith.minsi %[[PAST]], %c256
// CHECK:           hopper.yield %[[S]] within(%[[LOW]]) to(%[[HIGH]])
tile.kernel @window attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  %five = arith.constant 5 : index
  %six = arith.constant 6 : index
  %dead = arith.constant 0xFF800000 : f32
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    %back = arith.subi %i, %five : index
    %low = arith.cmpi sge, %j, %back : index
    %high = arith.cmpi sle, %j, %i : index
    %inside = arith.cmpi slt, %j, %n : index
    %both = arith.andi %low, %high : i1
    %live = arith.andi %both, %inside : i1
    %r = arith.select %live, %s, %dead : f32
    hopper.yield %r
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A score function stays; so does a residue, as a predicate of each pair. No
// lower bound is said: keys begin at 0.
// CHECK-LABEL: tile.kernel @dilated
// CHECK:         ^bb0(%[[S:.*]]: f32, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-DAG:       %[[CAPPED:.*]] = math.tanh %[[S]]
// CHECK-DAG:       %[[REST:.*]] = arith.remsi
// CHECK-DAG:       %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK:           %[[R:.*]] = arith.select %[[EVEN]], %[[CAPPED]], %{{.*}} : f32
// CHECK:           hopper.yield %[[R]] within(%c0) to(%c256)
tile.kernel @dilated attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  %five = arith.constant 5 : index
  %six = arith.constant 6 : index
  %dead = arith.constant 0xFF800000 : f32
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    %distance = arith.subi %i, %j : index
    %rest = arith.remsi %distance, %five : index
    %even = arith.cmpi eq, %rest, %zero : index
    %inside = arith.cmpi sgt, %n, %j : index
    %live = arith.andi %even, %inside : i1
    %capped = math.tanh %s : f32
    %r = arith.select %live, %capped, %dead : f32
    hopper.yield %r
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Near misses: twice the key, the key on both sides, and an alternative (no
// conjunction). None is a bound.
// CHECK-LABEL: tile.kernel @near_misses
// CHECK-NOT:     within
// CHECK:         tile.end
tile.kernel @near_misses attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  %five = arith.constant 5 : index
  %six = arith.constant 6 : index
  %dead = arith.constant 0xFF800000 : f32
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    %double = arith.addi %j, %j : index
    %twice = arith.cmpi sle, %double, %i : index
    %scaled = arith.muli %j, %five : index
    %times = arith.cmpi sle, %scaled, %i : index
    %low = arith.cmpi sge, %j, %five : index
    %high = arith.cmpi sge, %i, %j : index
    %either = arith.ori %low, %high : i1
    %both = arith.andi %twice, %times : i1
    %live = arith.andi %both, %either : i1
    %r = arith.select %live, %s, %dead : f32
    hopper.yield %r
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}
