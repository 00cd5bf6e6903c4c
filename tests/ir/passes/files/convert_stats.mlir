// convert-stats
// Ranges move to the ports that they are nearest to, and the values stay.

#layer = dense<[-1.0, 3.0]> : tensor<2xf32>
func.func @both_ends(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = "quant.stats"(%x) {layerStats = #layer} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = quant.region (%0) {
    %9 = math.absf %0 : tensor<2x4xf32>
    quant.return %9 : tensor<2x4xf32>
  } {input_specs = [f32], output_specs = [f32], kernel = "first"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "quant.stats"(%1) {layerStats = dense<[0.0, 3.0]> : tensor<2xf32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = "quant.stats_ref"(%2) {statsKey = "between"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = "quant.stats"(%3) {layerStats = dense<[0.0, 2.0]> : tensor<2xf32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = quant.region (%4, %2) {
    %9 = arith.addf %4, %2 : tensor<2x4xf32>
    quant.return %9 : tensor<2x4xf32>
  } {input_specs = [f32, f32], output_specs = [f32], kernel = "second"} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

// The region's own word stays, a width beside a range; the inner range decides nothing, nor does one far from regions.
func.func @own_words(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = "quant.stats"(%x) {layerStats = #layer, axis = 1 : i64, axisStats = dense<[[-1.0, 0.0], [0.0, 3.0], [0.0, 0.0], [2.0, 2.0]]> : tensor<4x2xf32>}
    : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1:2 = quant.region (%0, %0, %0, %0) {
  ^bb0(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<2x4xf32>, %d: tensor<2x4xf32>):
    %8 = "quant.stats"(%a) {layerStats = #layer} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %9 = quant.region (%8) {
      quant.return %8 : tensor<2x4xf32>
    } {input_specs = [f32], output_specs = [f32], kernel = "inner"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    quant.return %9, %b : tensor<2x4xf32>, tensor<2x4xf32>
  } {input_specs = [f32, !quant.any<i4:f32>, !quant.none<f32>, !quant.uniform<i8:f32, 0.5>], output_specs = [f32, !quant.calibrated<f32<0.0:1.0>>], kernel = "k"}
    : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %2 = "quant.stats"(%1#1) {layerStats = #layer} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = "quant.stats"(%y) {layerStats = #layer} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}

// Several uses of one result: the first annotation is nearest. A range of one number reaches to 0, and that of 0 to 1.
func.func @branches(%x: tensor<2x4xf32>, %n: index) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = quant.region (%x) {
    quant.return %x : tensor<2x4xf32>
  } {input_specs = [f32], output_specs = [f32], kernel = "first"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "quant.stats"(%0) {layerStats = dense<-2.0> : tensor<2xf32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "quant.stats"(%0) {layerStats = dense<0.0> : tensor<2xf32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %2) -> tensor<2x4xf32> {
    %4 = quant.region (%1, %a) {
      %9 = arith.addf %1, %a : tensor<2x4xf32>
      quant.return %9 : tensor<2x4xf32>
    } {input_specs = [f32, f32], output_specs = [f32], kernel = "second"} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %4 : tensor<2x4xf32>
  }
  return %3 : tensor<2x4xf32>
}
