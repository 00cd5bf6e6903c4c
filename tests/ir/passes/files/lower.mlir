// lower-quant-ops
// Saturating, half to even: everything is said in the operations.
!q = !quant.uniform<i8:f32, 0.5:3>
!narrow = !quant.uniform<u8<3:200>:f32, 0.5>
!wide = !quant.uniform<i32:f32, 0.5:7>
!axis = !quant.uniform<i8:f32:1, {0.5:1, 0.25:2}>
func.func @scalar(%x: f32) -> !q { %0 = quant.qcast %x : f32 to !q  return %0 : !q }
func.func @bounds(%x: tensor<?x2xf32>) -> tensor<?x2x!narrow> {
  %0 = quant.qcast %x {rounding = "half_away"} : tensor<?x2xf32> to tensor<?x2x!narrow>
  return %0 : tensor<?x2x!narrow>
}
func.func @bounds_that_are_no_floats(%x: f32) -> !wide { %0 = quant.qcast %x : f32 to !wide  return %0 : !wide }
func.func @zero_point_after(%x: f32) -> !q {
  %0 = quant.qcast %x {scale = "reciprocal", zero_point = "after"} : f32 to !q
  return %0 : !q
}
func.func @axis(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = quant.qcast %x : tensor<4x2xf32> to tensor<4x2x!axis>
  %1 = quant.dcast %0 : tensor<4x2x!axis> to tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
