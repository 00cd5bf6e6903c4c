// refused: expected mixed offsets rank to match mixed sizes rank (2 vs 1) so the rank of the result type is well-formed.
func.func @f(%a: memref<?xf32>) { %0 = memref.reinterpret_cast %a to offset: [0, 0], sizes: [10], strides: [1] : memref<?xf32> to memref<10xf32, strided<[1], offset: 0>> return }
// -----
// refused: expected ':'
func.func @f(%a: tensor<4xf32>) { %0 = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs() return }
// -----
// refused: 'math.exp' op requires a single operand
func.func @f(%a: tensor<4xf32>, %b: tensor<f32>) { %0 = linalg.reduce { math.exp } ins(%a : tensor<4xf32>) outs(%b : tensor<f32>) dimensions = [0] return }
// -----
// refused: 'scf.if' op region #0 should have no arguments
func.func @f(%c: i1) { "scf.if"(%c) ({ ^bb0(%x: index): scf.yield }, {}) : (i1) -> () return }
// -----
// refused: 'vector.contract' op invalid indexing maps are non-invertible: ((d0, d1) -> (d0, d0))
#a = affine_map<(b0, f0, f1, c0, c1) -> (c0, b0, c1, f0)>
#b = affine_map<(b0, f0, f1, c0, c1) -> (b0, c1, c0, f1)>
#c = affine_map<(b0, f0, f1, c0, c1) -> (b0, f0, f1)>
func.func @f(%x: vector<4xi8>, %y: vector<4xi8>, %z: i8) -> i8 { %0 = vector.contract {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} %x, %y, %z : vector<4xi8>, vector<4xi8> into i8 return %0 : i8 }
// -----
// refused: 'vector.print' op operand #0 must be , but got 'tensor<8xf32>'
func.func @f(%t: tensor<8xf32>) { vector.print %t : tensor<8xf32> return }
// -----
// refused: 'vector.store' op most minor memref dim must have unit stride
func.func @f(%m: memref<4xf32, strided<[2]>>, %v: vector<4xf32>, %i: index) { vector.store %v, %m[%i] : memref<4xf32, strided<[2]>>, vector<4xf32> return }
// -----
// refused: 'memref.load' op attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0
func.func @f(%m: memref<4xf32>, %i: index) -> f32 { %0 = memref.load %m[%i] {alignment = 3 : i64} : memref<4xf32> return %0 : f32 }
// -----
// refused: different memory spaces specified for base memref type 'memref<2048xi8, 2>' and view memref type 'memref<4xf32, 1>'
func.func @f(%m: memref<2048xi8, 2>, %i: index) { %0 = memref.view %m[%i][] : memref<2048xi8, 2> to memref<4xf32, 1> return }
// -----
// refused: 'shape.const_shape' op inferred type(s) 'tensor<3xindex>' are incompatible with return type(s) of operation 'tensor<2xindex>'
func.func @f() -> tensor<2xindex> { %0 = "shape.const_shape"() {shape = dense<[1, 2, 3]> : tensor<3xindex>} : () -> tensor<2xindex> return %0 : tensor<2xindex> }
// -----
// refused: entry block of region may not have predecessors
func.func @f() { ^bb0: cf.br ^bb0 }
// -----
// refused: source and destination tensor should have the same number of elements
func.func @f(%t: tensor<128xf32>, %s: tensor<2xindex>) -> tensor<4x4xf32> { %0 = tensor.reshape %t(%s) : (tensor<128xf32>, tensor<2xindex>) -> tensor<4x4xf32> return %0 : tensor<4x4xf32> }
// -----
// refused: number of operands and types do not match: got 2 operands and 1 types
func.func @f(%m: memref<?x?xi32>) { linalg.matmul ins(%m, %m : memref<?x?xi32>) outs(%m : memref<?x?xi32>) return }
// -----
// refused: number of operands and types do not match: got 1 operands and 2 types
func.func @f(%m: memref<?x?xi32>) { linalg.matmul ins(%m, %m : memref<?x?xi32>, memref<?x?xi32>) outs(%m : memref<?x?xi32>, memref<?x?xi32>) return }
// -----
// refused: integer value too large
func.func @f(%c: i1) { cf.cond_br %c weights([2147483648, 2]), ^bb1, ^bb1 ^bb1: return }
// -----
// refused: operand #0 does not dominate this use
// --allow-unregistered-dialect
"a.b"() ({ ^bb0: "a.d"(%z) : (i32) -> () ^bb1: "a.d"() : () -> () ^bb2(%z: i32): "a.d"() : () -> () }) : () -> ()
// -----
// refused: operand #0 does not dominate this use
// --allow-unregistered-dialect
"a.b"() ({ ^bb0: "a.c"(%z)[^bb1, ^bb2] : (i32) -> () ^bb1: %z = "a.d"()[^bb2] : () -> i32 ^bb2: "a.d"() : () -> () }) : () -> ()
// -----
// refused: unregistered operation 'func.foo_bar_op' found in dialect ('func') that does not allow unknown operations
// --allow-unregistered-dialect
func.func @f() { "func.foo_bar_op"() : () -> () return }
// -----
// accepted
#t = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> { %0 = linalg.generic #t ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) { ^bb0(%x: f32, %y: f32): linalg.yield %x : f32 } -> tensor<4xf32> return %0 : tensor<4xf32> }
// -----
// accepted
func.func @f(%n: index) { %0 = memref.alloc(%n)[%n, %n] : memref<?xi32, strided<[?], offset: ?>> return }
// -----
// accepted
func.func @f(%x: memref<1x8x8x1xf32>, %w: memref<3x3x1xf32>, %y: memref<1x3x3x1xf32>) { linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %w : memref<1x8x8x1xf32>, memref<3x3x1xf32>) outs(%y : memref<1x3x3x1xf32>) return }
// -----
// accepted
func.func @f(%a: memref<?x4x?xf32, strided<[?, ?, 1], offset: 0>>) { %0 = memref.collapse_shape %a [[0, 1, 2]] : memref<?x4x?xf32, strided<[?, ?, 1], offset: 0>> into memref<?xf32, strided<[?], offset: 0>> return }
// -----
// accepted
func.func @f(%m: memref<?x?xf32>, %k: vector<4x[4]xi1>, %i: index, %p: f32) -> vector<4x[4]xf32> { %0 = vector.transfer_read %m[%i, %i], %p, %k : memref<?x?xf32>, vector<4x[4]xf32> return %0 : vector<4x[4]xf32> }
// -----
// accepted
func.func private @f() attributes {m = affine_map<(d0)[s0] -> (-s0 floordiv 4, d0 floordiv -1)>}
// -----
// accepted
func.func @f(%m: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to %n { %d = memref.dim %m, %c0 : memref<?x?xf32>
    %s = memref.subview %m[0, 0] [%d, %i] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
    %e = memref.dim %s, %c0 : memref<?x?xf32, strided<[?, 1]>>
    affine.for %j = 0 to %e { } } return }
