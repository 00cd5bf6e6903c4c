// canonicalize
func.func @dimmany(%n: index, %m: index, %f: f32, %t: tensor<?x?xf32>, %s: tensor<2xindex>, %i: i32) -> (index, index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n, %m) : tensor<?x4x?xf32>
  %d0 = tensor.dim %e, %c0 : tensor<?x4x?xf32>
  %sp = tensor.splat %f[%n] : tensor<4x?xf32>
  %d1 = tensor.dim %sp, %c1 : tensor<4x?xf32>
  %x = tensor.extract_slice %t[0, 0][%n, %m][1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %d2 = tensor.dim %x, %c1 : tensor<?x?xf32>
  %r = tensor.reshape %t(%s) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %d3 = tensor.dim %r, %c1 : tensor<?x?xf32>
  %p = tensor.pad %t low[1, %n] high[2, %m] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  %d4 = tensor.dim %p, %c1 : tensor<?x?xf32>
  %in = tensor.insert %f into %t[%n, %m] : tensor<?x?xf32>
  %d5 = tensor.dim %in, %c1 : tensor<?x?xf32>
  return %d0, %d1, %d2, %d3, %d4, %d5 : index, index, index, index, index, index
}
func.func @dimdest(%n: index, %t: tensor<?x?xf32>, %s: tensor<?x?xf32>, %f: f32) -> (index, index, index) {
  %c1 = arith.constant 1 : index
  %in = tensor.insert_slice %t into %s[0, 0][%n, %n][1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %d5 = tensor.dim %in, %c1 : tensor<?x?xf32>
  %fi = linalg.fill ins(%f: f32) outs(%s: tensor<?x?xf32>) -> tensor<?x?xf32>
  %d6 = tensor.dim %fi, %c1 : tensor<?x?xf32>
  %ex = tensor.expand_shape %t [[0], [1, 2]] output_shape [%n, %n, 4] : tensor<?x?xf32> into tensor<?x?x4xf32>
  %d7 = tensor.dim %ex, %c1 : tensor<?x?x4xf32>
  return %d5, %d6, %d7 : index, index, index
}
func.func @dimcollapse(%t: tensor<?x?x4xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.collapse_shape %t [[0], [1, 2]] : tensor<?x?x4xf32> into tensor<?x?xf32>
  %1 = tensor.dim %0, %c1 : tensor<?x?xf32>
  %2 = tensor.dim %0, %c0 : tensor<?x?xf32>
  return %1, %2 : index, index
}
func.func @emptyexp(%n: index) -> tensor<?x4xf32> {
  %0 = tensor.empty(%n) : tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @emptyexpstatic() -> tensor<4x4xf32> {
  %0 = tensor.empty() : tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @emptycollstatic() -> tensor<16xf32> {
  %0 = tensor.empty() : tensor<4x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  return %1 : tensor<16xf32>
}
func.func @extcoll(%t: tensor<4x4xf32>, %i: index) -> f32 {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %1 = tensor.extract %0[%i] : tensor<16xf32>
  return %1 : f32
}
func.func @cc(%t: tensor<4x4x4xf32>) -> tensor<64xf32> {
  %0 = tensor.collapse_shape %t [[0, 1], [2]] : tensor<4x4x4xf32> into tensor<16x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<16x4xf32> into tensor<64xf32>
  return %1 : tensor<64xf32>
}
func.func @ee(%t: tensor<?xf32>, %n: index, %m: index) -> tensor<?x4x4xf32> {
  %0 = tensor.expand_shape %t [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%m, 4, 4] : tensor<?x4xf32> into tensor<?x4x4xf32>
  return %1 : tensor<?x4x4xf32>
}
func.func @ec(%t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @ec2(%t: tensor<?x?xf32>, %n: index) -> tensor<?x4xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @ce(%t: tensor<16xf32>) -> tensor<16xf32> {
  %0 = tensor.expand_shape %t [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  return %1 : tensor<16xf32>
}
func.func @ce2(%t: tensor<16x2xf32>) -> tensor<4x8xf32> {
  %0 = tensor.expand_shape %t [[0, 1], [2]] output_shape [4, 4, 2] : tensor<16x2xf32> into tensor<4x4x2xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x4x2xf32> into tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func @ce3(%t: tensor<16x2xf32>) -> tensor<32xf32> {
  %0 = tensor.expand_shape %t [[0, 1], [2]] output_shape [4, 4, 2] : tensor<16x2xf32> into tensor<4x4x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<4x4x2xf32> into tensor<32xf32>
  return %1 : tensor<32xf32>
}
func.func @ce4(%t: tensor<32xf32>) -> tensor<16x2xf32> {
  %0 = tensor.expand_shape %t [[0, 1, 2]] output_shape [4, 4, 2] : tensor<32xf32> into tensor<4x4x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<4x4x2xf32> into tensor<16x2xf32>
  return %1 : tensor<16x2xf32>
}
func.func @ec5(%t: tensor<4x4x2xf32>) -> tensor<2x2x4x2xf32> {
  %0 = tensor.collapse_shape %t [[0, 1], [2]] : tensor<4x4x2xf32> into tensor<16x2xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2], [3]] output_shape [2, 2, 4, 2] : tensor<16x2xf32> into tensor<2x2x4x2xf32>
  return %1 : tensor<2x2x4x2xf32>
}
func.func @same(%t: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tensor.collapse_shape %t [[0], [1]] : tensor<4x4xf32> into tensor<4x4xf32>
  %1 = tensor.expand_shape %t [[0], [1]] output_shape [4, 4] : tensor<4x4xf32> into tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @consts() -> (tensor<4xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4xf32>) {
  %c = arith.constant dense<[[1.0, 2.0],[3.0, 4.0]]> : tensor<2x2xf32>
  %s = arith.constant dense<1.0> : tensor<2x2xf32>
  %d = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = tensor.collapse_shape %c [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %1 = tensor.expand_shape %d [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %2 = tensor.extract_slice %d[1][2][1] : tensor<4xf32> to tensor<2xf32>
  %3 = tensor.collapse_shape %s [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4xf32>
}
func.func @constslice() -> (tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) {
  %d = arith.constant dense<1.0> : tensor<4xf32>
  %e = arith.constant dense<1.0> : tensor<4x4xf32>
  %x = arith.constant dense<1.0> : tensor<2x2xf32>
  %2 = tensor.extract_slice %d[1][2][1] : tensor<4xf32> to tensor<2xf32>
  %3 = tensor.extract_slice %e[1, 0][2, 1][1, 1] : tensor<4x4xf32> to tensor<2xf32>
  %4 = tensor.expand_shape %d [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>
}
func.func @reshape(%t: tensor<4x4xf32>, %s: tensor<1xindex>, %r: tensor<2xindex>, %u: tensor<?xf32>) -> (tensor<16xf32>, tensor<4x4xf32>, tensor<?xf32>) {
  %0 = tensor.reshape %t(%s) : (tensor<4x4xf32>, tensor<1xindex>) -> tensor<16xf32>
  %1 = tensor.reshape %0(%r) : (tensor<16xf32>, tensor<2xindex>) -> tensor<4x4xf32>
  %2 = tensor.reshape %u(%s) : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<16xf32>, tensor<4x4xf32>, tensor<?xf32>
}
func.func @reshape2(%n: index, %u: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %u, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %u, %c1 : tensor<?x?xf32>
  %s = tensor.from_elements %d0, %d1 : tensor<2xindex>
  %2 = tensor.reshape %u(%s) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %s2 = tensor.from_elements %d1, %d0 : tensor<2xindex>
  %3 = tensor.reshape %u(%s2) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %s3 = arith.constant dense<[4, 4]> : tensor<2xindex>
  %e = arith.constant dense<1.0> : tensor<16xf32>
  %4 = tensor.reshape %e(%s3) : (tensor<16xf32>, tensor<2xindex>) -> tensor<4x4xf32>
  return %2, %3, %4 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x4xf32>
}
func.func @reshcast(%t: tensor<4x4xf32>, %n: index) -> (tensor<16xf32>, tensor<?xf32>) {
  %c = tensor.cast %t : tensor<4x4xf32> to tensor<?x?xf32>
  %0 = tensor.collapse_shape %c [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<16xf32>
  return %1, %0 : tensor<16xf32>, tensor<?xf32>
}
func.func @expcast(%t: tensor<16xf32>, %n: index) -> (tensor<?x?xf32>, tensor<4x4xf32>) {
  %c = tensor.cast %t : tensor<16xf32> to tensor<?xf32>
  %c4 = arith.constant 4 : index
  %0 = tensor.expand_shape %c [[0, 1]] output_shape [%c4, %n] : tensor<?xf32> into tensor<?x?xf32>
  %d = tensor.expand_shape %c [[0, 1]] output_shape [%c4, %c4] : tensor<?xf32> into tensor<?x?xf32>
  %1 = tensor.cast %d : tensor<?x?xf32> to tensor<4x4xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<4x4xf32>
}
func.func @expsplat(%f: f32) -> (tensor<4x4xf32>, tensor<16xf32>) {
  %s = tensor.splat %f : tensor<16xf32>
  %r = tensor.splat %f : tensor<4x4xf32>
  %0 = tensor.expand_shape %s [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %1 = tensor.collapse_shape %r [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<16xf32>
}
func.func @fromcoll(%f: f32, %g: f32) -> (tensor<2xf32>, tensor<1x2xf32>) {
  %s = tensor.from_elements %f, %g : tensor<1x2xf32>
  %r = tensor.from_elements %f, %g : tensor<2xf32>
  %1 = tensor.collapse_shape %s [[0, 1]] : tensor<1x2xf32> into tensor<2xf32>
  %0 = tensor.expand_shape %r [[0, 1]] output_shape [1, 2] : tensor<2xf32> into tensor<1x2xf32>
  return %1, %0 : tensor<2xf32>, tensor<1x2xf32>
}
func.func @dimresh(%t: tensor<?xf32>, %s: tensor<2xi32>, %n: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %r = tensor.reshape %t(%s) : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %x = arith.addi %n, %n : index
  %d3 = tensor.dim %r, %c1 : tensor<?x?xf32>
  %d4 = tensor.dim %r, %x : tensor<?x?xf32>
  return %d3, %d4 : index, index
}
func.func @invdyn(%t: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @invdyn1(%t: tensor<?x4xf32>, %n: index, %m: index) -> tensor<?x4xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @invdyn2(%t: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %1 = tensor.expand_shape %t [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %0 = tensor.collapse_shape %1 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @ce4dyn(%t: tensor<?xf32>, %n: index) -> tensor<?x2xf32> {
  %0 = tensor.expand_shape %t [[0, 1, 2]] output_shape [%n, 4, 2] : tensor<?xf32> into tensor<?x4x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x4x2xf32> into tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
func.func @ce3dyn(%t: tensor<?x2xf32>, %n: index) -> tensor<?xf32> {
  %0 = tensor.expand_shape %t [[0, 1], [2]] output_shape [%n, 4, 2] : tensor<?x2xf32> into tensor<?x4x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<?x4x2xf32> into tensor<?xf32>
  return %1 : tensor<?xf32>
}
func.func @ec5dyn(%t: tensor<?x4x2xf32>, %n: index) -> tensor<?x2x4x2xf32> {
  %0 = tensor.collapse_shape %t [[0, 1], [2]] : tensor<?x4x2xf32> into tensor<?x2xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2], [3]] output_shape [%n, 2, 4, 2] : tensor<?x2xf32> into tensor<?x2x4x2xf32>
  return %1 : tensor<?x2x4x2xf32>
}
func.func @ec6(%t: tensor<2x2x4x2xf32>) -> tensor<4x4x2xf32> {
  %0 = tensor.collapse_shape %t [[0, 1, 2], [3]] : tensor<2x2x4x2xf32> into tensor<16x2xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [4, 4, 2] : tensor<16x2xf32> into tensor<4x4x2xf32>
  return %1 : tensor<4x4x2xf32>
}
func.func @ec7(%t: tensor<2x1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensor.collapse_shape %t [[0, 1, 2]] : tensor<2x1x8xf32> into tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}
func.func @ec8(%t: tensor<2x8xf32>) -> tensor<1x2x8x1xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2, 3]] output_shape [1, 2, 8, 1] : tensor<16xf32> into tensor<1x2x8x1xf32>
  return %1 : tensor<1x2x8x1xf32>
}
func.func @ec9(%t: tensor<2x8xf32>) -> tensor<2x1x1x8xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2, 3]] output_shape [2, 1, 1, 8] : tensor<16xf32> into tensor<2x1x1x8xf32>
  return %1 : tensor<2x1x1x8xf32>
}
func.func @ec10(%t: tensor<2x8xf32>) -> tensor<8x2xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [8, 2] : tensor<16xf32> into tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
func.func @ec11(%t: tensor<2x8xf32>) -> tensor<8x2x1xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [8, 2, 1] : tensor<16xf32> into tensor<8x2x1xf32>
  return %1 : tensor<8x2x1xf32>
}
func.func @c0(%t: tensor<1x1xf32>) -> tensor<1xf32> {
  %0 = tensor.collapse_shape %t [] : tensor<1x1xf32> into tensor<f32>
  %1 = tensor.expand_shape %0 [] output_shape [1] : tensor<f32> into tensor<1xf32>
  return %1 : tensor<1xf32>
}
func.func @c02(%t: tensor<1x1xf32>) -> tensor<f32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<1x1xf32> into tensor<1xf32>
  %1 = tensor.collapse_shape %0 [] : tensor<1xf32> into tensor<f32>
  return %1 : tensor<f32>
}
func.func @c03(%t: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = tensor.collapse_shape %t [] : tensor<1x1xf32> into tensor<f32>
  %1 = tensor.expand_shape %0 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}
func.func @resh1(%u: tensor<?xf32>, %s: tensor<?xindex>, %v: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %2 = tensor.reshape %u(%s) : (tensor<?xf32>, tensor<?xindex>) -> tensor<*xf32>
  %3 = tensor.reshape %2(%s) : (tensor<*xf32>, tensor<?xindex>) -> tensor<*xf32>
  return %2, %3 : tensor<*xf32>, tensor<*xf32>
}
func.func @reshcst(%u: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d0 = tensor.dim %u, %c0 : tensor<?x4xf32>
  %s = tensor.from_elements %d0, %c4 : tensor<2xindex>
  %2 = tensor.reshape %u(%s) : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  %x = arith.index_cast %d0 : index to i32
  %y = arith.constant 4 : i32
  %s2 = tensor.from_elements %x, %y : tensor<2xi32>
  %3 = tensor.reshape %u(%s2) : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %2, %3 : tensor<?x4xf32>, tensor<?x4xf32>
}
func.func @expsplatdyn(%f: f32, %n: index) -> (tensor<?x4xf32>) {
  %s = tensor.splat %f[%n] : tensor<?xf32>
  %0 = tensor.expand_shape %s [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @r1(%t: tensor<?x4xf32>, %n: index) -> tensor<?x1x4xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [%n, 1, 4] : tensor<?xf32> into tensor<?x1x4xf32>
  return %1 : tensor<?x1x4xf32>
}
func.func @r2(%t: tensor<4x?xf32>, %n: index) -> tensor<4x1x?xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [4, 1, %n] : tensor<?xf32> into tensor<4x1x?xf32>
  return %1 : tensor<4x1x?xf32>
}
func.func @r3(%t: tensor<?x?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %0 = tensor.collapse_shape %t [[0, 1, 2]] : tensor<?x?x4xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @r4(%t: tensor<?x2x?x4xf32>, %n: index) -> tensor<?x?xf32> {
  %0 = tensor.collapse_shape %t [[0, 1, 2, 3]] : tensor<?x2x?x4xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%n, %n] : tensor<?xf32> into tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @reshst(%u: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %s3 = arith.constant dense<[4, 4]> : tensor<2xindex>
  %4 = tensor.reshape %u(%s3) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<4x4xf32>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %s = tensor.from_elements %c4, %c4 : tensor<2xindex>
  %5 = tensor.reshape %u(%s) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<4x4xf32>
  return %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>
}
