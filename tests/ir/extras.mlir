// Ops of the quant dialect that upstream does not have.
!x = !quant.uniform<i8:f32, 0.5:3>
!w = !quant.uniform<i8:f32, 0.25>
!y = !quant.uniform<i8:f32, 1.0:-1>
func.func @annotated(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %0 = "quant.stats"(%x) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "quant.stats"(%0) <{
    layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>, axis = 1 : i64,
    axisStats = dense<[[-1.0, 1.0], [-0.5, 0.5], [0.0, 1.0], [-1.0, 0.0]]> : tensor<4x2xf32>
  }> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = quant.region (%1, %w) {
  ^bb0(%a: tensor<2x4xf32>, %b: tensor<4x3xf32>):
    %3 = tensor.empty() : tensor<2x3xf32>
    quant.return %3 : tensor<2x3xf32>
  } {input_specs = [!x, !quant.any<i8:f32>], output_specs = [f32], kernel = "matmul", t.note}
    : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
func.func @keys(%x: tensor<2x4xf32>, %q: tensor<2x!x>) -> tensor<2x4xf32> {
  %0 = "quant.stats"(%x) <{
    layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>, axis = 0 : i64, axisStats = dense<[[-1.0, 1.0], [-0.5, 0.5]]> : tensor<2x2xf32>
  }> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "quant.stats_ref"(%0) {statsKey = "layer/output"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "quant.coupled_ref"(%q) {coupledKey = "state"} : (tensor<2x!x>) -> tensor<2x!x>
  return %1 : tensor<2x4xf32>
}
func.func @fake(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "quant.const_fake_quant"(%x) {min = -1.0 : f32, max = 1.0 : f32, num_bits = 8 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "quant.const_fake_quant"(%0) <{min = 0.0 : f32, max = 0.0 : f32, num_bits = 4 : i64, narrow_range = true, is_signed = true}>
    : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "quant.const_fake_quant_per_axis"(%1) {
    min = [-1.0 : f32, 0.0 : f32, 0.5 : f32], max = [1.0 : f32, 0.0 : f32, 1.0 : f32], axis = 1 : i64, num_bits = 16 : i64
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
// As the propagation RFC writes it: the body has the operands' names, and colons stand before the specifications.
func.func @own_names(%x: tensor<2x4xf32>, %w: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = quant.region (%x, %w) {
    %0 = arith.addf %x, %w : tensor<2x4xf32>
    quant.return %0 : tensor<2x4xf32>
  } {input_specs: [!quant.calibrated<f32<-1.0:3.0>>, bf16], output_specs: [!quant.none<f32>], logical_kernel = "add"}
    : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %none = quant.region () {
    %0 = arith.constant dense<1.0> : tensor<2xf32>
    quant.return %0 : tensor<2xf32>
  } {input_specs = [], output_specs = [!w], kernel = "one"} : () -> tensor<2xf32>
  %nothing = "quant.region"(%x) ({
  ^bb0(%a: tensor<2x4xf32>):
    "quant.return"(%a) : (tensor<2x4xf32>) -> ()
  }) {input_specs = [f32], output_specs = [f32], logical_kernel = "none"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @lowering(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %i: tensor<1x8x8x2x!x>, %k: tensor<3x3x3x2x!w>) -> tensor<2x3xf32> {
  %0 = "quant.cast"(%x) : (tensor<2x4xf32>) -> tensor<2x4x!x>
  %1 = "quant.cast"(%w) : (tensor<4x3xf32>) -> tensor<4x3x!w>
  %2 = "quant.matmul"(%0, %1) {output_scale = 1.0 : f64, output_zero_point = -1 : i64}
    : (tensor<2x4x!x>, tensor<4x3x!w>) -> tensor<2x3x!y>
  %3 = "quant.conv2d"(%i, %k) {strides = [1, 1], padding = [[1, 1], [1, 1]], requant = "float32"}
    : (tensor<1x8x8x2x!x>, tensor<3x3x3x2x!w>) -> tensor<1x8x8x3x!y>
  %4 = "quant.cast"(%2) : (tensor<2x3x!y>) -> tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}
