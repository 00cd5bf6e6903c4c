func.func @f(%x: tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>> {
  %y = qrt.mean %x {axes = dense<1.0> : tensor<f32>} : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  return %y : tensor<!quant.uniform<i8:f32, 0.5>>
}
