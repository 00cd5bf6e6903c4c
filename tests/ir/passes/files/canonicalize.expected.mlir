module {
  func.func @exact(%arg0: !quant.uniform<i8:f32, 5.000000e-01:3>) -> !quant.uniform<i8:f32, 5.000000e-01:3> {
    return %arg0 : !quant.uniform<i8:f32, 5.000000e-01:3>
  }
  func.func @inexact(%arg0: !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>, %arg1: !quant.uniform<i8:bf16, 5.000000e-01:3>, %arg2: !quant.uniform<i32:f32, 5.000000e-01:3>, %arg3: !quant.uniform<i8:f32, 5.000000e-01:3>) -> (!quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>, !quant.uniform<i8:bf16, 5.000000e-01:3>, !quant.uniform<i32:f32, 5.000000e-01:3>, !quant.uniform<i8:f32, 5.000000e-01:3>) {
    %0 = quant.dcast %arg0 : !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3> to f32
    %1 = quant.qcast %0 : f32 to !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>
    %2 = quant.dcast %arg1 : !quant.uniform<i8:bf16, 5.000000e-01:3> to bf16
    %3 = quant.qcast %2 : bf16 to !quant.uniform<i8:bf16, 5.000000e-01:3>
    %4 = quant.dcast %arg2 : !quant.uniform<i32:f32, 5.000000e-01:3> to f32
    %5 = quant.qcast %4 : f32 to !quant.uniform<i32:f32, 5.000000e-01:3>
    %6 = quant.dcast %arg3 : !quant.uniform<i8:f32, 5.000000e-01:3> to f32
    %7 = quant.qcast %6 {rounding = "toward_zero"} : f32 to !quant.uniform<i8:f32, 5.000000e-01:3>
    return %1, %3, %5, %7 : !quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>, !quant.uniform<i8:bf16, 5.000000e-01:3>, !quant.uniform<i32:f32, 5.000000e-01:3>, !quant.uniform<i8:f32, 5.000000e-01:3>
  }
  func.func @rounds(%arg0: f32) -> f32 {
    %0 = quant.qcast %arg0 : f32 to !quant.uniform<i8:f32, 5.000000e-01:3>
    %1 = quant.dcast %0 : !quant.uniform<i8:f32, 5.000000e-01:3> to f32
    return %1 : f32
  }
  func.func @storage(%arg0: i8) -> i8 {
    return %arg0 : i8
  }
  func.func @constants() -> (!quant.uniform<i8:f32, 5.000000e-01:3>, tensor<2xf32>, f32) {
    %0 = arith.constant 5.000000e-01 : f32
    %1 = arith.constant dense<[-6.450000e+01, 3.125000e+01]> : tensor<2xf32>
    %2 = arith.constant 4 : i8
    %3 = quant.scast %2 : i8 to !quant.uniform<i8:f32, 5.000000e-01:3>
    return %3, %1, %0 : !quant.uniform<i8:f32, 5.000000e-01:3>, tensor<2xf32>, f32
  }
}
