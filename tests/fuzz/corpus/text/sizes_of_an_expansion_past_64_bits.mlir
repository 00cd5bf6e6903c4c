// pipeline: canonicalize
func.func @ce4(%t: tensor<32xf32>) -> tensor<16x2xf32> {
  %0 = tensor.expand_shape %t [[0, 1, 2]] output_shape [4611686018427387904, 4, 2] : tensor<32xf32> into tensor<4x4x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<4x4x2xf32> into tensor<16x2xf32>
  return %1 : tensor<16x2xf32>
}
