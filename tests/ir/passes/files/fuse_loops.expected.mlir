module {
  func.func @bias_and_clamp(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>) -> tensor<2x4xf32> {
    %0 = tensor.empty() : tensor<2x4xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %arg2 : tensor<2x4xf32>, tensor<4xf32>, tensor<f32>) outs(%0 : tensor<2x4xf32>) attrs =  {qrt.fused = ["linalg.generic", "linalg.generic"]} {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32):
      %2 = arith.addf %arg3, %arg4 : f32
      %3 = arith.maximumf %2, %arg5 : f32
      linalg.yield %3 : f32
    } -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func @whole_tensors(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%arg0 : tensor<2x4xf32>) attrs =  {qrt.fused = ["linalg.generic", "linalg.generic"]} {
    ^bb0(%arg2: f32, %arg3: f32, %arg4: f32):
      %1 = arith.addf %arg2, %arg3 : f32
      %2 = arith.mulf %1, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func @open_size(%arg0: tensor<?x4xf32>, %arg1: tensor<?x4xf32>) -> (tensor<?x4xf32>, index) {
    %0 = arith.constant 0 : index
    %1 = tensor.dim %arg0, %0 : tensor<?x4xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<?x4xf32>, tensor<?x4xf32>) outs(%arg0 : tensor<?x4xf32>) attrs =  {qrt.fused = ["linalg.generic", "linalg.generic"]} {
    ^bb0(%arg2: f32, %arg3: f32, %arg4: f32):
      %3 = arith.addf %arg2, %arg3 : f32
      %4 = math.absf %3 : f32
      linalg.yield %4 : f32
    } -> tensor<?x4xf32>
    return %2, %1 : tensor<?x4xf32>, index
  }
  func.func @two_readers(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = arith.addf %arg0, %arg0 : tensor<4xf32>
    %1 = arith.mulf %0, %arg0 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func @turned_around(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = tensor.empty() : tensor<4x4xf32>
    %1 = arith.negf %arg0 : tensor<4x4xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1, %1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) {
    ^bb0(%arg1: f32, %arg2: f32, %arg3: f32):
      %3 = arith.addf %arg1, %arg2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
  func.func @may_be_an_error(%arg0: tensor<4xf32>) -> tensor<4xi32> {
    %0 = arith.addf %arg0, %arg0 : tensor<4xf32>
    %1 = arith.fptosi %0 : tensor<4xf32> to tensor<4xi32>
    return %1 : tensor<4xi32>
  }
}
