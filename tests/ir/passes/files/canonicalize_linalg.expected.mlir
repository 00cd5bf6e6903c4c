module {
  func.func @idgen(%arg0: tensor<4x?xf32>, %arg1: tensor<4x?xf32>) -> tensor<4x?xf32> {
    return %arg0 : tensor<4x?xf32>
  }
  func.func @idgencast(%arg0: tensor<?x4xf32>, %arg1: tensor<4x?xf32>) -> tensor<4x?xf32> {
    %0 = tensor.cast %arg0 : tensor<?x4xf32> to tensor<4x?xf32>
    return %0 : tensor<4x?xf32>
  }
  func.func @unused(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg0, %arg1, %arg0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%arg2 : tensor<4xf32>) {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32):
      %1 = arith.addf %arg3, %arg5 : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @idmem(%arg0: memref<4xf32>, %arg1: memref<4xf32>) {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>) {
    ^bb0(%arg2: f32, %arg3: f32):
      linalg.yield %arg2 : f32
    }
    linalg.copy ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>)
    return
  }
  func.func @zeromem(%arg0: memref<0xf32>, %arg1: memref<0xf32>) {
    return
  }
  func.func @copyt(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = linalg.copy ins(%arg0 : tensor<4xf32>) outs(%arg1 : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @deadgen(%arg0: tensor<4xf32>) {
    return
  }
  func.func @fillcoll(%arg0: f32, %arg1: tensor<4x4xf32>) -> (tensor<16xf32>, tensor<2x2x4xf32>) {
    %0 = tensor.collapse_shape %arg1 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %1 = linalg.fill ins(%arg0 : f32) outs(%0 : tensor<16xf32>) -> tensor<16xf32>
    %2 = tensor.expand_shape %arg1 [[0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
    %3 = linalg.fill ins(%arg0 : f32) outs(%2 : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
    return %1, %3 : tensor<16xf32>, tensor<2x2x4xf32>
  }
  func.func @fillpad(%arg0: tensor<4x4xf32>, %arg1: f32) -> tensor<6x6xf32> {
    %0 = tensor.empty() : tensor<6x6xf32>
    %1 = linalg.fill ins(%arg1 : f32) outs(%0 : tensor<6x6xf32>) -> tensor<6x6xf32>
    return %1 : tensor<6x6xf32>
  }
  func.func @fillext(%arg0: tensor<4x4xf32>, %arg1: f32, %arg2: index) -> f32 {
    return %arg1 : f32
  }
  func.func @filltr(%arg0: tensor<4x5xf32>, %arg1: tensor<5x4xf32>, %arg2: f32, %arg3: index) -> tensor<5x4xf32> {
    %0 = linalg.fill ins(%arg2 : f32) outs(%arg1 : tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
  func.func @fillcast(%arg0: tensor<?x5xf32>, %arg1: f32, %arg2: index) -> tensor<4x5xf32> {
    %0 = tensor.cast %arg0 : tensor<?x5xf32> to tensor<4x5xf32>
    %1 = linalg.fill ins(%arg1 : f32) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
  func.func @fillofcast(%arg0: tensor<4x5xf32>, %arg1: f32, %arg2: index) -> tensor<?x5xf32> {
    %0 = linalg.fill ins(%arg1 : f32) outs(%arg0 : tensor<4x5xf32>) -> tensor<4x5xf32>
    %1 = tensor.cast %0 : tensor<4x5xf32> to tensor<?x5xf32>
    return %1 : tensor<?x5xf32>
  }
  func.func @fillconcat(%arg0: tensor<4x5xf32>, %arg1: f32) -> tensor<8x5xf32> {
    %0 = tensor.concat dim(0) %arg0, %arg0 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
    %1 = linalg.fill ins(%arg1 : f32) outs(%0 : tensor<8x5xf32>) -> tensor<8x5xf32>
    return %1 : tensor<8x5xf32>
  }
  func.func @filltwice(%arg0: tensor<4x5xf32>, %arg1: f32, %arg2: f32) -> tensor<4x5xf32> {
    %0 = linalg.fill ins(%arg1 : f32) outs(%arg0 : tensor<4x5xf32>) -> tensor<4x5xf32>
    %1 = linalg.fill ins(%arg2 : f32) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
  func.func @trid(%arg0: tensor<4x5xf32>, %arg1: tensor<4x5xf32>) -> tensor<4x5xf32> {
    return %arg0 : tensor<4x5xf32>
  }
  func.func @trtr(%arg0: tensor<4x5x6xf32>, %arg1: tensor<5x6x4xf32>, %arg2: tensor<6x4x5xf32>) -> tensor<6x4x5xf32> {
    %0 = linalg.transpose ins(%arg0 : tensor<4x5x6xf32>) outs(%arg2 : tensor<6x4x5xf32>) permutation = [2, 0, 1]
    return %0 : tensor<6x4x5xf32>
  }
  func.func @brtr(%arg0: tensor<4xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<5x4xf32>) -> tensor<5x4xf32> {
    %0 = linalg.broadcast ins(%arg0 : tensor<4xf32>) outs(%arg2 : tensor<5x4xf32>) dimensions = [0]
    return %0 : tensor<5x4xf32>
  }
  func.func @brid(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func @brbr(%arg0: tensor<4xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
    %0 = linalg.broadcast ins(%arg0 : tensor<4xf32>) outs(%arg2 : tensor<3x4x5xf32>) dimensions = [0, 2]
    return %0 : tensor<3x4x5xf32>
  }
  func.func @idxdim(%arg0: tensor<1x4xindex>) -> tensor<1x4xindex> {
    %0 = arith.constant 0 : index
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%arg0 : tensor<1x4xindex>) {
    ^bb0(%arg1: index):
      linalg.yield %0 : index
    } -> tensor<1x4xindex>
    return %1 : tensor<1x4xindex>
  }
  func.func @genconst(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.constant dense<1.000000e+00> : tensor<4xf32>
    %1 = arith.constant 2.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%0, %1 : tensor<4xf32>, f32) outs(%arg0 : tensor<4xf32>) {
    ^bb0(%arg1: f32, %arg2: f32, %arg3: f32):
      %3 = arith.addf %arg1, %arg2 : f32
      linalg.yield %3 : f32
    } -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func @mapid(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = linalg.map ins(%arg0 : tensor<4xf32>) outs(%arg1 : tensor<4xf32>) (%arg2: f32, %arg3: f32) {
      linalg.yield %arg2 : f32
    }
    return %0 : tensor<4xf32>
  }
  func.func @linalgcast(%arg0: tensor<4x4xf32>, %arg1: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = linalg.matmul ins(%arg0, %arg0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%arg0 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = tensor.cast %arg1 : tensor<?x?xf32> to tensor<4x4xf32>
    %2 = linalg.matmul ins(%arg0, %1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = tensor.cast %2 : tensor<4x4xf32> to tensor<?x?xf32>
    return %3 : tensor<?x?xf32>
  }
  func.func @castlinalg(%arg0: tensor<?x?xf32>) -> tensor<4x4xf32> {
    %0 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<4x4xf32>
    %1 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<4x?xf32>
    %2 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<?x4xf32>
    %3 = linalg.matmul ins(%1, %2 : tensor<4x?xf32>, tensor<?x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
  func.func @brtr3(%arg0: tensor<4x3xf32>, %arg1: tensor<4x5x3xf32>, %arg2: tensor<3x5x4xf32>) -> tensor<3x5x4xf32> {
    %0 = tensor.empty() : tensor<3x4xf32>
    %1 = linalg.transpose ins(%arg0 : tensor<4x3xf32>) outs(%0 : tensor<3x4xf32>) permutation = [1, 0]
    %2 = linalg.broadcast ins(%1 : tensor<3x4xf32>) outs(%arg2 : tensor<3x5x4xf32>) dimensions = [1]
    return %2 : tensor<3x5x4xf32>
  }
  func.func @brtr4(%arg0: tensor<4xf32>, %arg1: tensor<6x4x5xf32>, %arg2: tensor<5x4x6xf32>) -> tensor<5x4x6xf32> {
    %0 = linalg.broadcast ins(%arg0 : tensor<4xf32>) outs(%arg2 : tensor<5x4x6xf32>) dimensions = [2, 0]
    return %0 : tensor<5x4x6xf32>
  }
  func.func @multi(%arg0: tensor<?xf32>, %arg1: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %0 = tensor.cast %arg0 : tensor<?xf32> to tensor<4xf32>
    %1 = tensor.cast %arg0 : tensor<?xf32> to tensor<4xf32>
    %2:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg1 : tensor<4xf32>) outs(%0, %1 : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%arg2: f32, %arg3: f32, %arg4: f32):
      %5 = arith.addf %arg2, %arg4 : f32
      linalg.yield %5, %arg2 : f32, f32
    } -> (tensor<4xf32>, tensor<4xf32>)
    %3 = tensor.cast %2#0 : tensor<4xf32> to tensor<?xf32>
    %4 = tensor.cast %2#1 : tensor<4xf32> to tensor<?xf32>
    return %3, %4 : tensor<?xf32>, tensor<?xf32>
  }
  func.func @conv(%arg0: tensor<1x8x8x3xf32>, %arg1: tensor<3x3x3x4xf32>, %arg2: tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32> {
    %0 = linalg.conv_2d_nhwc_hwcf ins(%arg0, %arg1 : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%arg2 : tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32>
    return %0 : tensor<1x?x?x4xf32>
  }
}
