// canonicalize{fold-qcast-dcast fold-dcast-qcast fold-constants=false}
!narrow = !quant.uniform<i8<-127:127>:f32, 0.5:3>
func.func @folded(%n: !narrow, %x: f32) -> (!narrow, f32, !narrow) {
  %0 = quant.dcast %n : !narrow to f32
  %1 = quant.qcast %0 : f32 to !narrow
  %2 = quant.qcast %x : f32 to !narrow
  %3 = quant.dcast %2 : !narrow to f32
  %4 = arith.constant 1.0 : f32
  %5 = quant.qcast %4 : f32 to !narrow
  return %1, %3, %5 : !narrow, f32, !narrow
}
