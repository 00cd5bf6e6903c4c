module {
  func.func @relu(%arg0: tensor<2x3xf32>) -> tensor<2x2xf32> {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "relu/arg0"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = arith.constant dense<[[2.000000e+00, 8.000000e+00], [6.000000e+00, 2.000000e+00], [1.000000e+01, 1.200000e+01]]> : tensor<3x2xf32>
    %2 = quant.region(%0, %1) {
    ^bb0(%arg1: tensor<2x3xf32>, %arg2: tensor<3x2xf32>):
      %7 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %8 = linalg.matmul ins(%arg1, %arg2 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<2x2xf32>) -> tensor<2x2xf32>
      %9 = arith.maximumf %8, %7 : tensor<2x2xf32>
      quant.return %9 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %3 = "quant.stats_ref"(%2) <{statsKey = "relu/matmul.0/equalized"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %4 = arith.constant dense<[[2.000000e+00, 1.600000e+01], [8.000000e+00, 2.000000e+00]]> : tensor<2x2xf32>
    %5 = quant.region(%3, %4) {
    ^bb0(%arg1: tensor<2x2xf32>, %arg2: tensor<2x2xf32>):
      %7 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %8 = linalg.matmul ins(%arg1, %arg2 : tensor<2x2xf32>, tensor<2x2xf32>) outs(%7 : tensor<2x2xf32>) -> tensor<2x2xf32>
      quant.return %8 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %6 = "quant.stats_ref"(%5) <{statsKey = "relu/matmul.1"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %6 : tensor<2x2xf32>
  }
  func.func @flattened(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x1xf32> {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "flattened/arg0"}> : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
    %1 = arith.constant dense<[[[[2.000000e+00, 3.200000e+01]]]]> : tensor<1x1x1x2xf32>
    %2 = arith.constant dense<[6.000000e+00, 8.000000e+00]> : tensor<2xf32>
    %3 = quant.region(%0, %1, %2) {
    ^bb0(%arg1: tensor<1x2x2x1xf32>, %arg2: tensor<1x1x1x2xf32>, %arg3: tensor<2xf32>):
      %10 = tensor.empty() : tensor<1x2x2x2xf32>
      %11 = linalg.broadcast ins(%arg3 : tensor<2xf32>) outs(%10 : tensor<1x2x2x2xf32>) dimensions = [0, 1, 2]
      %12 = linalg.conv_2d_nhwc_hwcf ins(%arg1, %arg2 : tensor<1x2x2x1xf32>, tensor<1x1x1x2xf32>) outs(%11 : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
      quant.return %12 : tensor<1x2x2x2xf32>
    } {input_specs = [f32, f32, f32], kernel = "conv2d", output_specs = [f32]} : (tensor<1x2x2x1xf32>, tensor<1x1x1x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
    %4 = "quant.stats_ref"(%3) <{statsKey = "flattened/conv2d.0/equalized"}> : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
    %5 = quant.region(%4) {
    ^bb0(%arg1: tensor<1x2x2x2xf32>):
      %10 = tensor.collapse_shape %arg1 [[0], [1, 2, 3]] : tensor<1x2x2x2xf32> into tensor<1x8xf32>
      quant.return %10 : tensor<1x8xf32>
    } {input_specs = [f32], kernel = "reshape", output_specs = [f32]} : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32>
    %6 = "quant.stats_ref"(%5) <{statsKey = "flattened/reshape.0/equalized"}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %7 = arith.constant dense<[[5.000000e-01], [4.000000e+00], [1.500000e+00], [8.000000e+00], [2.500000e+00], [1.200000e+01], [3.500000e+00], [1.600000e+01]]> : tensor<8x1xf32>
    %8 = quant.region(%6, %7) {
    ^bb0(%arg1: tensor<1x8xf32>, %arg2: tensor<8x1xf32>):
      %10 = arith.constant dense<0.000000e+00> : tensor<1x1xf32>
      %11 = linalg.matmul ins(%arg1, %arg2 : tensor<1x8xf32>, tensor<8x1xf32>) outs(%10 : tensor<1x1xf32>) -> tensor<1x1xf32>
      quant.return %11 : tensor<1x1xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<1x8xf32>, tensor<8x1xf32>) -> tensor<1x1xf32>
    %9 = "quant.stats_ref"(%8) <{statsKey = "flattened/matmul.0"}> : (tensor<1x1xf32>) -> tensor<1x1xf32>
    return %9 : tensor<1x1xf32>
  }
  func.func @relu6(%arg0: tensor<2x3xf32>) -> tensor<2x2xf32> {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "relu6/arg0"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = arith.constant dense<[[1.000000e+00, 6.400000e+01], [3.000000e+00, 1.600000e+01], [5.000000e+00, 9.600000e+01]]> : tensor<3x2xf32>
    %2 = arith.constant dense<[[4.000000e+00, 3.200000e+01], [1.000000e+00, 2.500000e-01]]> : tensor<2x2xf32>
    %3 = quant.region(%0, %1) {
    ^bb0(%arg1: tensor<2x3xf32>, %arg2: tensor<3x2xf32>):
      %7 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %8 = linalg.matmul ins(%arg1, %arg2 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<2x2xf32>) -> tensor<2x2xf32>
      %9 = arith.maximumf %8, %7 : tensor<2x2xf32>
      %10 = arith.constant dense<6.000000e+00> : tensor<2x2xf32>
      %11 = arith.minimumf %9, %10 : tensor<2x2xf32>
      quant.return %11 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %4 = "quant.stats_ref"(%3) <{statsKey = "relu6/matmul.0"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %5 = quant.region(%4, %2) {
    ^bb0(%arg1: tensor<2x2xf32>, %arg2: tensor<2x2xf32>):
      %7 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %8 = linalg.matmul ins(%arg1, %arg2 : tensor<2x2xf32>, tensor<2x2xf32>) outs(%7 : tensor<2x2xf32>) -> tensor<2x2xf32>
      quant.return %8 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %6 = "quant.stats_ref"(%5) <{statsKey = "relu6/matmul.1"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %6 : tensor<2x2xf32>
  }
}
