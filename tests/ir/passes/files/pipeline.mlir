// builtin.module(inline,func.func(canonicalize,cse),symbol-dce)
!q = !quant.uniform<i8:f32, 0.5:3>
func.func private @round_trip(%x: f32) -> (f32, !q) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %0 : !q to f32
  return %1, %0 : f32, !q
}
func.func private @kept(%x: f32) -> f32 {
  %0:2 = call @round_trip(%x) {no_inline} : (f32) -> (f32, !q)
  return %0#0 : f32
}
func.func @f(%x: f32) -> (f32, f32, f32) {
  %0:2 = call @round_trip(%x) : (f32) -> (f32, !q)
  %1:2 = call @round_trip(%x) : (f32) -> (f32, !q)
  %2 = call @kept(%x) : (f32) -> f32
  return %0#0, %1#0, %2 : f32, f32, f32
}
