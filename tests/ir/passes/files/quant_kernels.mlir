// canonicalize
// The article's ops become those that they stand for; what their attributes say of the result its type says too.
!x = tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5:3>>
!w = tensor<3x2x2x2x!quant.uniform<i8:f32, 0.25>>
!y = tensor<1x2x2x3x!quant.uniform<i8:f32, 0.5:-1>>
!a = tensor<2x4x!quant.uniform<i8:f32, 0.5:3>>
!b = tensor<4x3x!quant.uniform<i8:f32, 0.25>>
!c = tensor<2x3x!quant.uniform<i8:f32, 0.5:-1>>
func.func @conv2d(%x: tensor<1x4x4x2xf32>, %w: !w) -> tensor<1x2x2x3xf32> {
  %0 = "quant.cast"(%x) : (tensor<1x4x4x2xf32>) -> !x
  %1 = "quant.conv2d"(%0, %w) {strides = [2, 2], output_scale = 0.5 : f64, output_zero_point = -1 : i64} : (!x, !w) -> !y
  %2 = "quant.cast"(%1) : (!y) -> tensor<1x2x2x3xf32>
  return %2 : tensor<1x2x2x3xf32>
}
func.func @matmul(%a: !a, %b: !b) -> !c {
  %0 = "quant.matmul"(%a, %b) {requant = "float32"} : (!a, !b) -> !c
  return %0 : !c
}
