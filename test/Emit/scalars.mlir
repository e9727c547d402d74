// RUN: lacuna compile %s --emit=cuda | FileCheck %s

// Unsigned operations look at the bits of numbers that may be negative; what
// has wide operands is computed in 64 bits and narrowed after; names of
// variables are no types.
// CHECK-LABEL: scalars_attend_0_classes(
// CHECK-NOT:     int i64 =
// CHECK:           const int [[REST:v[0-9]+]] = static_cast<int>(static_cast<u64>({{v[0-9]+}}) % static_cast<u64>(5));
// CHECK-NEXT:      const bool {{v[0-9]+}} = [[REST]] == 0;
// CHECK-NEXT:      const bool {{v[0-9]+}} = static_cast<u64>({{v[0-9]+}}) < static_cast<u64>({{[a-z0-9]+}});
// CHECK:           const i64 {{v[0-9]+}} = static_cast<i64>(static_cast<u64>({{v[0-9]+}}) / static_cast<u64>(3));
// CHECK-NEXT:      const i64 {{v[0-9]+}} = static_cast<i64>(static_cast<u64>({{v[0-9]+}}) / static_cast<u64>(3) + (static_cast<u64>({{v[0-9]+}}) % static_cast<u64>(3) != 0));
// CHECK:           const i64 [[WIDE:v[0-9]+]] = static_cast<i64>({{v[0-9]+}}) * static_cast<i64>({{v[0-9]+}});
// CHECK-NEXT:      const int {{v[0-9]+}} = static_cast<int>([[WIDE]] % static_cast<i64>(5));
// CHECK:           const int {{v[0-9]+}} = static_cast<int>(min(static_cast<i64>({{v[0-9]+}}), 2147483648ll));
// CHECK:           const bool {{v[0-9]+}} = static_cast<u32>({{v[0-9]+}}) > static_cast<u32>(0);
func.func @scalars(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>)
    -> tensor<?x4x?x64xbf16> {
  %set = sparsity.where (%b, %h, %i, %j) {
    %five = arith.constant 5 : index
    %three = arith.constant 3 : index
    %zero = arith.constant 0 : index
    %limit = arith.constant 0.5 : f32
    %rest = arith.remui %i, %five : index
    %is_zero = arith.cmpi eq, %rest, %zero : index
    %before = arith.cmpi ult, %i, %j : index
    %down = arith.divui %i, %three : index
    %up = arith.ceildivui %i, %three : index
    %same = arith.cmpi eq, %down, %up : index
    %square = arith.muli %i, %i : index
    %low = arith.remsi %square, %five : index
    %large = arith.constant 2147483648 : index
    %least = arith.minsi %i, %large : index
    %alike = arith.cmpi eq, %low, %least : index
    %small = arith.index_cast %i : index to i32
    %float = arith.uitofp %small : i32 to f32
    %positive = arith.cmpf oge, %float, %limit : f32
    %a = arith.andi %is_zero, %before : i1
    %c = arith.andi %same, %positive : i1
    %either = arith.ori %a, %c : i1
    %any = arith.ori %either, %alike : i1
    sparsity.yield %any : i1
  }
  %o = attn.attend %q, %k, %v over %set
      : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}
