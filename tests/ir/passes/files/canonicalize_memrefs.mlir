// canonicalize
func.func @dimalloc(%n: index, %m: index, %s: memref<?x?xf32>) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n, %m) : memref<?x?xf32>
  %0 = memref.dim %a, %c1 : memref<?x?xf32>
  %v = memref.subview %s[0, 0][%n, %m][1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %1 = memref.dim %v, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %c = memref.cast %s : memref<?x?xf32> to memref<4x?xf32>
  %2 = memref.dim %c, %c1 : memref<4x?xf32>
  %w = memref.subview %s[0, 0][1, %m][1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1]>>
  %3 = memref.dim %w, %c0 : memref<?xf32, strided<[1]>>
  %r = memref.reinterpret_cast %s to offset: [0], sizes: [%m, 4], strides: [4, 1] : memref<?x?xf32> to memref<?x4xf32>
  %4 = memref.dim %r, %c0 : memref<?x4xf32>
  memref.dealloc %a : memref<?x?xf32>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}
func.func @castcast(%a: memref<4x?xf32>) -> memref<?x4xf32> {
  %0 = memref.cast %a : memref<4x?xf32> to memref<?x?xf32>
  %1 = memref.cast %0 : memref<?x?xf32> to memref<?x4xf32>
  return %1 : memref<?x4xf32>
}
func.func @castback(%a: memref<4xf32>) -> memref<4xf32> {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  %1 = memref.cast %0 : memref<?xf32> to memref<4xf32>
  return %1 : memref<4xf32>
}
func.func @casts(%a: memref<4xf32>) -> memref<?xf32, strided<[?], offset: ?>> {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  %1 = memref.cast %0 : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  return %1 : memref<?xf32, strided<[?], offset: ?>>
}
func.func @castload(%a: memref<4xf32>, %i: index, %f: f32) -> f32 {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  %1 = memref.load %0[%i] : memref<?xf32>
  memref.store %f, %0[%i] : memref<?xf32>
  return %1 : f32
}
func.func @castload2(%a: memref<?xf32>, %i: index, %f: f32) -> f32 {
  %0 = memref.cast %a : memref<?xf32> to memref<4xf32>
  %1 = memref.load %0[%i] : memref<4xf32>
  memref.store %f, %0[%i] : memref<4xf32>
  return %1 : f32
}
func.func @castcopy(%a: memref<4xf32>, %b: memref<4xf32>) {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  %1 = memref.cast %b : memref<4xf32> to memref<?xf32>
  memref.copy %0, %1 : memref<?xf32> to memref<?xf32>
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  return
}
func.func @zerocopy(%a: memref<0xf32>, %b: memref<0xf32>) {
  memref.copy %a, %b : memref<0xf32> to memref<0xf32>
  return
}
func.func @alloc(%n: index, %f: f32) -> memref<?x?xf32> {
  %c4 = arith.constant 4 : index
  %a = memref.alloc(%c4, %n) : memref<?x?xf32>
  memref.store %f, %a[%n, %n] : memref<?x?xf32>
  return %a : memref<?x?xf32>
}
func.func @dead(%n: index, %f: f32) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  %c0 = arith.constant 0 : index
  memref.store %f, %b[%c0] : memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  %d = memref.alloca(%n) : memref<?xf32>
  %e = memref.alloca(%n) : memref<?xf32>
  memref.store %f, %e[%c0] : memref<?xf32>
  return
}
func.func @deadcast(%n: index, %f: f32) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.cast %a : memref<4xf32> to memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  return
}
func.func @whole(%a: memref<4x4xf32>) -> memref<4x4xf32, strided<[4, 1]>> {
  %0 = memref.subview %a[0, 0][4, 4][1, 1] : memref<4x4xf32> to memref<4x4xf32, strided<[4, 1]>>
  return %0 : memref<4x4xf32, strided<[4, 1]>>
}
func.func @whole2(%a: memref<4x4xf32>) -> memref<4x4xf32> {
  %0 = memref.subview %a[0, 0][4, 4][1, 1] : memref<4x4xf32> to memref<4x4xf32>
  return %0 : memref<4x4xf32>
}
func.func @subconst(%a: memref<8x8xf32>, %n: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = memref.subview %a[%c0, %n][%c4, %n][%c1, %c1] : memref<8x8xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
}
func.func @subcast(%a: memref<8x8xf32>, %n: index) -> memref<?x?xf32, strided<[?, 1], offset: ?>> {
  %c = memref.cast %a : memref<8x8xf32> to memref<?x?xf32>
  %0 = memref.subview %c[%n, %n][%n, %n][1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  return %0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
}
func.func @subcast2(%a: memref<8x8xf32>, %n: index) -> memref<4x4xf32, strided<[?, 1], offset: ?>> {
  %c = memref.cast %a : memref<8x8xf32> to memref<?x?xf32>
  %0 = memref.subview %c[%n, %n][4, 4][1, 1] : memref<?x?xf32> to memref<4x4xf32, strided<[?, 1], offset: ?>>
  return %0 : memref<4x4xf32, strided<[?, 1], offset: ?>>
}
memref.global "private" constant @g : memref<2xf32> = dense<[1.0, 2.0]>
func.func @glob(%n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %a = memref.get_global @g : memref<2xf32>
  %0 = memref.load %a[%c0] : memref<2xf32>
  %1 = memref.load %a[%n] : memref<2xf32>
  return %0, %1 : f32, f32
}
memref.global "private" constant @h : memref<2xf32> = dense<1.0>
func.func @globs(%n: index) -> (f32) {
  %a = memref.get_global @h : memref<2xf32>
  %1 = memref.load %a[%n] : memref<2xf32>
  return %1 : f32
}
func.func @rank(%a: memref<*xf32>, %b: memref<4xf32>) -> (index, index) {
  %c = memref.cast %b : memref<4xf32> to memref<*xf32>
  %0 = memref.rank %a : memref<*xf32>
  %1 = memref.rank %c : memref<*xf32>
  return %0, %1 : index, index
}
func.func @subsub(%a: memref<8x8xf32>) -> memref<2x2xf32, strided<[8, 1], offset: 18>> {
  %0 = memref.subview %a[1, 1][4, 4][1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
  %1 = memref.subview %0[1, 1][2, 2][1, 1] : memref<4x4xf32, strided<[8, 1], offset: 9>> to memref<2x2xf32, strided<[8, 1], offset: 18>>
  return %1 : memref<2x2xf32, strided<[8, 1], offset: 18>>
}
func.func @meta(%a: memref<4x4xf32>) -> (index, index, index) {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %a : memref<4x4xf32> -> memref<f32>, index, index, index, index, index
  return %o, %s#0, %t#0 : index, index, index
}
func.func @scope() -> () {
  memref.alloca_scope {
    %a = memref.alloca() : memref<4xf32>
    memref.alloca_scope.return
  }
  return
}
func.func @memspace(%a: memref<4xf32>) -> memref<4xf32> {
  %0 = memref.memory_space_cast %a : memref<4xf32> to memref<4xf32, 1>
  %1 = memref.memory_space_cast %0 : memref<4xf32, 1> to memref<4xf32>
  return %1 : memref<4xf32>
}
func.func @dimif(%a: memref<?xf32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c = memref.cast %a : memref<?xf32> to memref<*xf32>
  %1 = memref.dim %c, %c0 : memref<*xf32>
  return %1 : index
}
