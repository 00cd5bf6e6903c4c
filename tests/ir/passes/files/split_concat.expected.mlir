module {
  func.func @types(%arg0: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-02:3>>, %arg1: tensor<2x1x!quant.uniform<i8:f32, 2.000000e-02>>, %arg2: tensor<2x3xf32>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = qrt.requantize %arg1 {requant = "float32"} : (tensor<2x1x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<2x1x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.concat %arg0, %0 {axis = 1 : i64, requant = "float32"} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x1x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %1 : tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @one_type(%arg0: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<2x6x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = qrt.concat %arg0, %arg0 {axis = 1 : i64} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x3x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<2x6x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %0 : tensor<2x6x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
}
