// convert-fake-quant
// Types move to the ports that they are nearest to; rounding stays where operations outside of regions read it.

!q = !quant.uniform<i8:f32, 0.5:3>
!p = !quant.uniform<u4:f32, 0.25>
!t = tensor<2x4xf32>
func.func @both_ends(%x: !t, %w: !t) -> !t {
  %0 = "quant.const_fake_quant"(%x) {min = -1.0 : f32, max = 1.0 : f32, num_bits = 8 : i64} : (!t) -> !t
  %1 = "quant.const_fake_quant_per_axis"(%w) {min = [-1.0 : f32, 0.0 : f32], max = [1.0 : f32, 2.0 : f32], axis = 0 : i64, num_bits = 8 : i64, is_signed = true} : (!t) -> !t
  %2 = quant.region (%0, %1) {
    %9 = arith.addf %0, %1 : !t
    quant.return %9 : !t
  } {input_specs = [!quant.any<i8:f32>, f32], output_specs = [!quant.calibrated<f32<0.0:1.0>>], kernel = "add"} : (!t, !t) -> !t
  %3 = quant.qcast %2 : !t to tensor<2x4x!q>
  %4 = quant.dcast %3 : tensor<2x4x!q> to !t
  return %4 : !t
}

// A quantized argument, a quantized result, and a type without a mapping.
func.func @fixed_outside(%x: tensor<2x4x!p>) -> (tensor<2x4x!q>, !t) {
  %0 = quant.dcast %x : tensor<2x4x!p> to !t
  %1:2 = quant.region (%0) {
    quant.return %0, %0 : !t, !t
  } {input_specs = [f32], output_specs = [f32, f32], kernel = "k"} : (!t) -> (!t, !t)
  %2 = quant.qcast %1#0 : !t to tensor<2x4x!q>
  %3 = quant.qcast %1#1 : !t to tensor<2x4x!quant.any<i6:f32>>
  %4 = quant.dcast %3 : tensor<2x4x!quant.any<i6:f32>> to !t
  return %2, %4 : tensor<2x4x!q>, !t
}

// What stays: rounding that a float operation reads, another rounding than that of the definition, and one far from regions.
func.func @read_outside(%x: !t, %y: !t) -> (!t, !t, !t, !t) {
  %0 = "quant.const_fake_quant"(%x) {min = -1.0 : f32, max = 1.0 : f32, num_bits = 8 : i64} : (!t) -> !t
  %1 = math.absf %0 : !t
  %2 = quant.region (%0) {
    quant.return %0 : !t
  } {input_specs = [f32], output_specs = [!quant.none<f32>], kernel = "k"} : (!t) -> !t
  %3 = "quant.const_fake_quant"(%2) {min = -1.0 : f32, max = 1.0 : f32, num_bits = 4 : i64} : (!t) -> !t
  %4 = "quant.const_fake_quant"(%y) {min = -1.0 : f32, max = 1.0 : f32, num_bits = 8 : i64} : (!t) -> !t
  %5 = quant.region (%4) {
    quant.return %4 : !t
  } {input_specs = [!q], output_specs = [f32], kernel = "k"} : (!t) -> !t
  %6 = "quant.const_fake_quant"(%1) {min = -1.0 : f32, max = 1.0 : f32, num_bits = 8 : i64} : (!t) -> !t
  return %1, %3, %5, %6 : !t, !t, !t, !t
}
