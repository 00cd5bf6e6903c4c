#t = {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"], foo = 3 : i32}
// expected-error@+1:72 {{attribute 'foo' occurs more than once in the attribute list}}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = linalg.generic #t outs(%a : tensor<4xf32>) attrs = {foo = 1 : i8} { ^bb0(%x: f32): linalg.yield %x : f32 } -> tensor<4xf32> return %0 : tensor<4xf32> }
// -----
#t = [1]
// expected-error@+1:72 {{invalid kind of attribute specified}}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = linalg.generic #t outs(%a : tensor<4xf32>) { ^bb0(%x: f32): linalg.yield %x : f32 } -> tensor<4xf32> return %0 : tensor<4xf32> }
// -----
#t = {indexing_maps = [affine_map<(i) -> (i)>]}
// expected-error@+1:72 {{expected "iterator_types" array attribute}}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = linalg.generic #t outs(%a : tensor<4xf32>) { ^bb0(%x: f32): linalg.yield %x : f32 } -> tensor<4xf32> return %0 : tensor<4xf32> }
// -----
#t = {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["window"]}
// expected-error@+1:72 {{unexpected iterator_type (window)}}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = linalg.generic #t outs(%a : tensor<4xf32>) { ^bb0(%x: f32): linalg.yield %x : f32 } -> tensor<4xf32> return %0 : tensor<4xf32> }
// -----
#t = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
// expected-error@+1:72 {{attribute 'iterator_types' occurs more than once in the attribute list}}
func.func @f(%a: vector<4xf32>, %c: f32) -> f32 { %0 = vector.contract #t %a, %a, %c {iterator_types = []} : vector<4xf32>, vector<4xf32> into f32 return %0 : f32 }
// -----
// expected-error@+1:73 {{invalid kind of attribute specified}}
func.func @f(%v: vector<4xf32>, %a: f32) -> f32 { %0 = vector.reduction #arith.fastmath<nnan>, %v, %a : vector<4xf32> into f32 return %0 : f32 }
// -----
// expected-error@+1:1 {{'func.func' op entry block must have 1 arguments to match function signature}}
func.func @f(i32) { return }
// -----
// expected-error@+1:44 {{'sym_name' is an inferred attribute and should not be specified in the explicit attribute dictionary}}
func.func private @f(i32) -> i8 attributes {sym_name = "g"}
// -----
// expected-error@+1:1 {{attribute 'arg_attrs' occurs more than once in the attribute list}}
func.func private @f(i32 {test.b}) -> i8 attributes {arg_attrs = [{test.a}]}
// -----
// expected-error@+1:1 {{attribute 'arg_attrs' failed to satisfy constraint: Array of dictionary attributes}}
func.func private @f(i32) -> i8 attributes {arg_attrs = [3]}
// -----
// expected-error@+1:32 {{symbol operand count does not equal memref symbol count: expected 1, got 0}}
func.func @f(%n: index) { %0 = memref.alloc(%n) : memref<?xi32, strided<[?]>> return }
// -----
// expected-error@+1:89 {{attribute 'dilations' failed to satisfy constraint: 64-bit signless int elements attribute of shape [2]}}
func.func @f(%x: memref<1x8x8x1xf32>, %w: memref<3x3x1xf32>, %y: memref<1x3x3x1xf32>) { linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<3xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %w : memref<1x8x8x1xf32>, memref<3x3x1xf32>) outs(%y : memref<1x3x3x1xf32>) return }
// -----
// expected-error@+1:61 {{expected collapsed type to be 'memref<?xf32, strided<[?]>>' but found 'memref<?xf32, strided<[1]>>'}}
func.func @f(%a: memref<?x?xf32, strided<[?, 1]>>) { %0 =   memref.collapse_shape %a [[0, 1]] : memref<?x?xf32, strided<[?, 1]>> into memref<?xf32, strided<[1]>> return }
// -----
// expected-error@+1:61 {{invalid source layout map or collapsing non-contiguous dims}}
func.func @f(%a: memref<?x2xf32, strided<[3, 1]>>) { %0 =   memref.collapse_shape %a [[0, 1]] : memref<?x2xf32, strided<[3, 1]>> into memref<?xf32, strided<[1]>> return }
// -----
// expected-error@+1:109 {{use of value '%k' expects different type than prior uses: 'vector<1xi1>' vs 'vector<i1>'}}
func.func @f(%m: memref<f32>, %p: f32, %k: vector<i1>) -> vector<f32> { %0 = vector.transfer_read %m[], %p, %k : memref<f32>, vector<f32> return %0 : vector<f32> }
// -----
// expected-error@+1:125 {{does not support masks with vector element type}}
func.func @f(%m: memref<8x8xvector<2x4xf32>>, %i: index, %p: vector<2x4xf32>, %k: vector<1xi1>) -> vector<1x2x4xf32> { %0 = vector.transfer_read %m[%i, %i], %p, %k : memref<8x8xvector<2x4xf32>>, vector<1x2x4xf32> return %0 : vector<1x2x4xf32> }
// -----
// expected-error@+1:105 {{requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the minor 1-D vector of the source}}
func.func @f(%m: memref<8x8xvector<2x4xf32>>, %i: index, %p: vector<2x4xf32>) -> vector<2x5xf32> { %0 = vector.transfer_read %m[%i, %i], %p : memref<8x8xvector<2x4xf32>>, vector<2x5xf32> return %0 : vector<2x5xf32> }
// -----
// expected-error@+1:77 {{requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the source element type}}
func.func @f(%m: memref<8xf32>, %i: index, %p: f32) -> vector<3xf16> { %0 = vector.transfer_read %m[%i], %p : memref<8xf32>, vector<3xf16> return %0 : vector<3xf16> }
// -----
func.func @f(%n: index) { %c0 = arith.constant 0 : index affine.for %i = 0 to %n { %s = memref.alloc(%i) : memref<?xf32> %e = memref.dim %s, %c0 : memref<?xf32>
  // expected-error@+1:3 {{'affine.for' op operand cannot be used as a symbol}}
  affine.for %j = 0 to %e { } } return }
// -----
// expected-error@+1:45 {{unsupported memory space Attribute}}
func.func @f(%n: index, %m:    memref<4xi8, unit>) { return }
// -----
// expected-error@+1:44 {{parenth}}
func.func @f() { %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xcomplex<f64>> return }
// -----
// expected-error@+1:30 {{'complex.create' op failed to verify that complex element type matches real operand type}}
func.func @f(%x: f64) { %4 = "complex.create"(%x, %x) : (f64, f64) -> complex<f32> return }
// -----
// expected-error@+1:76 {{must be the indexing maps of the op}}
func.func @dot(%a: tensor<2xf32>, %s: tensor<f32>) -> tensor<f32> { %0   = linalg.dot {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0 mod 2)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} ins(%a, %a : tensor<2xf32>, tensor<2xf32>) outs(%s : tensor<f32>) -> tensor<f32> return %0 : tensor<f32> }
// -----
// expected-error@+1:42 {{attribute '#foo.bar' is of an unregistered dialect}}
func.func private @f() attributes {a.a = #foo.bar<a>}
// -----
// expected-error@+1:56 {{expected ']'}}
func.func private @f() attributes {a.a = distinct[0<i8>}
// -----
// expected-error@+1:63 {{expected '>' closing the attribute}}
func.func private @f() attributes {a.a = #arith<fastmath<fast>}
// -----
// expected-error@+1:68 {{expected '>' closing the attribute}}
func.func private @f() attributes {a.a = #sparse_tensor.encoding<{}}
// -----
// expected-error@+1:54 {{expected ':' and the type of the elements}}
func.func private @f() attributes {a.a = sparse<1, 2>}
// -----
// expected-error@+1:25 {{dialect 'foo' is unknown}}
{-# dialect_resources: {foo: {}} #-}
// -----
// expected-error@+1:25 {{unexpected 'resource' section for dialect 'arith'}}
{-# dialect_resources: {arith: {}} #-}
// -----
// expected-error@+1:29 {{expected ':' after the name of a tool}}
{-# external_resources: {foo {a: "b"}} #-}
// -----
// expected-error@+1:33 {{expected ':' after resource key}}
{-# external_resources: {foo: {a "b"}} #-}
