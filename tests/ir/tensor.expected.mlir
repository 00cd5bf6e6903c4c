module {
  func.func @slices(%arg0: tensor<4x5xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<4xf32>, %arg3: index, %arg4: f32) {
    %0 = tensor.extract_slice %arg0[0, %arg3] [2, 2] [1, 1] {note} : tensor<4x5xf32> to tensor<2x2xf32>
    %1 = tensor.extract_slice %arg1[%arg3, 0] [1, %arg3] [1, %arg3] : tensor<?x?xf32> to tensor<?xf32>
    %2 = tensor.insert_slice %arg2 into %arg0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x5xf32>
    %3 = tensor.insert %arg4 into %arg0[%arg3, %arg3] : tensor<4x5xf32>
    %4 = tensor.pad %arg0 nofold low[1, %arg3] high[0, -2] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %arg4 : f32
    } {note} : tensor<4x5xf32> to tensor<5x?xf32>
    %5 = tensor.concat dim(1) %arg0, %arg1 : (tensor<4x5xf32>, tensor<?x?xf32>) -> tensor<4x?xf32>
    return
  }
  func.func @shapes(%arg0: tensor<4x6xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<*xf32>, %arg3: index) {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
    %1 = tensor.expand_shape %arg1 [[0, 1], [2]] output_shape [%arg3, 2, %arg3] : tensor<?x?xf32> into tensor<?x2x?xf32>
    %2 = tensor.bitcast %arg0 : tensor<4x6xf32> to tensor<?x6xi32>
    %3 = tensor.rank %arg2 : tensor<*xf32>
    %4 = tensor.generate %arg3, %3 {
    ^bb0(%arg4: index, %arg5: index, %arg6: index):
      tensor.yield %arg5 : index
    } {note} : tensor<?x3x?xindex>
    return
  }
  func.func @parallel(%arg0: tensor<4xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = scf.forall (%arg2) in (8) shared_outs(%arg3 = %arg1) -> (tensor<4x8xf32>) {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg0 into %arg3[0, %arg2] [4, 1] [1, 1] : tensor<4xf32> into tensor<4x8xf32>
      }
    }
    return %0 : tensor<4x8xf32>
  }
}
