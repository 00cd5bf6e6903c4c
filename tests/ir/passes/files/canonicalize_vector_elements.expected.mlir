module {
  func.func @parts_of_inserts(%arg0: vector<2x3x4xf32>, %arg1: vector<4xf32>, %arg2: vector<3x4xf32>, %arg3: f32) -> (f32, f32, vector<4xf32>, vector<4xf32>, vector<3x4xf32>, f32, vector<3x4xf32>) {
    %0 = vector.insert %arg1, %arg0 [1, 2] : vector<4xf32> into vector<2x3x4xf32>
    %1 = vector.insert %arg3, %0 [0, 1, 3] : f32 into vector<2x3x4xf32>
    %2 = vector.extract %arg1[1] : f32 from vector<4xf32>
    %3 = vector.extract %arg0[1, 1] : vector<4xf32> from vector<2x3x4xf32>
    %4 = vector.extract %1[0, 1] : vector<4xf32> from vector<2x3x4xf32>
    %5 = vector.insert %arg2, %1 [0] : vector<3x4xf32> into vector<2x3x4xf32>
    %6 = vector.extract %5[1] : vector<3x4xf32> from vector<2x3x4xf32>
    %7 = vector.extract %arg2[2, 3] : f32 from vector<3x4xf32>
    return %2, %arg3, %3, %4, %6, %7, %arg2 : f32, f32, vector<4xf32>, vector<4xf32>, vector<3x4xf32>, f32, vector<3x4xf32>
  }
  func.func @parts_of_shapes(%arg0: vector<2x3xf32>, %arg1: vector<1x3xf32>, %arg2: f32, %arg3: index, %arg4: vector<4xf32>) -> (f32, vector<3xf32>, f32, vector<3xf32>, f32, vector<2x3xf32>, f32, vector<2xf32>, f32) {
    %0 = vector.extract %arg1[0, 2] : f32 from vector<1x3xf32>
    %1 = vector.extract %arg1[0] : vector<3xf32> from vector<1x3xf32>
    %2 = vector.extract %arg1[0, %arg3] : f32 from vector<1x3xf32>
    %3 = vector.broadcast %arg2 : f32 to vector<3xf32>
    %4 = vector.shape_cast %arg0 : vector<2x3xf32> to vector<3x2xf32>
    %5 = vector.extract %arg0[1, 1] : f32 from vector<2x3xf32>
    %6 = vector.extract %arg4[2] : f32 from vector<4xf32>
    %7 = vector.extract %4[1] : vector<2xf32> from vector<3x2xf32>
    %8 = vector.extract %arg0[1, 1] : f32 from vector<2x3xf32>
    return %0, %1, %2, %3, %5, %arg0, %6, %7, %8 : f32, vector<3xf32>, f32, vector<3xf32>, f32, vector<2x3xf32>, f32, vector<2xf32>, f32
  }
  func.func @parts_of_slices(%arg0: vector<4x8xf32>, %arg1: vector<2x8xf32>, %arg2: vector<2x2xf32>) -> (vector<8xf32>, f32, vector<8xf32>, f32, vector<8xf32>, vector<2xf32>) {
    %0 = vector.extract %arg0[2] : vector<8xf32> from vector<4x8xf32>
    %1 = vector.extract %arg0[1, 5] : f32 from vector<4x8xf32>
    %2 = vector.insert_strided_slice %arg1, %arg0 {offsets = [2, 0], strides = [1, 1]} : vector<2x8xf32> into vector<4x8xf32>
    %3 = vector.insert_strided_slice %arg2, %2 {offsets = [0, 3], strides = [1, 1]} : vector<2x2xf32> into vector<4x8xf32>
    %4 = vector.extract %arg1[1] : vector<8xf32> from vector<2x8xf32>
    %5 = vector.extract %arg2[1, 1] : f32 from vector<2x2xf32>
    %6 = vector.extract %3[1] : vector<8xf32> from vector<4x8xf32>
    %7 = vector.extract_strided_slice %arg0 {offsets = [1, 2], sizes = [2, 2], strides = [1, 1]} : vector<4x8xf32> to vector<2x2xf32>
    %8 = vector.extract %7[0] : vector<2xf32> from vector<2x2xf32>
    return %0, %1, %4, %5, %6, %8 : vector<8xf32>, f32, vector<8xf32>, f32, vector<8xf32>, vector<2xf32>
  }
  func.func @constants() -> (f32, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2xi32>, vector<3xindex>, i1, f32) {
    %0 = arith.constant -0.000000e+00 : f32
    %1 = arith.constant dense<[1.000000e+00, 2.000000e+00]> : vector<2xf32>
    %2 = arith.constant dense<[[1.000000e+00, 7.000000e+00], [3.000000e+00, -0.000000e+00]]> : vector<2x2xf32>
    %3 = arith.constant dense<[[1.000000e+00, 2.000000e+00], [1.000000e+00, 2.000000e+00]]> : vector<2x2xf32>
    %4 = arith.constant dense<-3> : vector<2xi32>
    %5 = arith.constant dense<0> : vector<3xindex>
    %6 = arith.constant true
    %7 = arith.constant 7.000000e+00 : f32
    return %0, %1, %2, %3, %4, %5, %6, %7 : f32, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2xi32>, vector<3xindex>, i1, f32
  }
  func.func @inserts(%arg0: vector<2x2xf32>, %arg1: vector<2xf32>, %arg2: vector<1x2xf32>, %arg3: f32, %arg4: f32) -> (vector<2x2xf32>, vector<1x2xf32>, vector<2x2xf32>, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>) {
    %0 = vector.insert %arg4, %arg0 [1, 0] : f32 into vector<2x2xf32>
    %1 = vector.broadcast %arg1 : vector<2xf32> to vector<1x2xf32>
    %2 = vector.broadcast %arg3 : f32 to vector<2x2xf32>
    %3 = vector.from_elements %arg4, %arg3 : vector<2xf32>
    %4:2 = vector.to_elements %arg1 : vector<2xf32>
    %5 = vector.from_elements %4#0, %4#1, %arg4, %arg3 : vector<2x2xf32>
    return %0, %1, %2, %3, %5, %arg0 : vector<2x2xf32>, vector<1x2xf32>, vector<2x2xf32>, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>
  }
  func.func @elements(%arg0: vector<2x3x2xf32>, %arg1: vector<2xf32>, %arg2: f32, %arg3: f32) -> (vector<6xf32>, vector<2x2xf32>, vector<2x2xf32>, f32, vector<3x2xf32>, vector<4xf32>, vector<2xf32>, f32, vector<f32>) {
    %0 = vector.extract %arg0[1, 1, 0] : f32 from vector<2x3x2xf32>
    %1 = vector.extract %arg0[1, 1, 1] : f32 from vector<2x3x2xf32>
    %2 = vector.extract %arg0[1, 2, 0] : f32 from vector<2x3x2xf32>
    %3 = vector.extract %arg0[1, 2, 1] : f32 from vector<2x3x2xf32>
    %4 = vector.extract %arg0[1] : vector<3x2xf32> from vector<2x3x2xf32>
    %5 = vector.shape_cast %4 : vector<3x2xf32> to vector<6xf32>
    %6 = vector.from_elements %0, %1, %2, %3 : vector<2x2xf32>
    %7 = vector.broadcast %arg2 : f32 to vector<2x2xf32>
    %8:2 = vector.to_elements %arg1 : vector<2xf32>
    %9 = vector.from_elements %8#1, %8#0, %8#1, %8#0, %8#1, %8#0 : vector<3x2xf32>
    %10 = vector.from_elements %arg2, %arg3, %arg3, %arg2 : vector<4xf32>
    %11 = vector.broadcast %arg3 : f32 to vector<2xf32>
    %12 = vector.broadcast %arg2 : f32 to vector<f32>
    return %5, %6, %7, %arg3, %9, %10, %11, %arg3, %12 : vector<6xf32>, vector<2x2xf32>, vector<2x2xf32>, f32, vector<3x2xf32>, vector<4xf32>, vector<2xf32>, f32, vector<f32>
  }
}
