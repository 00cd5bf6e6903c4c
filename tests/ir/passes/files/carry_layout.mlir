// carry-layout
!q = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8:f32, 0.02>
func.func @cancels(%a: tensor<1x4x4x2x!q>, %w: tensor<2x1x1x2x!w>) -> tensor<1x4x4x2x!q> {
  %0 = qrt.conv2d %a, %w : (tensor<1x4x4x2x!q>, tensor<2x1x1x2x!w>) -> tensor<1x4x4x2x!q>
  %1 = qrt.transpose %0 {permutation = [0, 3, 1, 2], qrt.tensor = "first"} : (tensor<1x4x4x2x!q>) -> tensor<1x2x4x4x!q>
  %2 = qrt.clamp %1 {min = 0.0, qrt.tensor = "second"} : (tensor<1x2x4x4x!q>) -> tensor<1x2x4x4x!q>
  %3 = qrt.add %1, %2 : (tensor<1x2x4x4x!q>, tensor<1x2x4x4x!q>) -> tensor<1x2x4x4x!q>
  %4 = qrt.transpose %3 {permutation = [0, 2, 3, 1]} : (tensor<1x2x4x4x!q>) -> tensor<1x4x4x2x!q>
  %5 = qrt.conv2d %4, %w : (tensor<1x4x4x2x!q>, tensor<2x1x1x2x!w>) -> tensor<1x4x4x2x!q>
  return %5 : tensor<1x4x4x2x!q>
}
func.func @goes_to_the_end(%a: tensor<1x4x6x2x!q>) -> (tensor<1x2x1x1x!q>, tensor<1x5x6x6x!q>) {
  %0 = qrt.transpose %a {permutation = [0, 3, 1, 2]} : (tensor<1x4x6x2x!q>) -> tensor<1x2x4x6x!q>
  %1 = qrt.mean %0 {axes = [2, 3], keepdims = true} : (tensor<1x2x4x6x!q>) -> tensor<1x2x1x1x!q>
  %2 = qrt.concat %0, %0 {axis = 1} : (tensor<1x2x4x6x!q>, tensor<1x2x4x6x!q>) -> tensor<1x4x4x6x!q>
  %3 = qrt.pad %2 {padding = [[0, 0], [1, 0], [0, 2], [0, 0]]} : (tensor<1x4x4x6x!q>) -> tensor<1x5x6x6x!q>
  return %1, %3 : tensor<1x2x1x1x!q>, tensor<1x5x6x6x!q>
}
func.func @rounds_by_place(%a: tensor<1x4x6x2x!q>) -> tensor<1x2x4x6x!w> {
  %0 = qrt.transpose %a {permutation = [0, 3, 1, 2]} : (tensor<1x4x6x2x!q>) -> tensor<1x2x4x6x!q>
  %1 = qrt.requantize %0 {requant = "half_up_twice_16"} : (tensor<1x2x4x6x!q>) -> tensor<1x2x4x6x!w>
  return %1 : tensor<1x2x4x6x!w>
}
func.func @loops(%x: tensor<?x5x3x4xf32>, %b: tensor<4xf32>) -> tensor<?x5x3x4xf32> {
  %zero = arith.constant 0 : index
  %0 = qrt.transpose %x {permutation = [0, 3, 1, 2]} : (tensor<?x5x3x4xf32>) -> tensor<?x4x5x3xf32>
  %n = tensor.dim %0, %zero : tensor<?x4x5x3xf32>
  %e = tensor.empty(%n) : tensor<?x4x5x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0, %b : tensor<?x4x5x3xf32>, tensor<4xf32>) outs(%e : tensor<?x4x5x3xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x4x5x3xf32>
  %2 = qrt.transpose %1 {permutation = [0, 2, 3, 1]} : (tensor<?x4x5x3xf32>) -> tensor<?x5x3x4xf32>
  return %2 : tensor<?x5x3x4xf32>
}
