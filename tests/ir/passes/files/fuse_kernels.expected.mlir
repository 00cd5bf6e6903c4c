module {
  func.func @dense(%arg0: tensor<?x8xf32>, %arg1: tensor<4xf32>) -> tensor<?x4xf32> {
    %0 = arith.constant dense<2.500000e-01> : tensor<8x4xf32>
    %1 = quant.region(%arg0, %0, %arg1) {
    ^bb0(%arg2: tensor<?x8xf32>, %arg3: tensor<8x4xf32>, %arg4: tensor<4xf32>):
      %4 = arith.constant 0.000000e+00 : f32
      %5 = arith.constant 0 : index
      %6 = tensor.dim %arg2, %5 : tensor<?x8xf32>
      %7 = tensor.empty(%6) : tensor<?x4xf32>
      %8 = linalg.fill ins(%4 : f32) outs(%7 : tensor<?x4xf32>) -> tensor<?x4xf32>
      %9 = linalg.matmul ins(%arg2, %arg3 : tensor<?x8xf32>, tensor<8x4xf32>) outs(%8 : tensor<?x4xf32>) -> tensor<?x4xf32>
      %10 = linalg.broadcast ins(%arg4 : tensor<4xf32>) outs(%7 : tensor<?x4xf32>) dimensions = [0]
      %11 = arith.addf %9, %10 : tensor<?x4xf32>
      quant.return %11 : tensor<?x4xf32>
    } {input_specs = [f32, f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    %2 = "quant.stats"(%1) <{layerStats = dense<[-1.000000e+00, 1.000000e+00]> : tensor<2xf32>}> : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %3 = quant.region(%2) {
    ^bb0(%arg2: tensor<?x4xf32>):
      %4 = arith.constant 0.000000e+00 : f32
      %5 = arith.constant 0 : index
      %6 = tensor.dim %arg2, %5 : tensor<?x4xf32>
      %7 = tensor.empty(%6) : tensor<?x4xf32>
      %8 = linalg.fill ins(%4 : f32) outs(%7 : tensor<?x4xf32>) -> tensor<?x4xf32>
      %9 = linalg.max ins(%arg2, %8 : tensor<?x4xf32>, tensor<?x4xf32>) outs(%7 : tensor<?x4xf32>) -> tensor<?x4xf32>
      %10 = math.tanh %9 : tensor<?x4xf32>
      quant.return %10 : tensor<?x4xf32>
    } {input_specs = [f32], kernel = "lookup", output_specs = [f32]} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %3 : tensor<?x4xf32>
  }
  func.func @pooled(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
    %0 = arith.constant 0xFF800000 : f32
    %1 = quant.region(%arg0) {
    ^bb0(%arg1: tensor<1x4x4x2xf32>):
      %2 = arith.constant 0xFF800000 : f32
      %3 = tensor.pad %arg1 low[0, 1, 1, 0] high[0, 0, 0, 0] {
      ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
        tensor.yield %2 : f32
      } : tensor<1x4x4x2xf32> to tensor<1x5x5x2xf32>
      %4 = tensor.empty() : tensor<3x3xf32>
      %5 = tensor.empty() : tensor<1x2x2x2xf32>
      %6 = linalg.fill ins(%2 : f32) outs(%5 : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
      %7 = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%3, %4 : tensor<1x5x5x2xf32>, tensor<3x3xf32>) outs(%6 : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
      quant.return %7 : tensor<1x2x2x2xf32>
    } {input_specs = [f32], kernel = "max_pool2d", output_specs = [f32]} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
    return %1 : tensor<1x2x2x2xf32>
  }
  func.func private @gate(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> attributes {quant.kernel = "mul"} {
    %0 = math.absf %arg0 : tensor<4xf32>
    %1 = arith.mulf %0, %arg1 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func @rest(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: index) -> tensor<4xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %arg3 = %0 to %arg2 step %1 iter_args(%arg4 = %arg0) -> (tensor<4xf32>) {
      %5 = quant.region(%arg4, %arg1) {
      ^bb0(%arg5: tensor<4xf32>, %arg6: tensor<4xf32>):
        %6 = math.absf %arg5 : tensor<4xf32>
        %7 = arith.mulf %6, %arg6 : tensor<4xf32>
        quant.return %7 : tensor<4xf32>
      } {input_specs = [f32, f32], kernel = "mul", output_specs = [f32]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %5 : tensor<4xf32>
    }
    %3 = quant.region(%2, %arg1) {
    ^bb0(%arg3: tensor<4xf32>, %arg4: tensor<4xf32>):
      %5 = arith.divf %arg3, %arg4 : tensor<4xf32>
      quant.return %5 : tensor<4xf32>
    } {input_specs = [f32, f32], kernel = "div", output_specs = [f32]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = quant.region(%3) {
    ^bb0(%arg3: tensor<4xf32>):
      %5 = math.exp %arg3 : tensor<4xf32>
      quant.return %5 : tensor<4xf32>
    } {input_specs = [f32], kernel = "lookup", output_specs = [f32]} : (tensor<4xf32>) -> tensor<4xf32>
    return %4 : tensor<4xf32>
  }
}
