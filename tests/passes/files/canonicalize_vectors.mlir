// canonicalize
func.func @same_shapes(%v: vector<4xf32>, %x: f32, %i: index) -> (vector<4xf32>, vector<4xf32>, vector<2x4xf32>, f32, f32, vector<4xf32>) {
  %0 = vector.broadcast %v : vector<4xf32> to vector<4xf32>
  %1 = vector.shape_cast %v : vector<4xf32> to vector<4xf32>
  %2 = vector.broadcast %x : f32 to vector<4xf32>
  %3 = vector.broadcast %2 : vector<4xf32> to vector<2x4xf32>
  %4 = vector.extract %2[1] : f32 from vector<4xf32>
  %5 = vector.insert %x, %v[2] : f32 into vector<4xf32>
  %6 = vector.extract %5[2] : f32 from vector<4xf32>
  %7 = vector.transpose %v, [0] : vector<4xf32> to vector<4xf32>
  return %0, %1, %3, %4, %6, %7 : vector<4xf32>, vector<4xf32>, vector<2x4xf32>, f32, f32, vector<4xf32>
}
func.func @shapes_of_shapes(%v: vector<2x3xf32>, %w: vector<1xf32>) -> (vector<2x3xf32>, vector<3x2xf32>, vector<6xf32>, f32, vector<2x3xf32>) {
  %0 = vector.transpose %v, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %1 = vector.transpose %0, [1, 0] : vector<3x2xf32> to vector<2x3xf32>
  %2 = vector.shape_cast %v : vector<2x3xf32> to vector<3x2xf32>
  %3 = vector.shape_cast %2 : vector<3x2xf32> to vector<6xf32>
  %4 = vector.reduction <add>, %w : vector<1xf32> into f32
  %5 = vector.transpose %v, [0, 1] : vector<2x3xf32> to vector<2x3xf32>
  return %1, %2, %3, %4, %5 : vector<2x3xf32>, vector<3x2xf32>, vector<6xf32>, f32, vector<2x3xf32>
}
func.func @transfers_of_tensors(%m: memref<8xf32>, %t: tensor<8xf32>, %p: f32, %v: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %0 = vector.transfer_read %m[%c0], %p : memref<8xf32>, vector<4xf32>
  %1 = vector.transfer_read %t[%c6], %p : tensor<8xf32>, vector<4xf32>
  %2 = vector.transfer_write %v, %t[%c0] : vector<4xf32>, tensor<8xf32>
  %3 = vector.transfer_read %2[%c0], %p : tensor<8xf32>, vector<4xf32>
  return %0, %1, %3, %2 : vector<4xf32>, vector<4xf32>, vector<4xf32>, tensor<8xf32>
}
func.func @whole_slices(%v: vector<4xf32>, %w: vector<4xf32>) -> (vector<4xf32>, vector<2xf32>, vector<4xf32>, vector<4xi1>) {
  %0 = vector.shuffle %v, %w [0, 1, 2, 3] : vector<4xf32>, vector<4xf32>
  %1 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  %2 = vector.extract_strided_slice %v {offsets = [0], sizes = [4], strides = [1]} : vector<4xf32> to vector<4xf32>
  %c = arith.constant 3 : index
  %3 = vector.create_mask %c : vector<4xi1>
  return %0, %1, %2, %3 : vector<4xf32>, vector<2xf32>, vector<4xf32>, vector<4xi1>
}
func.func @bounds(%v: vector<2x4xf32>, %w: vector<4xf32>, %t: tensor<4x8xf32>, %m: memref<4x?xf32>, %p: f32, %i: index) -> (vector<2x4xf32>, vector<4xf32>, vector<4xf32>, vector<2x4xi1>, vector<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %0 = vector.transfer_read %t[%c3, %c0], %p : tensor<4x8xf32>, vector<2x4xf32>
  %1 = vector.transfer_read %m[%c0, %c0], %p : memref<4x?xf32>, vector<4xf32>
  %2 = vector.transfer_read %t[%i, %c3], %p {permutation_map = affine_map<(d0, d1) -> (d1)>} : tensor<4x8xf32>, vector<4xf32>
  %3 = vector.create_mask %c9, %c3 : vector<2x4xi1>
  vector.transfer_write %w, %m[%c0, %c3] {permutation_map = affine_map<(d0, d1) -> (d0)>} : vector<4xf32>, memref<4x?xf32>
  %4 = vector.extract %v[1] : vector<4xf32> from vector<2x4xf32>
  %5 = vector.broadcast %4 : vector<4xf32> to vector<2x4xf32>
  %6 = vector.extract %5[0] : vector<4xf32> from vector<2x4xf32>
  %7 = vector.extract %w[3] : f32 from vector<4xf32>
  return %0, %1, %2, %3, %6, %7 : vector<2x4xf32>, vector<4xf32>, vector<4xf32>, vector<2x4xi1>, vector<4xf32>, f32
}
