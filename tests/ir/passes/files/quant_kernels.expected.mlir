module {
  func.func @conv2d(%arg0: tensor<1x4x4x2xf32>, %arg1: tensor<3x2x2x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<1x2x2x3xf32> {
    %0 = quant.qcast %arg0 : tensor<1x4x4x2xf32> to tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %1 = qrt.conv2d %0, %arg1 {strides = [2, 2]} : (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<3x2x2x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<1x2x2x3x!quant.uniform<i8:f32, 5.000000e-01:-1>>
    %2 = quant.dcast %1 : tensor<1x2x2x3x!quant.uniform<i8:f32, 5.000000e-01:-1>> to tensor<1x2x2x3xf32>
    return %2 : tensor<1x2x2x3xf32>
  }
  func.func @matmul(%arg0: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, %arg1: tensor<4x3x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:-1>> {
    %0 = qrt.matmul %arg0, %arg1 {requant = "float32"} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x3x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:-1>>
    return %0 : tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:-1>>
  }
}
