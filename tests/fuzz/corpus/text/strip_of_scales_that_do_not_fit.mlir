// pipeline: strip-func-quant-types
func.func @f(%x: tensor<?x8x!quant.uniform<i8:f32:1, {0.5, 1.0, 2.0}>>) -> index {
  %c1 = arith.constant 1 : index
  %0 = tensor.dim %x, %c1 : tensor<?x8x!quant.uniform<i8:f32:1, {0.5, 1.0, 2.0}>>
  return %0 : index
}
