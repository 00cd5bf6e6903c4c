// fold-clamp
!q = !quant.uniform<i8:f32, 0.05:3>
!u = !quant.uniform<u8:f32, 0.05:131>
!w = !quant.uniform<i8:f32, 0.02>
func.func @into(%a: tensor<4x!u>) -> tensor<4x!u> {
  %0 = qrt.add %a, %a : (tensor<4x!u>, tensor<4x!u>) -> tensor<4x!u>
  %1 = qrt.clamp %0 {min = 0.0, max = 6.0} : (tensor<4x!u>) -> tensor<4x!u>
  return %1 : tensor<4x!u>
}
func.func @read_twice(%a: tensor<4x!u>) -> (tensor<4x!u>, tensor<4x!u>) {
  %0 = qrt.add %a, %a : (tensor<4x!u>, tensor<4x!u>) -> tensor<4x!u>
  %1 = qrt.clamp %0 {min = 0.0, max = 6.0} : (tensor<4x!u>) -> tensor<4x!u>
  return %0, %1 : tensor<4x!u>, tensor<4x!u>
}
