module {
  func.func @both_ends(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = quant.region(%arg0, %arg1) {
    ^bb0(%arg2: tensor<2x4xf32>, %arg3: tensor<2x4xf32>):
      %1 = arith.addf %arg2, %arg3 : tensor<2x4xf32>
      quant.return %1 : tensor<2x4xf32>
    } {input_specs = [!quant.uniform<u8:f32, 0.0078431372549019607:128>, !quant.uniform<i8:f32:0, {0.0078431372549019607:-1,0.0078431372549019607:-128}>], kernel = "add", output_specs = [!quant.uniform<i8:f32, 5.000000e-01:3>]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func @fixed_outside(%arg0: tensor<2x4x!quant.uniform<u4:f32, 2.500000e-01>>) -> (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x4xf32>) {
    %0 = quant.dcast %arg0 : tensor<2x4x!quant.uniform<u4:f32, 2.500000e-01>> to tensor<2x4xf32>
    %1:2 = quant.region(%0) {
    ^bb0(%arg1: tensor<2x4xf32>):
      quant.return %arg1, %arg1 : tensor<2x4xf32>, tensor<2x4xf32>
    } {input_specs = [!quant.uniform<u4:f32, 2.500000e-01>], kernel = "k", output_specs = [!quant.uniform<i8:f32, 5.000000e-01:3>, !quant.any<i6:f32>]} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    %2 = quant.qcast %1#0 : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    return %2, %1#1 : tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x4xf32>
  }
  func.func @read_outside(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = "quant.const_fake_quant"(%arg0) <{is_signed = false, max = 1.000000e+00 : f32, min = -1.000000e+00 : f32, narrow_range = false, num_bits = 8 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = math.absf %0 : tensor<2x4xf32>
    %2 = quant.region(%0) {
    ^bb0(%arg2: tensor<2x4xf32>):
      quant.return %arg2 : tensor<2x4xf32>
    } {input_specs = [!quant.uniform<u8:f32, 0.0078431372549019607:128>], kernel = "k", output_specs = [!quant.none<f32>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = "quant.const_fake_quant"(%2) <{is_signed = false, max = 1.000000e+00 : f32, min = -1.000000e+00 : f32, narrow_range = false, num_bits = 4 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %4 = quant.region(%arg1) {
    ^bb0(%arg2: tensor<2x4xf32>):
      quant.return %arg2 : tensor<2x4xf32>
    } {input_specs = [!quant.uniform<i8:f32, 5.000000e-01:3>], kernel = "k", output_specs = [f32]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = "quant.const_fake_quant"(%1) <{is_signed = false, max = 1.000000e+00 : f32, min = -1.000000e+00 : f32, narrow_range = false, num_bits = 8 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %1, %3, %4, %5 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
}
