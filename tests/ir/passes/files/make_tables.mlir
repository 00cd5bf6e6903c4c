// make-tables
!q = !quant.uniform<i8:f32, 0.05:3>
!u = !quant.uniform<u8:f32, 0.05:131>
!w = !quant.uniform<i8:f32, 0.02>
!n = !quant.uniform<u2:f32, 0.5>
func.func @chain(%a: tensor<?x!n>) -> tensor<?x!q> {
  %c = arith.constant dense<30> : tensor<1xi8>
  %k = quant.scast %c : tensor<1xi8> to tensor<1x!w>
  %0 = qrt.clamp %a {min = 0.6} : (tensor<?x!n>) -> tensor<?x!n>
  %1 = qrt.mul %k, %0 : (tensor<1x!w>, tensor<?x!n>) -> tensor<?x!q>
  %2 = qrt.requantize %1 : (tensor<?x!q>) -> tensor<?x!q>
  return %2 : tensor<?x!q>
}
func.func @alone(%a: tensor<4x!q>, %b: tensor<2x4x!q>) -> (tensor<4x!q>, tensor<2x4x!q>) {
  %0 = qrt.clamp %a {min = 0.5} : (tensor<4x!q>) -> tensor<4x!q>
  %1 = qrt.add %0, %b : (tensor<4x!q>, tensor<2x4x!q>) -> tensor<2x4x!q>
  return %0, %1 : tensor<4x!q>, tensor<2x4x!q>
}
