//===- Passes.td - every pass of the compiler -----------------------------===//
#ifndef LACUNA_PASSES_TD
#define LACUNA_PASSES_TD

include "mlir/Pass/PassBase.td"

def PeelFullTilesPass : Pass<"lacuna-peel-full-tiles"> {
  let summary = "split loops over live tiles so that masks stand only in partial tiles";
  let description = [{
    A loop over live tiles masks every tile. Most live tiles of a long sequence
    are full: visiting those first, in a loop of their own whose body has no
    mask, leaves the mask to the few partial ones.

    Requires: nothing beyond valid IR. Leaves: no `tile.for_each live`.

    ```mlir
    %r = tile.for_each live %set ... { mask; step }
    // becomes
    %f = tile.for_each full %set ... init(%init) { step }
    %r = tile.for_each partial %set ... init(%f) { mask; step }
    ```
  }];
  let statistics = [
    Statistic<"loopsPeeled", "loops-peeled", "loops over live tiles that were split">
  ];
}

#endif