// -----
// accepted
func.func @f(%v: vector<4x6xf32>, %a: vector<4xf32>) -> vector<4xf32> { %0 = vector.multi_reduction #vector.kind<add>, %v, %a [1] : vector<4x6xf32> to vector<4xf32> return %0 : vector<4xf32> }
// -----
// accepted
func.func @f(%a: tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> { %0 = linalg.matmul ins(%a, %a : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) outs(%a : tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> return %0 : tensor<2x2xcomplex<f32>> }
// -----
// accepted
func.func @f() -> tensor<complex<i32>> { %0 = arith.constant dense<(1, 2)> : tensor<complex<i32>> return %0 : tensor<complex<i32>> }
// -----
// accepted
func.func @f() { %0 = memref.alloca() : memref<4xi32, #spirv.storage_class<StorageBuffer>> return }
// -----
// accepted
func.func @f(%m: memref<8x8xvector<2x4xf32>>, %i: index, %p: vector<2x4xf32>) -> vector<2x4xf32> { %0 = vector.transfer_read %m[%i, %i], %p : memref<8x8xvector<2x4xf32>>, vector<2x4xf32> return %0 : vector<2x4xf32> }
// -----
// refused: attribute '"bufferization.escape"' not supported as an op attribute by the bufferization dialect
func.func @f(%t: tensor<4xf32>) { %0 = tensor.empty() {bufferization.escape = [false]} : tensor<4xf32> return }
// -----
// refused: 'vector.insert_strided_slice' op mismatching scalable flags (at source vector idx=2)
func.func @f(%a: vector<1x1x2xi32>, %b: vector<1x4x[4]xi32>) -> vector<1x4x[4]xi32> { %0 = vector.insert_strided_slice %a, %b {offsets = [0, 3, 0], strides = [1, 1, 1]} : vector<1x1x2xi32> into vector<1x4x[4]xi32> return %0 : vector<1x4x[4]xi32> }
// -----
// refused: 'vector.shuffle' op operand #0 must be fixed-length vector of any type values, but got 'vector<[4]xi32>'
func.func @f(%a: vector<[4]xi32>) -> vector<4xi32> { %0 = vector.shuffle %a, %a [0, 1, 2, 3] : vector<[4]xi32>, vector<[4]xi32> return %0 : vector<4xi32> }
// -----
// accepted
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = linalg.generic {i64, indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) { ^bb0(%x: f32): linalg.yield %x : f32 } -> tensor<4xf32> return %0 : tensor<4xf32> }
// -----
// accepted
func.func @f() attributes {res_attrs = []} { return }
// -----
// refused: unknown key 'some_key' in file metadata dictionary
{-# some_key: {} #-}
// -----
// refused: 'linalg.map' op expected 1 or more operands, but found 0
func.func @f() { linalg.map { arith.addf } }
// -----
// refused: 'linalg.transpose' op expected 2 operands, but found 0
func.func @f() { linalg.transpose permutation = [1, 0, 2] }
// -----
// refused: 'arith.trunci' op requires the same shape for all operands and results
func.func @f(%a: vector<[4]xi32>) { %0 = arith.trunci %a : vector<[4]xi32> to vector<4xi8> return }
// -----
// refused: 'arith.addui_extended' op if an operand is non-scalar, then all results must be non-scalar
func.func @f(%a: vector<8xi32>) { %r:2 = arith.addui_extended %a, %a : vector<8xi32>, i1 return }
// -----
// accepted
func.func @f(i32, i32) {
^bb0(%a: i32, %b: i32):
  return
}
// -----
// accepted
func.func @f(%m: memref<8x?xf32>, %n: index) -> memref<?xf32, strided<[?], offset: ?>> { %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %0 = memref.subview %m[%c0, %c0] [1, %n] [%c1, %c1] : memref<8x?xf32> to memref<?xf32, strided<[?], offset: ?>> return %0 : memref<?xf32, strided<[?], offset: ?>> }
// -----
// refused: 'linalg.batch_matmul' op Invalid batch dimension expression.
func.func @f(%a: memref<?x?x?xf32>, %b: memref<?x?x?xf32>, %c: memref<?x?x?xf32>) { linalg.batch_matmul indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>] ins(%a, %b : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%c : memref<?x?x?xf32>) return }
// -----
// refused: unsupported operation: unsigned max not on uint
func.func @f(%x: tensor<1x4x4x1xi1>, %w: tensor<2x2xi1>, %y: tensor<1x3x3x1xi1>) -> tensor<1x3x3x1xi1> { %0 = linalg.pooling_nhwc_max_unsigned ins(%x, %w : tensor<1x4x4x1xi1>, tensor<2x2xi1>) outs(%y : tensor<1x3x3x1xi1>) -> tensor<1x3x3x1xi1> return %0 : tensor<1x3x3x1xi1> }
// -----
// refused: integer constant out of range for attribute
func.func @f() { affine.for %i = 1 to 9223372036854775810 { } return }
// -----
// refused: 'tensor.parallel_insert_slice' op may only insert into an output block argument
func.func @f(%in: tensor<1xf32>, %out: tensor<100xf32>) { %c = arith.constant 100 : index %r = scf.forall (%i) in (%c) shared_outs(%o = %out) -> (tensor<100xf32>) { scf.forall.in_parallel { tensor.parallel_insert_slice %in into %out[%i][1][1] : tensor<1xf32> into tensor<100xf32> } } return }
// -----
// refused: 'memref.expand_shape' op rank 0 memrefs can only be extended/collapsed with/from ones
func.func @f(%a: memref<f32>) { %0 = memref.expand_shape %a [] output_shape [1, 2] : memref<f32> into memref<1x2xf32> return }
// -----
// refused: 'memref.expand_shape' op invalid output shape provided at pos 2
func.func @f(%a: memref<30x20xf32>) { %0 = memref.expand_shape %a [[0, 1], [2]] output_shape [2, 15, 21] : memref<30x20xf32> into memref<2x15x20xf32> return }
// -----
// refused: result number not allowed in argument list
#s = affine_set<(i) : (i - 10 >= 0)>
func.func @f(%N: index) { affine.for %i#0 = 1 to 10 { } return }
// -----
// refused: 'vector.extract' op mismatch between dynamic and static positions (kDynamic marker but no corresponding dynamic position) -- this can only happen due to an incorrect fold/rewrite
func.func @f(%v: vector<2x3xf32>) { %0 = vector.extract %v[1, -9223372036854775808] : f32 from vector<2x3xf32> return }
// -----
// refused: expected the number of 'sizes' to match the number of dynamic entries in 'static_sizes' (0 vs 1)
func.func @f(%a: memref<8x8xf32>) { %0 = memref.reinterpret_cast %a to offset: [9], sizes: [4, -9223372036854775808], strides: [8, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>> return }
// -----
// refused: expected offsets to be non-negative, but got -1
func.func @f(%a: memref<?xf32>) { %0 = memref.reinterpret_cast %a to offset: [-1], sizes: [10], strides: [1] : memref<?xf32> to memref<10xf32, strided<[?], offset: ?>> return }
// -----
// refused: 'vector.extract_strided_slice' op attribute 'offsets' failed to satisfy constraint: 64-bit integer array attribute
func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [2, @x], sizes = [1, 2], strides = [1, 1]} : vector<4x8xf32> to vector<1x2xf32> return }
// -----
// refused: 'vector.store' op attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<4xf32>) { vector.store %v, %m[%i] {alignment = 3 : i64} : memref<4xf32>, vector<4xf32> return }
// -----
// refused: 'memref.load' op attribute 'nontemporal' failed to satisfy constraint: bool attribute
func.func @f(%m: memref<4xf32>, %n: memref<4xf32>, %i: index) { %0 = memref.load %m[%i] {nontemporal = 1} : memref<4xf32> return }
// -----
// refused: 'vector.broadcast' op failed to verify that source operand and result have same element type
func.func @f(%x: i32) { %0 = vector.broadcast %x : i32 to vector<4xf32> return }
// -----
// refused: 'vector.broadcast' op dimension mismatch ([4] vs. 4)
func.func @f(%v: vector<[4]xf32>) { %0 = vector.broadcast %v : vector<[4]xf32> to vector<4xf32> return }
// -----
// refused: 'vector.fma' op operand #0 must be vector of floating-point values, but got 'vector<4xi32>'
func.func @f(%v: vector<4xi32>) { %0 = vector.fma %v, %v, %v : vector<4xi32> return }
// -----
// refused: 'affine.if' op region #0 should have no arguments
func.func @f(%c: i1) { "affine.if"() ({ ^bb0(%x: index): affine.yield }, {}) {condition = affine_set<() : (0 == 0)>} : () -> () return }
// -----
// refused: 'memref.alloca_scope' op region should have no arguments
func.func @f() { "memref.alloca_scope"() ({ ^bb0(%x: index): memref.alloca_scope.return }) : () -> () return }
// -----
// refused: attribute '"linalg.x"' not supported by the linalg dialect
func.func @f() { %0 = arith.constant {linalg.x} 1 : i32 return }
// -----
// refused: invalid value for 'bufferization.access'
func.func @f(%t: tensor<4xf32> {bufferization.access = "reed"}) {  return }
// -----
// refused: expects number of branch weights to match number of successors: 3 vs 2
func.func @f(%c: i1) { cf.cond_br %c weights([1, 2, 3]), ^bb1, ^bb1 ^bb1: return }
// -----
// refused: integer value too large
func.func @f(%x: i64) { cf.switch %x : i64, [default: ^bb1, 9223372036854775808: ^bb1] ^bb1: return }
// -----
// refused: result number not allowed in argument list
func.func @f(%N: index) { %r = scf.while (%a#0 = %N) : (index) -> index { %c = arith.constant true scf.condition(%c) %a : index } do { ^bb0(%b: index): scf.yield %b : index } return }
// -----
// refused: 'arith.trunci' op operand type 'tensor<4xi32>' and result type 'tensor<4xi8, "a">' are cast incompatible
func.func @f(%a: tensor<4xi32>) { %0 = arith.trunci %a : tensor<4xi32> to tensor<4xi8, "a"> return }
// -----
// refused: expected a 64-bit signed integer or '?'
func.func @f(%m: memref<?xf32, strided<[-9223372036854775808]>>) {  return }
// -----
// refused: 'scf.forall' op attribute 'mapping' failed to satisfy constraint: Device Mapping array attribute
func.func @f() { scf.forall (%i) in (4) { } {mapping = [1]} return }
// -----
// refused: expected indexing maps to be projected permutations
func.func @f(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) { linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) return }
// -----
// refused: dialect 'foo' is unknown
{-# dialect_resources: {foo: {a: "0x01000000"}} #-}
// -----
// refused: expected string value for key 'a'
{-# external_resources: {foo: {a: 1}} #-}
// -----
// refused: 'math.fpowi' op requires the same shape for all operands and results
func.func @f(%x: f32, %v: vector<4xi32>) { %0 = "math.fpowi"(%x, %v) : (f32, vector<4xi32>) -> f32 return }
// -----
// refused: 'math.fpowi' op requires the same shape for all operands and results
func.func @f(%v: vector<4xf32>, %c: vector<3xi32>) { %0 = "math.fpowi"(%v, %c) : (vector<4xf32>, vector<3xi32>) -> vector<4xf32> return }
// -----
// accepted
func.func @f(%m: memref<?xvector<4xi8>>, %i: index, %v: vector<4xi8>) { vector.store %v, %m[%i] : memref<?xvector<4xi8>>, vector<4xi8> return }
// -----
// accepted
func.func @main() -> (f128, f80) {
  %0 = arith.constant 0x00000000000000000000000000000001 : f128
  %1 = arith.constant 0x00000000000000000001 : f80
  return %0, %1 : f128, f80
}
// -----
// refused: 'builtin.module' op region should have no arguments
func.func @w1() {
  builtin.module {
  ^bb1(%arg: i32):
  }
  return
}
// -----
// refused: 'func.call' op 'dead3' does not reference a valid function
// --allow-unregistered-dialect
module {
  func.func private @dead3()
  func.func @caller3() {
    "orig.wrap"() ({
      func.call @dead3() : () -> ()
      "orig.yield"() : () -> ()
    }) : () -> ()
    return
  }
}
// -----
// refused: mask dim size must be either 0 or 1 for 0-D vectors
func.func @f() -> vector<i1> {
  %0 = vector.constant_mask [2] : vector<i1>
  return %0 : vector<i1>
}
// -----
// refused: 'vector.constant_mask' op only supports 'none set' or 'all set' scalable dimensions
func.func @f() -> vector<[8]xi1> {
  %0 = vector.constant_mask [7] : vector<[8]xi1>
  return %0 : vector<[8]xi1>
}
// -----
// refused: 'scf.index_switch' op region #1 ('caseRegions') failed to verify constraint: region with 1 blocks
func.func @main(%i: index) -> i32 {
  %c = arith.constant 1 : i32
  scf.index_switch %i
  case 0 {
  }
  default {
    scf.yield
  }
  return %c : i32
}
// -----
// accepted
func.func @r1(%a: i8, %b: i8, %x: f32) -> i1 {
  %0 = arith.cmpi "eq", %a, %b : i8
  %1 = arith.cmpf "olt", %x, %x : f32
  return %0 : i1
}
// -----
// accepted
func.func @r10(%a: memref<4xf32, strided<[2], offset: ?>>, %i: index) -> vector<1xf32> {
  %1 = vector.load %a[%i] : memref<4xf32, strided<[2], offset: ?>>, vector<1xf32>
  return %1 : vector<1xf32>
}
// -----
// accepted
func.func @main() -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> {
  %cst = arith.constant dense<["10", "20"]> : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  return %cst : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
}
// -----
// accepted
func.func @r2(%a: memref<8x8xf32>, %i: index) {
  %0 = memref.subview %a[%i, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * 8 + s0 + d1)>>
  return
}
// -----
// accepted
func.func @r4() -> tensor<4xf16> {
  %0 = arith.constant sparse<[[0], [2]], [-5.0, -2.0]> : tensor<4xf16>
  return %0 : tensor<4xf16>
}
// -----
// accepted
func.func @r5(%n: index) {
  %0 = memref.alloc(%n) : memref<?xf32, affine_map<(i)[M]->(i)>>
  return
}
// -----
// accepted
memref.global "private" constant @g : memref<4xf32> = sparse<[[1]], [1.0]>
// -----
// accepted
func.func @r8(%a: memref<?x?xf32>) {
  %t = memref.transpose %a (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>>
  return
}
// -----
// accepted
func.func @r9(%v: vector<2x4xf32>, %e: tensor<3xvector<2x4xf32>>) -> tensor<3xvector<2x4xf32>> {
  %1 = linalg.fill ins(%v : vector<2x4xf32>) outs(%e : tensor<3xvector<2x4xf32>>) -> tensor<3xvector<2x4xf32>>
  return %1 : tensor<3xvector<2x4xf32>>
}
// -----
// refused: 'func.call' op 'g' does not reference a valid function
module {
  func.func private @g()
  module {
    func.func @f() { func.call @g() : () -> () return }
  }
}
// -----
// refused: 'memref.get_global' op 'g' does not reference a valid global memref
// --allow-unregistered-dialect
module { memref.global @g : memref<4xf32>
 func.func @f() { "orig.wrap"() ({ %0 = memref.get_global @g : memref<4xf32> "orig.y"() : () -> () }) : () -> () return } }
// -----
// accepted
module { ml_program.global private mutable @g(dense<1> : tensor<4xi32>) : tensor<4xi32>
 module { func.func @f() { %0 = ml_program.global_load @g : tensor<4xi32> return } } }
// -----
// refused: 'memref.get_global' op 'g' does not reference a valid global memref
module { memref.global @g : memref<4xf32>
 module { func.func @f() { %0 = memref.get_global @g : memref<4xf32> return } } }
// -----
// refused: 'scf.index_switch' op region #1 ('caseRegions') failed to verify constraint: region with 1 blocks
func.func @main(%i: index) { scf.index_switch %i case 0 { } default { scf.yield } return }
// -----
// accepted
func.func @main(%i: index) { scf.index_switch %i case 0 { scf.yield } default { } return }
// -----
// accepted
func.func @main(%i: index) { scf.index_switch %i default { } return }
// -----
// accepted
func.func @main(%i: index) { scf.index_switch %i default { %c = arith.constant 1 : i32 } return }
// -----
// accepted
func.func @main(%i: i1) { scf.if %i { } return }
// -----
// accepted
func.func @main(%i: i1) { scf.if %i { } else { } return }
// -----
// refused: 'scf.execute_region' op region needs to have at least one block
func.func @main(%i: i1) { scf.execute_region { } return }
// -----
// accepted
func.func @main(%i: index) { scf.for %a = %i to %i step %i { } return }
// -----
// accepted
func.func @main(%i: index) { scf.parallel (%a) = (%i) to (%i) step (%i) { } return }
// -----
// accepted
func.func @main(%i: index) { scf.forall (%a) in (4) { } return }
// -----
// accepted
func.func @main(%i: index) { affine.for %a = 0 to 4 { } return }
// -----
// accepted
func.func @main(%i: index) { affine.parallel (%a) = (0) to (4) { } return }
// -----
// accepted
func.func @main(%i: index) { affine.if affine_set<(d0) : (d0 >= 0)>(%i) { } return }
// -----
// accepted
func.func @main(%i: index) { memref.alloca_scope { } return }
// -----
// refused: 'scf.while' op region #1 ('after') failed to verify constraint: region with 1 blocks
func.func @main(%i: index) { scf.while : () -> () { %c = arith.constant true scf.condition(%c) } do { } return }
// -----
// refused: 'linalg.generic' op expects to have 1 region with 1 block
func.func @main(%m: memref<4xf32>) { linalg.generic {indexing_maps=[affine_map<(d0)->(d0)>], iterator_types=["parallel"]} outs(%m : memref<4xf32>) { } return }
// -----
// accepted
func.func @main(%i: index) { "scf.index_switch"(%i) <{cases = array<i64: 0>}> ({ ^bb0(%x: i32): scf.yield }, { scf.yield }) : (index) -> () return }
// -----
// refused: 'scf.if' op region #0 should have no arguments
func.func @main(%i: i1) { "scf.if"(%i) ({ ^bb0(%x: i32): scf.yield }, { }) : (i1) -> () return }
// -----
// refused: 'scf.execute_region' op region cannot have any arguments
func.func @main(%i: i1) { "scf.execute_region"() ({ ^bb0(%x: i32): scf.yield }) : () -> () return }
// -----
// refused: 'memref.alloca_scope' op region should have no arguments
func.func @main(%i: i1) { "memref.alloca_scope"() ({ ^bb0(%x: i32): memref.alloca_scope.return }) : () -> () return }
// -----
// refused: 'affine.if' op region #0 should have no arguments
func.func @main(%i: index) { "affine.if"(%i) <{condition = affine_set<(d0) : (d0 >= 0)>}> ({ ^bb0(%x: i32): affine.yield }, { }) : (index) -> () return }
// -----
// refused: 'builtin.module' op region should have no arguments
"builtin.module"() ({ ^bb0(%x: i32): }) : () -> ()
// -----
// accepted
func.func @main(%t: tensor<4xi32>) { %r = scf.forall (%a) in (4) shared_outs(%o = %t) -> (tensor<4xi32>) { "scf.forall.in_parallel"() ({ ^bb0(%x: i32): }) : () -> () } return }
// -----
// refused: mask dim size must be either 0 or 1 for 0-D vectors
func.func @f() -> vector<i1> { %0 = vector.constant_mask [2] : vector<i1> return %0 : vector<i1> }
// -----
// refused: mask dim size must be either 0 or 1 for 0-D vectors
func.func @f() -> vector<i1> { %0 = vector.constant_mask [-1] : vector<i1> return %0 : vector<i1> }
// -----
// accepted
func.func @f() -> vector<i1> { %0 = vector.constant_mask [1] : vector<i1> return %0 : vector<i1> }
// -----
// refused: array attr must have length 1 for 0-D vectors
func.func @f() -> vector<i1> { %0 = vector.constant_mask [] : vector<i1> return %0 : vector<i1> }
// -----
// refused: array attr must have length 1 for 0-D vectors
func.func @f() -> vector<i1> { %0 = vector.constant_mask [1, 1] : vector<i1> return %0 : vector<i1> }
// -----
// refused: 'vector.constant_mask' op only supports 'none set' or 'all set' scalable dimensions
func.func @f() { %0 = vector.constant_mask [7] : vector<[8]xi1> return }
// -----
// accepted
func.func @f() { %0 = vector.constant_mask [8] : vector<[8]xi1> return }
// -----
// accepted
func.func @f() { %0 = vector.constant_mask [0] : vector<[8]xi1> return }
// -----
// refused: 'vector.constant_mask' op array attr of size out of bounds of vector result dimension size
func.func @f() { %0 = vector.constant_mask [9] : vector<[8]xi1> return }
// -----
// accepted
func.func @f() { %0 = vector.constant_mask [2, 8] : vector<4x[8]xi1> return }
// -----
// refused: 'vector.constant_mask' op only supports 'none set' or 'all set' scalable dimensions
func.func @f() { %0 = vector.constant_mask [2, 3] : vector<4x[8]xi1> return }
// -----
// refused: 'vector.constant_mask' op expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim
func.func @f() { %0 = vector.constant_mask [0, 8] : vector<4x[8]xi1> return }
// -----
// accepted
func.func @f() { %0 = vector.constant_mask [0, 0] : vector<4x[8]xi1> return }
// -----
// refused: 'vector.constant_mask' op array attr of size out of bounds of vector result dimension size
func.func @f() { %0 = vector.constant_mask [5, 8] : vector<4x[8]xi1> return }
// -----
// accepted
func.func @r1(%a: i8, %b: i8, %x: f32) { %0 = arith.cmpi "eq", %a, %b : i8 return }
// -----
// accepted
func.func @r1(%a: i8, %b: i8, %x: f32) { %0 = arith.cmpf "olt", %x, %x : f32 return }
// -----
// accepted
func.func @r1(%x: f64) { %0 = arith.truncf %x "to_nearest_even" : f64 to f32 return }
// -----
// accepted
func.func @r1(%x: f64) { %0 = arith.truncf %x to_nearest_even : f64 to f32 return }
// -----
// accepted
func.func @r1(%a: i8, %b: i8, %x: f32) { %0 = arith.addf %x, %x fastmath<"nnan"> : f32 return }
// -----
// accepted
func.func @r1(%a: i8, %b: i8, %x: f32) { %0 = arith.addi %a, %a overflow<"nsw"> : i8 return }
// -----
// accepted
func.func @r1(%v: vector<4xf32>) { %0 = vector.reduction <"add">, %v : vector<4xf32> into f32 return }
// -----
// accepted
func.func @r1(%m: memref<4xf32>, %i: index) { affine.parallel (%i0) = (0) to (4) reduce ("addf") -> (f32) { %z = arith.constant 1.0 : f32 affine.yield %z : f32 } return }
// -----
// accepted
func.func @r5(%n: index) { %0 = memref.alloc(%n) : memref<?xf32, affine_map<(i)[M]->(i)>> return }
// -----
// refused: 'memref.alloc' op symbol operand count does not equal memref symbol count: expected 0, got 1
func.func @r5(%n: index) { %0 = memref.alloc(%n)[%n] : memref<?xf32, affine_map<(i)[M]->(i)>> return }
// -----
// accepted
func.func private @r5(memref<?x4xf32, affine_map<(i,j)[M, N]->(i,j)>, 1>)
// -----
// accepted
func.func private @r5(memref<?xf32, affine_map<(i)[M]->(i+0)>>)
// -----
// accepted
func.func private @r5(memref<?xf32, affine_map<(i)[M]->(i+M)>>)
// -----
// accepted
func.func @r2(%a: memref<8x8xf32>, %i: index) { %0 = memref.subview %a[%i, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * 8 + s0 + d1)>> return }
// -----
// refused: expected result type to be 'memref<4x4xf32, strided<[8, 1], offset: ?>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * 9 + s0 + d1)>>'
func.func @r2(%a: memref<8x8xf32>, %i: index) { %0 = memref.subview %a[%i, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * 9 + s0 + d1)>> return }
// -----
// accepted
func.func @r2(%a: memref<8x8xf32>, %i: index) { %0 = memref.subview %a[1, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, affine_map<(d0, d1) -> (d0 * 8 + 8 + d1)>> return }
// -----
// refused: expected result type to be 'memref<4x4xf32, strided<[8, 1], offset: 8>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * 8 + s0 + d1)>>'
func.func @r2(%a: memref<8x8xf32>, %i: index) { %0 = memref.subview %a[1, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * 8 + s0 + d1)>> return }
// -----
// accepted
func.func @r2(%a: memref<8x8xf32>, %i: index) { %0 = memref.subview %a[1, 0] [1, 4] [1, 1] : memref<8x8xf32> to memref<4xf32, affine_map<(d0) -> (8 + d0)>> return }
// -----
// accepted
func.func @r2(%a: memref<8x8xf32>, %i: index) { %0 = memref.subview %a[0, 0] [1, 4] [1, 1] : memref<8x8xf32> to memref<4xf32, affine_map<(d0) -> (d0 + 0)>> return }
// -----
// accepted
func.func @r2(%a: memref<8x8xf32>, %i: index) { %0 = memref.subview %a[0, 0] [4, 4] [%i, 1] : memref<8x8xf32> to memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1)>> return }
// -----
// accepted
func.func @r2(%a: memref<8x8xf32, affine_map<(d0, d1) -> (d0 * 8 + d1)>>, %i: index) { %0 = memref.subview %a[0, 0] [4, 4] [1, 1] : memref<8x8xf32, affine_map<(d0, d1) -> (d0 * 8 + d1)>> to memref<4x4xf32, strided<[8, 1]>> return }
// -----
// accepted
func.func @r2(%a: memref<8x8xf32, affine_map<(d0, d1) -> (d1 * 8 + d0)>>, %i: index) { %0 = memref.subview %a[0, 0] [4, 4] [1, 1] : memref<8x8xf32, affine_map<(d0, d1) -> (d1 * 8 + d0)>> to memref<4x4xf32, strided<[1, 8]>> return }
// -----
// accepted
func.func @r8(%a: memref<?x?xf32>) { %t = memref.transpose %a (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>> return }
// -----
// accepted
func.func @r8(%a: memref<2x3xf32>) { %t = memref.transpose %a (d0, d1) -> (d1, d0) : memref<2x3xf32> to memref<3x2xf32, affine_map<(d0, d1) -> (d0 + d1 * 3)>> return }
// -----
// accepted
func.func @r8(%a: memref<2x3xf32>) { %t = memref.collapse_shape %a [[0, 1]] : memref<2x3xf32> into memref<6xf32, affine_map<(d0) -> (d0 + 0)>> return }
// -----
// refused: 'memref.collapse_shape' op expected collapsed type to be 'memref<6xf32>' but found 'memref<6xf32, strided<[1]>>'
func.func @r8(%a: memref<2x3xf32>) { %t = memref.collapse_shape %a [[0, 1]] : memref<2x3xf32> into memref<6xf32, strided<[1]>> return }
// -----
// refused: 'memref.expand_shape' op expected expanded type to be 'memref<2x3xf32>' but found 'memref<2x3xf32, affine_map<(d0, d1) -> (d0 * 3 + d1)>>'
func.func @r8(%a: memref<6xf32>) { %t = memref.expand_shape %a [[0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32, affine_map<(d0, d1) -> (d0 * 3 + d1)>> return }
// -----
// accepted
func.func @r8(%a: memref<6xf32>) { %t = memref.reinterpret_cast %a to offset: [0], sizes: [2,3], strides: [3,1] : memref<6xf32> to memref<2x3xf32, affine_map<(d0, d1) -> (d0 * 3 + d1)>> return }
// -----
// accepted
func.func @r8(%a: memref<6xf32>) { %t = memref.cast %a : memref<6xf32> to memref<6xf32, affine_map<(d0)[s0] -> (d0 + s0)>> return }
// -----
// accepted
func.func @r8(%a: memref<2x3xf32, affine_map<(d0, d1) -> (d0 * 3 + d1)>>) { %t = memref.transpose %a (d0, d1) -> (d1, d0) : memref<2x3xf32, affine_map<(d0, d1) -> (d0 * 3 + d1)>> to memref<3x2xf32, strided<[1, 3]>> return }
// -----
// accepted
func.func @r10(%a: memref<4xf32, strided<[2], offset: ?>>, %i: index) { %1 = vector.load %a[%i] : memref<4xf32, strided<[2], offset: ?>>, vector<1xf32> return }
// -----
// refused: 'vector.load' op most minor memref dim must have unit stride
func.func @r10(%a: memref<4xf32, strided<[2], offset: ?>>, %i: index) { %1 = vector.load %a[%i] : memref<4xf32, strided<[2], offset: ?>>, vector<2xf32> return }
// -----
// refused: 'vector.load' op most minor memref dim must have unit stride
func.func @r10(%a: memref<4x4xf32, strided<[8, 2], offset: ?>>, %i: index) { %1 = vector.load %a[%i, %i] : memref<4x4xf32, strided<[8,2], offset: ?>>, vector<2x1xf32> return }
// -----
// accepted
func.func @r10(%a: memref<4x4xf32, strided<[8, 2], offset: ?>>, %i: index) { %1 = vector.load %a[%i, %i] : memref<4x4xf32, strided<[8,2], offset: ?>>, vector<1x1xf32> return }
// -----
// refused: 'vector.load' op most minor memref dim must have unit stride
func.func @r10(%a: memref<4xf32, strided<[2], offset: ?>>, %i: index) { %1 = vector.load %a[%i] : memref<4xf32, strided<[2], offset: ?>>, vector<[1]xf32> return }
// -----
// accepted
func.func @r10(%a: memref<4xf32, strided<[2], offset: ?>>, %i: index) { %1 = vector.load %a[%i] : memref<4xf32, strided<[2], offset: ?>>, vector<f32> return }
// -----
// accepted
func.func @r10(%a: memref<4xf32, strided<[2], offset: ?>>, %i: index, %v: vector<1xf32>) { vector.store %v, %a[%i] : memref<4xf32, strided<[2], offset: ?>>, vector<1xf32> return }
// -----
// refused: 'vector.store' op most minor memref dim must have unit stride
func.func @r10(%a: memref<4xf32, strided<[2], offset: ?>>, %i: index, %v: vector<4xf32>) { vector.store %v, %a[%i] : memref<4xf32, strided<[2], offset: ?>>, vector<4xf32> return }
// -----
// accepted
func.func @r10(%a: memref<4xf32, strided<[?], offset: ?>>, %i: index) { %1 = vector.load %a[%i] : memref<4xf32, strided<[?], offset: ?>>, vector<1xf32> return }
// -----
// accepted
func.func @r10(%a: memref<4xf32, strided<[2]>>, %i: index, %p: f32) { %1 = vector.transfer_read %a[%i], %p : memref<4xf32, strided<[2]>>, vector<1xf32> return }
// -----
// accepted
func.func @r9(%v: vector<2x4xf32>, %e: tensor<3xvector<2x4xf32>>) { %1 = linalg.fill ins(%v : vector<2x4xf32>) outs(%e : tensor<3xvector<2x4xf32>>) -> tensor<3xvector<2x4xf32>> return }
// -----
// accepted
func.func @r9(%v: vector<2x4xf32>, %e: memref<3xvector<2x4xf32>>) { linalg.fill ins(%v : vector<2x4xf32>) outs(%e : memref<3xvector<2x4xf32>>) return }
// -----
// refused: expected op with scalar input
func.func @r9(%v: tensor<f32>, %e: tensor<3xf32>) { %1 = linalg.fill ins(%v : tensor<f32>) outs(%e : tensor<3xf32>) -> tensor<3xf32> return }
// -----
// refused: 'linalg.fill' op expected fill value type ('i8') to match output element type ('f32')
func.func @r9(%v: i8, %e: tensor<3xf32>) { %1 = linalg.fill ins(%v : i8) outs(%e : tensor<3xf32>) -> tensor<3xf32> return }
// -----
// accepted
func.func @r9(%v: index, %e: tensor<3xindex>) { %1 = linalg.fill ins(%v : index) outs(%e : tensor<3xindex>) -> tensor<3xindex> return }
// -----
// accepted
func.func @r9(%v: complex<f32>, %e: tensor<3xcomplex<f32>>) { %1 = linalg.fill ins(%v : complex<f32>) outs(%e : tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> return }
// -----
// accepted
func.func @r9(%v: vector<4xf32>, %e: tensor<3xvector<4xf32>>) { %1 = linalg.copy ins(%e : tensor<3xvector<4xf32>>) outs(%e : tensor<3xvector<4xf32>>) -> tensor<3xvector<4xf32>> return }
// -----
// refused: 'linalg.pooling_nwc_sum' op attribute 'dilations' failed to satisfy constraint: 64-bit signless int elements attribute of shape [1]
func.func @main(%a: memref<1x7x2xi32>, %k: memref<2xi32>, %o: memref<1x6x2xi32>) { linalg.pooling_nwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %k : memref<1x7x2xi32>, memref<2xi32>) outs(%o : memref<1x6x2xi32>) return }
// -----
// accepted
func.func @f() { %0 = arith.constant 1.0e309 : f80 %1 = arith.constant 0.1 : f128 %2 = arith.constant 0x00000000000000000000000000000001 : f128 %3 = arith.constant 0x3FFF8000000000000000 : f80 %4 = arith.constant dense<0x3FFF8000000000000001> : tensor<2xf80> %5 = arith.constant dense<[0x3FFF8000000000000001, 1.0]> : tensor<2xf80> %6 = arith.constant -1.5 : f128 %7 = arith.constant dense<0x00000000000000000000000000000001> : tensor<2xf128> return }
// -----
// accepted
func.func @f() { %0 = arith.constant sparse<[[0], [2]], [-5.0, -2.0]> : tensor<4xf16> %1 = arith.constant sparse<1, 2> : tensor<4xi32> %2 = arith.constant sparse<[[1,1]], 2> : tensor<4x4xi32> %3 = arith.constant sparse<[[1,1], [2, 3]], 2> : tensor<4x4xi32> %4 = arith.constant sparse<> : tensor<4x4xi32> %5 = arith.constant sparse<[[1], [1]], [2, 3]> : tensor<4xi32> %6 = arith.constant sparse<[[0], [2]], [true, false]> : tensor<4xi1> return }
// -----
// refused: sparse index #0 is not contained within the value shape, with index=[4], and type='tensor<4xi32>'
func.func @f() { %0 = arith.constant sparse<[[4]], [2]> : tensor<4xi32> return }
// -----
// refused: expected shape ([4]); inferred shape of indices literal ([1, 1]); inferred shape of values literal ([2])
func.func @f() { %0 = arith.constant sparse<[[0]], [2, 3]> : tensor<4xi32> return }
// -----
// accepted
func.func @f() { %0 = arith.constant sparse<[0], [2]> : tensor<4xi32> return }
// -----
// refused: expected shape ([4]); inferred shape of indices literal ([1, 2]); inferred shape of values literal ([1])
func.func @f() { %0 = arith.constant sparse<[[0, 1]], [2]> : tensor<4xi32> return }
// -----
// refused: expected 1-d tensor for sparse element values
func.func @f() { %0 = arith.constant sparse<[[0]], [[2]]> : tensor<4xi32> return }
// -----
// accepted
func.func @f() { %0 = arith.constant sparse<[[0]], [2]> : vector<4xi32> return }
// -----
// accepted
func.func @f() { %0 = arith.constant sparse<[], []> : tensor<4xf32> return }
// -----
// accepted
ml_program.global private @g(sparse<[[1]], [1.0]> : tensor<4xf32>) : tensor<4xf32>
// -----
// accepted
func.func @f() { %cst = arith.constant dense<["10", "20"]> : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> return }
// -----
// refused: inferred shape of elements literal ([3]) does not match type ([2])
func.func @f() { %cst = arith.constant dense<["10", "20", "30"]> : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> return }
// -----
// accepted
func.func @f() { %cst = arith.constant dense<"10"> : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> return }
// -----
// accepted
func.func @f() { %cst = arith.constant dense<[["a", "20"], ["b", "]"]]> : tensor<2x2x!quant.any<i8:f32>> return }
// -----
// refused: inferred shape of elements literal ([2]) does not match type ([3])
// --allow-unregistered-dialect
func.func @f() { "x.y"() {a = dense<["a", "20"]> : tensor<3x!x.s>} : () -> () return }
