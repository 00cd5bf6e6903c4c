module {
  func.func @one_channel(%arg0: tensor<?x4x4x1x!quant.uniform<i8:f32, 5.000000e-02:3>>, %arg1: tensor<2x!quant.uniform<i32:f32:0, {1.000000e-03,5.000000e-04}>>) -> tensor<?x2x3x2x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = arith.constant dense<[[[[1], [3]], [[5], [7]], [[9], [11]]], [[[2], [4]], [[6], [8]], [[10], [12]]]]> : tensor<2x3x2x1xi8>
    %1 = quant.scast %0 : tensor<2x3x2x1xi8> to tensor<2x3x2x1x!quant.uniform<i8<-127:127>:f32:0, {2.000000e-02,1.000000e-02}>>
    %2 = qrt.conv2d %arg0, %1, %arg1 {qrt.fused = ["qrt.depthwise_conv2d"], requant = "float32"} : (tensor<?x4x4x1x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x3x2x1x!quant.uniform<i8<-127:127>:f32:0, {2.000000e-02,1.000000e-02}>>, tensor<2x!quant.uniform<i32:f32:0, {1.000000e-03,5.000000e-04}>>) -> tensor<?x2x3x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %2 : tensor<?x2x3x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @two_channels(%arg0: tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = arith.constant dense<7> : tensor<1x1x2xi8>
    %1 = quant.scast %0 : tensor<1x1x2xi8> to tensor<1x1x2x!quant.uniform<i8<-127:127>:f32:2, {2.000000e-02,1.000000e-02}>>
    %2 = qrt.depthwise_conv2d %arg0, %1 : (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x1x2x!quant.uniform<i8<-127:127>:f32:2, {2.000000e-02,1.000000e-02}>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %2 : tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @weights_of_the_run(%arg0: tensor<1x4x4x1x!quant.uniform<i8:f32, 5.000000e-02:3>>, %arg1: tensor<1x1x2x!quant.uniform<u8:f32, 2.000000e-02:128>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = qrt.depthwise_conv2d %arg0, %arg1 : (tensor<1x4x4x1x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x1x2x!quant.uniform<u8:f32, 2.000000e-02:128>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %0 : tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
}
