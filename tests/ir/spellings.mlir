// Forms that other front ends and older passes write, and that a printer does not: every one is MLIR's.

#pointwise = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"], i64}
#inner = {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"], step = 1 : i8}
#sum = #vector.kind<add>
#shared = #gpu.address_space<workgroup>
module attributes {test.positions = affine_map<(d0)[s0] -> (-s0 floordiv 4, d0 floordiv -1, 7 ceildiv -2, d0 mod 0)>} {

// A trait, said by an alias; an attribute of nobody's stands in it too.
func.func @traits(%a: tensor<4xf32>, %v: vector<4xf32>, %x: f32) -> tensor<4xf32> {
  %0 = linalg.generic #pointwise ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) attrs = {doc = "d", b = 2 : i8} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  %1 = vector.contract #inner %v, %v, %x {kind = #vector.kind<mul>} : vector<4xf32>, vector<4xf32> into f32
  return %0 : tensor<4xf32>
}

// Enumerations in full, and with a type behind them, which says nothing.
func.func @kinds(%v: vector<4x6xf32>, %a: vector<4xf32>) attributes {flags = #arith.fastmath<nnan> : i32} {
  %0 = vector.multi_reduction #vector.kind<add>, %v, %a [1] : vector<4x6xf32> to vector<4xf32>
  %1 = vector.multi_reduction #sum, %v, %a [1] : vector<4x6xf32> to vector<4xf32>
  return
}

// The arguments' names in the entry block, and attributes of arguments and results behind the header.
func.func @unnamed(i32, i32 {test.b}) {
^bb0(%a: i32, %b: i32):
  return
}
func.func private @attributes(i32) -> i8 attributes {arg_attrs = [{test.a}], res_attrs = [{test.b}]}

// The symbols of a strided layout: the offset, then the strides.
func.func @symbols(%n: index) {
  %0 = memref.alloc(%n)[%n, %n] : memref<?xi32, strided<[?], offset: ?>>
  %1 = memref.alloca()[%n] : memref<4x4xi32, strided<[?, 1]>>
  return
}

// Strides and dilations that are vectors, scalable ones and tensors with an encoding.
func.func @windows(%x: memref<1x8x8x1xf32>, %w: memref<3x3x1xf32>, %y: memref<1x3x3x1xf32>, %k: memref<2x2xf32>, %z: memref<1x4x4x1xf32>) {
  linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<[2]xi64>} ins(%x, %w : memref<1x8x8x1xf32>, memref<3x3x1xf32>) outs(%y : memref<1x3x3x1xf32>)
  linalg.pooling_nhwc_sum {dilations = dense<[1, 1]> : tensor<2xi64, "e">, strides = dense<[2, 2]> : vector<2xi64>} ins(%x, %k : memref<1x8x8x1xf32>, memref<2x2xf32>) outs(%z : memref<1x4x4x1xf32>)
  return
}

// A dimension that may turn out to be 1 has no stride that is known before it runs.
func.func @collapse(%a: memref<?x4x?xf32, strided<[?, ?, 1]>>, %b: memref<4x1xf32, strided<[2, 7]>>, %c: memref<?x2xf32, strided<[2, 1], offset: 3>>) {
  %0 = memref.collapse_shape %a [[0, 1, 2]] : memref<?x4x?xf32, strided<[?, ?, 1]>> into memref<?xf32, strided<[?]>>
  %1 = memref.collapse_shape %b [[0, 1]] : memref<4x1xf32, strided<[2, 7]>> into memref<4xf32, strided<[2]>>
  %2 = memref.collapse_shape %c [[0, 1]] : memref<?x2xf32, strided<[2, 1], offset: 3>> into memref<?xf32, strided<[1], offset: 3>>
  return
}

// Which stride a view without a dimension keeps, though all are open.
func.func @dropped(%m: memref<8x?xf32>, %n: index, %s: index) -> memref<?xf32, strided<[?], offset: ?>> {
  %0 = memref.subview %m[%n, %n] [1, %n] [%s, %s] : memref<8x?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %1 = memref.subview %m[0, 0] [1, 1] [1, 1] : memref<8x?xf32> to memref<1xf32, strided<[?]>>
  return %0 : memref<?xf32, strided<[?], offset: ?>>
}

