// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Every function breaks the rule that its name begins with.

func.func @window_1_below_the_least() {
  // expected-error @+1 {{'sparsity.window' op expected right of at least -281474976710656, got -9223372036854775807}}
  %s = sparsity.window right(-9223372036854775807)
  return
}

// -----

func.func @count_1_negative_prefix() {
  // expected-error @+1 {{'sparsity.prefix' op expected count of at least 0, got -1}}
  %s = sparsity.prefix -1
  return
}

// -----

func.func @count_1_negative_column() {
  // expected-error @+1 {{'sparsity.columns' op expected list of at least 0, got -3}}
  %s = sparsity.columns [4, -3]
  return
}

// -----

func.func @stride_1_zero() {
  // expected-error @+1 {{'sparsity.stride' op expected step of at least 1, got 0}}
  %s = sparsity.stride 0
  return
}

// -----

func.func @dilated_1_negative_step() {
  // expected-error @+1 {{'sparsity.dilated' op expected step of at least 1, got -2}}
  %s = sparsity.dilated left(4) step(-2)
  return
}

// -----

func.func @dilated_2_reach() {
  // expected-error @+1 {{'sparsity.dilated' op expected a reach of at most 281474976710656, got 281474976710656 steps of 2}}
  %s = sparsity.dilated left(281474976710656) step(2)
  return
}

// -----

func.func @dyadic_1_base() {
  // expected-error @+1 {{'sparsity.dyadic' op expected base of at least 1, got 0}}
  %s = sparsity.dyadic fenwick base 0
  return
}

// -----

func.func @dyadic_1_fanout() {
  // expected-error @+1 {{'sparsity.dyadic' op expected fanout of at least 2, got 1}}
  %s = sparsity.dyadic fenwick base 64 fanout 1
  return
}

// -----

func.func @dyadic_2_count() {
  // expected-error @+1 {{'sparsity.dyadic' op expected the first and the last level, got 3 numbers}}
  %s = sparsity.dyadic fenwick base 64 only [0, 1, 2]
  return
}

// -----

func.func @dyadic_2_order() {
  // expected-error @+1 {{'sparsity.dyadic' op expected levels from -1 on in rising order, got 3 to 1}}
  %s = sparsity.dyadic fenwick base 64 only [3, 1]
  return
}

// -----

func.func @dyadic_2_top() {
  // expected-error @+1 {{'sparsity.dyadic' op expected levels up to the top level 3, got 4}}
  %s = sparsity.dyadic fenwick base 64 levels 4 only [0, 4]
  return
}

// -----

func.func @dyadic_3_too_many_levels() {
  // expected-error @+1 {{'sparsity.dyadic' op expected base * fanout^60 to be at most 281474976710656}}
  %s = sparsity.dyadic fenwick base 64 levels 60
  return
}

// -----

func.func @documents_1_lengths(%q: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error @+1 {{'sparsity.documents' op expected as many key offsets as query offsets, got 5 and 4}}
  %s = sparsity.documents %q, %k : tensor<4xi32>, tensor<5xi32>
  return
}

// -----

func.func @parse_missing_number() {
  // expected-error @+1 {{expected SSA operand}}
  %s = sparsity.prefix
  return
}
