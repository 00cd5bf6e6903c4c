module {
  func.func @keys(%arg0: tensor<4xf32> {qrt.name = "images"}, %arg1: tensor<4xf32>, %arg2: tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>, %arg3: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "keys/images"}> : (tensor<4xf32>) -> tensor<4xf32>
    %1 = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
    %2 = quant.dcast %arg2 : tensor<4x!quant.uniform<i8:f32, 5.000000e-01>> to tensor<4xf32>
    %3 = quant.region(%0, %1) {
    ^bb0(%arg4: tensor<4xf32>, %arg5: tensor<4xf32>):
      %11 = arith.addf %arg4, %arg5 : tensor<4xf32>
      quant.return %11 : tensor<4xf32>
    } {input_specs = [f32, f32], kernel = "add", output_specs = [f32]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = "quant.stats_ref"(%3) <{statsKey = "keys/add.0"}> : (tensor<4xf32>) -> tensor<4xf32>
    %5 = quant.region(%4, %2) {
    ^bb0(%arg4: tensor<4xf32>, %arg5: tensor<4xf32>):
      %11 = arith.addf %arg4, %arg5 : tensor<4xf32>
      quant.return %11 : tensor<4xf32>
    } {input_specs = [!quant.any<i4:f32>, f32], kernel = "add", output_specs = [!quant.calibrated<f32<-1.000000e+00:1.000000e+00>>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %6 = math.exp %5 : tensor<4xf32>
    %7 = "quant.stats_ref"(%6) <{statsKey = "keys/math.exp.0"}> : (tensor<4xf32>) -> tensor<4xf32>
    %8 = "quant.coupled_ref"(%7) <{coupledKey = "c"}> : (tensor<4xf32>) -> tensor<4xf32>
    %9:2 = quant.region(%8, %arg1) {
    ^bb0(%arg4: tensor<4xf32>, %arg5: tensor<4xf32>):
      quant.return %arg4, %arg5 : tensor<4xf32>, tensor<4xf32>
    } {input_specs = [f32, !quant.none<f32>], kernel = "mine", output_specs = [f32, !quant.uniform<i8:f32, 2.500000e-01>]} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %10 = "quant.stats_ref"(%9#0) <{statsKey = "keys/exp"}> : (tensor<4xf32>) -> tensor<4xf32>
    return %10, %9#1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func @loop(%arg0: tensor<4xf32>, %arg1: index) -> tensor<4xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %arg2 = %0 to %arg1 step %1 iter_args(%arg3 = %arg0) -> (tensor<4xf32>) {
      %3 = "quant.stats_ref"(%arg3) <{statsKey = "loop/scf.for.0/block0.arg1"}> : (tensor<4xf32>) -> tensor<4xf32>
      %4 = quant.region(%3) {
      ^bb0(%arg4: tensor<4xf32>):
        %6 = math.tanh %arg4 : tensor<4xf32>
        quant.return %6 : tensor<4xf32>
      } {input_specs = [f32], kernel = "lookup", output_specs = [f32]} : (tensor<4xf32>) -> tensor<4xf32>
      %5 = "quant.stats_ref"(%4) <{statsKey = "loop/lookup.0"}> : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %5 : tensor<4xf32>
    }
    return %2 : tensor<4xf32>
  }
}
