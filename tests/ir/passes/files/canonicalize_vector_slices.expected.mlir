module {
  func.func @slices_of_slices(%arg0: vector<4x8xf32>, %arg1: vector<2x4xf32>, %arg2: vector<1x4xf32>) -> (vector<1x2xf32>, vector<2x4xf32>, vector<4x8xf32>, vector<1x2xf32>, vector<2x2xf32>) {
    %0 = vector.insert_strided_slice %arg1, %arg0 {offsets = [1, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
    %1 = vector.insert_strided_slice %arg2, %0 {offsets = [3, 0], strides = [1, 1]} : vector<1x4xf32> into vector<4x8xf32>
    %2 = vector.extract_strided_slice %arg1 {offsets = [1, 1], sizes = [1, 2], strides = [1, 1]} : vector<2x4xf32> to vector<1x2xf32>
    %3 = vector.extract_strided_slice %arg0 {offsets = [1, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
    %4 = vector.extract_strided_slice %1 {offsets = [2, 5], sizes = [1, 2], strides = [1, 1]} : vector<4x8xf32> to vector<1x2xf32>
    %5 = vector.extract_strided_slice %3 {offsets = [0, 1], sizes = [2, 2], strides = [1, 1]} : vector<2x4xf32> to vector<2x2xf32>
    return %2, %3, %arg0, %4, %5 : vector<1x2xf32>, vector<2x4xf32>, vector<4x8xf32>, vector<1x2xf32>, vector<2x2xf32>
  }
  func.func @constants() -> (vector<2x1xf32>, vector<2x2xf32>, vector<3x3xf32>, vector<2x3xf32>) {
    %0 = arith.constant dense<[[6.000000e+00], [9.000000e+00]]> : vector<2x1xf32>
    %1 = arith.constant dense<0.000000e+00> : vector<2x2xf32>
    %2 = arith.constant dense<[[1.000000e+00, 6.000000e+00, 3.000000e+00], [4.000000e+00, 9.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00, 9.000000e+00]]> : vector<3x3xf32>
    %3 = arith.constant dense<[[4.000000e+00, 5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00, 9.000000e+00]]> : vector<2x3xf32>
    return %0, %1, %2, %3 : vector<2x1xf32>, vector<2x2xf32>, vector<3x3xf32>, vector<2x3xf32>
  }
  func.func @what_is_repeated(%arg0: vector<4xf32>, %arg1: vector<1x4xf32>, %arg2: f32) -> (vector<2x4xf32>, vector<2x2xf32>, vector<1x4xf32>, vector<2x1xf32>, vector<4x4xf32>) {
    %0 = vector.broadcast %arg0 : vector<4xf32> to vector<2x4xf32>
    %1 = vector.extract_strided_slice %arg0 {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    %2 = vector.broadcast %1 : vector<2xf32> to vector<2x2xf32>
    %3 = vector.broadcast %arg2 : f32 to vector<4x4xf32>
    %4 = vector.broadcast %arg2 : f32 to vector<2x1xf32>
    return %0, %2, %arg1, %4, %3 : vector<2x4xf32>, vector<2x2xf32>, vector<1x4xf32>, vector<2x1xf32>, vector<4x4xf32>
  }
  func.func @one_of_the_first(%arg0: vector<8x1x2x8xf32>, %arg1: vector<4x8xf32>) -> (vector<1x1x1x8xf32>, vector<1x1x2x8xf32>, vector<1x4xf32>, vector<1x8xf32>, vector<2x1x2x8xf32>) {
    %0 = vector.extract %arg0[3, 0, 1] : vector<8xf32> from vector<8x1x2x8xf32>
    %1 = vector.shape_cast %0 : vector<8xf32> to vector<1x1x1x8xf32>
    %2 = vector.extract %arg0[3] : vector<1x2x8xf32> from vector<8x1x2x8xf32>
    %3 = vector.shape_cast %2 : vector<1x2x8xf32> to vector<1x1x2x8xf32>
    %4 = vector.extract_strided_slice %arg1 {offsets = [3, 0], sizes = [1, 4], strides = [1, 1]} : vector<4x8xf32> to vector<1x4xf32>
    %5 = vector.extract %arg1[2] : vector<8xf32> from vector<4x8xf32>
    %6 = vector.shape_cast %5 : vector<8xf32> to vector<1x8xf32>
    %7 = vector.extract_strided_slice %arg0 {offsets = [3], sizes = [2], strides = [1]} : vector<8x1x2x8xf32> to vector<2x1x2x8xf32>
    return %1, %3, %4, %6, %7 : vector<1x1x1x8xf32>, vector<1x1x2x8xf32>, vector<1x4xf32>, vector<1x8xf32>, vector<2x1x2x8xf32>
  }
}
