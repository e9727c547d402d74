// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-assign-tiles{target=abacus}))' --verify-diagnostics

// Tiles are chosen for a machine that there is.
// expected-error @+1 {{expected target cpu or sm_90a, got abacus}}
func.func @target() {
  return
}
