// canonicalize
func.func @buffer_of_tensor(%a: memref<4xf32>, %b: memref<?xf32, strided<[?], offset: ?>>, %c: memref<4xf32, strided<[1], offset: ?>>, %u: memref<*xf32>) -> (memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<4xf32>, memref<4xf32, strided<[?], offset: ?>>) {
  %0 = bufferization.to_tensor %a : memref<4xf32> to tensor<4xf32>
  %1 = bufferization.to_buffer %0 : tensor<4xf32> to memref<4xf32>
  %2 = bufferization.to_tensor %b : memref<?xf32, strided<[?], offset: ?>> to tensor<?xf32>
  %3 = bufferization.to_buffer %2 : tensor<?xf32> to memref<?xf32>
  %4 = bufferization.to_tensor %b restrict writable : memref<?xf32, strided<[?], offset: ?>> to tensor<?xf32>
  %5 = bufferization.to_buffer %4 : tensor<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %6 = bufferization.to_tensor %c : memref<4xf32, strided<[1], offset: ?>> to tensor<4xf32>
  %7 = bufferization.to_buffer %6 read_only : tensor<4xf32> to memref<4xf32>
  %8 = bufferization.to_tensor %a : memref<4xf32> to tensor<4xf32>
  %9 = bufferization.to_buffer %8 : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  return %1, %3, %5, %7, %9 : memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<4xf32>, memref<4xf32, strided<[?], offset: ?>>
}
func.func @buffer_in_space(%a: memref<?x4xf32, 1>, %u: memref<*xf32>) -> (memref<?x4xf32>, memref<*xf32>) {
  %0 = bufferization.to_tensor %a : memref<?x4xf32, 1> to tensor<?x4xf32>
  %1 = bufferization.to_buffer %0 : tensor<?x4xf32> to memref<?x4xf32>
  %2 = bufferization.to_tensor %u : memref<*xf32> to tensor<*xf32>
  %3 = bufferization.to_buffer %2 : tensor<*xf32> to memref<*xf32>
  return %1, %3 : memref<?x4xf32>, memref<*xf32>
}
func.func @tensor_of_buffer(%a: tensor<4xf32>, %i: index, %f: f32) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = bufferization.to_buffer %a : tensor<4xf32> to memref<4xf32>
  %1 = bufferization.to_tensor %0 : memref<4xf32> to tensor<4xf32>
  %2 = bufferization.to_buffer %a : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  memref.store %f, %2[%i] : memref<4xf32, strided<[?], offset: ?>>
  %3 = bufferization.to_tensor %2 : memref<4xf32, strided<[?], offset: ?>> to tensor<4xf32>
  %4 = bufferization.to_buffer %a : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  %5 = bufferization.to_tensor %4 : memref<4xf32, strided<[?], offset: ?>> to tensor<4xf32>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @buffer_of_cast(%a: tensor<4xf32>, %b: tensor<?xf32>, %u: tensor<*xf32>) -> (memref<?xf32>, memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<*xf32>) {
  %0 = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %1 = bufferization.to_buffer %0 : tensor<?xf32> to memref<?xf32>
  %2 = tensor.cast %b : tensor<?xf32> to tensor<4xf32>
  %3 = bufferization.to_buffer %2 : tensor<4xf32> to memref<4xf32>
  %4 = tensor.cast %u : tensor<*xf32> to tensor<?xf32>
  %5 = bufferization.to_buffer %4 read_only : tensor<?xf32> to memref<?xf32>
  %6 = bufferization.to_buffer %0 read_only : tensor<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %7 = tensor.cast %a : tensor<4xf32> to tensor<*xf32>
  %8 = bufferization.to_buffer %7 : tensor<*xf32> to memref<*xf32>
  return %1, %3, %5, %6, %8 : memref<?xf32>, memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<*xf32>
}
func.func @loads(%a: tensor<?xf32>, %i: index, %f: f32) -> (f32, index, index) {
  %c0 = arith.constant 0 : index
  %0 = bufferization.to_buffer %a : tensor<?xf32> to memref<?xf32>
  %1 = memref.load %0[%i] : memref<?xf32>
  %2 = memref.dim %0, %c0 : memref<?xf32>
  %3 = bufferization.to_buffer %a : tensor<?xf32> to memref<?xf32>
  memref.store %f, %3[%i] : memref<?xf32>
  %4 = memref.dim %3, %i : memref<?xf32>
  return %1, %2, %4 : f32, index, index
}
func.func @dims(%a: memref<?x4xf32>, %i: index, %n: index, %t: tensor<?x?xf32>) -> (index, index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = bufferization.to_tensor %a : memref<?x4xf32> to tensor<?x4xf32>
  %1 = tensor.dim %0, %c0 : tensor<?x4xf32>
  %2 = tensor.dim %0, %i : tensor<?x4xf32>
  %3 = bufferization.alloc_tensor(%n) : tensor<4x?xf32>
  %4 = tensor.dim %3, %c1 : tensor<4x?xf32>
  %5 = tensor.dim %3, %i : tensor<4x?xf32>
  %6 = bufferization.alloc_tensor() copy(%t) : tensor<?x?xf32>
  %7 = tensor.dim %6, %c1 : tensor<?x?xf32>
  %8 = bufferization.materialize_in_destination %t in %6 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %9 = tensor.dim %8, %c1 : tensor<?x?xf32>
  return %1, %2, %4, %5, %7, %9 : index, index, index, index, index, index
}
func.func @allocs(%n: index, %t: tensor<4x?xf32>) -> (tensor<?x?xf32>, tensor<4x?xf32>, tensor<?x?xf32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %cm = arith.constant -8 : index
  %0 = bufferization.alloc_tensor(%c4, %n) : tensor<?x?xf32>
  %1 = bufferization.alloc_tensor() copy(%t) {memory_space = 1 : i64}: tensor<4x?xf32>
  %2 = bufferization.alloc_tensor(%c4, %n) size_hint=%c8 : tensor<?x?xf32>
  %3 = bufferization.alloc_tensor(%n, %n) : tensor<?x?xf32>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<4x?xf32>, tensor<?x?xf32>
}
func.func @alloc_copy(%n: index, %t: tensor<4x4xf32>, %b: tensor<?x4xf32>) -> (tensor<?x?xf32>, tensor<?x4xf32>, tensor<4x4xf32>) {
  %0 = tensor.cast %t : tensor<4x4xf32> to tensor<?x?xf32>
  %1 = bufferization.alloc_tensor() copy(%0) : tensor<?x?xf32>
  %2 = tensor.cast %b : tensor<?x4xf32> to tensor<?x?xf32>
  %3 = bufferization.alloc_tensor() copy(%2) : tensor<?x?xf32>
  %4 = tensor.cast %3 : tensor<?x?xf32> to tensor<?x4xf32>
  %5 = bufferization.alloc_tensor(%n) : tensor<?x4xf32>
  %6 = tensor.cast %5 : tensor<?x4xf32> to tensor<4x4xf32>
  return %1, %4, %6 : tensor<?x?xf32>, tensor<?x4xf32>, tensor<4x4xf32>
}
func.func @materialize(%t: tensor<4xf32>, %d: tensor<4xf32>, %m: memref<4xf32>, %e: tensor<?xf32>) -> (tensor<?xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.cast %d : tensor<4xf32> to tensor<?xf32>
  %2 = bufferization.materialize_in_destination %0 in %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %3 = memref.cast %m : memref<4xf32> to memref<?xf32>
  bufferization.materialize_in_destination %0 in writable %3 : (tensor<?xf32>, memref<?xf32>) -> ()
  bufferization.materialize_in_destination %0 in restrict writable %m : (tensor<?xf32>, memref<4xf32>) -> ()
  %4 = bufferization.materialize_in_destination %t in %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = bufferization.materialize_in_destination %t in %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = bufferization.materialize_in_destination %5 in %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  bufferization.materialize_in_destination %7 in writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  %8 = bufferization.materialize_in_destination %t in %e : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  %9 = bufferization.materialize_in_destination %t in %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %4, %6 : tensor<?xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @clone1(%m: memref<4xf32>) -> memref<?xf32> {
  %0 = memref.cast %m : memref<4xf32> to memref<?xf32>
  %1 = bufferization.clone %0 : memref<?xf32> to memref<?xf32>
  memref.dealloc %0 : memref<?xf32>
  return %1 : memref<?xf32>
}
func.func @clone2(%m: memref<4xf32>) -> memref<4xf32> {
  %1 = bufferization.clone %m : memref<4xf32> to memref<4xf32>
  %2 = bufferization.clone %m : memref<4xf32> to memref<4xf32>
  return %1 : memref<4xf32>
}
func.func @clone3(%m: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %1 = bufferization.clone %m : memref<4xf32> to memref<4xf32>
  %2 = memref.load %1[%c0] : memref<4xf32>
  memref.dealloc %1 : memref<4xf32>
  return %2 : f32
}
func.func @clone4(%n: index, %f: f32) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %m = memref.alloc(%n) : memref<?xf32>
  memref.store %f, %m[%c0] : memref<?xf32>
  %x = memref.alloc(%n) : memref<?xf32>
  memref.store %f, %x[%c0] : memref<?xf32>
  %1 = bufferization.clone %m : memref<?xf32> to memref<?xf32>
  call @use_13(%x) : (memref<?xf32>) -> ()
  memref.dealloc %m : memref<?xf32>
  memref.dealloc %x : memref<?xf32>
  return %1 : memref<?xf32>
}
func.func private @use_13(memref<?xf32>)
func.func @clone5(%n: index, %f: f32) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %m = memref.alloc(%n) : memref<?xf32>
  memref.store %f, %m[%c0] : memref<?xf32>
  %x = memref.alloc(%n) : memref<?xf32>
  memref.store %f, %x[%c0] : memref<?xf32>
  %1 = bufferization.clone %m : memref<?xf32> to memref<?xf32>
  call @use_14(%x) : (memref<?xf32>) -> ()
  memref.dealloc %x : memref<?xf32>
  memref.dealloc %m : memref<?xf32>
  return %1 : memref<?xf32>
}
func.func private @use_14(memref<?xf32>)
func.func @clone6(%n: index, %f: f32, %b: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc(%n) : memref<?xf32>
  memref.store %f, %m[%c0] : memref<?xf32>
  %1 = bufferization.clone %m : memref<?xf32> to memref<?xf32>
  memref.dealloc %m : memref<?xf32>
  %g = memref.load %1[%c0] : memref<?xf32>
  memref.dealloc %1 : memref<?xf32>
  return %g : f32
}
func.func @clone8(%n: index, %f: f32, %b: i1) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %m = memref.alloc(%n) : memref<?xf32>
  memref.store %f, %m[%c0] : memref<?xf32>
  %v = memref.subview %m[0][4][1] : memref<?xf32> to memref<4xf32>
  %1 = bufferization.clone %v : memref<4xf32> to memref<4xf32>
  memref.dealloc %m : memref<?xf32>
  return %1 : memref<4xf32>
}
func.func @dealloc(%n: index, %f: f32, %b: i1) {
  %0 = bufferization.alloc_tensor(%n) : tensor<?xf32>
  bufferization.dealloc_tensor %0 : tensor<?xf32>
  return
}
func.func @extract(%t: tensor<4xf32>, %m: memref<?xf32>, %i: index) -> (f32, f32) {
  %0 = bufferization.to_tensor %m : memref<?xf32> to tensor<?xf32>
  %1 = tensor.extract %0[%i] : tensor<?xf32>
  %2 = bufferization.alloc_tensor() copy(%t) : tensor<4xf32>
  %3 = tensor.extract %2[%i] : tensor<4xf32>
  return %1, %3 : f32, f32
}
func.func @tensor_of_cast(%m: memref<4xf32>) -> (tensor<?xf32>) {
  %c = memref.cast %m : memref<4xf32> to memref<?xf32>
  %0 = bufferization.to_tensor %c : memref<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @cast_in_space(%t: tensor<4xf32>) -> memref<?xf32, strided<[?], offset: ?>, 3> {
  %c = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %0 = bufferization.to_buffer %c : tensor<?xf32> to memref<?xf32, strided<[?], offset: ?>, 3>
  return %0 : memref<?xf32, strided<[?], offset: ?>, 3>
}
