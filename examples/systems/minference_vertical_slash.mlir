// MInference, vertical-slash heads (evidence: its source code). The last 64 queries, which the caller hands in as a view,
// tell where a head looks: columns that all of them see, and distances at which they look back. The best of both are
// marked, and a block is kept when it lies in a marked column or at a marked distance.
// Here columns and distances are counted in blocks of 64 tokens; MInference counts columns in tokens.
func.func @minference_vertical_slash(%q: tensor<?x4x?x32xbf16>, %last: tensor<?x4x64x32xbf16>, %k: tensor<?x2x?x32xbf16>,
    %v: tensor<?x2x?x32xbf16>) -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1024, b = 1}} {
  %axis = arith.constant 2 : index
  %block = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant 0 : i8
  %n = tensor.dim %k, %axis : tensor<?x2x?x32xbf16>
  %blocks = arith.ceildivsi %n, %block : index
  %end = arith.subi %blocks, %one : index
  %past = sparsity.causal
  %total = select.log_sum_exp %last, %k over %past
    : tensor<?x4x64x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x64xf32>
  %mass = select.score dot %last, %k over %past lse %total : tensor<?x4x64xf32> rows 64 by sum columns 64 by sum
    : tensor<?x4x64x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x1x?xf32>
  // Columns from the start, with the first; distances from the end, with the nearest.
  %first = sparsity.prefix 1
  %columns = select.restrict %mass force %first : tensor<?x4x1x?xf32>
  %vertical, %verticals = select.choose top_k(2) %columns
    : tensor<?x4x1x?xf32> -> tensor<?x4x1x?xi32>, tensor<?x4x1xi32>
  %nearest = sparsity.suffix 1
  %distances = select.restrict %mass force %nearest : tensor<?x4x1x?xf32>
  %slash, %slashes = select.choose top_k(3) %distances
    : tensor<?x4x1x?xf32> -> tensor<?x4x1x?xi32>, tensor<?x4x1xi32>
  %column = select.mask_of_list %vertical, %verticals columns(%blocks)
    : tensor<?x4x1x?xi32>, tensor<?x4x1xi32> -> tensor<?x4x1x?xi8>
  %distance = select.mask_of_list %slash, %slashes columns(%blocks)
    : tensor<?x4x1x?xi32>, tensor<?x4x1xi32> -> tensor<?x4x1x?xi8>
  // What a block scores is that it is marked.
  %qs = select.summarize first %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %ks = select.summarize first %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %marks = select.score dot %qs, %ks over %past function (%s, %b, %h, %i, %j) {
    %back = arith.subi %i, %j : index
    %place = arith.subi %end, %back : index
    %m0 = tensor.extract %column[%b, %h, %zero, %j] : tensor<?x4x1x?xi8>
    %m1 = tensor.extract %distance[%b, %h, %zero, %place] : tensor<?x4x1x?xi8>
    %either = arith.ori %m0, %m1 : i8
    %marked = arith.cmpi ne, %either, %none : i8
    %yes = arith.constant 1.0 : f32
    %no = arith.constant 0.0 : f32
    %score = arith.select %marked, %yes, %no : f32
    select.yield %score : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x?xf32>
  %ids, %counts = select.choose above(0.5) %marks
    : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
