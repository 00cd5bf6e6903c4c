module {
  func.func @cancels(%arg0: tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, %arg1: tensor<2x1x1x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = qrt.conv2d %arg0, %arg1 : (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x1x1x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.clamp %0 {min = 0.000000e+00 : f64} : (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %2 = qrt.add %0, %1 : (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %3 = qrt.conv2d %2, %arg1 : (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x1x1x2x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %3 : tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @goes_to_the_end(%arg0: tensor<1x4x6x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> (tensor<1x2x1x1x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x5x6x6x!quant.uniform<i8:f32, 5.000000e-02:3>>) {
    %0 = qrt.mean %arg0 {axes = [1, 2], keepdims = true} : (tensor<1x4x6x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x1x1x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.reshape %0 : (tensor<1x1x1x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x2x1x1x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %2 = qrt.concat %arg0, %arg0 {axis = 3 : i64} : (tensor<1x4x6x2x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x4x6x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x4x6x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %3 = qrt.pad %2 {padding = [[0, 0], [0, 2], [0, 0], [1, 0]]} : (tensor<1x4x6x4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x6x6x5x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %4 = qrt.transpose %3 {permutation = [0, 3, 1, 2]} : (tensor<1x6x6x5x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x5x6x6x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %1, %4 : tensor<1x2x1x1x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<1x5x6x6x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @rounds_by_place(%arg0: tensor<1x4x6x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x2x4x6x!quant.uniform<i8:f32, 2.000000e-02>> {
    %0 = qrt.transpose %arg0 {permutation = [0, 3, 1, 2]} : (tensor<1x4x6x2x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x2x4x6x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.requantize %0 {requant = "half_up_twice_16"} : (tensor<1x2x4x6x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<1x2x4x6x!quant.uniform<i8:f32, 2.000000e-02>>
    return %1 : tensor<1x2x4x6x!quant.uniform<i8:f32, 2.000000e-02>>
  }
  func.func @loops(%arg0: tensor<?x5x3x4xf32>, %arg1: tensor<4xf32>) -> tensor<?x5x3x4xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 0 : index
    %2 = tensor.dim %arg0, %1 : tensor<?x5x3x4xf32>
    %3 = tensor.empty(%2) : tensor<?x5x3x4xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1 : tensor<?x5x3x4xf32>, tensor<4xf32>) outs(%3 : tensor<?x5x3x4xf32>) {
    ^bb0(%arg2: f32, %arg3: f32, %arg4: f32):
      %5 = arith.addf %arg2, %arg3 : f32
      linalg.yield %5 : f32
    } -> tensor<?x5x3x4xf32>
    return %4 : tensor<?x5x3x4xf32>
  }
}
