module {
  func.func @dimalloc(%arg0: index, %arg1: index, %arg2: memref<?x?xf32>) -> (index, index, index, index, index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = memref.dim %arg2, %1 : memref<?x?xf32>
    %3 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [%arg1, 4], strides: [4, 1] : memref<?x?xf32> to memref<?x4xf32>
    %4 = memref.dim %3, %0 : memref<?x4xf32>
    return %arg1, %arg1, %2, %arg1, %4 : index, index, index, index, index
  }
  func.func @castcast(%arg0: memref<4x?xf32>) -> memref<?x4xf32> {
    %0 = memref.cast %arg0 : memref<4x?xf32> to memref<?x4xf32>
    return %0 : memref<?x4xf32>
  }
  func.func @castback(%arg0: memref<4xf32>) -> memref<4xf32> {
    return %arg0 : memref<4xf32>
  }
  func.func @casts(%arg0: memref<4xf32>) -> memref<?xf32, strided<[?], offset: ?>> {
    %0 = memref.cast %arg0 : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
    return %0 : memref<?xf32, strided<[?], offset: ?>>
  }
  func.func @castload(%arg0: memref<4xf32>, %arg1: index, %arg2: f32) -> f32 {
    %0 = memref.load %arg0[%arg1] : memref<4xf32>
    memref.store %arg2, %arg0[%arg1] : memref<4xf32>
    return %0 : f32
  }
  func.func @castload2(%arg0: memref<?xf32>, %arg1: index, %arg2: f32) -> f32 {
    %0 = memref.load %arg0[%arg1] : memref<?xf32>
    memref.store %arg2, %arg0[%arg1] : memref<?xf32>
    return %0 : f32
  }
  func.func @castcopy(%arg0: memref<4xf32>, %arg1: memref<4xf32>) {
    memref.copy %arg0, %arg1 : memref<4xf32> to memref<4xf32>
    return
  }
  func.func @zerocopy(%arg0: memref<0xf32>, %arg1: memref<0xf32>) {
    return
  }
  func.func @alloc(%arg0: index, %arg1: f32) -> memref<?x?xf32> {
    %0 = memref.alloc(%arg0) : memref<4x?xf32>
    %1 = memref.cast %0 : memref<4x?xf32> to memref<?x?xf32>
    memref.store %arg1, %0[%arg0, %arg0] : memref<4x?xf32>
    return %1 : memref<?x?xf32>
  }
  func.func @dead(%arg0: index, %arg1: f32) {
    return
  }
  func.func @deadcast(%arg0: index, %arg1: f32) {
    return
  }
  func.func @whole(%arg0: memref<4x4xf32>) -> memref<4x4xf32, strided<[4, 1]>> {
    %0 = memref.cast %arg0 : memref<4x4xf32> to memref<4x4xf32, strided<[4, 1]>>
    return %0 : memref<4x4xf32, strided<[4, 1]>>
  }
  func.func @whole2(%arg0: memref<4x4xf32>) -> memref<4x4xf32> {
    return %arg0 : memref<4x4xf32>
  }
  func.func @subconst(%arg0: memref<8x8xf32>, %arg1: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
    %0 = memref.subview %arg0[0, %arg1] [4, %arg1] [1, 1] : memref<8x8xf32> to memref<4x?xf32, strided<[8, 1], offset: ?>>
    %1 = memref.cast %0 : memref<4x?xf32, strided<[8, 1], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  }
  func.func @subcast(%arg0: memref<8x8xf32>, %arg1: index) -> memref<?x?xf32, strided<[?, 1], offset: ?>> {
    %0 = memref.subview %arg0[%arg1, %arg1] [%arg1, %arg1] [1, 1] : memref<8x8xf32> to memref<?x?xf32, strided<[8, 1], offset: ?>>
    %1 = memref.cast %0 : memref<?x?xf32, strided<[8, 1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    return %1 : memref<?x?xf32, strided<[?, 1], offset: ?>>
  }
  func.func @subcast2(%arg0: memref<8x8xf32>, %arg1: index) -> memref<4x4xf32, strided<[?, 1], offset: ?>> {
    %0 = memref.subview %arg0[%arg1, %arg1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: ?>>
    %1 = memref.cast %0 : memref<4x4xf32, strided<[8, 1], offset: ?>> to memref<4x4xf32, strided<[?, 1], offset: ?>>
    return %1 : memref<4x4xf32, strided<[?, 1], offset: ?>>
  }
  memref.global "private" constant @g : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
  func.func @glob(%arg0: index) -> (f32, f32) {
    %0 = arith.constant 0 : index
    %1 = memref.get_global @g : memref<2xf32>
    %2 = memref.load %1[%0] : memref<2xf32>
    %3 = memref.load %1[%arg0] : memref<2xf32>
    return %2, %3 : f32, f32
  }
  memref.global "private" constant @h : memref<2xf32> = dense<1.000000e+00>
  func.func @globs(%arg0: index) -> f32 {
    %0 = memref.get_global @h : memref<2xf32>
    %1 = memref.load %0[%arg0] : memref<2xf32>
    return %1 : f32
  }
  func.func @rank(%arg0: memref<*xf32>, %arg1: memref<4xf32>) -> (index, index) {
    %0 = memref.cast %arg1 : memref<4xf32> to memref<*xf32>
    %1 = memref.rank %arg0 : memref<*xf32>
    %2 = memref.rank %0 : memref<*xf32>
    return %1, %2 : index, index
  }
  func.func @subsub(%arg0: memref<8x8xf32>) -> memref<2x2xf32, strided<[8, 1], offset: 18>> {
    %0 = memref.subview %arg0[1, 1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
    %1 = memref.subview %0[1, 1] [2, 2] [1, 1] : memref<4x4xf32, strided<[8, 1], offset: 9>> to memref<2x2xf32, strided<[8, 1], offset: 18>>
    return %1 : memref<2x2xf32, strided<[8, 1], offset: 18>>
  }
  func.func @meta(%arg0: memref<4x4xf32>) -> (index, index, index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 4 : index
    return %0, %1, %1 : index, index, index
  }
  func.func @scope() {
    return
  }
  func.func @memspace(%arg0: memref<4xf32>) -> memref<4xf32> {
    return %arg0 : memref<4xf32>
  }
  func.func @dimif(%arg0: memref<?xf32>, %arg1: index) -> index {
    %0 = arith.constant 0 : index
    %1 = memref.cast %arg0 : memref<?xf32> to memref<*xf32>
    %2 = memref.dim %1, %0 : memref<*xf32>
    return %2 : index
  }
}
