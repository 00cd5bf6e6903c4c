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
