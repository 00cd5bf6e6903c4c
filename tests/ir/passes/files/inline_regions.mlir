// inline-regions
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "quant.stats_ref"(%x) {statsKey = "x"} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = quant.region(%0) {
  ^bb0(%a: tensor<2xf32>):
    %4 = arith.addf %a, %a : tensor<2xf32>
    quant.return %4 : tensor<2xf32>
  } {input_specs = [f32], kernel = "add", output_specs = [!quant.uniform<i8:f32, 0.5>]} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "quant.stats"(%1) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "quant.coupled_ref"(%2) {coupledKey = "k"} : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}
