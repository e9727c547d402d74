// RUN: lacuna compile %s --emit=hopper | FileCheck %s

// Bounds of the loops over this union share most of their terms, which the
// planner's estimate of the walk evaluates once each: one by one for each path to
// them, it would not come to an end.
// CHECK-LABEL: tile.kernel @shared_attend_0
// CHECK:         hopper.attend
func.func @shared(%q: tensor<?x2x?x72xbf16>, %k: tensor<?x2x?x72xbf16>,
                  %v: tensor<?x2x?x248xbf16>, %n: index, %p: index, %r: index)
    -> tensor<?x2x?x248xbf16> {
  %grid = sparsity.grid [2, 2, %n]
  %diamond = sparsity.radius [19] norm(l1) in %grid : !sparsity.domain<3>
  %box = sparsity.radius [3, %p, %r] border(shift) in %grid : !sparsity.domain<3>
  %set = sparsity.union %diamond, %box : !sparsity.set<3>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<3>
      : tensor<?x2x?x72xbf16>, tensor<?x2x?x72xbf16>, tensor<?x2x?x248xbf16>
      -> tensor<?x2x?x248xbf16>
  return %o : tensor<?x2x?x248xbf16>
}
