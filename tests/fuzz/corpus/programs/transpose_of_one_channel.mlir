// values: 1; pipeline: canonicalize
func.func @f(%x: tensor<4x1x!quant.uniform<i8:f32:1, {0.5}>>) -> tensor<1x4x!quant.uniform<i8:f32:0, {0.5}>> {
  %0 = qrt.transpose %x {permutation = [1, 0]} : (tensor<4x1x!quant.uniform<i8:f32:1, {0.5}>>) -> tensor<1x4x!quant.uniform<i8:f32:0, {0.5}>>
  return %0 : tensor<1x4x!quant.uniform<i8:f32:0, {0.5}>>
}
