// RUN: lacuna-opt %s --lacuna-tile-to-cpu=vector-width=5 --verify-diagnostics

// No CPU has vectors of five.
// expected-error @+1 {{expected vector-width to be 4, 8 or 16, got 5}}
module {}
