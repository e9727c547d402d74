// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Every function breaks the rule that its name begins with.

func.func @block_diagonal_1_count(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.block_diagonal' op expected a size for each of 2 axes, got 1}}
  %s = sparsity.block_diagonal 4 in %g : !sparsity.domain<2>
  return
}

// -----

func.func @block_diagonal_1_zero() {
  // expected-error @+1 {{'sparsity.block_diagonal' op expected sizes of at least 1, got 0}}
  %s = sparsity.block_diagonal 0
  return
}

// -----

func.func @radius_1_on_a_sequence(%n: index) {
  %d = sparsity.sequence [%n]
  // expected-error @+1 {{'sparsity.radius' op expected a domain of 2 to 4 axes, got 1}}
  %s = sparsity.radius 4 in %d : !sparsity.domain<1>
  return
}

// -----

func.func @radius_2_count(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected 2 radii for norm box, got 3}}
  %s = sparsity.radius [1, 2, 3] in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_2_one_for_l1(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected 1 radius for norm l1, got 2}}
  %s = sparsity.radius [1, 2] norm(l1) in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_2_negative(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected radii of at least 0, got -1}}
  %s = sparsity.radius [1, -1] in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_3_unit(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected unit of at least 1, got 0}}
  %s = sparsity.radius [1, 1] unit [0, 8] in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_3_dilation(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected dilation for each of 2 axes, got 1}}
  %s = sparsity.radius [1, 1] dilation [2] in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_4_axis(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected causal axes below 2, got 2}}
  %s = sparsity.radius [1, 1] causal [2] in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_4_twice(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected each causal axis once, got 1 twice}}
  %s = sparsity.radius [1, 1] causal [1, 1] in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_5_shift_of_a_ball(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected norm box with border shift and with dilation, got norm l2}}
  %s = sparsity.radius 3 norm(l2) border(shift) in %g : !sparsity.domain<2>
  return
}

// -----

func.func @radius_6_reach(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected a reach of at most 281474976710656 on axis 1}}
  %s = sparsity.radius [1, 1000000000] dilation [1, 1000000000] in %g : !sparsity.domain<2>
  return
}

// -----

func.func @bands_1_axes(%n: index) {
  %g = sparsity.grid [%n, 4, 4]
  // expected-error @+1 {{'sparsity.bands' op expected a domain of 2 axes, got 3}}
  %s = sparsity.bands 16 levels 3 in %g : !sparsity.domain<3>
  return
}

// -----

func.func @bands_2_many_levels(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.bands' op expected at most 32 levels, got 33}}
  %s = sparsity.bands 16 levels 33 in %g : !sparsity.domain<2>
  return
}

// -----

func.func @bands_2_reach(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.bands' op expected near * 2^levels of at most 281474976710656, got 281474976710657}}
  %s = sparsity.bands 16 levels 2 near 281474976710656 in %g : !sparsity.domain<2>
  return
}

// -----

func.func @bands_2_levels(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.bands' op expected levels of at least 1, got 0}}
  %s = sparsity.bands 16 levels 0 in %g : !sparsity.domain<2>
  return
}

// -----

func.func @parse_domain_type(%n: index) {
  // expected-error @+1 {{expected a domain, got 'index'}}
  %s = sparsity.radius [1, 1] in %n : index
  return
}
