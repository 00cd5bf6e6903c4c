func.func @f(%x: tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5>> {
  %y = qrt.transpose %x {permutation = 1.0 : f64} : (tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5>>
  return %y : tensor<2x3x!quant.uniform<i8:f32, 0.5>>
}
