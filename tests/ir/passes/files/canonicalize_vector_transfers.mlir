// canonicalize
func.func @bounds_and_masks(%t: tensor<8x4xf32>, %p: f32, %v: vector<4xf32>, %i: index) -> (vector<2x4xf32>, vector<4x4xf32>, vector<4xf32>, tensor<8x4xf32>, vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %full = vector.create_mask %c4 : vector<4xi1>
  %some = vector.constant_mask [2] : vector<4xi1>
  %0 = vector.transfer_read %t[%i, %c0], %p {permutation_map = affine_map<(d0, d1) -> (0, d1)>} : tensor<8x4xf32>, vector<2x4xf32>
  %1 = vector.transfer_read %t[%i, %i], %p {permutation_map = affine_map<(d0, d1) -> (0, 0)>} : tensor<8x4xf32>, vector<4x4xf32>
  %2 = vector.transfer_read %t[%i, %i], %p, %full : tensor<8x4xf32>, vector<4xf32>
  %3 = vector.transfer_write %v, %t[%i, %c0], %full {permutation_map = affine_map<(d0, d1) -> (d0)>} : vector<4xf32>, tensor<8x4xf32>
  %4 = vector.transfer_read %t[%i, %i], %p, %some : tensor<8x4xf32>, vector<4xf32>
  return %0, %1, %2, %3, %4 : vector<2x4xf32>, vector<4x4xf32>, vector<4xf32>, tensor<8x4xf32>, vector<4xf32>
}
func.func @reads_of_writes(%t: tensor<8x8xf32>, %v: vector<2x3xf32>, %w: vector<2x3xf32>, %p: f32, %n: index) -> (vector<2x3xf32>, vector<2x3xf32>, vector<3x2x2xf32>, vector<2x3xf32>, vector<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : vector<2x3xf32>
  %mask = vector.create_mask %n, %c1 : vector<2x3xi1>
  %0 = vector.transfer_write %v, %t[%c0, %c0] : vector<2x3xf32>, tensor<8x8xf32>
  %1 = vector.transfer_write %w, %0[%c2, %c0] : vector<2x3xf32>, tensor<8x8xf32>
  %2 = vector.transfer_read %1[%c0, %c0], %p : tensor<8x8xf32>, vector<2x3xf32>
  %3 = vector.transfer_write %w, %0[%c1, %c0] : vector<2x3xf32>, tensor<8x8xf32>
  %4 = vector.transfer_read %3[%c0, %c0], %p : tensor<8x8xf32>, vector<2x3xf32>
  %5 = vector.transfer_read %1[%c2, %c0], %p {permutation_map = affine_map<(d0, d1) -> (d1, 0, d0)>} : tensor<8x8xf32>, vector<3x2x2xf32>
  %6 = vector.transfer_write %zeros, %t[%c0, %c0] : vector<2x3xf32>, tensor<8x8xf32>
  %7 = vector.transfer_read %6[%c0, %c0], %zero, %mask : tensor<8x8xf32>, vector<2x3xf32>
  %8 = vector.transfer_read %6[%c0, %c0], %p, %mask : tensor<8x8xf32>, vector<2x3xf32>
  return %2, %4, %5, %7, %8 : vector<2x3xf32>, vector<2x3xf32>, vector<3x2x2xf32>, vector<2x3xf32>, vector<2x3xf32>
}
func.func @writes_of_reads(%t: tensor<4x8xf32>, %u: tensor<4x8xf32>, %p: f32, %i: index) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %0 = vector.transfer_read %t[%i, %i], %p : tensor<4x8xf32>, vector<4x4xf32>
  %1 = vector.transfer_write %0, %t[%i, %i] : vector<4x4xf32>, tensor<4x8xf32>
  %2 = vector.transfer_read %t[%c0, %c0], %p : tensor<4x8xf32>, vector<4x8xf32>
  %3 = vector.transfer_write %2, %u[%c0, %c0] : vector<4x8xf32>, tensor<4x8xf32>
  %4 = vector.transfer_write %0, %u[%i, %i] : vector<4x4xf32>, tensor<4x8xf32>
  return %1, %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
func.func @writes_over_writes(%t: tensor<8xf32>, %v: vector<2xf32>, %w: vector<2xf32>, %i: index) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = vector.transfer_write %v, %t[%i] : vector<2xf32>, tensor<8xf32>
  %1 = vector.transfer_write %w, %0[%i] : vector<2xf32>, tensor<8xf32>
  %2 = vector.transfer_write %v, %t[%c0] : vector<2xf32>, tensor<8xf32>
  %3 = vector.transfer_write %w, %2[%c2] : vector<2xf32>, tensor<8xf32>
  %4 = vector.transfer_write %w, %3[%c0] : vector<2xf32>, tensor<8xf32>
  %5 = vector.transfer_write %v, %t[%c2] : vector<2xf32>, tensor<8xf32>
  %6 = vector.transfer_write %w, %5[%c3] : vector<2xf32>, tensor<8xf32>
  %7 = vector.transfer_write %w, %6[%c2] : vector<2xf32>, tensor<8xf32>
  return %1, %4, %7 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func @tensors(%t: tensor<8x8xf32>, %d: tensor<?x8xf32>, %v: vector<4x4xf32>, %i: index, %e: tensor<4x4xf32>, %p: f32) -> (index, vector<4xf32>, tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %0 = vector.transfer_write %v, %d[%c0, %c0] : vector<4x4xf32>, tensor<?x8xf32>
  %1 = tensor.dim %0, %c0 : tensor<?x8xf32>
  %2 = tensor.cast %t : tensor<8x8xf32> to tensor<?x8xf32>
  %3 = vector.transfer_read %2[%c0, %i], %p {permutation_map = affine_map<(d0, d1) -> (d0)>} : tensor<?x8xf32>, vector<4xf32>
  %4 = vector.transfer_write %v, %2[%c0, %c0] : vector<4x4xf32>, tensor<?x8xf32>
  %5 = vector.transfer_write %v, %e[%c0, %c0] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<4x4xf32>, tensor<4x4xf32>
  %6 = tensor.extract_slice %5[0, 0] [3, 2] [1, 1] : tensor<4x4xf32> to tensor<3x2xf32>
  %7 = tensor.insert_slice %6 into %t[%i, 2] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<8x8xf32>
  %8 = vector.transfer_write %v, %e[%c0, %c0] : vector<4x4xf32>, tensor<4x4xf32>
  %9 = tensor.extract_slice %8[1, 0] [3, 2] [1, 1] : tensor<4x4xf32> to tensor<3x2xf32>
  %10 = tensor.insert_slice %9 into %t[%i, 2] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<8x8xf32>
  return %1, %3, %4, %7, %10 : index, vector<4xf32>, tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
