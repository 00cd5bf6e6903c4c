module {
  func.func @readers(%arg0: tensor<1x4x4x2x!quant.uniform<u8:f32, 5.000000e-02:131>>, %arg1: tensor<2x1x1x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) {
    %0 = qrt.conv2d %arg0, %arg1 {qrt.fused = ["qrt.requantize"]} : (tensor<1x4x4x2x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<2x1x1x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.conv2d %arg0, %arg1 {qrt.fused = ["qrt.requantize"]} : (tensor<1x4x4x2x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<2x1x1x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %0, %1 : tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @producer(%arg0: tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>> {
    %0 = qrt.mul %arg0, %arg0 {qrt.fused = ["qrt.requantize"], requant = "float32"} : (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
    return %0 : tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
  }
  func.func @another_scale(%arg0: tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<i8:f32, 2.000000e-02>> {
    %0 = qrt.mul %arg0, %arg0 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.requantize %0 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<i8:f32, 2.000000e-02>>
    return %1 : tensor<4x!quant.uniform<i8:f32, 2.000000e-02>>
  }
  func.func @zero_point_before_the_rounding(%arg0: tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>> {
    %0 = qrt.add %arg0, %arg0 {requant = "float32_fused"} : (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.requantize %0 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
    return %1 : tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
  }
}
