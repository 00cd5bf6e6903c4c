// fold-sign
!q = !quant.uniform<i8:f32, 0.05:3>
!u = !quant.uniform<u8:f32, 0.05:131>
!w = !quant.uniform<i8:f32, 0.02>
func.func @readers(%a: tensor<1x4x4x2x!u>, %w: tensor<2x1x1x2x!w>) -> (tensor<1x4x4x2x!q>, tensor<1x4x4x2x!q>) {
  %0 = qrt.requantize %a : (tensor<1x4x4x2x!u>) -> tensor<1x4x4x2x!q>
  %1 = qrt.conv2d %0, %w : (tensor<1x4x4x2x!q>, tensor<2x1x1x2x!w>) -> tensor<1x4x4x2x!q>
  %2 = qrt.conv2d %0, %w : (tensor<1x4x4x2x!q>, tensor<2x1x1x2x!w>) -> tensor<1x4x4x2x!q>
  return %1, %2 : tensor<1x4x4x2x!q>, tensor<1x4x4x2x!q>
}
func.func @producer(%a: tensor<4x!q>) -> tensor<4x!u> {
  %0 = qrt.mul %a, %a {requant = "float32"} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %1 = qrt.requantize %0 : (tensor<4x!q>) -> tensor<4x!u>
  return %1 : tensor<4x!u>
}
func.func @another_scale(%a: tensor<4x!q>) -> tensor<4x!w> {
  %0 = qrt.mul %a, %a : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %1 = qrt.requantize %0 : (tensor<4x!q>) -> tensor<4x!w>
  return %1 : tensor<4x!w>
}
func.func @zero_point_before_the_rounding(%a: tensor<4x!q>) -> tensor<4x!u> {
  %0 = qrt.add %a, %a {requant = "float32_fused"} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %1 = qrt.requantize %0 : (tensor<4x!q>) -> tensor<4x!u>
  return %1 : tensor<4x!u>
}
