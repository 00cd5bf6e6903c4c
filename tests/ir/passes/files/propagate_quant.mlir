// propagate-quant{target=tflite}

func.func @f(%x: tensor<4x8xf32>, %z: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %w = arith.constant dense<[[0.5, -0.25, 1.0],[0.5, -0.25, 1.0],[0.5, -0.25, 1.0],[0.5, -0.25, 1.0],[0.5, -0.25, 1.0],[0.5, -0.25, 1.0],[0.5, -0.25, 1.0],[0.5, -0.25, 2.0]]> : tensor<8x3xf32>
  %b = arith.constant dense<[1.0, 2.0, -3.0]> : tensor<3xf32>
  %y = quant.region (%x, %w, %b) {
  ^bb0(%a: tensor<4x8xf32>, %c: tensor<8x3xf32>, %d: tensor<3xf32>):
    %e = tensor.empty() : tensor<4x3xf32>
    %f = linalg.broadcast ins(%d : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
    %0 = linalg.matmul ins(%a, %c : tensor<4x8xf32>, tensor<8x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
    quant.return %0 : tensor<4x3xf32>
  } {input_specs = [!quant.calibrated<f32<-1.0:3.0>>, f32, f32], output_specs = [!quant.calibrated<f32<-4.0:4.0>>], kernel = "matmul"} : (tensor<4x8xf32>, tensor<8x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %t = quant.region (%y, %z) {
  ^bb0(%a: tensor<4x3xf32>, %c: tensor<4x3xf32>):
    %0 = tensor.concat dim(1) %a, %c : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
    quant.return %0 : tensor<4x6xf32>
  } {input_specs = [f32, !quant.calibrated<f32<-40.0:4.0>>], output_specs = [f32], kernel = "concat"} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return %t : tensor<4x6xf32>
}
