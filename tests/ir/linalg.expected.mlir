module {
  func.func @generic(%arg0: tensor<2x3xf32>, %arg1: memref<3xf32>, %arg2: memref<f32>, %arg3: f32) -> (tensor<2x3xf32>, tensor<2x3xindex>) {
    %0 = tensor.empty() : tensor<2x3xindex>
    %1:2 = linalg.generic {doc = "two", indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg3 : f32) outs(%arg0, %0 : tensor<2x3xf32>, tensor<2x3xindex>) attrs =  {note = 1 : i32} {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: index):
      %2 = linalg.index 0 : index
      %3 = linalg.index 1 : index
      linalg.yield %arg4, %3 : f32, index
    } -> (tensor<2x3xf32>, tensor<2x3xindex>)
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%arg1 : memref<3xf32>) outs(%arg2 : memref<f32>) {
    ^bb0(%arg4: f32, %arg5: f32):
      %2 = arith.addf %arg5, %arg4 : f32
      linalg.yield %2 : f32
    }
    return %1#0, %1#1 : tensor<2x3xf32>, tensor<2x3xindex>
  }
  func.func @forms(%arg0: tensor<2x3xf32>, %arg1: tensor<2xf32>, %arg2: memref<2x3xf32>, %arg3: tensor<2x3xi32>) {
    %0 = linalg.map ins(%arg0 : tensor<2x3xf32>) outs(%arg0 : tensor<2x3xf32>) {note} (%arg4: f32, %arg5: f32) {
      %8 = arith.addf %arg4, %arg4 : f32
      linalg.yield %8 : f32
    }
    %1 = linalg.map { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%arg0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%arg0 : tensor<2x3xf32>)
    linalg.map { math.absf } ins(%arg2 : memref<2x3xf32>) outs(%arg2 : memref<2x3xf32>)
    %2 = linalg.reduce ins(%arg0 : tensor<2x3xf32>) outs(%arg1 : tensor<2xf32>) dimensions = [1] (%arg4: f32, %arg5: f32) {
      %8 = arith.subf %arg4, %arg5 : f32
      linalg.yield %8 : f32
    }
    %3 = linalg.reduce { arith.mulf } ins(%arg0 : tensor<2x3xf32>) outs(%arg1 : tensor<2xf32>) dimensions = [1] {note}
    %4 = tensor.empty() : tensor<3x2xf32>
    %5 = linalg.transpose ins(%arg0 : tensor<2x3xf32>) outs(%4 : tensor<3x2xf32>) permutation = [1, 0]
    %6 = linalg.broadcast ins(%arg1 : tensor<2xf32>) outs(%arg0 : tensor<2x3xf32>) dimensions = [1]
    linalg.transpose ins(%arg2 : memref<2x3xf32>) outs(%arg2 : memref<2x3xf32>) permutation = [0, 1]
    %7 = linalg.map { arith.addi } ins(%arg3, %arg3 : tensor<2x3xi32>, tensor<2x3xi32>) outs(%arg3 : tensor<2x3xi32>)
    return
  }
  func.func @maps(%arg0: tensor<4xi8>, %arg1: tensor<4x3xi8>, %arg2: tensor<2x3xi32>, %arg3: tensor<2x3xf32>, %arg4: f32) {
    %0 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] {cast = #linalg.type_fn<cast_unsigned>, note} ins(%arg0, %arg1 : tensor<4xi8>, tensor<4x3xi8>) outs(%arg2 : tensor<2x3xi32>) -> tensor<2x3xi32>
    %1 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%arg0, %arg1 : tensor<4xi8>, tensor<4x3xi8>) outs(%arg2 : tensor<2x3xi32>) -> tensor<2x3xi32>
    %2 = linalg.elementwise kind=#linalg.elementwise_kind<add> {note} ins(%arg3, %arg3 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%arg3 : tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%arg4, %arg3 : f32, tensor<2x3xf32>) outs(%arg3 : tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%arg2 : tensor<2x3xi32>) outs(%arg3 : tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = linalg.add ins(%arg3, %arg4 : tensor<2x3xf32>, f32) outs(%arg3 : tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}
