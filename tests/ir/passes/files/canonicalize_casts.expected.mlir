module {
  func.func @folded(%arg0: !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>, %arg1: f32) -> (!quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>, f32, !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>) {
    %0 = arith.constant 1.000000e+00 : f32
    %1 = quant.qcast %0 : f32 to !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>
    return %arg0, %arg1, %1 : !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>, f32, !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>
  }
}
