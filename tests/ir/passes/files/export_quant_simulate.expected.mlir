module {
  func.func @network(%arg0: tensor<3x4xf32>) -> tensor<3x2xf32> {
    %0 = quant.qcast %arg0 : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = quant.dcast %0 : tensor<3x4x!quant.uniform<i8:f32, 5.000000e-02:3>> to tensor<3x4xf32>
    %2 = arith.constant dense<[[50, 50], [-25, 35], [100, -50], [33, 5]]> : tensor<4x2xi8>
    %3 = quant.scast %2 : tensor<4x2xi8> to tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-02,2.000000e-02}>>
    %4 = quant.dcast %3 : tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-02,2.000000e-02}>> to tensor<4x2xf32>
    %5 = arith.constant dense<[500, -500]> : tensor<2xi32>
    %6 = quant.scast %5 : tensor<2xi32> to tensor<2x!quant.uniform<i32:f32:0, {5.000000e-04,1.000000e-03}>>
    %7 = quant.dcast %6 : tensor<2x!quant.uniform<i32:f32:0, {5.000000e-04,1.000000e-03}>> to tensor<2xf32>
    %8 = tensor.empty() : tensor<3x2xf32>
    %9 = arith.constant 0.000000e+00 : f32
    %10 = linalg.fill ins(%9 : f32) outs(%8 : tensor<3x2xf32>) -> tensor<3x2xf32>
    %11 = linalg.matmul ins(%1, %4 : tensor<3x4xf32>, tensor<4x2xf32>) outs(%10 : tensor<3x2xf32>) -> tensor<3x2xf32>
    %12 = linalg.broadcast ins(%7 : tensor<2xf32>) outs(%8 : tensor<3x2xf32>) dimensions = [0]
    %13 = arith.addf %11, %12 : tensor<3x2xf32>
    %14 = arith.constant dense<0.000000e+00> : tensor<3x2xf32>
    %15 = arith.maximumf %13, %14 : tensor<3x2xf32>
    %16 = quant.qcast %15 : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>>
    %17 = quant.dcast %16 : tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>> to tensor<3x2xf32>
    %18 = math.tanh %17 : tensor<3x2xf32>
    %19 = quant.qcast %18 : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32, 7.812500e-03>>
    %20 = quant.dcast %19 : tensor<3x2x!quant.uniform<i8:f32, 7.812500e-03>> to tensor<3x2xf32>
    %21 = quant.qcast %20 : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>>
    %22 = quant.dcast %21 : tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>> to tensor<3x2xf32>
    %23 = arith.addf %17, %22 : tensor<3x2xf32>
    %24 = quant.qcast %23 : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %25 = quant.dcast %24 : tensor<3x2x!quant.uniform<i8:f32, 5.000000e-02:3>> to tensor<3x2xf32>
    return %25 : tensor<3x2xf32>
  }
  func.func @floats(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = quant.qcast %arg0 : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 7.812500e-03>>
    %1 = quant.dcast %0 : tensor<4x!quant.uniform<i8:f32, 7.812500e-03>> to tensor<4xf32>
    %2 = math.exp %1 : tensor<4xf32>
    %3 = arith.truncf %2 : tensor<4xf32> to tensor<4xbf16>
    %4 = arith.extf %3 : tensor<4xbf16> to tensor<4xf32>
    %5 = arith.addf %4, %4 : tensor<4xf32>
    %6 = arith.truncf %5 : tensor<4xf32> to tensor<4xbf16>
    %7 = arith.extf %6 : tensor<4xbf16> to tensor<4xf32>
    return %7 : tensor<4xf32>
  }
}
