// canonicalize
func.func @slices_of_slices(%v: vector<4x8xf32>, %p: vector<2x4xf32>, %q: vector<1x4xf32>) -> (vector<1x2xf32>, vector<2x4xf32>, vector<4x8xf32>, vector<1x2xf32>, vector<2x2xf32>) {
  %0 = vector.insert_strided_slice %p, %v {offsets = [1, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
  %1 = vector.insert_strided_slice %q, %0 {offsets = [3, 0], strides = [1, 1]} : vector<1x4xf32> into vector<4x8xf32>
  %2 = vector.extract_strided_slice %1 {offsets = [2, 3], sizes = [1, 2], strides = [1, 1]} : vector<4x8xf32> to vector<1x2xf32>
  %3 = vector.extract_strided_slice %v {offsets = [1, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
  %4 = vector.insert_strided_slice %3, %v {offsets = [1, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
  %5 = vector.extract_strided_slice %1 {offsets = [2, 5], sizes = [1, 2], strides = [1, 1]} : vector<4x8xf32> to vector<1x2xf32>
  %6 = vector.extract_strided_slice %3 {offsets = [0, 1], sizes = [2, 2], strides = [1, 1]} : vector<2x4xf32> to vector<2x2xf32>
  return %2, %3, %4, %5, %6 : vector<1x2xf32>, vector<2x4xf32>, vector<4x8xf32>, vector<1x2xf32>, vector<2x2xf32>
}
func.func @constants() -> (vector<2x1xf32>, vector<2x2xf32>, vector<3x3xf32>, vector<2x3xf32>) {
  %0 = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : vector<3x3xf32>
  %1 = arith.constant dense<0.0> : vector<3x3xf32>
  %2 = vector.extract_strided_slice %0 {offsets = [1, 2], sizes = [2, 1], strides = [1, 1]} : vector<3x3xf32> to vector<2x1xf32>
  %3 = vector.extract_strided_slice %1 {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<3x3xf32> to vector<2x2xf32>
  %4 = vector.insert_strided_slice %2, %0 {offsets = [0, 1], strides = [1, 1]} : vector<2x1xf32> into vector<3x3xf32>
  %5 = vector.extract_strided_slice %0 {offsets = [1], sizes = [2], strides = [1]} : vector<3x3xf32> to vector<2x3xf32>
  return %2, %3, %4, %5 : vector<2x1xf32>, vector<2x2xf32>, vector<3x3xf32>, vector<2x3xf32>
}
func.func @what_is_repeated(%v: vector<4xf32>, %w: vector<1x4xf32>, %x: f32) -> (vector<2x4xf32>, vector<2x2xf32>, vector<1x4xf32>, vector<2x1xf32>, vector<4x4xf32>) {
  %0 = vector.broadcast %v : vector<4xf32> to vector<3x4xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [1], sizes = [2], strides = [1]} : vector<3x4xf32> to vector<2x4xf32>
  %2 = vector.extract_strided_slice %0 {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<3x4xf32> to vector<2x2xf32>
  %3 = vector.broadcast %w : vector<1x4xf32> to vector<3x4xf32>
  %4 = vector.extract_strided_slice %3 {offsets = [2, 0], sizes = [1, 4], strides = [1, 1]} : vector<3x4xf32> to vector<1x4xf32>
  %5 = vector.broadcast %x : f32 to vector<4x4xf32>
  %6 = vector.extract_strided_slice %5 {offsets = [1, 1], sizes = [2, 1], strides = [1, 1]} : vector<4x4xf32> to vector<2x1xf32>
  %7 = vector.insert_strided_slice %6, %5 {offsets = [0, 0], strides = [1, 1]} : vector<2x1xf32> into vector<4x4xf32>
  return %1, %2, %4, %6, %7 : vector<2x4xf32>, vector<2x2xf32>, vector<1x4xf32>, vector<2x1xf32>, vector<4x4xf32>
}
func.func @one_of_the_first(%v: vector<8x1x2x8xf32>, %w: vector<4x8xf32>) -> (vector<1x1x1x8xf32>, vector<1x1x2x8xf32>, vector<1x4xf32>, vector<1x8xf32>, vector<2x1x2x8xf32>) {
  %0 = vector.extract_strided_slice %v {offsets = [3, 0, 1, 0], sizes = [1, 1, 1, 8], strides = [1, 1, 1, 1]} : vector<8x1x2x8xf32> to vector<1x1x1x8xf32>
  %1 = vector.extract_strided_slice %v {offsets = [3], sizes = [1], strides = [1]} : vector<8x1x2x8xf32> to vector<1x1x2x8xf32>
  %2 = vector.extract_strided_slice %w {offsets = [3, 0], sizes = [1, 4], strides = [1, 1]} : vector<4x8xf32> to vector<1x4xf32>
  %3 = vector.extract_strided_slice %w {offsets = [2, 0], sizes = [1, 8], strides = [1, 1]} : vector<4x8xf32> to vector<1x8xf32>
  %4 = vector.extract_strided_slice %v {offsets = [3], sizes = [2], strides = [1]} : vector<8x1x2x8xf32> to vector<2x1x2x8xf32>
  return %0, %1, %2, %3, %4 : vector<1x1x1x8xf32>, vector<1x1x2x8xf32>, vector<1x4xf32>, vector<1x8xf32>, vector<2x1x2x8xf32>
}
