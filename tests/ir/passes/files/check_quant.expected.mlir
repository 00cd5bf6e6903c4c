module {
  func.func @f(%arg0: tensor<2x4x!quant.uniform<i8:f32, 1.000000e-01:3>>, %arg1: tensor<4x3xf32>, %arg2: tensor<3xf32>) -> tensor<2x3xf32> {
    %0 = quant.dcast %arg0 : tensor<2x4x!quant.uniform<i8:f32, 1.000000e-01:3>> to tensor<2x4xf32>
    %1 = quant.region(%0, %arg1, %arg2) {
    ^bb0(%arg3: tensor<2x4xf32>, %arg4: tensor<4x3xf32>, %arg5: tensor<3xf32>):
      %4 = tensor.empty() : tensor<2x3xf32>
      %5 = linalg.broadcast ins(%arg5 : tensor<3xf32>) outs(%4 : tensor<2x3xf32>) dimensions = [0]
      %6 = linalg.matmul ins(%arg3, %arg4 : tensor<2x4xf32>, tensor<4x3xf32>) outs(%5 : tensor<2x3xf32>) -> tensor<2x3xf32>
      quant.return %6 : tensor<2x3xf32>
    } {input_specs = [!quant.uniform<i8:f32, 1.000000e-01:3>, !quant.uniform<i8<-127:127>:f32:1, {2.000000e-01,3.000000e-01,0.69999999999999996}>, !quant.uniform<i32:f32:0, {0.020000000000000004,3.000000e-02,0.069999999999999993}>], kernel = "matmul", output_specs = [!quant.uniform<i8:f32, 5.000000e-01:-7>]} : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %2 = quant.region(%1) {
    ^bb0(%arg3: tensor<2x3xf32>):
      quant.return %arg3 : tensor<2x3xf32>
    } {input_specs = [!quant.uniform<i8:f32, 5.000000e-01:-7>], kernel = "rescale", output_specs = [!quant.uniform<i8:f32, 2.500000e-01>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = quant.region(%2) {
    ^bb0(%arg3: tensor<2x3xf32>):
      %4 = math.tanh %arg3 : tensor<2x3xf32>
      quant.return %4 : tensor<2x3xf32>
    } {input_specs = [!quant.uniform<i8:f32, 2.500000e-01>], kernel = "tanh", output_specs = [!quant.uniform<i8:f32, 7.812500e-03>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}
