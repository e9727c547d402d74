// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule and has its label in its name.

func.func @project_1(%x: tensor<1x4x?x64xbf16>, %w: tensor<1x64x16xf32>) {
  // expected-error @+1 {{'select.project' op expected tokens and weights of one element type, got 'bf16' and 'f32'}}
  %0 = select.project %x, %w : tensor<1x4x?x64xbf16>, tensor<1x64x16xf32> -> tensor<1x4x?x16xf32>
  return
}

// -----

func.func @project_2(%x: tensor<1x4x?x64xf32>, %w: tensor<3x64x16xf32>) {
  // expected-error @+1 {{'select.project' op expected the number of heads to be a multiple of the number of matrices, got 4 and 3}}
  %0 = select.project %x, %w : tensor<1x4x?x64xf32>, tensor<3x64x16xf32> -> tensor<1x4x?x16xf32>
  return
}

// -----

func.func @project_2_none(%x: tensor<1x4x?x64xf32>, %w: tensor<0x64x16xf32>) {
  // expected-error @+1 {{'select.project' op expected the number of heads to be a multiple of the number of matrices, got 4 and 0}}
  %0 = select.project %x, %w : tensor<1x4x?x64xf32>, tensor<0x64x16xf32> -> tensor<1x4x?x16xf32>
  return
}

// -----

func.func @project_3(%x: tensor<1x4x?x64xf32>, %w: tensor<1x64x?xf32>) {
  // expected-error @+1 {{'select.project' op expected weights of a constant number of channels and features, got 'tensor<1x64x?xf32>'}}
  %0 = select.project %x, %w : tensor<1x4x?x64xf32>, tensor<1x64x?xf32> -> tensor<1x4x?x16xf32>
  return
}

// -----

func.func @shape_1(%x: tensor<1x4x?x64xf32>, %w: tensor<1x64x16xf32, 0 : i32>) {
  // expected-error @+1 {{'select.project' op expected weights without an encoding, got 'tensor<1x64x16xf32, 0 : i32>'}}
  %0 = select.project %x, %w : tensor<1x4x?x64xf32>, tensor<1x64x16xf32, 0 : i32> -> tensor<1x4x?x16xf32>
  return
}

// -----

func.func @shape_2(%x: tensor<1x4x?x?xf32>, %w: tensor<1x64x16xf32>) {
  // expected-error @+1 {{'select.project' op expected tokens to have a constant number of channels from 1 to 65536, got 'tensor<1x4x?x?xf32>'}}
  %0 = select.project %x, %w : tensor<1x4x?x?xf32>, tensor<1x64x16xf32> -> tensor<1x4x?x16xf32>
  return
}

// -----

func.func @shape_2_result(%x: tensor<1x4x?x64xf32>, %w: tensor<1x64x0xf32>) {
  // expected-error @+1 {{'select.project' op expected a result to have a constant number of channels from 1 to 65536, got 'tensor<1x4x?x0xf32>'}}
  %0 = select.project %x, %w : tensor<1x4x?x64xf32>, tensor<1x64x0xf32> -> tensor<1x4x?x0xf32>
  return
}

// -----

func.func @shape_3_channels(%x: tensor<1x4x?x64xf32>, %w: tensor<1x32x16xf32>) {
  // expected-error @+1 {{'select.project' op expected weights with extent 64 on axis 1, got 'tensor<1x32x16xf32>'}}
  %0 = select.project %x, %w : tensor<1x4x?x64xf32>, tensor<1x32x16xf32> -> tensor<1x4x?x16xf32>
  return
}

// -----

func.func @shape_3_features(%x: tensor<1x4x?x64xf32>, %w: tensor<1x64x16xf32>) {
  // expected-error @+1 {{'select.project' op expected weights with extent 24 on axis 2, got 'tensor<1x64x16xf32>'}}
  %0 = select.project %x, %w : tensor<1x4x?x64xf32>, tensor<1x64x16xf32> -> tensor<1x4x?x24xf32>
  return
}

// -----

func.func @shape_3_tokens(%x: tensor<1x4x7x64xf32>, %w: tensor<1x64x16xf32>) {
  // expected-error @+1 {{'select.project' op expected a result with extent 7 on axis 2, got 'tensor<1x4x8x16xf32>'}}
  %0 = select.project %x, %w : tensor<1x4x7x64xf32>, tensor<1x64x16xf32> -> tensor<1x4x8x16xf32>
  return
}
