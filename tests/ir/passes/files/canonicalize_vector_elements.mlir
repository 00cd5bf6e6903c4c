// canonicalize
func.func @parts_of_inserts(%v: vector<2x3x4xf32>, %r: vector<4xf32>, %p: vector<3x4xf32>, %x: f32) -> (f32, f32, vector<4xf32>, vector<4xf32>, vector<3x4xf32>, f32, vector<3x4xf32>) {
  %0 = vector.insert %r, %v [1, 2] : vector<4xf32> into vector<2x3x4xf32>
  %1 = vector.insert %x, %0 [0, 1, 3] : f32 into vector<2x3x4xf32>
  %2 = vector.extract %1[1, 2, 1] : f32 from vector<2x3x4xf32>
  %3 = vector.extract %1[0, 1, 3] : f32 from vector<2x3x4xf32>
  %4 = vector.extract %1[1, 1] : vector<4xf32> from vector<2x3x4xf32>
  %5 = vector.extract %1[0, 1] : vector<4xf32> from vector<2x3x4xf32>
  %6 = vector.insert %p, %1 [0] : vector<3x4xf32> into vector<2x3x4xf32>
  %7 = vector.extract %6[1] : vector<3x4xf32> from vector<2x3x4xf32>
  %8 = vector.transpose %6, [2, 0, 1] : vector<2x3x4xf32> to vector<4x2x3xf32>
  %9 = vector.extract %8[3, 0, 2] : f32 from vector<4x2x3xf32>
  %10 = vector.insert %p, %6 [0] : vector<3x4xf32> into vector<2x3x4xf32>
  %11 = vector.extract %10[] : vector<2x3x4xf32> from vector<2x3x4xf32>
  %12 = vector.extract %11[0] : vector<3x4xf32> from vector<2x3x4xf32>
  return %2, %3, %4, %5, %7, %9, %12 : f32, f32, vector<4xf32>, vector<4xf32>, vector<3x4xf32>, f32, vector<3x4xf32>
}
func.func @parts_of_shapes(%v: vector<2x3xf32>, %w: vector<1x3xf32>, %x: f32, %i: index, %a: vector<4xf32>) -> (f32, vector<3xf32>, f32, vector<3xf32>, f32, vector<2x3xf32>, f32, vector<2xf32>, f32) {
  %c1 = arith.constant 1 : index
  %0 = vector.broadcast %w : vector<1x3xf32> to vector<2x4x3xf32>
  %1 = vector.extract %0[1, 3, 2] : f32 from vector<2x4x3xf32>
  %2 = vector.extract %0[%c1, 2] : vector<3xf32> from vector<2x4x3xf32>
  %3 = vector.extract %0[0, 1, %i] : f32 from vector<2x4x3xf32>
  %4 = vector.broadcast %x : f32 to vector<2x3xf32>
  %5 = vector.extract %4[1] : vector<3xf32> from vector<2x3xf32>
  %6 = vector.shape_cast %v : vector<2x3xf32> to vector<3x2xf32>
  %7 = vector.extract %6[2, 0] : f32 from vector<3x2xf32>
  %8 = vector.shape_cast %v : vector<2x3xf32> to vector<1x2x3xf32>
  %9 = vector.extract %8[0] : vector<2x3xf32> from vector<1x2x3xf32>
  %10 = vector.shuffle %a, %a [6, 1, 2] : vector<4xf32>, vector<4xf32>
  %11 = vector.extract %10[0] : f32 from vector<3xf32>
  %12 = vector.extract %6[1] : vector<2xf32> from vector<3x2xf32>
  %13 = vector.extract %v[1] : vector<3xf32> from vector<2x3xf32>
  %14 = vector.extract %13[%c1] : f32 from vector<3xf32>
  return %1, %2, %3, %5, %7, %9, %11, %12, %14 : f32, vector<3xf32>, f32, vector<3xf32>, f32, vector<2x3xf32>, f32, vector<2xf32>, f32
}
func.func @parts_of_slices(%v: vector<4x8xf32>, %p: vector<2x8xf32>, %q: vector<2x2xf32>) -> (vector<8xf32>, f32, vector<8xf32>, f32, vector<8xf32>, vector<2xf32>) {
  %0 = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32>
  %1 = vector.extract %0[1] : vector<8xf32> from vector<2x8xf32>
  %2 = vector.extract %0[0, 5] : f32 from vector<2x8xf32>
  %3 = vector.insert_strided_slice %p, %v {offsets = [2, 0], strides = [1, 1]} : vector<2x8xf32> into vector<4x8xf32>
  %4 = vector.insert_strided_slice %q, %3 {offsets = [0, 3], strides = [1, 1]} : vector<2x2xf32> into vector<4x8xf32>
  %5 = vector.extract %4[3] : vector<8xf32> from vector<4x8xf32>
  %6 = vector.extract %4[1, 4] : f32 from vector<4x8xf32>
  %7 = vector.extract %4[1] : vector<8xf32> from vector<4x8xf32>
  %8 = vector.extract_strided_slice %v {offsets = [1, 2], sizes = [2, 2], strides = [1, 1]} : vector<4x8xf32> to vector<2x2xf32>
  %9 = vector.extract %8[0] : vector<2xf32> from vector<2x2xf32>
  return %1, %2, %5, %6, %7, %9 : vector<8xf32>, f32, vector<8xf32>, f32, vector<8xf32>, vector<2xf32>
}
func.func @constants() -> (f32, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2xi32>, vector<3xindex>, i1, f32) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 7.0 : f32
  %i = arith.constant -3 : i32
  %0 = arith.constant dense<[[1.0, 2.0], [3.0, -0.0]]> : vector<2x2xf32>
  %1 = vector.extract %0[1, 1] : f32 from vector<2x2xf32>
  %2 = vector.extract %0[%c0] : vector<2xf32> from vector<2x2xf32>
  %3 = vector.insert %x, %0 [%c0, 1] : f32 into vector<2x2xf32>
  %4 = vector.insert %2, %0 [1] : vector<2xf32> into vector<2x2xf32>
  %5 = vector.from_elements %i, %i : vector<2xi32>
  %6 = vector.from_elements %c0, %c0, %c0 : vector<3xindex>
  %7 = arith.constant dense<[true, false]> : vector<2xi1>
  %8 = vector.extract %7[0] : i1 from vector<2xi1>
  %9 = vector.broadcast %x : f32 to vector<4xf32>
  %10 = vector.extract %9[3] : f32 from vector<4xf32>
  return %1, %2, %3, %4, %5, %6, %8, %10 : f32, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2xi32>, vector<3xindex>, i1, f32
}
func.func @inserts(%v: vector<2x2xf32>, %r: vector<2xf32>, %w: vector<1x2xf32>, %x: f32, %y: f32) -> (vector<2x2xf32>, vector<1x2xf32>, vector<2x2xf32>, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>) {
  %c1 = arith.constant 1 : index
  %0 = vector.insert %x, %v [%c1, 0] : f32 into vector<2x2xf32>
  %1 = vector.insert %y, %0 [1, 0] : f32 into vector<2x2xf32>
  %2 = vector.insert %r, %w [0] : vector<2xf32> into vector<1x2xf32>
  %3 = vector.broadcast %x : f32 to vector<2x2xf32>
  %4 = vector.broadcast %x : f32 to vector<2xf32>
  %5 = vector.insert %4, %3 [1] : vector<2xf32> into vector<2x2xf32>
  %6 = vector.insert %x, %r [1] : f32 into vector<2xf32>
  %7 = vector.insert %y, %6 [0] : f32 into vector<2xf32>
  %8 = vector.insert %r, %v [0] : vector<2xf32> into vector<2x2xf32>
  %9 = vector.insert %x, %8 [1, 1] : f32 into vector<2x2xf32>
  %10 = vector.insert %y, %9 [1, 0] : f32 into vector<2x2xf32>
  %11 = vector.insert %v, %3 [] : vector<2x2xf32> into vector<2x2xf32>
  return %1, %2, %5, %7, %10, %11 : vector<2x2xf32>, vector<1x2xf32>, vector<2x2xf32>, vector<2xf32>, vector<2x2xf32>, vector<2x2xf32>
}
func.func @elements(%v: vector<2x3x2xf32>, %r: vector<2xf32>, %x: f32, %y: f32) -> (vector<6xf32>, vector<2x2xf32>, vector<2x2xf32>, f32, vector<3x2xf32>, vector<4xf32>, vector<2xf32>, f32, vector<f32>) {
  %0 = vector.extract %v[1, 0, 0] : f32 from vector<2x3x2xf32>
  %1 = vector.extract %v[1, 0, 1] : f32 from vector<2x3x2xf32>
  %2 = vector.extract %v[1, 1, 0] : f32 from vector<2x3x2xf32>
  %3 = vector.extract %v[1, 1, 1] : f32 from vector<2x3x2xf32>
  %4 = vector.extract %v[1, 2, 0] : f32 from vector<2x3x2xf32>
  %5 = vector.extract %v[1, 2, 1] : f32 from vector<2x3x2xf32>
  %6 = vector.from_elements %0, %1, %2, %3, %4, %5 : vector<6xf32>
  %7 = vector.from_elements %2, %3, %4, %5 : vector<2x2xf32>
  %8 = vector.from_elements %x, %x, %x, %x : vector<2x2xf32>
  %9:2 = vector.to_elements %r : vector<2xf32>
  %10 = vector.from_elements %9#0, %9#1 : vector<2xf32>
  %11 = vector.broadcast %r : vector<2xf32> to vector<3x2xf32>
  %12:6 = vector.to_elements %11 : vector<3x2xf32>
  %13 = vector.from_elements %12#5, %12#4, %12#3, %12#2, %12#1, %12#0 : vector<3x2xf32>
  %14 = vector.from_elements %x, %y, %y, %x : vector<4xf32>
  %15:4 = vector.to_elements %14 : vector<4xf32>
  %16 = vector.from_elements %15#3, %15#2, %15#1, %15#1 : vector<2x2xf32>
  %17 = vector.extract %16[1] : vector<2xf32> from vector<2x2xf32>
  %18 = vector.extract %14[2] : f32 from vector<4xf32>
  %19 = vector.from_elements %x : vector<f32>
  return %6, %7, %8, %15#1, %13, %14, %17, %18, %19 : vector<6xf32>, vector<2x2xf32>, vector<2x2xf32>, f32, vector<3x2xf32>, vector<4xf32>, vector<2xf32>, f32, vector<f32>
}
