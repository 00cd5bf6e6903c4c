module {
  func.func @normalized(%arg0: tensor<?x3xf32>) -> tensor<?x2xf32> {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "normalized/arg0"}> : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %1 = arith.constant dense<[[5.000000e-01, -8.000000e+00], [1.500000e+00, -1.600000e+01], [2.500000e+00, -2.400000e+01]]> : tensor<3x2xf32>
    %2 = arith.constant dense<[2.500000e-01, 1.250000e-01]> : tensor<2xf32>
    %3 = quant.region(%0, %1, %2) {
    ^bb0(%arg1: tensor<?x3xf32>, %arg2: tensor<3x2xf32>, %arg3: tensor<2xf32>):
      %5 = arith.constant 0.000000e+00 : f32
      %6 = arith.constant 0 : index
      %7 = tensor.dim %arg1, %6 : tensor<?x3xf32>
      %8 = tensor.empty(%7) : tensor<?x2xf32>
      %9 = linalg.fill ins(%5 : f32) outs(%8 : tensor<?x2xf32>) -> tensor<?x2xf32>
      %10 = linalg.matmul ins(%arg1, %arg2 : tensor<?x3xf32>, tensor<3x2xf32>) outs(%9 : tensor<?x2xf32>) -> tensor<?x2xf32>
      %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%10, %arg3 : tensor<?x2xf32>, tensor<2xf32>) outs(%10 : tensor<?x2xf32>) {
      ^bb0(%arg4: f32, %arg5: f32, %arg6: f32):
        %17 = arith.addf %arg4, %arg5 : f32
        linalg.yield %17 : f32
      } -> tensor<?x2xf32>
      %12 = arith.constant 0 : index
      %13 = tensor.dim %9, %12 : tensor<?x2xf32>
      %14 = arith.constant 0.000000e+00 : f32
      %15 = tensor.splat %14[%13] : tensor<?x2xf32>
      %16 = arith.maximumf %11, %15 : tensor<?x2xf32>
      quant.return %16 : tensor<?x2xf32>
    } {input_specs = [f32, f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<?x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
    %4 = "quant.stats_ref"(%3) <{statsKey = "normalized/add.0"}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
    return %4 : tensor<?x2xf32>
  }
  func.func @in_one_op(%arg0: tensor<2x3xf32>) -> tensor<2x2xf32> {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "in_one_op/arg0"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = arith.constant dense<[[3.750000e-01, 1.200000e+01], [1.125000e+00, 2.400000e+01], [1.875000e+00, 3.600000e+01]]> : tensor<3x2xf32>
    %2 = arith.constant dense<[-8.750000e-01, 6.125000e+00]> : tensor<2xf32>
    %3 = quant.region(%0, %1, %2) {
    ^bb0(%arg1: tensor<2x3xf32>, %arg2: tensor<3x2xf32>, %arg3: tensor<2xf32>):
      %5 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %6 = linalg.matmul ins(%arg1, %arg2 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%5 : tensor<2x2xf32>) -> tensor<2x2xf32>
      %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%6, %arg3 : tensor<2x2xf32>, tensor<2xf32>) outs(%6 : tensor<2x2xf32>) {
      ^bb0(%arg4: f32, %arg5: f32, %arg6: f32):
        %8 = arith.addf %arg4, %arg5 : f32
        linalg.yield %8 : f32
      } -> tensor<2x2xf32>
      quant.return %7 : tensor<2x2xf32>
    } {input_specs = [f32, f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %4 = "quant.stats_ref"(%3) <{statsKey = "in_one_op/matmul.0/folded"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %4 : tensor<2x2xf32>
  }
  func.func @before(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x3x3x1xf32> {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "before/arg0"}> : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
    %1 = arith.constant dense<[[[[2.500000e-01], [5.000000e-01]], [[7.500000e-01], [1.000000e+00]]], [[[1.250000e+00], [1.500000e+00]], [[1.750000e+00], [2.000000e+00]]]]> : tensor<2x2x2x1xf32>
    %2 = quant.region(%0, %1) {
    ^bb0(%arg1: tensor<1x4x4x2xf32>, %arg2: tensor<2x2x2x1xf32>):
      %4 = arith.constant dense<0.000000e+00> : tensor<1x3x3x1xf32>
      %5 = linalg.conv_2d_nhwc_hwcf ins(%arg1, %arg2 : tensor<1x4x4x2xf32>, tensor<2x2x2x1xf32>) outs(%4 : tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
      quant.return %5 : tensor<1x3x3x1xf32>
    } {input_specs = [f32, f32], kernel = "conv2d", output_specs = [f32]} : (tensor<1x4x4x2xf32>, tensor<2x2x2x1xf32>) -> tensor<1x3x3x1xf32>
    %3 = "quant.stats_ref"(%2) <{statsKey = "before/conv2d.0"}> : (tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
    return %3 : tensor<1x3x3x1xf32>
  }
  func.func @stay(%arg0: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "stay/arg0"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = arith.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
    %2 = arith.constant dense<[[1.000000e+00, 1.000000e+00], [2.000000e+00, 2.000000e+00]]> : tensor<2x2xf32>
    %3 = arith.constant dense<[[1.000000e+00, 0.000000e+00], [1.000000e+00, 0.000000e+00]]> : tensor<2x2xf32>
    %4 = quant.region(%0, %1) {
    ^bb0(%arg1: tensor<2x3xf32>, %arg2: tensor<3x2xf32>):
      %16 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %17 = linalg.matmul ins(%arg1, %arg2 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%16 : tensor<2x2xf32>) -> tensor<2x2xf32>
      quant.return %17 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %5 = "quant.stats_ref"(%4) <{statsKey = "stay/matmul.0"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %6 = quant.region(%5, %2) {
    ^bb0(%arg1: tensor<2x2xf32>, %arg2: tensor<2x2xf32>):
      %16 = arith.mulf %arg1, %arg2 : tensor<2x2xf32>
      quant.return %16 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "mul", output_specs = [f32]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %7 = "quant.stats_ref"(%6) <{statsKey = "stay/mul.0"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %8 = quant.region(%0, %1) {
    ^bb0(%arg1: tensor<2x3xf32>, %arg2: tensor<3x2xf32>):
      %16 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %17 = linalg.matmul ins(%arg1, %arg2 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%16 : tensor<2x2xf32>) -> tensor<2x2xf32>
      quant.return %17 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %9 = "quant.stats_ref"(%8) <{statsKey = "stay/matmul.1"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %10 = quant.region(%9, %3) {
    ^bb0(%arg1: tensor<2x2xf32>, %arg2: tensor<2x2xf32>):
      %16 = arith.mulf %arg1, %arg2 : tensor<2x2xf32>
      quant.return %16 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "mul", output_specs = [f32]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %11 = "quant.stats_ref"(%10) <{statsKey = "stay/mul.1"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %12 = quant.region(%0, %1) {
    ^bb0(%arg1: tensor<2x3xf32>, %arg2: tensor<3x2xf32>):
      %16 = arith.constant dense<0.000000e+00> : tensor<2x2xf32>
      %17 = linalg.matmul ins(%arg1, %arg2 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%16 : tensor<2x2xf32>) -> tensor<2x2xf32>
      quant.return %17 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "matmul", output_specs = [f32]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %13 = "quant.stats_ref"(%12) <{statsKey = "stay/matmul.2"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %14 = quant.region(%13, %13) {
    ^bb0(%arg1: tensor<2x2xf32>, %arg2: tensor<2x2xf32>):
      %16 = arith.mulf %arg1, %arg1 : tensor<2x2xf32>
      quant.return %16 : tensor<2x2xf32>
    } {input_specs = [f32, f32], kernel = "mul", output_specs = [f32]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %15 = "quant.stats_ref"(%14) <{statsKey = "stay/mul.2"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %7, %11, %15 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  }
}
