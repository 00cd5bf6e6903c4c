module {
  func.func @annotated(%arg0: tensor<2x4xf32>, %arg1: tensor<4x3xf32>) -> tensor<2x3xf32> {
    %0 = "quant.stats"(%arg0) <{layerStats = dense<[-1.000000e+00, 1.000000e+00]> : tensor<2xf32>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "quant.stats"(%0) <{axis = 1 : i64, axisStats = dense<[[-1.000000e+00, 1.000000e+00], [-5.000000e-01, 5.000000e-01], [0.000000e+00, 1.000000e+00], [-1.000000e+00, 0.000000e+00]]> : tensor<4x2xf32>, layerStats = dense<[-1.000000e+00, 1.000000e+00]> : tensor<2xf32>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = quant.region(%1, %arg1) {
    ^bb0(%arg2: tensor<2x4xf32>, %arg3: tensor<4x3xf32>):
      %3 = tensor.empty() : tensor<2x3xf32>
      quant.return %3 : tensor<2x3xf32>
    } {input_specs = [!quant.uniform<i8:f32, 5.000000e-01:3>, !quant.any<i8:f32>], kernel = "matmul", output_specs = [f32], t.note} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
  func.func @keys(%arg0: tensor<2x4xf32>, %arg1: tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x4xf32> {
    %0 = "quant.stats"(%arg0) <{axis = 0 : i64, axisStats = dense<[[-1.000000e+00, 1.000000e+00], [-5.000000e-01, 5.000000e-01]]> : tensor<2x2xf32>, layerStats = dense<[-1.000000e+00, 1.000000e+00]> : tensor<2xf32>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "quant.stats_ref"(%0) <{statsKey = "layer/output"}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = "quant.coupled_ref"(%arg1) <{coupledKey = "state"}> : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>
    return %1 : tensor<2x4xf32>
  }
  func.func @fake(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = "quant.const_fake_quant"(%arg0) <{is_signed = false, max = 1.000000e+00 : f32, min = -1.000000e+00 : f32, narrow_range = false, num_bits = 8 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = "quant.const_fake_quant"(%0) <{is_signed = true, max = 0.000000e+00 : f32, min = 0.000000e+00 : f32, narrow_range = true, num_bits = 4 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = "quant.const_fake_quant_per_axis"(%1) <{axis = 1 : i64, is_signed = false, max = [1.000000e+00 : f32, 0.000000e+00 : f32, 1.000000e+00 : f32], min = [-1.000000e+00 : f32, 0.000000e+00 : f32, 5.000000e-01 : f32], narrow_range = false, num_bits = 16 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
  func.func @own_names(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = quant.region(%arg0, %arg1) {
    ^bb0(%arg2: tensor<2x4xf32>, %arg3: tensor<2x4xf32>):
      %3 = arith.addf %arg2, %arg3 : tensor<2x4xf32>
      quant.return %3 : tensor<2x4xf32>
    } {input_specs = [!quant.calibrated<f32<-1.000000e+00:3.000000e+00>>, bf16], kernel = "add", output_specs = [!quant.none<f32>]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = quant.region() {
      %3 = arith.constant dense<1.000000e+00> : tensor<2xf32>
      quant.return %3 : tensor<2xf32>
    } {input_specs = [], kernel = "one", output_specs = [!quant.uniform<i8:f32, 2.500000e-01>]} : () -> tensor<2xf32>
    %2 = quant.region(%arg0) {
    ^bb0(%arg2: tensor<2x4xf32>):
      quant.return %arg2 : tensor<2x4xf32>
    } {input_specs = [f32], kernel = "none", output_specs = [f32]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func @lowering(%arg0: tensor<2x4xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, %arg3: tensor<3x3x3x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x3xf32> {
    %0 = "quant.cast"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %1 = "quant.cast"(%arg1) : (tensor<4x3xf32>) -> tensor<4x3x!quant.uniform<i8:f32, 2.500000e-01>>
    %2 = "quant.matmul"(%0, %1) <{output_scale = 1.000000e+00 : f64, output_zero_point = -1 : i64}> : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x3x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:-1>>
    %3 = "quant.conv2d"(%arg2, %arg3) <{padding = [[1, 1], [1, 1]], requant = "float32", strides = [1, 1]}> : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<3x3x3x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<1x8x8x3x!quant.uniform<i8:f32, 1.000000e+00:-1>>
    %4 = "quant.cast"(%2) : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:-1>>) -> tensor<2x3xf32>
    return %4 : tensor<2x3xf32>
  }
}
