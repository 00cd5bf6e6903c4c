// values: 15; pipeline: lower-qrt
func.func @main(%x0: tensor<?x1x!quant.uniform<i8:f32, 1.0>>, %x1: tensor<5x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x1x!quant.uniform<i8:f32, 1.0>> {
  %y = qrt.mul %x0, %x1 : (tensor<?x1x!quant.uniform<i8:f32, 1.0>>, tensor<5x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x1x!quant.uniform<i8:f32, 1.0>>
  return %y : tensor<5x1x!quant.uniform<i8:f32, 1.0>>
}
