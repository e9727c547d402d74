// RUN: lacuna-opt %s --lacuna-cpu-to-llvm --split-input-file | FileCheck %s
// RUN: lacuna-opt %s --lacuna-cpu-to-llvm='native-half=false native-fma=false' --split-input-file | FileCheck %s --check-prefix=OLD

// Nothing but the LLVM dialect is left of a loop over a buffer.
// CHECK-LABEL: llvm.func @sum(
// CHECK-NOT:     scf.
// CHECK-NOT:     memref.
// CHECK:         llvm.cond_br
// CHECK:         llvm.load
// CHECK:         llvm.fadd
func.func @sum(%x: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<?xf32>
    %t = arith.addf %s, %e : f32
    scf.yield %t : f32
  }
  return %r : f32
}

// -----

// A multiply-add is one instruction where the CPU has it, and two operations where a function call per
// lane would stand for it.
// CHECK-LABEL: llvm.func @fma(
// CHECK:         llvm.intr.fmuladd
// OLD-LABEL: llvm.func @fma(
// OLD-NOT:     llvm.intr.fmuladd
// OLD:         llvm.fmul
// OLD:         llvm.fadd
func.func @fma(%a: vector<8xf32>, %b: vector<8xf32>, %c: vector<8xf32>) -> vector<8xf32> {
  %r = vector.fma %a, %b, %c : vector<8xf32>
  return %r : vector<8xf32>
}

// -----

// The same of 16-bit floats: a conversion, or integer code without a call.
// CHECK-LABEL: llvm.func @half(
// CHECK:         llvm.fpext
// OLD-LABEL: llvm.func @half(
// OLD-NOT:     llvm.fpext
// OLD-NOT:     llvm.call
// OLD:         llvm.bitcast
// OLD:         llvm.return
func.func @half(%x: vector<8xf16>) -> vector<8xf32> {
  %r = arith.extf %x : vector<8xf16> to vector<8xf32>
  return %r : vector<8xf32>
}
