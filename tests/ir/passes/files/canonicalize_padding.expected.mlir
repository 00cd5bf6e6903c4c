module {
  func.func @pad_of_pad(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: index, %arg3: f32) -> tensor<?x?xf32> {
    %0 = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%arg1]
    %1 = affine.apply affine_map<()[s0, s1] -> (s0 + s1)>()[%arg1, %arg2]
    %2 = affine.apply affine_map<()[s0, s1] -> (s0 + s1)>()[%arg2, %arg1]
    %3 = tensor.pad %arg0 low[%2, 3] high[%0, %1] {
    ^bb0(%arg4: index, %arg5: index):
      tensor.yield %arg3 : f32
    } : tensor<4x?xf32> to tensor<?x?xf32>
    return %3 : tensor<?x?xf32>
  }
  func.func @pad_of_pad2(%arg0: tensor<4x6xf32>, %arg1: index, %arg2: index, %arg3: f32) -> tensor<?x?xf32> {
    %0 = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%arg1]
    %1 = tensor.pad %arg0 low[%0, 3] high[1, %arg1] {
    ^bb0(%arg4: index, %arg5: index):
      tensor.yield %arg3 : f32
    } : tensor<4x6xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @pad_of_pad3(%arg0: tensor<4x6xf32>, %arg1: index, %arg2: index, %arg3: f32) -> tensor<?x?xf32> {
    %0 = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%arg2]
    %1 = affine.apply affine_map<()[s0] -> (s0 + 3)>()[%arg1]
    %2 = affine.apply affine_map<()[s0] -> (s0 + 2)>()[%arg1]
    %3 = tensor.pad %arg0 low[%1, %2] high[%0, %arg1] {
    ^bb0(%arg4: index, %arg5: index):
      tensor.yield %arg3 : f32
    } : tensor<4x6xf32> to tensor<?x?xf32>
    return %3 : tensor<?x?xf32>
  }
  func.func @slices(%arg0: tensor<64x64xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index) -> tensor<8x4xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.extract_slice %arg0[16, 4] [%arg1, %arg2] [1, 1] : tensor<64x64xf32> to tensor<?x?xf32>
    %2 = tensor.pad %1 low[0, 0] high[%arg3, %arg4] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %0 : f32
    } : tensor<?x?xf32> to tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  func.func @slices_rr(%arg0: tensor<1x64x64xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index) -> tensor<8x4xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.extract_slice %arg0[0, 16, 0] [1, %arg1, 64] [1, 1, 1] : tensor<1x64x64xf32> to tensor<?x64xf32>
    %2 = tensor.pad %1 low[0, 0] high[%arg3, 0] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %0 : f32
    } : tensor<?x64xf32> to tensor<8x64xf32>
    %3 = tensor.extract_slice %2[0, 4] [8, %arg2] [1, 1] : tensor<8x64xf32> to tensor<8x?xf32>
    %4 = tensor.pad %3 low[0, 0] high[0, %arg4] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %0 : f32
    } : tensor<8x?xf32> to tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }
  func.func @slices_off(%arg0: tensor<64x64xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: index) -> tensor<8x4xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.extract_slice %arg0[%arg5, %arg5] [%arg1, %arg2] [1, 1] : tensor<64x64xf32> to tensor<?x?xf32>
    %2 = tensor.pad %1 low[0, 0] high[%arg3, %arg4] {
    ^bb0(%arg6: index, %arg7: index):
      tensor.yield %0 : f32
    } : tensor<?x?xf32> to tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  func.func @slices_no1(%arg0: tensor<64x64xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index) -> tensor<8x4xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.extract_slice %arg0[16, 0] [%arg1, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
    %2 = tensor.pad %1 low[1, 0] high[%arg3, 0] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %0 : f32
    } : tensor<?x64xf32> to tensor<8x64xf32>
    %3 = tensor.extract_slice %2[0, 4] [8, %arg2] [1, 1] : tensor<8x64xf32> to tensor<8x?xf32>
    %4 = tensor.pad %3 low[0, 0] high[0, %arg4] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %0 : f32
    } : tensor<8x?xf32> to tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }
  func.func @slices_no2(%arg0: tensor<64x64xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index) -> tensor<6x4xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.extract_slice %arg0[16, 0] [%arg1, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
    %2 = tensor.pad %1 low[0, 0] high[%arg3, 0] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %0 : f32
    } : tensor<?x64xf32> to tensor<8x64xf32>
    %3 = tensor.extract_slice %2[2, 4] [6, %arg2] [1, 1] : tensor<8x64xf32> to tensor<6x?xf32>
    %4 = tensor.pad %3 low[0, 0] high[0, %arg4] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %0 : f32
    } : tensor<6x?xf32> to tensor<6x4xf32>
    return %4 : tensor<6x4xf32>
  }
  func.func @slices_static(%arg0: tensor<64x64xf32>) -> tensor<8x4xf32> {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.extract_slice %arg0[16, 4] [5, 3] [1, 1] : tensor<64x64xf32> to tensor<5x3xf32>
    %2 = tensor.pad %1 low[0, 0] high[3, 1] {
    ^bb0(%arg1: index, %arg2: index):
      tensor.yield %0 : f32
    } : tensor<5x3xf32> to tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  func.func @pad_of_fill(%arg0: index, %arg1: index, %arg2: f32, %arg3: tensor<4x?xf32>) -> (tensor<?x?xf32>, tensor<6x?xf32>) {
    %0 = arith.constant 1 : index
    %1 = affine.apply affine_map<()[s0] -> (s0 + 5)>()[%arg0]
    %2 = tensor.dim %arg3, %0 : tensor<4x?xf32>
    %3 = affine.apply affine_map<()[s0, s1] -> (s0 + s1 + 1)>()[%2, %arg1]
    %4 = tensor.empty(%1, %3) : tensor<?x?xf32>
    %5 = linalg.fill ins(%arg2 : f32) outs(%4 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %6 = tensor.dim %arg3, %0 : tensor<4x?xf32>
    %7 = tensor.empty(%6) : tensor<6x?xf32>
    %8 = linalg.fill ins(%arg2 : f32) outs(%7 : tensor<6x?xf32>) -> tensor<6x?xf32>
    return %5, %8 : tensor<?x?xf32>, tensor<6x?xf32>
  }
  func.func @pad_of_fill2(%arg0: index, %arg1: index, %arg2: f32, %arg3: tensor<4x5xf32>) -> (tensor<?x?xf32>, tensor<6x?xf32>, tensor<?x7xf32>, tensor<7x?xf32>) {
    %0 = affine.apply affine_map<()[s0] -> (s0 * 2 + 4)>()[%arg0]
    %1 = affine.apply affine_map<()[s0] -> (s0 * 2 + 5)>()[%arg1]
    %2 = tensor.empty(%0, %1) : tensor<?x?xf32>
    %3 = linalg.fill ins(%arg2 : f32) outs(%2 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %4 = affine.apply affine_map<()[s0] -> (s0 + 5)>()[%arg1]
    %5 = tensor.empty(%4) : tensor<6x?xf32>
    %6 = linalg.fill ins(%arg2 : f32) outs(%5 : tensor<6x?xf32>) -> tensor<6x?xf32>
    %7 = affine.apply affine_map<()[s0] -> (s0 + 5)>()[%arg0]
    %8 = tensor.empty(%7) : tensor<?x7xf32>
    %9 = linalg.fill ins(%arg2 : f32) outs(%8 : tensor<?x7xf32>) -> tensor<?x7xf32>
    %10 = affine.apply affine_map<()[s0] -> (s0 + 6)>()[%arg1]
    %11 = tensor.empty(%10) : tensor<7x?xf32>
    %12 = linalg.fill ins(%arg2 : f32) outs(%11 : tensor<7x?xf32>) -> tensor<7x?xf32>
    return %3, %6, %9, %12 : tensor<?x?xf32>, tensor<6x?xf32>, tensor<?x7xf32>, tensor<7x?xf32>
  }
  func.func @pad_of_empty(%arg0: index, %arg1: index, %arg2: f32) -> tensor<?x?xf32> {
    %0 = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%arg0]
    %1 = affine.apply affine_map<()[s0] -> (s0 + 5)>()[%arg1]
    %2 = tensor.empty(%0, %1) : tensor<?x?xf32>
    %3 = linalg.fill ins(%arg2 : f32) outs(%2 : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %3 : tensor<?x?xf32>
  }
  func.func @transpose_of_broadcast(%arg0: tensor<?x4xf32>, %arg1: tensor<?x5x4xf32>, %arg2: tensor<5x4x?xf32>) -> tensor<5x4x?xf32> {
    %0 = arith.constant 0 : index
    %1 = tensor.dim %arg0, %0 : tensor<?x4xf32>
    %2 = tensor.empty(%1) : tensor<4x?xf32>
    %3 = linalg.transpose ins(%arg0 : tensor<?x4xf32>) outs(%2 : tensor<4x?xf32>) permutation = [1, 0]
    %4 = linalg.broadcast ins(%3 : tensor<4x?xf32>) outs(%arg2 : tensor<5x4x?xf32>) dimensions = [0]
    return %4 : tensor<5x4x?xf32>
  }
  func.func @transpose_of_broadcast2(%arg0: tensor<?x?xf32>, %arg1: tensor<?x5x?xf32>, %arg2: tensor<5x?x?xf32>) -> tensor<5x?x?xf32> {
    %0 = arith.constant 1 : index
    %1 = arith.constant 0 : index
    %2 = tensor.dim %arg0, %1 : tensor<?x?xf32>
    %3 = tensor.dim %arg0, %0 : tensor<?x?xf32>
    %4 = tensor.empty(%3, %2) : tensor<?x?xf32>
    %5 = linalg.transpose ins(%arg0 : tensor<?x?xf32>) outs(%4 : tensor<?x?xf32>) permutation = [1, 0]
    %6 = linalg.broadcast ins(%5 : tensor<?x?xf32>) outs(%arg2 : tensor<5x?x?xf32>) dimensions = [0]
    return %6 : tensor<5x?x?xf32>
  }
  func.func @transpose_of_broadcast3(%arg0: tensor<?x?xf32>, %arg1: tensor<?x5x?xf32>, %arg2: tensor<?x?x5xf32>) -> tensor<?x?x5xf32> {
    %0 = linalg.broadcast ins(%arg0 : tensor<?x?xf32>) outs(%arg2 : tensor<?x?x5xf32>) dimensions = [2]
    return %0 : tensor<?x?x5xf32>
  }
  func.func @insert_of_pad(%arg0: tensor<7x9xf32>, %arg1: index, %arg2: f32, %arg3: tensor<8x128xf32>) -> tensor<8x128xf32> {
    %0 = linalg.fill ins(%arg2 : f32) outs(%arg3 : tensor<8x128xf32>) -> tensor<8x128xf32>
    %1 = tensor.insert_slice %arg0 into %0[0, 4] [7, 9] [1, 1] : tensor<7x9xf32> into tensor<8x128xf32>
    return %1 : tensor<8x128xf32>
  }
  func.func @insert_of_pad2(%arg0: tensor<7x?xf32>, %arg1: index, %arg2: f32, %arg3: tensor<8x?xf32>) -> tensor<8x?xf32> {
    %0 = arith.constant 1 : index
    %1 = linalg.fill ins(%arg2 : f32) outs(%arg3 : tensor<8x?xf32>) -> tensor<8x?xf32>
    %2 = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%arg1]
    %3 = tensor.dim %arg0, %0 : tensor<7x?xf32>
    %4 = tensor.insert_slice %arg0 into %1[1, %2] [7, %3] [1, 1] : tensor<7x?xf32> into tensor<8x?xf32>
    return %4 : tensor<8x?xf32>
  }
  func.func @insert_of_pad3(%arg0: tensor<7x?xf32>, %arg1: index, %arg2: f32, %arg3: tensor<8x128xf32>, %arg4: tensor<2x2xf32>, %arg5: tensor<1x3xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>) {
    %0 = arith.constant 1 : index
    %1 = linalg.fill ins(%arg2 : f32) outs(%arg3 : tensor<8x128xf32>) -> tensor<8x128xf32>
    %2 = tensor.insert_slice %arg4 into %1[0, 30] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<8x128xf32>
    %3 = tensor.pad %arg0 low[1, 0] high[0, %arg1] {
    ^bb0(%arg6: index, %arg7: index):
      tensor.yield %arg2 : f32
    } : tensor<7x?xf32> to tensor<8x12xf32>
    %4 = tensor.dim %arg0, %0 : tensor<7x?xf32>
    %5 = tensor.insert_slice %arg0 into %2[1, 4] [7, %4] [1, 1] : tensor<7x?xf32> into tensor<8x128xf32>
    %6 = tensor.insert_slice %3 into %2[0, 22] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x128xf32>
    %7 = tensor.insert_slice %arg5 into %2[0, %arg1] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x128xf32>
    %8 = tensor.insert_slice %3 into %7[0, 4] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x128xf32>
    return %5, %6, %8 : tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>
  }
  func.func @insert_of_pad4(%arg0: tensor<7x9xf32>, %arg1: index, %arg2: f32, %arg3: tensor<1x8x128xf32>, %arg4: tensor<2x2xf32>) -> tensor<1x8x128xf32> {
    %0 = linalg.fill ins(%arg2 : f32) outs(%arg3 : tensor<1x8x128xf32>) -> tensor<1x8x128xf32>
    %1 = tensor.pad %arg0 low[0, 0] high[1, 3] {
    ^bb0(%arg5: index, %arg6: index):
      tensor.yield %arg2 : f32
    } : tensor<7x9xf32> to tensor<8x12xf32>
    %2 = tensor.insert_slice %1 into %0[0, 0, 4] [1, 8, 12] [1, 1, 1] : tensor<8x12xf32> into tensor<1x8x128xf32>
    return %2 : tensor<1x8x128xf32>
  }
  func.func @insert_of_pad5(%arg0: tensor<4x9xf32>, %arg1: index, %arg2: f32, %arg3: tensor<8x128xf32>, %arg4: tensor<2x2xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>) {
    %0 = linalg.fill ins(%arg2 : f32) outs(%arg3 : tensor<8x128xf32>) -> tensor<8x128xf32>
    %1 = tensor.insert_slice %arg0 into %0[0, 4] [4, 9] [2, 1] : tensor<4x9xf32> into tensor<8x128xf32>
    %2 = tensor.insert_slice %arg0 into %0[0, 4] [4, 9] [1, 1] : tensor<4x9xf32> into tensor<8x128xf32>
    %3 = tensor.insert_slice %arg0 into %0[0, 5] [4, 9] [2, 1] : tensor<4x9xf32> into tensor<8x128xf32>
    return %1, %2, %3 : tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>
  }
  func.func @pad_in_loop(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: index, %arg3: f32) -> tensor<?x?xf32> {
    %0 = tensor.empty(%arg1, %arg1) : tensor<?x?xf32>
    %1 = scf.for %arg4 = %arg1 to %arg2 step %arg1 iter_args(%arg5 = %0) -> (tensor<?x?xf32>) {
      %2 = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%arg2]
      %3 = affine.apply affine_map<(d0) -> (d0 * 2)>(%arg4)
      %4 = tensor.pad %arg5 low[%3, 2] high[2, %2] {
      ^bb0(%arg6: index, %arg7: index):
        tensor.yield %arg3 : f32
      } : tensor<?x?xf32> to tensor<?x?xf32>
      scf.yield %4 : tensor<?x?xf32>
    }
    return %1 : tensor<?x?xf32>
  }
  func.func @fill_in_loop(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: index, %arg3: f32) -> tensor<?x?xf32> {
    %0 = arith.constant 1 : index
    %1 = arith.constant 0 : index
    %2 = tensor.empty(%arg1, %arg1) : tensor<?x?xf32>
    %3 = scf.for %arg4 = %arg1 to %arg2 step %arg1 iter_args(%arg5 = %2) -> (tensor<?x?xf32>) {
      %4 = tensor.dim %arg5, %1 : tensor<?x?xf32>
      %5 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 + 1)>(%4)[%arg1]
      %6 = tensor.dim %arg5, %0 : tensor<?x?xf32>
      %7 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 + 1)>(%6)[%arg2]
      %8 = tensor.empty(%5, %7) : tensor<?x?xf32>
      %9 = linalg.fill ins(%arg3 : f32) outs(%8 : tensor<?x?xf32>) -> tensor<?x?xf32>
      scf.yield %9 : tensor<?x?xf32>
    }
    return %3 : tensor<?x?xf32>
  }
  func.func @fill_by_index(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: index, %arg3: f32) -> tensor<?x?xf32> {
    %0 = arith.constant 1 : index
    %1 = arith.constant 0 : index
    %2 = tensor.empty(%arg1, %arg1) : tensor<?x?xf32>
    %3 = scf.for %arg4 = %arg1 to %arg2 step %arg1 iter_args(%arg5 = %2) -> (tensor<?x?xf32>) {
      %4 = tensor.dim %arg5, %1 : tensor<?x?xf32>
      %5 = tensor.dim %arg5, %0 : tensor<?x?xf32>
      %6 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%5, %arg4)
      %7 = tensor.empty(%4, %6) : tensor<?x?xf32>
      %8 = linalg.fill ins(%arg3 : f32) outs(%7 : tensor<?x?xf32>) -> tensor<?x?xf32>
      scf.yield %8 : tensor<?x?xf32>
    }
    return %3 : tensor<?x?xf32>
  }
  func.func @by_nothing_of_what_is_filled(%arg0: tensor<4x6xf32>, %arg1: f32) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
    %0 = linalg.fill ins(%arg1 : f32) outs(%arg0 : tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0, %0 : tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func @by_constants_of_nothing(%arg0: tensor<?x6xf32>, %arg1: f32) -> tensor<?x6xf32> {
    return %arg0 : tensor<?x6xf32>
  }
}
