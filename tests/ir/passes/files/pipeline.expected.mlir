module {
  func.func private @round_trip(%arg0: f32) -> (f32, !quant.uniform<i8:f32, 5.000000e-01:3>) {
    %0 = quant.qcast %arg0 : f32 to !quant.uniform<i8:f32, 5.000000e-01:3>
    %1 = quant.dcast %0 : !quant.uniform<i8:f32, 5.000000e-01:3> to f32
    return %1, %0 : f32, !quant.uniform<i8:f32, 5.000000e-01:3>
  }
  func.func @f(%arg0: f32) -> (f32, f32, f32) {
    %0 = quant.qcast %arg0 : f32 to !quant.uniform<i8:f32, 5.000000e-01:3>
    %1 = quant.dcast %0 : !quant.uniform<i8:f32, 5.000000e-01:3> to f32
    %2:2 = call @round_trip(%arg0) {no_inline} : (f32) -> (f32, !quant.uniform<i8:f32, 5.000000e-01:3>)
    return %1, %1, %2#0 : f32, f32, f32
  }
}
