// fuse-loops
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#number = affine_map<(d0, d1) -> ()>
func.func @bias_and_clamp(%x: tensor<2x4xf32>, %b: tensor<4xf32>, %low: tensor<f32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<2x4xf32>, tensor<4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %low : tensor<2x4xf32>, tensor<f32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.maximumf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
func.func @whole_tensors(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = arith.addf %x, %y : tensor<2x4xf32>
  %1 = arith.mulf %0, %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
func.func @open_size(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, index) {
  %zero = arith.constant 0 : index
  %0 = arith.addf %x, %y : tensor<?x4xf32>
  %n = tensor.dim %0, %zero : tensor<?x4xf32>
  %1 = math.absf %0 : tensor<?x4xf32>
  return %1, %n : tensor<?x4xf32>, index
}
func.func @two_readers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = arith.mulf %0, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @turned_around(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = arith.negf %x : tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @may_be_an_error(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = arith.fptosi %0 : tensor<4xf32> to tensor<4xi32>
  return %1 : tensor<4xi32>
}
