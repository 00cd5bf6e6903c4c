module {
  func.func @f(%arg0: tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:3>>, %arg1: tensor<2x3x!quant.uniform<u8:f32:0, {5.000000e-01,1.000000e+00:3}>>, %arg2: tensor<4x3x!quant.uniform<u8:f32:{0:2, 1:3}, {{5.000000e-01}, {1.000000e+00:3}}>>) -> tensor<2x3xf32> {
    %0 = quant.dcast %arg1 : tensor<2x3x!quant.uniform<u8:f32:0, {5.000000e-01,1.000000e+00:3}>> to tensor<2x3xf32>
    %1 = quant.dcast %arg2 : tensor<4x3x!quant.uniform<u8:f32:{0:2, 1:3}, {{5.000000e-01}, {1.000000e+00:3}}>> to tensor<4x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
