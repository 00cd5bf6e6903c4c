module {
  func.func @bounds_and_masks(%arg0: tensor<8x4xf32>, %arg1: f32, %arg2: vector<4xf32>, %arg3: index) -> (vector<2x4xf32>, vector<4x4xf32>, vector<4xf32>, tensor<8x4xf32>, vector<4xf32>) {
    %0 = arith.constant 0 : index
    %1 = vector.constant_mask [2] : vector<4xi1>
    %2 = vector.transfer_read %arg0[%arg3, %0], %arg1 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : tensor<8x4xf32>, vector<2x4xf32>
    %3 = vector.transfer_read %arg0[%arg3, %arg3], %arg1 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, 0)>} : tensor<8x4xf32>, vector<4x4xf32>
    %4 = vector.transfer_read %arg0[%arg3, %arg3], %arg1 : tensor<8x4xf32>, vector<4xf32>
    %5 = vector.transfer_write %arg2, %arg0[%arg3, %0] {permutation_map = affine_map<(d0, d1) -> (d0)>} : vector<4xf32>, tensor<8x4xf32>
    %6 = vector.transfer_read %arg0[%arg3, %arg3], %arg1, %1 : tensor<8x4xf32>, vector<4xf32>
    return %2, %3, %4, %5, %6 : vector<2x4xf32>, vector<4x4xf32>, vector<4xf32>, tensor<8x4xf32>, vector<4xf32>
  }
  func.func @reads_of_writes(%arg0: tensor<8x8xf32>, %arg1: vector<2x3xf32>, %arg2: vector<2x3xf32>, %arg3: f32, %arg4: index) -> (vector<2x3xf32>, vector<2x3xf32>, vector<3x2x2xf32>, vector<2x3xf32>, vector<2x3xf32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant dense<0.000000e+00> : vector<2x3xf32>
    %3 = vector.create_mask %arg4, %1 : vector<2x3xi1>
    %4 = vector.transfer_write %arg1, %arg0[%0, %0] {in_bounds = [true, true]} : vector<2x3xf32>, tensor<8x8xf32>
    %5 = vector.transfer_write %arg2, %4[%1, %0] {in_bounds = [true, true]} : vector<2x3xf32>, tensor<8x8xf32>
    %6 = vector.transfer_read %5[%0, %0], %arg3 {in_bounds = [true, true]} : tensor<8x8xf32>, vector<2x3xf32>
    %7 = vector.broadcast %arg2 : vector<2x3xf32> to vector<2x2x3xf32>
    %8 = vector.transpose %7, [2, 0, 1] : vector<2x2x3xf32> to vector<3x2x2xf32>
    %9 = vector.transfer_write %2, %arg0[%0, %0] {in_bounds = [true, true]} : vector<2x3xf32>, tensor<8x8xf32>
    %10 = vector.transfer_read %9[%0, %0], %arg3, %3 {in_bounds = [true, true]} : tensor<8x8xf32>, vector<2x3xf32>
    return %arg1, %6, %8, %2, %10 : vector<2x3xf32>, vector<2x3xf32>, vector<3x2x2xf32>, vector<2x3xf32>, vector<2x3xf32>
  }
  func.func @writes_of_reads(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: f32, %arg3: index) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %0 = vector.transfer_read %arg0[%arg3, %arg3], %arg2 : tensor<4x8xf32>, vector<4x4xf32>
    %1 = vector.transfer_write %0, %arg1[%arg3, %arg3] : vector<4x4xf32>, tensor<4x8xf32>
    return %arg0, %arg0, %1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func @writes_over_writes(%arg0: tensor<8xf32>, %arg1: vector<2xf32>, %arg2: vector<2xf32>, %arg3: index) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 2 : index
    %2 = arith.constant 3 : index
    %3 = vector.transfer_write %arg2, %arg0[%arg3] : vector<2xf32>, tensor<8xf32>
    %4 = vector.transfer_write %arg2, %arg0[%1] {in_bounds = [true]} : vector<2xf32>, tensor<8xf32>
    %5 = vector.transfer_write %arg2, %4[%0] {in_bounds = [true]} : vector<2xf32>, tensor<8xf32>
    %6 = vector.transfer_write %arg1, %arg0[%1] {in_bounds = [true]} : vector<2xf32>, tensor<8xf32>
    %7 = vector.transfer_write %arg2, %6[%2] {in_bounds = [true]} : vector<2xf32>, tensor<8xf32>
    %8 = vector.transfer_write %arg2, %7[%1] {in_bounds = [true]} : vector<2xf32>, tensor<8xf32>
    return %3, %5, %8 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func @tensors(%arg0: tensor<8x8xf32>, %arg1: tensor<?x8xf32>, %arg2: vector<4x4xf32>, %arg3: index, %arg4: tensor<4x4xf32>, %arg5: f32) -> (index, vector<4xf32>, tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = arith.constant 0 : index
    %1 = tensor.dim %arg1, %0 : tensor<?x8xf32>
    %2 = vector.transfer_read %arg0[%0, %arg3], %arg5 {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : tensor<8x8xf32>, vector<4xf32>
    %3 = vector.transfer_write %arg2, %arg0[%0, %0] {in_bounds = [true, true]} : vector<4x4xf32>, tensor<8x8xf32>
    %4 = tensor.cast %3 : tensor<8x8xf32> to tensor<?x8xf32>
    %5 = tensor.extract_slice %arg0[%arg3, 2] [3, 2] [1, 1] : tensor<8x8xf32> to tensor<3x2xf32>
    %6 = vector.transfer_write %arg2, %5[%0, %0] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<4x4xf32>, tensor<3x2xf32>
    %7 = tensor.insert_slice %6 into %arg0[%arg3, 2] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<8x8xf32>
    %8 = vector.transfer_write %arg2, %arg4[%0, %0] {in_bounds = [true, true]} : vector<4x4xf32>, tensor<4x4xf32>
    %9 = tensor.extract_slice %8[1, 0] [3, 2] [1, 1] : tensor<4x4xf32> to tensor<3x2xf32>
    %10 = tensor.insert_slice %9 into %arg0[%arg3, 2] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<8x8xf32>
    return %1, %2, %4, %7, %10 : index, vector<4xf32>, tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}
