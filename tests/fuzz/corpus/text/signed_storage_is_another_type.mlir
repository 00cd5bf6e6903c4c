// pipeline: canonicalize
!q = !quant.uniform<si8:f32, 0.5:3>
func.func @zero_point_after(%x: f32) -> !q {
  %0 = quant.qcast %x {scale = "reciprocal", zero_point = "after"} : f32 to !q
  return %0 : !q
}
