module {
  func.func private @g(%arg0: i8) -> i8 {
    return %arg0 : i8
  }
  func.func @f(%arg0: i8, %arg1: f32) -> (i8, f32, i8) {
    %0 = call @g(%arg0) : (i8) -> i8
    %1 = quant.scast %0 : i8 to !quant.uniform<i8:f32, 5.000000e-01:3>
    %2 = quant.dcast %1 : !quant.uniform<i8:f32, 5.000000e-01:3> to f32
    %3 = quant.qcast %2 : f32 to !quant.uniform<i8:f32, 5.000000e-01:4>
    %4 = quant.dcast %3 : !quant.uniform<i8:f32, 5.000000e-01:4> to f32
    %5 = quant.qcast %arg1 : f32 to !quant.uniform<i8:f32, 5.000000e-01:3>
    %6 = quant.scast %5 : !quant.uniform<i8:f32, 5.000000e-01:3> to i8
    return %0, %4, %6 : i8, f32, i8
  }
}
