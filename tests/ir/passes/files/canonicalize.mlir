// canonicalize
!q = !quant.uniform<i8:f32, 0.5:3>
!narrow = !quant.uniform<i8<-127:127>:f32, 0.5:3>
!coarse = !quant.uniform<i8:bf16, 0.5:3>
!wide = !quant.uniform<i32:f32, 0.5:3>
!axis = !quant.uniform<i8:f32:0, {0.5:1, 0.25:2}>
// Nothing can change: the casts are one another's inverses.
func.func @exact(%q: !q) -> !q {
  %0 = quant.dcast %q : !q to f32
  %1 = quant.qcast %0 : f32 to !q
  return %1 : !q
}
// Values out of bounds are clamped, low precision rounds to a neighbour, toward_zero rounds the wrong way: all stay.
func.func @inexact(%n: !narrow, %c: !coarse, %w: !wide, %q: !q) -> (!narrow, !coarse, !wide, !q) {
  %0 = quant.dcast %n : !narrow to f32
  %1 = quant.qcast %0 : f32 to !narrow
  %2 = quant.dcast %c : !coarse to bf16
  %3 = quant.qcast %2 : bf16 to !coarse
  %4 = quant.dcast %w : !wide to f32
  %5 = quant.qcast %4 : f32 to !wide
  %6 = quant.dcast %q : !q to f32
  %7 = quant.qcast %6 {rounding = "toward_zero"} : f32 to !q
  return %1, %3, %5, %7 : !narrow, !coarse, !wide, !q
}
func.func @rounds(%x: f32) -> f32 {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %0 : !q to f32
  return %1 : f32
}
func.func @storage(%x: i8) -> i8 {
  %0 = quant.scast %x : i8 to !q
  %1 = quant.scast %0 : !q to i8
  return %1 : i8
}
func.func @constants() -> (!q, tensor<2xf32>, f32) {
  %0 = arith.constant 0.75 : f32
  %1 = quant.qcast %0 : f32 to !q
  %2 = arith.constant dense<[-128, 127]> : tensor<2xi8>
  %3 = quant.scast %2 : tensor<2xi8> to tensor<2x!axis>
  %4 = quant.dcast %3 : tensor<2x!axis> to tensor<2xf32>
  %5 = quant.dcast %1 : !q to f32
  return %1, %4, %5 : !q, tensor<2xf32>, f32
}
