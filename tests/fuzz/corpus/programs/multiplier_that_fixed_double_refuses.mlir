// values: 0; pipeline: canonicalize
func.func @main(%x0: tensor<2x1x2x0x!quant.uniform<i12:f32:1, {2.500000e-01:-1}>>, %x1: tensor<3x0x1x!quant.uniform<u4:f32:2, {6.250000e-02}>>) -> tensor<2x3x2x1x!quant.uniform<i32:f32, 2.5579538487363607E-14>> {
  %y = qrt.matmul %x0, %x1 {requant = "fixed_double"} : (tensor<2x1x2x0x!quant.uniform<i12:f32:1, {2.500000e-01:-1}>>, tensor<3x0x1x!quant.uniform<u4:f32:2, {6.250000e-02}>>) -> tensor<2x3x2x1x!quant.uniform<i32:f32, 2.5579538487363607E-14>>
  return %y : tensor<2x3x2x1x!quant.uniform<i32:f32, 2.5579538487363607E-14>>
}
