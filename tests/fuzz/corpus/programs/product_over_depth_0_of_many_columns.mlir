!a = !quant.uniform<i8:f32, 0.5>
!y = !quant.uniform<i8:f32, 0.5:3>
func.func @main(%x: tensor<4x0x!a>, %w: tensor<0x128x!a>) -> tensor<4x128x!y> {
  %0 = qrt.matmul %x, %w : (tensor<4x0x!a>, tensor<0x128x!a>) -> tensor<4x128x!y>
  return %0 : tensor<4x128x!y>
}
