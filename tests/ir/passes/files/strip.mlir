// strip-func-quant-types
!q = !quant.uniform<i8:f32, 0.5:3>
func.func private @g(%x: !q) -> !q { return %x : !q }
func.func @f(%x: !q, %y: f32) -> (!q, f32, !q) {
  %0 = call @g(%x) : (!q) -> !q
  %1 = quant.dcast %0 : !q to f32
  %2 = quant.qcast %1 : f32 to !quant.uniform<i8:f32, 0.5:4>
  %3 = quant.dcast %2 : !quant.uniform<i8:f32, 0.5:4> to f32
  %4 = quant.qcast %y : f32 to !q
  return %0, %3, %4 : !q, f32, !q
}
