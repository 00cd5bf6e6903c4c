// canonicalize
func.func @reinterpret_rc(%a: memref<8x8xf32>, %n: index) -> memref<4x4xf32, strided<[8, 1], offset: 9>> {
  %0 = memref.reinterpret_cast %a to offset: [%n], sizes: [64], strides: [1] : memref<8x8xf32> to memref<64xf32, strided<[1], offset: ?>>
  %1 = memref.reinterpret_cast %0 to offset: [9], sizes: [4, 4], strides: [8, 1] : memref<64xf32, strided<[1], offset: ?>> to memref<4x4xf32, strided<[8, 1], offset: 9>>
  return %1 : memref<4x4xf32, strided<[8, 1], offset: 9>>
}
func.func @reinterpret_cast(%a: memref<8x8xf32>, %u: memref<*xf32>, %n: index) -> (memref<64xf32>, memref<64xf32>) {
  %0 = memref.cast %a : memref<8x8xf32> to memref<*xf32>
  %1 = memref.reinterpret_cast %0 to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
  %2 = memref.cast %u : memref<*xf32> to memref<?x?xf32>
  %3 = memref.reinterpret_cast %2 to offset: [0], sizes: [64], strides: [1] : memref<?x?xf32> to memref<64xf32>
  return %1, %3 : memref<64xf32>, memref<64xf32>
}
func.func @reinterpret_subview(%a: memref<8x8xf32>, %n: index) -> (memref<4xf32>, memref<4xf32>) {
  %0 = memref.subview %a[0, 0][%n, 4][1, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  %1 = memref.reinterpret_cast %0 to offset: [0], sizes: [4], strides: [1] : memref<?x4xf32, strided<[8, 1]>> to memref<4xf32>
  %2 = memref.subview %a[0, 1][%n, 4][1, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 1>>
  %3 = memref.reinterpret_cast %2 to offset: [0], sizes: [4], strides: [1] : memref<?x4xf32, strided<[8, 1], offset: 1>> to memref<4xf32>
  return %1, %3 : memref<4xf32>, memref<4xf32>
}
func.func @reinterpret_subview_c(%a: memref<8x8xf32>, %n: index) -> (memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.subview %a[%c0, 0][%n, 4][1, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[8, 1], offset: ?>>
  %1 = memref.reinterpret_cast %0 to offset: [0], sizes: [4], strides: [1] : memref<?x4xf32, strided<[8, 1], offset: ?>> to memref<4xf32>
  return %1 : memref<4xf32>
}
func.func @reinterpret_same(%a: memref<8x8xf32>, %b: memref<?xf32>, %c: memref<4xf32, strided<[2], offset: ?>>, %n: index) -> (memref<8x8xf32>, memref<?xf32>, memref<4xf32, strided<[2], offset: ?>>, memref<8x8xf32>) {
  %0 = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [8, 1] : memref<8x8xf32> to memref<8x8xf32>
  %1 = memref.reinterpret_cast %b to offset: [0], sizes: [%n], strides: [1] : memref<?xf32> to memref<?xf32>
  %3 = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [8, 1] : memref<8x8xf32> to memref<8x8xf32>
  return %0, %1, %c, %3 : memref<8x8xf32>, memref<?xf32>, memref<4xf32, strided<[2], offset: ?>>, memref<8x8xf32>
}
func.func @reinterpret_const(%a: memref<?xf32>, %n: index) -> (memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %1 = memref.reinterpret_cast %a to offset: [%c0], sizes: [%c4, %n], strides: [%n, %c1] : memref<?xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
}
func.func @reinterpret_static_open(%a: memref<?xf32>, %n: index) -> (memref<?xf32, strided<[?], offset: ?>>) {
  %1 = memref.reinterpret_cast %a to offset: [3], sizes: [4], strides: [2] : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  return %1 : memref<?xf32, strided<[?], offset: ?>>
}
func.func @reinterpret_meta(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> (memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %a : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
  %1 = memref.reinterpret_cast %b to offset: [%o], sizes: [%s#0, %s#1], strides: [%t#0, %t#1] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
}
func.func @reinterpret_meta_cast(%a: memref<4x?xf32, strided<[?, ?], offset: ?>>) -> (memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %a : memref<4x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
  %1 = memref.reinterpret_cast %b to offset: [%o], sizes: [%s#0, %s#1], strides: [%t#0, %t#1] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
}
func.func @reinterpret_meta_part(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> (memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %a : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
  %1 = memref.reinterpret_cast %b to offset: [%o], sizes: [%s#1, %s#0], strides: [%t#1, %t#0] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
}
func.func @reinterpret_meta_static(%a: memref<4x4xf32>) -> (memref<4x4xf32>, memref<16xf32>) {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %a : memref<4x4xf32> -> memref<f32>, index, index, index, index, index
  %1 = memref.reinterpret_cast %b to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<f32> to memref<4x4xf32>
  %2 = memref.reinterpret_cast %b to offset: [0], sizes: [16], strides: [1] : memref<f32> to memref<16xf32>
  return %1, %2 : memref<4x4xf32>, memref<16xf32>
}
func.func @meta_cast(%a: memref<4x4xf32>, %u: memref<*xf32>) -> (memref<f32>, index, memref<f32>, index) {
  %c = memref.cast %a : memref<4x4xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %c : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
  %d = memref.cast %u : memref<*xf32> to memref<?xf32>
  %b2, %o2, %s2, %t2 = memref.extract_strided_metadata %d : memref<?xf32> -> memref<f32>, index, index, index
  return %b, %s#0, %b2, %s2 : memref<f32>, index, memref<f32>, index
}
func.func @meta_cast2(%a: memref<4x4xf32>) -> (memref<f32>) {
  %c = memref.cast %a : memref<4x4xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %c : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
  return %b : memref<f32>
}
func.func @transpose_id(%a: memref<4x6xf32>, %b: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> (memref<4x6xf32>, memref<4x6xf32, strided<[6, 1]>>, memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %1 = memref.transpose %a (d0, d1) -> (d0, d1) : memref<4x6xf32> to memref<4x6xf32, strided<[6, 1]>>
  %2 = memref.transpose %a (d0, d1) -> (d0, d1) : memref<4x6xf32> to memref<4x6xf32>
  %3 = memref.transpose %b (d0, d1) -> (d0, d1) : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %2, %1, %3 : memref<4x6xf32>, memref<4x6xf32, strided<[6, 1]>>, memref<?x?xf32, strided<[?, ?], offset: ?>>
}
func.func @transpose_tr(%a: memref<4x6x8xf32>) -> (memref<8x4x6xf32, strided<[1, 48, 8]>>, memref<4x6x8xf32, strided<[48, 8, 1]>>) {
  %1 = memref.transpose %a (d0, d1, d2) -> (d1, d2, d0) : memref<4x6x8xf32> to memref<6x8x4xf32, strided<[8, 1, 48]>>
  %2 = memref.transpose %1 (d0, d1, d2) -> (d1, d2, d0) : memref<6x8x4xf32, strided<[8, 1, 48]>> to memref<8x4x6xf32, strided<[1, 48, 8]>>
  %3 = memref.transpose %2 (d0, d1, d2) -> (d1, d2, d0) : memref<8x4x6xf32, strided<[1, 48, 8]>> to memref<4x6x8xf32, strided<[48, 8, 1]>>
  return %2, %3 : memref<8x4x6xf32, strided<[1, 48, 8]>>, memref<4x6x8xf32, strided<[48, 8, 1]>>
}
func.func @transpose_cast(%a: memref<4x6xf32>) -> (memref<?x?xf32, strided<[1, ?]>>) {
  %0 = memref.cast %a : memref<4x6xf32> to memref<?x?xf32>
  %1 = memref.transpose %0 (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  return %1 : memref<?x?xf32, strided<[1, ?]>>
}
func.func @view_const(%a: memref<2048xi8>, %n: index) -> (memref<?x?xf32>, memref<?x4xf32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %1 = memref.view %a[%c8][%c4, %n] : memref<2048xi8> to memref<?x?xf32>
  %2 = memref.view %a[%n][%c4] : memref<2048xi8> to memref<?x4xf32>
  return %1, %2 : memref<?x?xf32>, memref<?x4xf32>
}
func.func @view_cast(%a: memref<2048xi8>, %u: memref<*xi8>, %n: index) -> (memref<?x4xf32>, memref<?x4xf32>) {
  %0 = memref.cast %a : memref<2048xi8> to memref<?xi8>
  %2 = memref.view %0[%n][%n] : memref<?xi8> to memref<?x4xf32>
  return %2, %2 : memref<?x4xf32>, memref<?x4xf32>
}
func.func @view_same(%a: memref<2048xi8>, %d: memref<?xi8>, %n: index) -> (memref<2048xi8>, memref<2048xi8>, memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %1 = memref.view %a[%c0][] : memref<2048xi8> to memref<2048xi8>
  %2 = memref.view %a[%n][] : memref<2048xi8> to memref<2048xi8>
  %3 = memref.view %d[%c0][%n] : memref<?xi8> to memref<?xi8>
  return %1, %2, %3 : memref<2048xi8>, memref<2048xi8>, memref<?xi8>
}
func.func @view_view(%a: memref<2048xi8>, %n: index) -> memref<4xf32> {
  %c4 = arith.constant 4 : index
  %1 = memref.view %a[%n][%n] : memref<2048xi8> to memref<?xi8>
  %2 = memref.view %1[%c4][] : memref<?xi8> to memref<4xf32>
  return %2 : memref<4xf32>
}
func.func @reshape(%a: memref<4x4xf32>, %s: memref<1xindex>, %ds: memref<?xindex>, %s2: memref<2xi32>) -> (memref<?xf32>, memref<*xf32>, memref<4x4xf32>, index) {
  %c1 = arith.constant 1 : index
  %0 = memref.cast %a : memref<4x4xf32> to memref<?x?xf32>
  %1 = memref.reshape %0(%s) : (memref<?x?xf32>, memref<1xindex>) -> memref<?xf32>
  %c = memref.cast %s : memref<1xindex> to memref<?xindex>
  %2 = memref.reshape %a(%c) : (memref<4x4xf32>, memref<?xindex>) -> memref<*xf32>
  %3 = memref.reshape %a(%s2) : (memref<4x4xf32>, memref<2xi32>) -> memref<4x4xf32>
  %4 = memref.reshape %3(%s2) : (memref<4x4xf32>, memref<2xi32>) -> memref<?x?xf32>
  %d = memref.dim %4, %c1 : memref<?x?xf32>
  return %1, %2, %3, %d : memref<?xf32>, memref<*xf32>, memref<4x4xf32>, index
}
func.func @dim_reshape(%a: memref<4x4xf32>, %ds: memref<?xindex>, %k: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %2 = memref.reshape %a(%ds) : (memref<4x4xf32>, memref<?xindex>) -> memref<*xf32>
  memref.store %c0, %ds[%c0] : memref<?xindex>
  %d = memref.dim %2, %c0 : memref<*xf32>
  %e = memref.dim %2, %k : memref<*xf32>
  %k2 = memref.load %ds[%c0] : memref<?xindex>
  %f = memref.dim %2, %k2 : memref<*xf32>
  return %d, %e, %f : index, index, index
}
func.func @dim_view(%a: memref<2048xi8>, %n: index, %m: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %1 = memref.view %a[%n][%n, %m] : memref<2048xi8> to memref<?x4x?xf32>
  %d = memref.dim %1, %c0 : memref<?x4x?xf32>
  %e = memref.dim %1, %c2 : memref<?x4x?xf32>
  return %d, %e : index, index
}
func.func @dim_others(%a: memref<?x?xf32>, %n: index, %m: index) -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.transpose %a (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  %d = memref.dim %t, %c0 : memref<?x?xf32, strided<[1, ?]>>
  %e = memref.expand_shape %a [[0, 1], [2]] output_shape [%n, 4, %m] : memref<?x?xf32> into memref<?x4x?xf32>
  %f = memref.dim %e, %c0 : memref<?x4x?xf32>
  %g = memref.collapse_shape %a [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %h = memref.dim %g, %c0 : memref<?xf32>
  %r = memref.reinterpret_cast %a to offset: [0], sizes: [%m, 4], strides: [4, 1] : memref<?x?xf32> to memref<?x4xf32>
  %i = memref.dim %r, %c0 : memref<?x4xf32>
  return %d, %f, %h, %i : index, index, index, index
}
func.func @subsub(%a: memref<8x8xf32>, %n: index) -> (memref<4x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<4xf32, strided<[1], offset: 9>>) {
  %0 = memref.subview %a[1, 1][4, 4][1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
  %1 = memref.subview %0[0, 0][4, 4][1, 1] : memref<4x4xf32, strided<[8, 1], offset: 9>> to memref<4x4xf32, strided<[8, 1], offset: 9>>
  %2 = memref.subview %a[1, 1][%n, 4][1, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 9>>
  %3 = memref.subview %2[0, 0][%n, 4][1, 1] : memref<?x4xf32, strided<[8, 1], offset: 9>> to memref<?x4xf32, strided<[8, 1], offset: 9>>
  %c1 = arith.constant 1 : index
  %4 = memref.subview %2[0, 0][%n, 4][1, %c1] : memref<?x4xf32, strided<[8, 1], offset: 9>> to memref<?x4xf32, strided<[8, ?], offset: 9>>
  %5 = memref.cast %4 : memref<?x4xf32, strided<[8, ?], offset: 9>> to memref<?x4xf32, strided<[8, 1], offset: 9>>
  %6 = memref.subview %a[1, 1][1, 4][1, 1] : memref<8x8xf32> to memref<4xf32, strided<[1], offset: 9>>
  %7 = memref.subview %6[0][4][1] : memref<4xf32, strided<[1], offset: 9>> to memref<4xf32, strided<[1], offset: 9>>
  return %1, %3, %5, %7 : memref<4x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<4xf32, strided<[1], offset: 9>>
}
func.func @subsub2(%a: memref<8x8xf32>, %n: index) -> (memref<?x4xf32, strided<[?, 1], offset: ?>>) {
  %2 = memref.subview %a[1, %n][%n, 4][%n, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  %3 = memref.subview %2[0, 0][%n, 4][1, 1] : memref<?x4xf32, strided<[?, 1], offset: ?>> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  return %3 : memref<?x4xf32, strided<[?, 1], offset: ?>>
}
func.func @assume(%a: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>, memref<8xf32>) {
  %0 = memref.assume_alignment %a, 16 : memref<8xf32>
  %1 = memref.assume_alignment %0, 16 : memref<8xf32>
  %2 = memref.assume_alignment %0, 8 : memref<8xf32>
  %3 = memref.assume_alignment %0, 32 : memref<8xf32>
  return %1, %2, %3 : memref<8xf32>, memref<8xf32>, memref<8xf32>
}
func.func @expand_id(%a: memref<8x8xf32>, %b: memref<?x8xf32>, %n: index) -> (memref<8x8xf32>, memref<8x8xf32>, memref<?x8xf32>) {
  %0 = memref.expand_shape %a [[0], [1]] output_shape [8, 8] : memref<8x8xf32> into memref<8x8xf32>
  %1 = memref.collapse_shape %a [[0], [1]] : memref<8x8xf32> into memref<8x8xf32>
  %2 = memref.collapse_shape %b [[0], [1]] : memref<?x8xf32> into memref<?x8xf32>
  return %0, %1, %2 : memref<8x8xf32>, memref<8x8xf32>, memref<?x8xf32>
}
func.func @expand_ex(%a: memref<?xf32>, %b: memref<24xf32, strided<[2], offset: ?>>, %n: index, %m: index) -> (memref<?x2x3xf32>, memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>) {
  %0 = memref.expand_shape %a [[0, 1]] output_shape [%n, 3] : memref<?xf32> into memref<?x3xf32>
  %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%m, 2, 3] : memref<?x3xf32> into memref<?x2x3xf32>
  %2 = memref.expand_shape %b [[0, 1]] output_shape [8, 3] : memref<24xf32, strided<[2], offset: ?>> into memref<8x3xf32, strided<[6, 2], offset: ?>>
  %3 = memref.expand_shape %2 [[0, 1], [2]] output_shape [4, 2, 3] : memref<8x3xf32, strided<[6, 2], offset: ?>> into memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>
  return %1, %3 : memref<?x2x3xf32>, memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>
}
func.func @collapse_co(%a: memref<?x2x3xf32>, %b: memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>) -> (memref<?xf32>, memref<24xf32, strided<[2], offset: ?>>) {
  %0 = memref.collapse_shape %a [[0, 1], [2]] : memref<?x2x3xf32> into memref<?x3xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<?x3xf32> into memref<?xf32>
  %2 = memref.collapse_shape %b [[0, 1], [2]] : memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>> into memref<8x3xf32, strided<[6, 2], offset: ?>>
  %3 = memref.collapse_shape %2 [[0, 1]] : memref<8x3xf32, strided<[6, 2], offset: ?>> into memref<24xf32, strided<[2], offset: ?>>
  return %1, %3 : memref<?xf32>, memref<24xf32, strided<[2], offset: ?>>
}
func.func @back(%a: memref<?x2x3xf32>, %b: memref<4x2x3xf32>, %n: index) -> (memref<?x2x3xf32>, memref<4x2x3xf32>, memref<4x2x3xf32>) {
  %0 = memref.collapse_shape %a [[0, 1], [2]] : memref<?x2x3xf32> into memref<?x3xf32>
  %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%n, 2, 3] : memref<?x3xf32> into memref<?x2x3xf32>
  %2 = memref.collapse_shape %b [[0, 1, 2]] : memref<4x2x3xf32> into memref<24xf32>
  %3 = memref.expand_shape %2 [[0, 1, 2]] output_shape [4, 2, 3] : memref<24xf32> into memref<4x2x3xf32>
  %4 = memref.collapse_shape %b [[0, 1], [2]] : memref<4x2x3xf32> into memref<8x3xf32>
  %5 = memref.expand_shape %4 [[0, 1], [2]] output_shape [4, 2, 3] : memref<8x3xf32> into memref<4x2x3xf32>
  return %1, %3, %5 : memref<?x2x3xf32>, memref<4x2x3xf32>, memref<4x2x3xf32>
}
func.func @back2(%a: memref<?x3xf32>, %b: memref<8x3xf32>, %n: index) -> (memref<?x3xf32>, memref<8x3xf32>) {
  %0 = memref.expand_shape %a [[0, 1], [2]] output_shape [%n, 2, 3] : memref<?x3xf32> into memref<?x2x3xf32>
  %1 = memref.collapse_shape %0 [[0, 1], [2]] : memref<?x2x3xf32> into memref<?x3xf32>
  %2 = memref.expand_shape %b [[0, 1], [2]] output_shape [4, 2, 3] : memref<8x3xf32> into memref<4x2x3xf32>
  %3 = memref.collapse_shape %2 [[0, 1], [2]] : memref<4x2x3xf32> into memref<8x3xf32>
  return %1, %3 : memref<?x3xf32>, memref<8x3xf32>
}
func.func @back_dyn2(%a: memref<?x?x3xf32>, %n: index, %m: index) -> memref<?x?x3xf32> {
  %0 = memref.collapse_shape %a [[0, 1], [2]] : memref<?x?x3xf32> into memref<?x3xf32>
  %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%n, %m, 3] : memref<?x3xf32> into memref<?x?x3xf32>
  return %1 : memref<?x?x3xf32>
}
func.func @collapse_ex(%a: memref<8x3xf32>, %b: memref<?xf32>, %n: index) -> (memref<24xf32>, memref<8x3xf32>, memref<?x6xf32>, memref<2x4x3xf32>) {
  %0 = memref.expand_shape %a [[0, 1], [2]] output_shape [2, 4, 3] : memref<8x3xf32> into memref<2x4x3xf32>
  %1 = memref.collapse_shape %0 [[0, 1, 2]] : memref<2x4x3xf32> into memref<24xf32>
  %2 = memref.expand_shape %b [[0, 1, 2]] output_shape [%n, 2, 3] : memref<?xf32> into memref<?x2x3xf32>
  %3 = memref.collapse_shape %2 [[0], [1, 2]] : memref<?x2x3xf32> into memref<?x6xf32>
  %4 = memref.expand_shape %a [[0, 1, 2], [3]] output_shape [2, 2, 2, 3] : memref<8x3xf32> into memref<2x2x2x3xf32>
  %5 = memref.collapse_shape %4 [[0], [1, 2], [3]] : memref<2x2x2x3xf32> into memref<2x4x3xf32>
  return %1, %a, %3, %5 : memref<24xf32>, memref<8x3xf32>, memref<?x6xf32>, memref<2x4x3xf32>
}
func.func @collapse_ex_cross(%a: memref<8x3xf32>) -> memref<2x12xf32> {
  %0 = memref.expand_shape %a [[0, 1], [2]] output_shape [2, 4, 3] : memref<8x3xf32> into memref<2x4x3xf32>
  %1 = memref.collapse_shape %0 [[0], [1, 2]] : memref<2x4x3xf32> into memref<2x12xf32>
  return %1 : memref<2x12xf32>
}
func.func @collapse_ex_dyn(%b: memref<?xf32>, %n: index, %m: index) -> (memref<?x?xf32>) {
  %2 = memref.expand_shape %b [[0, 1, 2]] output_shape [%n, %m, 3] : memref<?xf32> into memref<?x?x3xf32>
  %3 = memref.collapse_shape %2 [[0], [1, 2]] : memref<?x?x3xf32> into memref<?x?xf32>
  return %3 : memref<?x?xf32>
}
func.func @collapse_ex_strided(%b: memref<?xf32, strided<[2], offset: ?>>, %n: index) -> (memref<?x6xf32, strided<[12, 2], offset: ?>>) {
  %2 = memref.expand_shape %b [[0, 1, 2]] output_shape [%n, 2, 3] : memref<?xf32, strided<[2], offset: ?>> into memref<?x2x3xf32, strided<[12, 6, 2], offset: ?>>
  %3 = memref.collapse_shape %2 [[0], [1, 2]] : memref<?x2x3xf32, strided<[12, 6, 2], offset: ?>> into memref<?x6xf32, strided<[12, 2], offset: ?>>
  return %3 : memref<?x6xf32, strided<[12, 2], offset: ?>>
}
func.func @expand_co(%a: memref<2x4x3xf32>, %b: memref<?x2x3xf32>, %n: index) -> (memref<8x3xf32>, memref<?x6xf32>, memref<2x2x2x3xf32>, memref<?x3x2xf32>) {
  %0 = memref.collapse_shape %a [[0, 1, 2]] : memref<2x4x3xf32> into memref<24xf32>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [8, 3] : memref<24xf32> into memref<8x3xf32>
  %2 = memref.collapse_shape %b [[0, 1, 2]] : memref<?x2x3xf32> into memref<?xf32>
  %3 = memref.expand_shape %2 [[0, 1]] output_shape [%n, 6] : memref<?xf32> into memref<?x6xf32>
  %4 = memref.collapse_shape %a [[0, 1], [2]] : memref<2x4x3xf32> into memref<8x3xf32>
  %5 = memref.expand_shape %4 [[0, 1, 2], [3]] output_shape [2, 2, 2, 3] : memref<8x3xf32> into memref<2x2x2x3xf32>
  %6 = memref.expand_shape %2 [[0, 1, 2]] output_shape [%n, 3, 2] : memref<?xf32> into memref<?x3x2xf32>
  return %1, %3, %5, %6 : memref<8x3xf32>, memref<?x6xf32>, memref<2x2x2x3xf32>, memref<?x3x2xf32>
}
func.func @expand_co_strided(%a: memref<2x4x3xf32, strided<[100, 6, 2], offset: ?>>) -> (memref<2x2x2x3xf32, strided<[100, 12, 6, 2], offset: ?>>) {
  %4 = memref.collapse_shape %a [[0], [1, 2]] : memref<2x4x3xf32, strided<[100, 6, 2], offset: ?>> into memref<2x12xf32, strided<[100, 2], offset: ?>>
  %5 = memref.expand_shape %4 [[0], [1, 2, 3]] output_shape [2, 2, 2, 3] : memref<2x12xf32, strided<[100, 2], offset: ?>> into memref<2x2x2x3xf32, strided<[100, 12, 6, 2], offset: ?>>
  return %5 : memref<2x2x2x3xf32, strided<[100, 12, 6, 2], offset: ?>>
}
func.func @collapse_cast(%a: memref<8x3xf32>, %b: memref<8x?xf32>, %u: memref<*xf32>) -> (memref<?xf32>, memref<?xf32>, memref<?xf32>) {
  %0 = memref.cast %a : memref<8x3xf32> to memref<?x?xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %2 = memref.cast %b : memref<8x?xf32> to memref<?x3xf32>
  %3 = memref.collapse_shape %2 [[0, 1]] : memref<?x3xf32> into memref<?xf32>
  %4 = memref.cast %u : memref<*xf32> to memref<?x3xf32>
  %5 = memref.collapse_shape %4 [[0, 1]] : memref<?x3xf32> into memref<?xf32>
  return %1, %3, %5 : memref<?xf32>, memref<?xf32>, memref<?xf32>
}
func.func @collapse_cast2(%a: memref<8x3xf32>, %b: memref<8x3xf32, strided<[3, 1], offset: 4>>) -> (memref<?xf32>, memref<24xf32, strided<[1], offset: ?>>) {
  %0 = memref.cast %a : memref<8x3xf32> to memref<8x?xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<8x?xf32> into memref<?xf32>
  %2 = memref.cast %b : memref<8x3xf32, strided<[3, 1], offset: 4>> to memref<8x3xf32, strided<[?, 1], offset: ?>>
  %3 = memref.collapse_shape %2 [[0, 1]] : memref<8x3xf32, strided<[?, 1], offset: ?>> into memref<24xf32, strided<[1], offset: ?>>
  return %1, %3 : memref<?xf32>, memref<24xf32, strided<[1], offset: ?>>
}
func.func @collapse_cast3(%a: memref<4x?x3xf32>) -> (memref<?x3xf32>) {
  %0 = memref.cast %a : memref<4x?x3xf32> to memref<?x?x3xf32>
  %1 = memref.collapse_shape %0 [[0, 1], [2]] : memref<?x?x3xf32> into memref<?x3xf32>
  return %1 : memref<?x3xf32>
}
func.func @expand_cast(%a: memref<24xf32>, %n: index) -> (memref<?x3xf32>) {
  %0 = memref.cast %a : memref<24xf32> to memref<?xf32>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [%n, 3] : memref<?xf32> into memref<?x3xf32>
  return %1 : memref<?x3xf32>
}
func.func @expand_cast2(%a: memref<24xf32>, %b: memref<24xf32, strided<[2], offset: 4>>, %n: index) -> (memref<?x3xf32>, memref<8x3xf32, strided<[?, ?], offset: ?>>, memref<?x3xf32>) {
  %c8 = arith.constant 8 : index
  %0 = memref.cast %a : memref<24xf32> to memref<?xf32>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [%c8, 3] : memref<?xf32> into memref<?x3xf32>
  %2 = memref.cast %b : memref<24xf32, strided<[2], offset: 4>> to memref<24xf32, strided<[?], offset: ?>>
  %3 = memref.expand_shape %2 [[0, 1]] output_shape [8, 3] : memref<24xf32, strided<[?], offset: ?>> into memref<8x3xf32, strided<[?, ?], offset: ?>>
  %4 = memref.expand_shape %0 [[0, 1]] output_shape [8, 3] : memref<?xf32> into memref<?x3xf32>
  return %1, %3, %4 : memref<?x3xf32>, memref<8x3xf32, strided<[?, ?], offset: ?>>, memref<?x3xf32>
}
func.func @expand_const(%a: memref<?xf32>, %n: index) -> (memref<?x3xf32>) {
  %c8 = arith.constant 8 : index
  %1 = memref.expand_shape %a [[0, 1]] output_shape [%c8, 3] : memref<?xf32> into memref<?x3xf32>
  return %1 : memref<?x3xf32>
}
func.func @expand_cast3(%a: memref<24x?xf32>, %n: index, %m: index) -> (memref<?x3x?xf32>, memref<?x3x?xf32>) {
  %c8 = arith.constant 8 : index
  %0 = memref.cast %a : memref<24x?xf32> to memref<?x?xf32>
  %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%n, 3, %m] : memref<?x?xf32> into memref<?x3x?xf32>
  %2 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%c8, 3, %m] : memref<?x?xf32> into memref<?x3x?xf32>
  return %1, %2 : memref<?x3x?xf32>, memref<?x3x?xf32>
}
func.func @casts_linalg(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %f: f32, %v: vector<4xf32>, %m: vector<4xi1>, %i: index, %u: memref<*xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %0 = memref.cast %a : memref<4x4xf32> to memref<?x?xf32>
  %1 = memref.cast %b : memref<4x4xf32> to memref<4x?xf32>
  %2 = memref.cast %u : memref<*xf32> to memref<4x4xf32>
  linalg.fill ins(%f : f32) outs(%0 : memref<?x?xf32>)
  linalg.copy ins(%0 : memref<?x?xf32>) outs(%1 : memref<4x?xf32>)
  linalg.matmul ins(%0, %1 : memref<?x?xf32>, memref<4x?xf32>) outs(%2 : memref<4x4xf32>)
  linalg.map { arith.addf } ins(%0, %0 : memref<?x?xf32>, memref<?x?xf32>) outs(%0 : memref<?x?xf32>)
  linalg.transpose ins(%0 : memref<?x?xf32>) outs(%0 : memref<?x?xf32>) permutation = [1, 0]
  %3 = vector.load %0[%i, %i] : memref<?x?xf32>, vector<4xf32>
  vector.store %3, %1[%i, %i] : memref<4x?xf32>, vector<4xf32>
  %4 = vector.transfer_read %0[%i, %i], %f : memref<?x?xf32>, vector<4xf32>
  vector.transfer_write %4, %1[%i, %i] : vector<4xf32>, memref<4x?xf32>
  %5 = vector.load %2[%i, %i] : memref<4x4xf32>, vector<4xf32>
  return %3, %4, %5, %5 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}
func.func @scope1(%f: f32) -> (f32) {
  %0 = memref.alloca_scope -> (f32) {
    %1 = arith.addf %f, %f : f32
    memref.alloca_scope.return %1 : f32
  }
  return %0 : f32
}
func.func @scope2(%f: f32, %i: index) -> (f32) {
  %0 = memref.alloca_scope -> (f32) {
    %a = memref.alloca() : memref<4xf32>
    memref.store %f, %a[%i] : memref<4xf32>
    %1 = memref.load %a[%i] : memref<4xf32>
    memref.alloca_scope.return %1 : f32
  }
  return %0 : f32
}
func.func @scope3(%f: f32, %i: index) -> (f32) {
  %0 = memref.alloca_scope -> (f32) {
    %a = memref.alloca() : memref<4xf32>
    memref.store %f, %a[%i] : memref<4xf32>
    %1 = memref.load %a[%i] : memref<4xf32>
    memref.alloca_scope.return %1 : f32
  }
  %2 = arith.addf %0, %f : f32
  return %2 : f32
}
func.func private @use_50(memref<4xf32>)
func.func @scope4(%f: f32, %i: index, %n: index, %b: i1) {
  scf.if %b {
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_50(%a) : (memref<4xf32>) -> ()
    }
  }
  return
}
func.func private @use_51(memref<4xf32>)
func.func @scope5(%f: f32, %i: index, %n: index, %b: i1) {
  scf.for %k = %i to %n step %i {
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_51(%a) : (memref<4xf32>) -> ()
    }
  }
  return
}
func.func private @use_52(memref<4xf32>)
func.func private @eff_52()
func.func @scope6(%f: f32, %i: index, %n: index, %b: i1) {
  memref.alloca_scope {
    func.call @eff_52() : () -> ()
  }
  memref.alloca_scope {
    scf.for %k = %i to %n step %i {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_52(%a) : (memref<4xf32>) -> ()
    }
  }
  memref.alloca_scope {
    scf.for %k = %i to %n step %i {
      %a = memref.alloca() : memref<4xf32>
      memref.store %f, %a[%i] : memref<4xf32>
      %l = memref.load %a[%i] : memref<4xf32>
      memref.store %l, %a[%k] : memref<4xf32>
    }
  }
  func.call @eff_52() : () -> ()
  return
}
func.func private @use_53(memref<?xf32>)
func.func private @fix_53(memref<4xf32>)
func.func @scope7(%f: f32, %i: index, %n: index, %b: i1) {
  scf.if %b {
    %m = arith.addi %n, %i : index
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      %d = memref.alloca(%m) : memref<?xf32>
      func.call @fix_53(%a) : (memref<4xf32>) -> ()
      func.call @use_53(%d) : (memref<?xf32>) -> ()
    }
  }
  return
}
func.func private @use_54(memref<?xf32>)
func.func @scope8(%f: f32, %i: index, %n: index, %b: i1) {
  scf.if %b {
    memref.alloca_scope {
      %a = memref.alloca(%n) : memref<?xf32>
      func.call @use_54(%a) : (memref<?xf32>) -> ()
    }
  } else {
    memref.alloca_scope {
      %a = memref.alloca(%i) : memref<?xf32>
      func.call @use_54(%a) : (memref<?xf32>) -> ()
    }
  }
  func.call @other_54() : () -> ()
  return
}
func.func private @other_54()
func.func @regrouped_b(%t: memref<?x8xf32>, %n: index) -> (memref<?x8xf32>, memref<?x8xf32>) {
  %0 = memref.collapse_shape %t [[0], [1]] : memref<?x8xf32> into memref<?x8xf32>
  %1 = memref.expand_shape %t [[0], [1]] output_shape [%n, 8] : memref<?x8xf32> into memref<?x8xf32>
  return %0, %1 : memref<?x8xf32>, memref<?x8xf32>
}
func.func @b2(%t: memref<?x?xf32>, %n: index) -> (memref<?x?xf32>, memref<?x?xf32>) {
  %0 = memref.collapse_shape %t [[0], [1]] : memref<?x?xf32> into memref<?x?xf32>
  %1 = memref.expand_shape %t [[0], [1]] output_shape [%n, 8] : memref<?x?xf32> into memref<?x?xf32>
  return %0, %1 : memref<?x?xf32>, memref<?x?xf32>
}
func.func @regrouped_d(%t: memref<?x6xf32>, %n: index) -> (memref<?x6xf32>, memref<?x6xf32>) {
  %0 = memref.expand_shape %t [[0, 1], [2, 3]] output_shape [%n, 2, 2, 3] : memref<?x6xf32> into memref<?x2x2x3xf32>
  %1 = memref.collapse_shape %0 [[0, 1], [2, 3]] : memref<?x2x2x3xf32> into memref<?x6xf32>
  %2 = memref.expand_shape %t [[0, 1], [2, 3]] output_shape [%n, 1, 1, 6] : memref<?x6xf32> into memref<?x1x1x6xf32>
  %3 = memref.collapse_shape %2 [[0], [1, 2, 3]] : memref<?x1x1x6xf32> into memref<?x6xf32>
  return %1, %3 : memref<?x6xf32>, memref<?x6xf32>
}
func.func @regrouped_e(%t: memref<?x?xf32>, %n: index) -> (memref<?x?xf32>, memref<?x?xf32>) {
  %0 = memref.expand_shape %t [[0, 1], [2, 3]] output_shape [%n, 2, %n, 3] : memref<?x?xf32> into memref<?x2x?x3xf32>
  %1 = memref.collapse_shape %0 [[0, 1], [2, 3]] : memref<?x2x?x3xf32> into memref<?x?xf32>
  %2 = memref.expand_shape %t [[0, 1], [2, 3]] output_shape [%n, 1, 1, %n] : memref<?x?xf32> into memref<?x1x1x?xf32>
  %3 = memref.collapse_shape %2 [[0], [1, 2, 3]] : memref<?x1x1x?xf32> into memref<?x?xf32>
  return %1, %3 : memref<?x?xf32>, memref<?x?xf32>
}
func.func @regrouped_f(%t: memref<?x2x?x3xf32>, %n: index) -> (memref<?x2x?x3xf32>) {
  %0 = memref.collapse_shape %t [[0, 1], [2, 3]]: memref<?x2x?x3xf32> into memref<?x?xf32>
  %1 = memref.expand_shape %0 [[0, 1], [2, 3]] output_shape [%n, 2, %n, 3]: memref<?x?xf32> into memref<?x2x?x3xf32>
  return %1 : memref<?x2x?x3xf32>
}
func.func @regrouped_g(%t: memref<?x1x1x3xf32>, %n: index) -> (memref<?x1x1x3xf32>) {
  %0 = memref.collapse_shape %t [[0, 1], [2, 3]]: memref<?x1x1x3xf32> into memref<?x3xf32>
  %1 = memref.expand_shape %0 [[0], [1, 2, 3]] output_shape [%n, 1, 1, 3]: memref<?x3xf32> into memref<?x1x1x3xf32>
  return %1 : memref<?x1x1x3xf32>
}
func.func @regrouped_i(%t: memref<?x2x?xf32>, %n: index) -> (memref<?x2x?xf32>) {
  %0 = memref.collapse_shape %t [[0, 1], [2]]: memref<?x2x?xf32> into memref<?x?xf32>
  %1 = memref.expand_shape %0 [[0], [1, 2]] output_shape [%n, 2, %n]: memref<?x?xf32> into memref<?x2x?xf32>
  return %1 : memref<?x2x?xf32>
}
func.func @regrouped_j(%t: memref<f32>, %n: memref<1x1xf32>) -> (memref<f32>, memref<1x1xf32>, memref<1xf32>) {
  %0 = memref.expand_shape %t [] output_shape [1, 1]: memref<f32> into memref<1x1xf32>
  %1 = memref.collapse_shape %0 []: memref<1x1xf32> into memref<f32>
  %2 = memref.collapse_shape %n []: memref<1x1xf32> into memref<f32>
  %3 = memref.expand_shape %2 [] output_shape [1, 1]: memref<f32> into memref<1x1xf32>
  %4 = memref.expand_shape %2 [] output_shape [1]: memref<f32> into memref<1xf32>
  return %1, %3, %4 : memref<f32>, memref<1x1xf32>, memref<1xf32>
}
func.func private @use_68(memref<4xf32>)
func.func @branches1(%i: index, %n: index, %b: i1) {
  scf.parallel (%k) = (%i) to (%n) step (%i) {
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_68(%a) : (memref<4xf32>) -> ()
    }
    scf.reduce
  }
  scf.forall (%k) in (%n) {
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_68(%a) : (memref<4xf32>) -> ()
    }
  }
  return
}
func.func private @use_69(memref<4xf32>)
func.func @branches2(%i: index, %n: index, %b: i1) {
  affine.for %k = 0 to %n {
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_69(%a) : (memref<4xf32>) -> ()
    }
  }
  return
}
func.func private @use_71(memref<4xf32>)
func.func @branches4(%i: index, %n: index, %b: i1) {
  memref.alloca_scope {
    %x = memref.alloca() : memref<4xf32>
    func.call @use_71(%x) : (memref<4xf32>) -> ()
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_71(%a) : (memref<4xf32>) -> ()
    }
  }
  func.call @use2_71() : () -> ()
  return
}
func.func private @use2_71()
func.func private @use_72(memref<4xf32>)
func.func @branches5(%i: index, %n: index, %b: i1) {
  memref.alloca_scope {
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
      func.call @use_72(%a) : (memref<4xf32>) -> ()
    }
    func.call @use2_72() : () -> ()
  }
  func.call @use2_72() : () -> ()
  return
}
func.func private @use2_72()
func.func private @use_74(memref<4xf32>)
func.func @branches7(%i: index, %n: index, %b: i1) {
  scf.if %b {
    scf.if %b {
      memref.alloca_scope {
        %a = memref.alloca() : memref<4xf32>
        func.call @use_74(%a) : (memref<4xf32>) -> ()
      }
    }
    func.call @use2_74() : () -> ()
  }
  return
}
func.func private @use2_74()
func.func private @use_75(memref<4xf32>)
func.func @branches8(%i: index, %n: index, %b: i1, %c: i1) {
  scf.if %b {
    func.call @use2_75() : () -> ()
    scf.if %c {
      memref.alloca_scope {
        %a = memref.alloca() : memref<4xf32>
        func.call @use_75(%a) : (memref<4xf32>) -> ()
      }
    }
  }
  return
}
func.func private @use2_75()
func.func private @use_76(memref<4xf32>)
func.func @branches9(%i: index, %n: index, %b: i1, %c: i1) {
  scf.if %b {
    func.call @use2_76() : () -> ()
      memref.alloca_scope {
        %a = memref.alloca() : memref<4xf32>
        scf.if %c {
          %d = memref.alloca() : memref<4xf32>
          func.call @use_76(%d) : (memref<4xf32>) -> ()
        }
        scf.execute_region {
          %d = memref.alloca() : memref<4xf32>
          func.call @use_76(%d) : (memref<4xf32>) -> ()
          scf.yield
        }
        func.call @use_76(%a) : (memref<4xf32>) -> ()
      }
  }
  return
}
func.func private @use2_76()
func.func private @use_77(memref<4xf32>)
func.func @branches10(%i: index, %n: index, %b: i1, %c: i1) {
  cf.cond_br %b, ^a, ^b
^a:
  memref.alloca_scope {
    %a = memref.alloca() : memref<4xf32>
    func.call @use_77(%a) : (memref<4xf32>) -> ()
  }
  cf.br ^b
^b:
  return
}
