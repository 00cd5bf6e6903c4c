// lower-quant-ops{rounding=toward_zero saturating=false}
// Upstream's operations.
!q = !quant.uniform<u8<3:200>:f32, 0.5:10>
!axis = !quant.uniform<i8:f32:1, {0.5:1, 0.25:2}>
func.func @unranked(%x: tensor<*xf32>) -> tensor<*x!q> {
  %0 = quant.qcast %x : tensor<*xf32> to tensor<*x!q>
  return %0 : tensor<*x!q>
}
func.func @unranked_axis(%x: tensor<*x!axis>) -> tensor<*xf32> {
  %0 = quant.dcast %x : tensor<*x!axis> to tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func @inverses_stay(%x: f32) -> f32 {
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32, 1.0>
  %1 = quant.dcast %0 : !quant.uniform<i8:f32, 1.0> to f32
  return %1 : f32
}
