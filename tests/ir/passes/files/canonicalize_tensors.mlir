// canonicalize
func.func @cast3(%t: tensor<4x?xf32>) -> tensor<?x4xf32> {
  %0 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @cast3b(%t: tensor<4x4xf32>) -> tensor<4x?xf32> {
  %0 = tensor.cast %t : tensor<4x4xf32> to tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}
func.func @cast3c(%t: tensor<?x?xf32>) -> tensor<*xf32> {
  %0 = tensor.cast %t : tensor<?x?xf32> to tensor<4x?xf32>
  %1 = tensor.cast %0 : tensor<4x?xf32> to tensor<?x4xf32>
  %2 = tensor.cast %1 : tensor<?x4xf32> to tensor<*xf32>
  return %2 : tensor<*xf32>
}
func.func @castback(%t: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tensor.cast %t : tensor<?x?xf32> to tensor<4x4xf32>
  %1 = tensor.cast %0 : tensor<4x4xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @castup(%t: tensor<*xf32>) -> tensor<?x4xf32> {
  %0 = tensor.cast %t : tensor<*xf32> to tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @casttwounranked(%t: tensor<?x?xf32>) -> tensor<?x4xf32> {
  %0 = tensor.cast %t : tensor<?x?xf32> to tensor<*xf32>
  %1 = tensor.cast %0 : tensor<*xf32> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @dimcast(%t: tensor<?x?xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.cast %t : tensor<?x?xf32> to tensor<*xf32>
  %1 = tensor.dim %0, %c0 : tensor<*xf32>
  %2 = tensor.cast %t : tensor<?x?xf32> to tensor<4x?xf32>
  %3 = tensor.dim %2, %c0 : tensor<4x?xf32>
  %4 = tensor.dim %2, %c1 : tensor<4x?xf32>
  return %1, %3, %4 : index, index, index
}
func.func @dimcast2(%t: tensor<4x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %2 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>
  %3 = tensor.dim %2, %c0 : tensor<?x?xf32>
  %4 = tensor.dim %2, %c1 : tensor<?x?xf32>
  return %3, %4 : index, index
}
func.func @dimout(%t: tensor<4x?xf32>) -> (index) {
  %c2 = arith.constant 2 : index
  %3 = tensor.dim %t, %c2 : tensor<4x?xf32>
  return %3 : index
}
func.func @dimgen(%n: index, %f: f32) -> (index) {
  %c0 = arith.constant 0 : index
  %0 = tensor.generate %n { ^bb0(%a: index): tensor.yield %f : f32 } : tensor<?xf32>
  %2 = tensor.dim %0, %c0 : tensor<?xf32>
  return %2 : index
}
func.func @empty(%m: index) -> tensor<?x?x?xf32> {
  %c4 = arith.constant 4 : index
  %cm = arith.constant -1 : index
  %0 = tensor.empty(%c4, %m, %cm) : tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
func.func @emptycast(%m: index) -> tensor<4x?xf32> {
  %c4 = arith.constant 4 : index
  %0 = tensor.empty(%c4, %m) : tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}
func.func @emptycast2(%m: index) -> tensor<4x?xf32> {
  %0 = tensor.empty(%m, %m) : tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}
func.func @emptycast3(%m: index) -> tensor<4x?xf32> {
  %c5 = arith.constant 5 : index
  %0 = tensor.empty(%c5, %m) : tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}
func.func @extcast(%t: tensor<?xf32>, %i: index) -> f32 {
  %0 = tensor.cast %t : tensor<?xf32> to tensor<4xf32>
  %1 = tensor.extract %0[%i] : tensor<4xf32>
  return %1 : f32
}
func.func @extcast2(%t: tensor<*xf32>, %i: index) -> f32 {
  %0 = tensor.cast %t : tensor<*xf32> to tensor<4xf32>
  %1 = tensor.extract %0[%i] : tensor<4xf32>
  return %1 : f32
}
func.func @extout(%i: index) -> (f32, f32) {
  %c9 = arith.constant 9 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %cs = arith.constant dense<2.0> : tensor<2xf32>
  %1 = tensor.extract %cst[%c9] : tensor<2xf32>
  %2 = tensor.extract %cs[%c0] : tensor<2xf32>
  return %1, %2 : f32, f32
}
func.func @insextract(%t: tensor<4xf32>, %i: index, %j: index, %f: f32) -> (f32, f32) {
  %0 = tensor.insert %f into %t[%i] : tensor<4xf32>
  %1 = tensor.extract %0[%i] : tensor<4xf32>
  %2 = tensor.extract %0[%j] : tensor<4xf32>
  return %1, %2 : f32, f32
}
func.func @insconst() -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %cs = arith.constant dense<1.0> : tensor<2xf32>
  %0 = tensor.insert %f into %cs[%c0] : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @splat() -> (tensor<2xf32>, tensor<2xi4>) {
  %f = arith.constant 1.0 : f32
  %g = arith.constant 1 : i4
  %0 = tensor.splat %f : tensor<2xf32>
  %1 = tensor.splat %g : tensor<2xi4>
  return %0, %1 : tensor<2xf32>, tensor<2xi4>
}
func.func @splatdyn(%n: index) -> (tensor<?xf32>) {
  %f = arith.constant 1.0 : f32
  %0 = tensor.splat %f[%n] : tensor<?xf32>
  return %0: tensor<?xf32>
}
func.func @fromel() -> (tensor<2xf32>, tensor<2x1xi4>, tensor<index>, tensor<f32>) {
  %f = arith.constant 1.0 : f32
  %h = arith.constant 2.0 : f32
  %g = arith.constant 1 : i4
  %i = arith.constant 1 : index
  %0 = tensor.from_elements %f, %h : tensor<2xf32>
  %1 = tensor.from_elements %g, %g : tensor<2x1xi4>
  %2 = tensor.from_elements %i : tensor<index>
  %3 = tensor.from_elements %f : tensor<f32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2x1xi4>, tensor<index>, tensor<f32>
}
func.func @fromextract(%t: tensor<4xf32>, %i: index) -> tensor<1xf32> {
  %0 = tensor.extract %t[%i] : tensor<4xf32>
  %1 = tensor.from_elements %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}
func.func @fromextract0(%t: tensor<f32>) -> tensor<f32> {
  %0 = tensor.extract %t[] : tensor<f32>
  %1 = tensor.from_elements %0 : tensor<f32>
  return %1 : tensor<f32>
}
func.func @rank(%t: tensor<*xf32>, %s: tensor<4xf32>) -> (index, index) {
  %0 = tensor.rank %t : tensor<*xf32>
  %2 = tensor.cast %s : tensor<4xf32> to tensor<*xf32>
  %1 = tensor.rank %2 : tensor<*xf32>
  return %0, %1 : index, index
}
func.func @gen(%n: index) -> tensor<?x?xf32> {
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  %0 = tensor.generate %c4, %n { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @genext(%n: index, %i: index) -> index {
  %c4 = arith.constant 4 : index
  %0 = tensor.generate %n { ^bb0(%a: index):
    %x = arith.addi %a, %a : index
    tensor.yield %x : index } : tensor<?xindex>
  %1 = tensor.extract %0[%i] : tensor<?xindex>
  return %1 : index
}
func.func @bitcast(%t: tensor<4xf32>) -> tensor<4xi32> {
  %0 = tensor.bitcast %t : tensor<4xf32> to tensor<4xi32>
  %1 = tensor.bitcast %0 : tensor<4xi32> to tensor<4xf32>
  %2 = tensor.bitcast %1 : tensor<4xf32> to tensor<4xi32>
  return %2 : tensor<4xi32>
}
func.func @bitcast3(%t: tensor<4xf32>) -> tensor<4xui32> {
  %0 = tensor.bitcast %t : tensor<4xf32> to tensor<4xi32>
  %1 = tensor.bitcast %0 : tensor<4xi32> to tensor<4xui32>
  return %1 : tensor<4xui32>
}
func.func @castconst() -> tensor<?xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = tensor.cast %c : tensor<2xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}
func.func @concat1(%t: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %p = tensor.concat dim(0) %t : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}
func.func @concat1d(%t: tensor<4x4xf32>) -> (tensor<?x4xf32>) {
  %p = tensor.concat dim(0) %t : (tensor<4x4xf32>) -> tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}
func.func @concat2d(%t: tensor<4x4xf32>, %s: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x4xf32>) {
  %p = tensor.concat dim(0) %t, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<?x?xf32>
  %q = tensor.concat dim(0) %t, %s : (tensor<4x4xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>
  return %p, %q : tensor<?x?xf32>, tensor<?x4xf32>
}
func.func @concatcast(%t: tensor<4x4xf32>, %s: tensor<?x?xf32>) -> (tensor<?x?xf32>) {
  %c = tensor.cast %t : tensor<4x4xf32> to tensor<?x?xf32>
  %p = tensor.concat dim(0) %c, %s : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
func.func @callcast(%a: tensor<4xf32>) -> (tensor<?xf32>, index) {
  %c = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %s = tensor.from_elements : tensor<0xindex>
  %r:2 = func.call @callcast(%a) : (tensor<4xf32>) -> (tensor<?xf32>, index)
  return %c, %r#1 : tensor<?xf32>, index
}
func.func @insertcast(%a: tensor<4xf32>, %f: f32, %n: index) -> (tensor<?xf32>) {
  %c = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %s = tensor.insert %f into %c[%n] : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @loadcast(%t: tensor<4xindex>, %i: index, %u: tensor<4xi32>) -> index {
  %c = arith.index_cast %u : tensor<4xi32> to tensor<4xindex>
  %1 = tensor.extract %c[%i] : tensor<4xindex>
  return %1 : index
}
func.func @concatd(%t: tensor<?x4xf32>, %s: tensor<?x?xf32>) -> (tensor<?x4xf32>) {
  %p = tensor.concat dim(0) %s, %s : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}
func.func @concatd1(%t: tensor<4x?xf32>, %s: tensor<?x4xf32>) -> (tensor<?x8xf32>) {
  %p = tensor.concat dim(1) %t, %s : (tensor<4x?xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %p : tensor<?x8xf32>
}
