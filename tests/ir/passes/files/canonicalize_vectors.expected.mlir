module {
  func.func @same_shapes(%arg0: vector<4xf32>, %arg1: f32, %arg2: index) -> (vector<4xf32>, vector<4xf32>, vector<2x4xf32>, f32, f32, vector<4xf32>) {
    %0 = vector.broadcast %arg1 : f32 to vector<2x4xf32>
    return %arg0, %arg0, %0, %arg1, %arg1, %arg0 : vector<4xf32>, vector<4xf32>, vector<2x4xf32>, f32, f32, vector<4xf32>
  }
  func.func @shapes_of_shapes(%arg0: vector<2x3xf32>, %arg1: vector<1xf32>) -> (vector<2x3xf32>, vector<3x2xf32>, vector<6xf32>, f32, vector<2x3xf32>) {
    %0 = vector.shape_cast %arg0 : vector<2x3xf32> to vector<3x2xf32>
    %1 = vector.shape_cast %arg0 : vector<2x3xf32> to vector<6xf32>
    %2 = vector.extract %arg1[0] : f32 from vector<1xf32>
    return %arg0, %0, %1, %2, %arg0 : vector<2x3xf32>, vector<3x2xf32>, vector<6xf32>, f32, vector<2x3xf32>
  }
  func.func @transfers_of_tensors(%arg0: memref<8xf32>, %arg1: tensor<8xf32>, %arg2: f32, %arg3: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, tensor<8xf32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 6 : index
    %2 = vector.transfer_read %arg0[%0], %arg2 {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
    %3 = vector.transfer_read %arg1[%1], %arg2 : tensor<8xf32>, vector<4xf32>
    %4 = vector.transfer_write %arg3, %arg1[%0] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
    return %2, %3, %arg3, %4 : vector<4xf32>, vector<4xf32>, vector<4xf32>, tensor<8xf32>
  }
  func.func @whole_slices(%arg0: vector<4xf32>, %arg1: vector<4xf32>) -> (vector<4xf32>, vector<2xf32>, vector<4xf32>, vector<4xi1>) {
    %0 = vector.extract_strided_slice %arg0 {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    %1 = vector.constant_mask [3] : vector<4xi1>
    return %arg0, %0, %arg0, %1 : vector<4xf32>, vector<2xf32>, vector<4xf32>, vector<4xi1>
  }
  func.func @bounds(%arg0: vector<2x4xf32>, %arg1: vector<4xf32>, %arg2: tensor<4x8xf32>, %arg3: memref<4x?xf32>, %arg4: f32, %arg5: index) -> (vector<2x4xf32>, vector<4xf32>, vector<4xf32>, vector<2x4xi1>, vector<4xf32>, f32) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 3 : index
    %2 = vector.transfer_read %arg2[%1, %0], %arg4 {in_bounds = [false, true]} : tensor<4x8xf32>, vector<2x4xf32>
    %3 = vector.transfer_read %arg3[%0, %0], %arg4 : memref<4x?xf32>, vector<4xf32>
    %4 = vector.transfer_read %arg2[%arg5, %1], %arg4 {in_bounds = [true]} : tensor<4x8xf32>, vector<4xf32>
    %5 = vector.constant_mask [2, 3] : vector<2x4xi1>
    vector.transfer_write %arg1, %arg3[%0, %1] {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : vector<4xf32>, memref<4x?xf32>
    %6 = vector.extract %arg0[1] : vector<4xf32> from vector<2x4xf32>
    %7 = vector.extract %arg1[3] : f32 from vector<4xf32>
    return %2, %3, %4, %5, %6, %7 : vector<2x4xf32>, vector<4xf32>, vector<4xf32>, vector<2x4xi1>, vector<4xf32>, f32
  }
  func.func @broadcasts(%arg0: vector<4xf32>, %arg1: vector<1x4xf32>, %arg2: f32, %arg3: vector<f32>) -> (vector<2x4xf32>, vector<3x4xf32>, vector<2x3xf32>, vector<4x2xf32>, vector<2x4xf32>, vector<1x1xf32>, vector<8xf32>) {
    %0 = arith.constant dense<2.000000e+00> : vector<2x4xf32>
    %1 = vector.broadcast %arg1 : vector<1x4xf32> to vector<2x4xf32>
    %2 = vector.broadcast %arg1 : vector<1x4xf32> to vector<3x4xf32>
    %3 = vector.broadcast %arg2 : f32 to vector<2x3xf32>
    %4 = vector.broadcast %arg0 : vector<4xf32> to vector<2x4xf32>
    %5 = vector.transpose %4, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
    %6 = vector.broadcast %arg3 : vector<f32> to vector<1x1xf32>
    %7 = vector.shape_cast %4 : vector<2x4xf32> to vector<8xf32>
    return %1, %2, %3, %5, %0, %6, %7 : vector<2x4xf32>, vector<3x4xf32>, vector<2x3xf32>, vector<4x2xf32>, vector<2x4xf32>, vector<1x1xf32>, vector<8xf32>
  }
  func.func @casts(%arg0: vector<4xf32>, %arg1: vector<2x1x3xf32>, %arg2: f32) -> (vector<1x1x4xf32>, vector<2x2xf32>, vector<4xf32>, vector<6xf32>, vector<3x2xf32>, vector<2x2xf32>, vector<6x1xf32>) {
    %0 = arith.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : vector<2x2xf32>
    %1 = vector.shape_cast %arg0 : vector<4xf32> to vector<1x1x4xf32>
    %2 = vector.shape_cast %arg0 : vector<4xf32> to vector<2x2xf32>
    %3 = vector.shape_cast %arg1 : vector<2x1x3xf32> to vector<6xf32>
    %4 = vector.broadcast %arg2 : f32 to vector<3x2xf32>
    %5 = vector.shape_cast %arg1 : vector<2x1x3xf32> to vector<6x1xf32>
    return %1, %2, %arg0, %3, %4, %0, %5 : vector<1x1x4xf32>, vector<2x2xf32>, vector<4xf32>, vector<6xf32>, vector<3x2xf32>, vector<2x2xf32>, vector<6x1xf32>
  }
  func.func @transposes(%arg0: vector<2x3x4xf32>, %arg1: vector<4x1x1x7xf32>, %arg2: f32, %arg3: f32, %arg4: vector<1x1xf32>) -> (vector<3x4x2xf32>, vector<3x2x4x6x5x7xf32>, vector<3x2xf32>, vector<3x2xf32>, vector<2x3xf32>, vector<1x1xf32>) {
    %0 = arith.constant dense<2.000000e+00> : vector<2x3xf32>
    %1 = arith.constant dense<2.000000e+00> : vector<3x2xf32>
    %2 = vector.transpose %arg0, [1, 2, 0] : vector<2x3x4xf32> to vector<3x4x2xf32>
    %3 = vector.broadcast %arg1 : vector<4x1x1x7xf32> to vector<3x2x4x6x5x7xf32>
    %4 = vector.from_elements %arg2, %arg2, %arg3, %arg3, %arg2, %arg3 : vector<3x2xf32>
    return %2, %3, %4, %1, %0, %arg4 : vector<3x4x2xf32>, vector<3x2x4x6x5x7xf32>, vector<3x2xf32>, vector<3x2xf32>, vector<2x3xf32>, vector<1x1xf32>
  }
  func.func @shuffles(%arg0: vector<2xf32>, %arg1: vector<3xf32>, %arg2: f32, %arg3: vector<f32>, %arg4: vector<f32>) -> (vector<3xf32>, vector<4xf32>, vector<3xf32>, vector<2xf32>, vector<1xf32>, vector<2xf32>) {
    %0 = arith.constant dense<[3.000000e+00, 1.000000e+00, 2.000000e+00]> : vector<3xf32>
    %1 = vector.interleave %arg0, %arg0 : vector<2xf32> -> vector<4xf32>
    %2 = vector.broadcast %arg2 : f32 to vector<2xf32>
    %3 = vector.broadcast %arg4 : vector<f32> to vector<1xf32>
    %4 = vector.interleave %arg3, %arg4 : vector<f32> -> vector<2xf32>
    return %arg1, %1, %0, %2, %3, %4 : vector<3xf32>, vector<4xf32>, vector<3xf32>, vector<2xf32>, vector<1xf32>, vector<2xf32>
  }
}
