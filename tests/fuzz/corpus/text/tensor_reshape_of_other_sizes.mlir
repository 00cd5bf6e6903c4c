// pipeline: canonicalize
func.func @f() -> tensor<4x4xf32> {
  %s = arith.constant dense<4> : tensor<2xindex>
  %e = arith.constant dense<1.0> : tensor<128xf32>
  %0 = tensor.reshape %e(%s) : (tensor<128xf32>, tensor<2xindex>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
