// split-concat
!q = !quant.uniform<i8:f32, 0.05:3>
!u = !quant.uniform<u8:f32, 0.05:131>
!w = !quant.uniform<i8:f32, 0.02>
func.func @types(%a: tensor<2x3x!q>, %b: tensor<2x1x!w>, %n: tensor<2x3xf32>) -> tensor<2x4x!q> {
  %0 = qrt.concat %a, %b {axis = 1, requant = "float32"} : (tensor<2x3x!q>, tensor<2x1x!w>) -> tensor<2x4x!q>
  return %0 : tensor<2x4x!q>
}
func.func @one_type(%a: tensor<2x3x!q>) -> tensor<2x6x!q> {
  %0 = qrt.concat %a, %a {axis = 1} : (tensor<2x3x!q>, tensor<2x3x!q>) -> tensor<2x6x!q>
  return %0 : tensor<2x6x!q>
}
