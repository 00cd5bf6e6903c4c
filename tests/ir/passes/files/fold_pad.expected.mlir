module {
  func.func @into(%arg0: tensor<1x4x4x2x!quant.uniform<u8:f32, 5.000000e-02:131>>, %arg1: tensor<2x3x3x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x2x2x2x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = qrt.conv2d %arg0, %arg1 {padding = [[0, 1], [0, 1]], qrt.fused = ["qrt.pad"], strides = [2, 2]} : (tensor<1x4x4x2x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<2x3x3x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x2x2x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %0 : tensor<1x2x2x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @stays(%arg0: tensor<1x4x4x2x!quant.uniform<u8:f32, 5.000000e-02:131>>, %arg1: tensor<2x3x3x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x2x2x2x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = qrt.pad %arg0 {padding = [[0, 0], [0, 1], [0, 1], [0, 0]], value = 5.000000e-01 : f64} : (tensor<1x4x4x2x!quant.uniform<u8:f32, 5.000000e-02:131>>) -> tensor<1x5x5x2x!quant.uniform<u8:f32, 5.000000e-02:131>>
    %1 = qrt.conv2d %0, %arg1 {strides = [2, 2]} : (tensor<1x5x5x2x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<2x3x3x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x2x2x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %1 : tensor<1x2x2x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
}
