module {
  func.func @f(%arg0: tensor<4x8xf32>, %arg1: tensor<4x3xf32>) -> tensor<4x6xf32> {
    %0 = arith.constant dense<[[5.000000e-01, -2.500000e-01, 1.000000e+00], [5.000000e-01, -2.500000e-01, 1.000000e+00], [5.000000e-01, -2.500000e-01, 1.000000e+00], [5.000000e-01, -2.500000e-01, 1.000000e+00], [5.000000e-01, -2.500000e-01, 1.000000e+00], [5.000000e-01, -2.500000e-01, 1.000000e+00], [5.000000e-01, -2.500000e-01, 1.000000e+00], [5.000000e-01, -2.500000e-01, 2.000000e+00]]> : tensor<8x3xf32>
    %1 = arith.constant dense<[1.000000e+00, 2.000000e+00, -3.000000e+00]> : tensor<3xf32>
    %2 = quant.region(%arg0, %0, %1) {
    ^bb0(%arg2: tensor<4x8xf32>, %arg3: tensor<8x3xf32>, %arg4: tensor<3xf32>):
      %5 = tensor.empty() : tensor<4x3xf32>
      %6 = linalg.broadcast ins(%arg4 : tensor<3xf32>) outs(%5 : tensor<4x3xf32>) dimensions = [0]
      %7 = linalg.matmul ins(%arg2, %arg3 : tensor<4x8xf32>, tensor<8x3xf32>) outs(%6 : tensor<4x3xf32>) -> tensor<4x3xf32>
      quant.return %7 : tensor<4x3xf32>
    } {input_specs = [!quant.uniform<i8:f32, 0.015706807374954224:-64>, !quant.uniform<i8<-127:127>:f32:1, {0.0039370083250105381,0.0019685041625052691,0.015748033300042152}>, !quant.uniform<i32:f32:0, {6.1837831394531695E-5,3.0918915697265847E-5,2.4735132557812678E-4}>], kernel = "matmul", output_specs = [!quant.uniform<i8:f32, 0.031496066600084305>]} : (tensor<4x8xf32>, tensor<8x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
    %3 = quant.region(%2) {
    ^bb0(%arg2: tensor<4x3xf32>):
      quant.return %arg2 : tensor<4x3xf32>
    } {input_specs = [!quant.uniform<i8:f32, 0.031496066600084305>], kernel = "rescale", output_specs = [!quant.uniform<i8:f32, 0.17316018044948578:103>], quant.cause = "propagate_quant.mlir:6 matmul output 0 is !quant.uniform<i8:f32, 0.031496066600084305>, but propagate_quant.mlir:13 concat input 0 needs !quant.uniform<i8:f32, 0.17316018044948578:103>: annotate propagate_quant.mlir:6 as !quant.uniform<i8:f32, 0.17316018044948578:103>"} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %4 = quant.region(%3, %arg1) {
    ^bb0(%arg2: tensor<4x3xf32>, %arg3: tensor<4x3xf32>):
      %5 = tensor.concat dim(1) %arg2, %arg3 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
      quant.return %5 : tensor<4x6xf32>
    } {input_specs = [!quant.uniform<i8:f32, 0.17316018044948578:103>, !quant.uniform<i8:f32, 0.17316018044948578:103>], kernel = "concat", output_specs = [!quant.uniform<i8:f32, 0.17316018044948578:103>]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
    return %4 : tensor<4x6xf32>
  }
}
