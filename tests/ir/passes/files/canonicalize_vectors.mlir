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
  %4 = vector.reduction <mul>, %w : vector<1xf32> into f32
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
func.func @broadcasts(%v: vector<4xf32>, %w: vector<1x4xf32>, %x: f32, %o: vector<f32>) -> (vector<2x4xf32>, vector<3x4xf32>, vector<2x3xf32>, vector<4x2xf32>, vector<2x4xf32>, vector<1x1xf32>, vector<8xf32>) {
  %0 = vector.shape_cast %v : vector<4xf32> to vector<1x1x4xf32>
  %1 = vector.shape_cast %w : vector<1x4xf32> to vector<4xf32>
  %2 = vector.broadcast %1 : vector<4xf32> to vector<2x4xf32>
  %3 = vector.broadcast %1 : vector<4xf32> to vector<3x4xf32>
  %4 = vector.broadcast %x : f32 to vector<3x2xf32>
  %5 = vector.transpose %4, [1, 0] : vector<3x2xf32> to vector<2x3xf32>
  %6 = vector.broadcast %v : vector<4xf32> to vector<2x4xf32>
  %7 = vector.transpose %6, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %c = arith.constant dense<2.0> : vector<4xf32>
  %8 = vector.broadcast %c : vector<4xf32> to vector<2x4xf32>
  %9 = vector.broadcast %o : vector<f32> to vector<1x1xf32>
  %10 = vector.shape_cast %6 : vector<2x4xf32> to vector<8xf32>
  return %2, %3, %5, %7, %8, %9, %10 : vector<2x4xf32>, vector<3x4xf32>, vector<2x3xf32>, vector<4x2xf32>, vector<2x4xf32>, vector<1x1xf32>, vector<8xf32>
}
func.func @casts(%v: vector<4xf32>, %w: vector<2x1x3xf32>, %x: f32) -> (vector<1x1x4xf32>, vector<2x2xf32>, vector<4xf32>, vector<6xf32>, vector<3x2xf32>, vector<2x2xf32>, vector<6x1xf32>) {
  %0 = vector.broadcast %v : vector<4xf32> to vector<1x4xf32>
  %1 = vector.shape_cast %0 : vector<1x4xf32> to vector<1x1x4xf32>
  %2 = vector.shape_cast %0 : vector<1x4xf32> to vector<2x2xf32>
  %3 = vector.shape_cast %0 : vector<1x4xf32> to vector<4xf32>
  %4 = vector.transpose %w, [1, 0, 2] : vector<2x1x3xf32> to vector<1x2x3xf32>
  %5 = vector.shape_cast %4 : vector<1x2x3xf32> to vector<6xf32>
  %6 = vector.broadcast %x : f32 to vector<6xf32>
  %7 = vector.shape_cast %6 : vector<6xf32> to vector<3x2xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
  %8 = vector.shape_cast %c : vector<4xf32> to vector<2x2xf32>
  %9 = vector.shape_cast %5 : vector<6xf32> to vector<1x6xf32>
  %10 = vector.transpose %9, [1, 0] : vector<1x6xf32> to vector<6x1xf32>
  return %1, %2, %3, %5, %7, %8, %10 : vector<1x1x4xf32>, vector<2x2xf32>, vector<4xf32>, vector<6xf32>, vector<3x2xf32>, vector<2x2xf32>, vector<6x1xf32>
}
func.func @transposes(%v: vector<2x3x4xf32>, %w: vector<4x1x1x7xf32>, %x: f32, %y: f32, %o: vector<1x1xf32>) -> (vector<3x4x2xf32>, vector<3x2x4x6x5x7xf32>, vector<3x2xf32>, vector<3x2xf32>, vector<2x3xf32>, vector<1x1xf32>) {
  %0 = vector.transpose %v, [2, 0, 1] : vector<2x3x4xf32> to vector<4x2x3xf32>
  %1 = vector.transpose %0, [2, 0, 1] : vector<4x2x3xf32> to vector<3x4x2xf32>
  %2 = vector.broadcast %w : vector<4x1x1x7xf32> to vector<2x3x4x5x6x7xf32>
  %3 = vector.transpose %2, [1, 0, 2, 4, 3, 5] : vector<2x3x4x5x6x7xf32> to vector<3x2x4x6x5x7xf32>
  %4 = vector.from_elements %x, %y, %x, %x, %y, %y : vector<2x3xf32>
  %5 = vector.transpose %4, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %c = arith.constant dense<2.0> : vector<2x3xf32>
  %6 = vector.transpose %c, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %7 = vector.transpose %6, [1, 0] : vector<3x2xf32> to vector<2x3xf32>
  %8 = vector.transpose %o, [1, 0] : vector<1x1xf32> to vector<1x1xf32>
  return %1, %3, %5, %6, %7, %8 : vector<3x4x2xf32>, vector<3x2x4x6x5x7xf32>, vector<3x2xf32>, vector<3x2xf32>, vector<2x3xf32>, vector<1x1xf32>
}
func.func @shuffles(%v: vector<2xf32>, %w: vector<3xf32>, %x: f32, %o: vector<f32>, %p: vector<f32>) -> (vector<3xf32>, vector<4xf32>, vector<3xf32>, vector<2xf32>, vector<1xf32>, vector<2xf32>) {
  %0 = vector.shuffle %v, %w [2, 3, 4] : vector<2xf32>, vector<3xf32>
  %1 = vector.shuffle %v, %v [0, 2, 1, 3] : vector<2xf32>, vector<2xf32>
  %c = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  %d = arith.constant dense<3.0> : vector<1xf32>
  %2 = vector.shuffle %c, %d [2, 0, 1] : vector<2xf32>, vector<1xf32>
  %3 = vector.broadcast %x : f32 to vector<4xf32>
  %4 = vector.shuffle %3, %3 [1, 6] : vector<4xf32>, vector<4xf32>
  %5 = vector.shuffle %o, %p [1] : vector<f32>, vector<f32>
  %6 = vector.shuffle %o, %p [0, 1] : vector<f32>, vector<f32>
  return %0, %1, %2, %4, %5, %6 : vector<3xf32>, vector<4xf32>, vector<3xf32>, vector<2xf32>, vector<1xf32>, vector<2xf32>
}
