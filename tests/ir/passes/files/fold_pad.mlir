// fold-pad
!q = !quant.uniform<i8:f32, 0.05:3>
!u = !quant.uniform<u8:f32, 0.05:131>
!w = !quant.uniform<i8:f32, 0.02>
func.func @into(%a: tensor<1x4x4x2x!u>, %w: tensor<2x3x3x2x!w>) -> tensor<1x2x2x2x!q> {
  %0 = qrt.pad %a {padding = [[0, 0], [0, 1], [0, 1], [0, 0]]} : (tensor<1x4x4x2x!u>) -> tensor<1x5x5x2x!u>
  %1 = qrt.conv2d %0, %w {strides = [2, 2]} : (tensor<1x5x5x2x!u>, tensor<2x3x3x2x!w>) -> tensor<1x2x2x2x!q>
  return %1 : tensor<1x2x2x2x!q>
}
func.func @stays(%a: tensor<1x4x4x2x!u>, %w: tensor<2x3x3x2x!w>) -> tensor<1x2x2x2x!q> {
  %0 = qrt.pad %a {padding = [[0, 0], [0, 1], [0, 1], [0, 0]], value = 0.5} : (tensor<1x4x4x2x!u>) -> tensor<1x5x5x2x!u>
  %1 = qrt.conv2d %0, %w {strides = [2, 2]} : (tensor<1x5x5x2x!u>, tensor<2x3x3x2x!w>) -> tensor<1x2x2x2x!q>
  return %1 : tensor<1x2x2x2x!q>
}
