module {
  func.func @both_ends(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = quant.region(%arg0) {
    ^bb0(%arg1: tensor<2x4xf32>):
      %3 = math.absf %arg1 : tensor<2x4xf32>
      quant.return %3 : tensor<2x4xf32>
    } {input_specs = [!quant.calibrated<f32<-1.000000e+00:3.000000e+00>>], kernel = "first", output_specs = [!quant.calibrated<f32<0.000000e+00:3.000000e+00>>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "quant.stats_ref"(%0) <{statsKey = "between"}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = quant.region(%1, %0) {
    ^bb0(%arg1: tensor<2x4xf32>, %arg2: tensor<2x4xf32>):
      %3 = arith.addf %arg1, %arg2 : tensor<2x4xf32>
      quant.return %3 : tensor<2x4xf32>
    } {input_specs = [!quant.calibrated<f32<0.000000e+00:2.000000e+00>>, !quant.calibrated<f32<0.000000e+00:3.000000e+00>>], kernel = "second", output_specs = [f32]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %2 : tensor<2x4xf32>
  }
  func.func @own_words(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
    %0:2 = quant.region(%arg0, %arg0, %arg0, %arg0) {
    ^bb0(%arg2: tensor<2x4xf32>, %arg3: tensor<2x4xf32>, %arg4: tensor<2x4xf32>, %arg5: tensor<2x4xf32>):
      %2 = "quant.stats"(%arg2) <{layerStats = dense<[-1.000000e+00, 3.000000e+00]> : tensor<2xf32>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %3 = quant.region(%2) {
      ^bb0(%arg6: tensor<2x4xf32>):
        quant.return %arg6 : tensor<2x4xf32>
      } {input_specs = [f32], kernel = "inner", output_specs = [f32]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
      quant.return %3, %arg3 : tensor<2x4xf32>, tensor<2x4xf32>
    } {input_specs = [!quant.calibrated<f32<-1.000000e+00:3.000000e+00>>, !quant.any<i4:f32>, !quant.none<f32>, !quant.uniform<i8:f32, 5.000000e-01>], kernel = "k", output_specs = [f32, !quant.calibrated<f32<0.000000e+00:1.000000e+00>>], quant.port_stats = {input0 = {axis = 1 : i64, channels = dense<[[-1.000000e+00, 0.000000e+00], [0.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00], [0.000000e+00, 2.000000e+00]]> : tensor<4x2xf64>}, input1 = {axis = 1 : i64, channels = dense<[[-1.000000e+00, 0.000000e+00], [0.000000e+00, 3.000000e+00], [0.000000e+00, 1.000000e+00], [0.000000e+00, 2.000000e+00]]> : tensor<4x2xf64>, range = dense<[-1.000000e+00, 3.000000e+00]> : tensor<2xf64>}}} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    %1 = "quant.stats"(%arg1) <{layerStats = dense<[-1.000000e+00, 3.000000e+00]> : tensor<2xf32>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0#1, %1 : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func @branches(%arg0: tensor<2x4xf32>, %arg1: index) -> tensor<2x4xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = quant.region(%arg0) {
    ^bb0(%arg2: tensor<2x4xf32>):
      quant.return %arg2 : tensor<2x4xf32>
    } {input_specs = [f32], kernel = "first", output_specs = [!quant.calibrated<f32<-2.000000e+00:0.000000e+00>>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = scf.for %arg2 = %0 to %arg1 step %1 iter_args(%arg3 = %2) -> (tensor<2x4xf32>) {
      %4 = quant.region(%2, %arg3) {
      ^bb0(%arg4: tensor<2x4xf32>, %arg5: tensor<2x4xf32>):
        %5 = arith.addf %arg4, %arg5 : tensor<2x4xf32>
        quant.return %5 : tensor<2x4xf32>
      } {input_specs = [!quant.calibrated<f32<-2.000000e+00:0.000000e+00>>, f32], kernel = "second", output_specs = [f32]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      scf.yield %4 : tensor<2x4xf32>
    }
    return %3 : tensor<2x4xf32>
  }
}
