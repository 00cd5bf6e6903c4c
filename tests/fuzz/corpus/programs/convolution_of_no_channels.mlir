!a = !quant.uniform<i8:f32, 0.5>
func.func @main(%x: tensor<1x4x4x0x!a>, %w: tensor<128x1x1x0x!a>) -> tensor<1x4x4x128x!a> {
  %0 = qrt.conv2d %x, %w : (tensor<1x4x4x0x!a>, tensor<128x1x1x0x!a>) -> tensor<1x4x4x128x!a>
  return %0 : tensor<1x4x4x128x!a>
}
