// canonicalize
func.func @castcast(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  %2 = tensor.cast %0 : tensor<?xf32> to tensor<*xf32>
  %3 = tensor.cast %2 : tensor<*xf32> to tensor<?xf32>
  return %1, %3 : tensor<4xf32>, tensor<?xf32>
}
func.func @whole(%t: tensor<4x5xf32>, %s: tensor<4x5xf32>, %d: tensor<?xf32>, %n: index) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = tensor.extract_slice %t[0, 0] [4, 5] [1, 1] : tensor<4x5xf32> to tensor<4x5xf32>
  %1 = tensor.insert_slice %s into %t[0, 0] [4, 5] [1, 1] : tensor<4x5xf32> into tensor<4x5xf32>
  %2 = tensor.extract_slice %d[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %3 = tensor.insert_slice %2 into %d[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %0, %1, %2, %3 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func @emptyslice() -> tensor<2x2xf32> {
  %0 = tensor.empty() : tensor<4x4xf32>
  %1 = tensor.extract_slice %0[0, 0][2, 2][1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
func.func @constins() -> (tensor<4xf32>, tensor<4xf32>) {
  %d = arith.constant dense<1.0> : tensor<4xf32>
  %e = arith.constant dense<1.0> : tensor<2xf32>
  %f = arith.constant dense<2.0> : tensor<2xf32>
  %0 = tensor.insert_slice %e into %d[1][2][1] : tensor<2xf32> into tensor<4xf32>
  %1 = tensor.insert_slice %f into %d[1][2][1] : tensor<2xf32> into tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @slicestatic(%t: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = tensor.extract_slice %t[%c0, %n][%c4, %n][%c1, %c1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @slicestatic2(%t: tensor<?x?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = tensor.extract_slice %t[%c0, %n][%c4, 1][%c1, %c1] : tensor<?x?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @insstatic(%s: tensor<?x?xf32>, %t: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = tensor.insert_slice %s into %t[%c0, %n][%c4, %n][%c1, %c1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @slicecast(%t: tensor<8x8xf32>, %n: index) -> (tensor<4x?xf32>, tensor<4x4xf32>) {
  %c = tensor.cast %t : tensor<8x8xf32> to tensor<?x?xf32>
  %0 = tensor.extract_slice %c[0, %n][4, %n][1, 1] : tensor<?x?xf32> to tensor<4x?xf32>
  %1 = tensor.extract_slice %c[0, %n][4, 4][1, 1] : tensor<?x?xf32> to tensor<4x4xf32>
  return %0, %1 : tensor<4x?xf32>, tensor<4x4xf32>
}
func.func @slicecast2(%t: tensor<?x8xf32>, %n: index) -> (tensor<4x4xf32>) {
  %c = tensor.cast %t : tensor<?x8xf32> to tensor<8x?xf32>
  %1 = tensor.extract_slice %c[0, %n][4, 4][1, 1] : tensor<8x?xf32> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @castofslice(%t: tensor<8x8xf32>, %n: index) -> (tensor<4x4xf32>) {
  %0 = tensor.extract_slice %t[0, %n][4, %n][1, 1] : tensor<8x8xf32> to tensor<4x?xf32>
  %1 = tensor.cast %0 : tensor<4x?xf32> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @inscast(%s: tensor<4x4xf32>, %t: tensor<8x8xf32>, %n: index) -> (tensor<?x?xf32>, tensor<8x8xf32>) {
  %a = tensor.cast %s : tensor<4x4xf32> to tensor<?x?xf32>
  %b = tensor.cast %t : tensor<8x8xf32> to tensor<?x?xf32>
  %0 = tensor.insert_slice %a into %b[0, 0][%n, %n][1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %1 = tensor.insert_slice %a into %t[0, 0][%n, %n][1, 1] : tensor<?x?xf32> into tensor<8x8xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<8x8xf32>
}
func.func @sliceofslice(%t: tensor<8x8xf32>, %n: index) -> (tensor<2x2xf32>) {
  %0 = tensor.extract_slice %t[1, %n][4, 4][1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  %1 = tensor.extract_slice %0[1, 1][2, 2][1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
func.func @sliceofins(%s: tensor<4x4xf32>, %t: tensor<8x8xf32>) -> (tensor<4x4xf32>) {
  %0 = tensor.insert_slice %s into %t[1, 1][4, 4][1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
  %1 = tensor.extract_slice %0[1, 1][4, 4][1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @insins(%s: tensor<4x4xf32>, %r: tensor<4x4xf32>, %t: tensor<8x8xf32>) -> (tensor<8x8xf32>) {
  %0 = tensor.insert_slice %s into %t[1, 1][4, 4][1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
  %1 = tensor.insert_slice %r into %0[1, 1][4, 4][1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @pad0(%t: tensor<4x4xf32>, %f: f32) -> (tensor<4x4xf32>) {
  %p = tensor.pad %t low[0, 0] high[0, 0] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x4xf32> to tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}
func.func @pad0n(%t: tensor<4x4xf32>, %f: f32) -> (tensor<4x4xf32>) {
  %p = tensor.pad %t nofold low[0, 0] high[0, 0] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x4xf32> to tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}
func.func @pad0d(%t: tensor<4x?xf32>, %f: f32) -> (tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %p = tensor.pad %t low[%c0, 0] high[0, 0] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x?xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
func.func @padstatic(%t: tensor<4x4xf32>, %f: f32, %n: index) -> (tensor<?x?xf32>) {
  %c2 = arith.constant 2 : index
  %p = tensor.pad %t low[%c2, 0] high[0, %n] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x4xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
func.func @padcast(%t: tensor<4x4xf32>, %f: f32, %n: index) -> (tensor<?x?xf32>) {
  %c = tensor.cast %t : tensor<4x4xf32> to tensor<?x?xf32>
  %p = tensor.pad %c low[2, 0] high[0, %n] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
func.func @padcasted(%t: tensor<4x4xf32>, %f: f32, %n: index) -> (tensor<4x8xf32>) {
  %p = tensor.pad %t low[0, 0] high[0, %n] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x4xf32> to tensor<4x?xf32>
  %c = tensor.cast %p : tensor<4x?xf32> to tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @slicesplat(%f: f32, %n: index) -> (tensor<2xf32>, tensor<?xf32>, tensor<4xf32>) {
  %s = tensor.splat %f : tensor<4xf32>
  %1 = tensor.extract_slice %s[0][2][1] : tensor<4xf32> to tensor<2xf32>
  %2 = tensor.extract_slice %s[0][%n][1] : tensor<4xf32> to tensor<?xf32>
  %3 = tensor.insert_slice %1 into %s[0][2][1] : tensor<2xf32> into tensor<4xf32>
  return %1, %2, %3 : tensor<2xf32>, tensor<?xf32>, tensor<4xf32>
}
func.func @rrslice(%t: tensor<8x8xf32>, %n: index) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract_slice %t[0, %n][1, %n][1, 1] : tensor<8x8xf32> to tensor<?xf32>
  %d = tensor.dim %0, %c0 : tensor<?xf32>
  return %0, %d : tensor<?xf32>, index
}
func.func @oob(%t: tensor<8x8xf32>, %n: index) -> tensor<?x?xf32> {
  %c9 = arith.constant 9 : index
  %0 = tensor.extract_slice %t[0, 0][%c9, %n][1, 1] : tensor<8x8xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @negsize(%t: tensor<?x8xf32>, %n: index) -> tensor<?x?xf32> {
  %c9 = arith.constant -9 : index
  %0 = tensor.extract_slice %t[0, 0][%c9, %n][1, 1] : tensor<?x8xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @negoff(%t: tensor<?x8xf32>, %n: index) -> tensor<?x?xf32> {
  %c9 = arith.constant -9 : index
  %c0 = arith.constant 0 : index
  %0 = tensor.extract_slice %t[%c9, 0][%n, %n][%c0, %c9] : tensor<?x8xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @castslicedown(%t: tensor<8x8xf32>, %n: index) -> (tensor<?x?xf32>) {
  %0 = tensor.extract_slice %t[0, 0][4, 4][1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  %1 = tensor.cast %0 : tensor<4x4xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @castslicemix(%t: tensor<8x8xf32>, %n: index) -> (tensor<?x4xf32>) {
  %0 = tensor.extract_slice %t[0, 0][4, %n][1, 1] : tensor<8x8xf32> to tensor<4x?xf32>
  %1 = tensor.cast %0 : tensor<4x?xf32> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @rrins(%s: tensor<?xf32>, %t: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>) {
  %c4 = arith.constant 4 : index
  %1 = tensor.insert_slice %s into %t[0, 0][1, %c4][1, 1] : tensor<?xf32> into tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @rrinscast(%s: tensor<4xf32>, %t: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>) {
  %a = tensor.cast %s : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.insert_slice %a into %t[0, 0][1, %n][1, 1] : tensor<?xf32> into tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @inssrc(%s: tensor<?x?xf32>, %t: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>) {
  %c4 = arith.constant 4 : index
  %1 = tensor.insert_slice %s into %t[0, 0][%c4, %n][1, 1] : tensor<?x?xf32> into tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @inspar(%s: tensor<?x?xf32>, %t: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>) {
  %c4 = arith.constant 4 : index
  %r = scf.forall (%i) in (8) shared_outs(%o = %t) -> tensor<8x8xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0, 0][%c4, %n][1, 1] : tensor<?x?xf32> into tensor<8x8xf32>
    }
  }
  return %r : tensor<8x8xf32>
}
func.func @padconst(%t: tensor<4x?xf32>, %f: f32, %n: index) -> tensor<?x?xf32> {
  %c2 = arith.constant 2 : index
  %p = tensor.pad %t low[%n, 0] high[%c2, %n] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x?xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
func.func @slicefull(%s: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %s, %c0 : tensor<?x4xf32>
  %0 = tensor.extract_slice %s[0, 0][%d, 4][1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @insfull(%s: tensor<?x4xf32>, %t: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %s, %c0 : tensor<?x4xf32>
  %0 = tensor.insert_slice %t into %s[0, 0][%d, 4][1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @p1(%t: tensor<4x4x?xf32>, %f: f32, %n: index) -> tensor<?x?x?xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %p = tensor.pad %t low[%c3, %c2, %c3] high[%c2, %n, %c2] { ^bb0(%a: index, %b: index, %c: index): tensor.yield %f : f32 } : tensor<4x4x?xf32> to tensor<?x?x?xf32>
  return %p : tensor<?x?x?xf32>
}
func.func @p2(%t: tensor<?x4xf32>, %f: f32, %n: index) -> tensor<?x6xf32> {
  %c2 = arith.constant 2 : index
  %p = tensor.pad %t low[%c2, 1] high[%c2, 1] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<?x4xf32> to tensor<?x6xf32>
  return %p : tensor<?x6xf32>
}
func.func @pp(%t: tensor<4xf32>) -> tensor<8xf32> {
  %f = arith.constant 1.0 : f32
  %p = tensor.pad %t low[0] high[2] { ^bb0(%a: index): tensor.yield %f : f32 } : tensor<4xf32> to tensor<6xf32>
  %r = tensor.pad %p low[1] high[1] { ^bb0(%a: index): tensor.yield %f : f32 } : tensor<6xf32> to tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @pp2(%t: tensor<4xf32>, %f: f32) -> tensor<8xf32> {
  %p = tensor.pad %t low[0] high[2] { ^bb0(%a: index): tensor.yield %f : f32 } : tensor<4xf32> to tensor<6xf32>
  %r = tensor.pad %p low[1] high[1] { ^bb0(%a: index): tensor.yield %f : f32 } : tensor<6xf32> to tensor<8xf32>
  return %r : tensor<8xf32>
}