// Masks: scalable, in the order of memory, and of one lane where there is one element.
func.func @masks(%m: memref<?x?xf32>, %r: memref<f32>, %k: vector<4x[4]xi1>, %t: vector<[4]x4xi1>, %l: vector<1xi1>, %i: index, %p: f32, %v: vector<4x[4]xf32>) {
  %0 = vector.transfer_read %m[%i, %i], %p, %k : memref<?x?xf32>, vector<4x[4]xf32>
  %1 = vector.transfer_read %m[%i, %i], %p, %t {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<4x[4]xf32>
  %2 = vector.transfer_read %m[%i, %i], %p, %l {permutation_map = affine_map<(d0, d1) -> (0, 0)>} : memref<?x?xf32>, vector<4x[4]xf32>
  %3 = vector.transfer_read %r[], %p, %l : memref<f32>, vector<f32>
  vector.transfer_write %v, %m[%i, %i], %t {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<4x[4]xf32>, memref<?x?xf32>
  return
}

// Elements that are vectors, or of another width.
func.func @elements(%m: memref<8x8xvector<2x4xf32>>, %i: index, %p: vector<2x4xf32>, %v: vector<1x1x2x4xf32>, %b: memref<8xi8>, %q: i8) {
  %0 = vector.transfer_read %m[%i, %i], %p : memref<8x8xvector<2x4xf32>>, vector<2x4xf32>
  %1 = vector.transfer_read %m[%i, %i], %p {in_bounds = [true, false]} : memref<8x8xvector<2x4xf32>>, vector<1x1x2x4xf32>
  vector.transfer_write %v, %m[%i, %i] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<1x1x2x4xf32>, memref<8x8xvector<2x4xf32>>
  %2 = vector.transfer_read %b[%i], %q : memref<8xi8>, vector<4xi32>
  return
}

// Sizes of views and allocations are symbols where they were made of symbols.
func.func @bounds(%m: memref<?x?xf32>, %b: memref<?xi8>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to %n {
    %d = memref.dim %m, %c0 : memref<?x?xf32>
    %s = memref.subview %m[0, 0] [%d, %i] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
    %e = memref.dim %s, %c0 : memref<?x?xf32, strided<[?, 1]>>
    %v = memref.view %b[%i][%k] : memref<?xi8> to memref<?xf32>
    %f = memref.dim %v, %c0 : memref<?xf32>
    %a = memref.alloc(%k) : memref<?xf32>
    %t = memref.cast %a : memref<?xf32> to memref<4xf32>
    %g = memref.dim %t, %c0 : memref<4xf32>
    affine.for %j = 0 to %e {
      affine.for %l = 0 to min affine_map<()[s0, s1] -> (s0, s1)>()[%f, %g] {
      }
    }
  }
  return
}

// Memory of the dialects that qrt has not, as one name or two.
func.func @spaces(%a: memref<4xi32, #spirv.storage_class<StorageBuffer>>, %b: memref<4xi32, #gpu<address_space<workgroup>>>, %c: memref<*xf32, #ptr.generic_space>) {
  %0 = memref.alloca() : memref<4xi32, #shared>
  %1 = memref.memory_space_cast %0 : memref<4xi32, #gpu.address_space< workgroup >> to memref<4xi32>
  return
}

// Complex numbers, as constants and in the bodies of named ops.
memref.global "private" @roots : memref<2xcomplex<f32>> = dense<[(1.0, 0.0), (-1.0, 0.0)]>
func.func @complex(%a: tensor<2x2xcomplex<f32>>, %b: tensor<2xcomplex<f64>>, %c: tensor<2xcomplex<f32>>, %r: tensor<2xi8>) -> tensor<2xcomplex<i32>> {
  %0 = arith.constant dense<(1, 2)> : tensor<2xcomplex<i32>>
  %1 = arith.constant dense<[(1.5, 0x7FC00000), // not a number
                             (3.0, -4.0)]> : tensor<2xcomplex<f32>>
  %2 = arith.constant dense<[3, -1]> : tensor<2xi128>
  %3 = arith.constant dense<3> : tensor<2xui8>
  %4 = linalg.matmul ins(%a, %a : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) outs(%a : tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  %5 = linalg.copy ins(%b : tensor<2xcomplex<f64>>) outs(%c : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %6 = linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%r : tensor<2xi8>) outs(%c : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %7 = linalg.div ins(%c, %c : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) outs(%c : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<i32>>
}
}
