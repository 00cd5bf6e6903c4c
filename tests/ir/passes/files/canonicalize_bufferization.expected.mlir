module {
  func.func @buffer_of_tensor(%arg0: memref<4xf32>, %arg1: memref<?xf32, strided<[?], offset: ?>>, %arg2: memref<4xf32, strided<[1], offset: ?>>, %arg3: memref<*xf32>) -> (memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<4xf32>, memref<4xf32, strided<[?], offset: ?>>) {
    %0 = arith.constant 0 : index
    %1 = memref.dim %arg1, %0 : memref<?xf32, strided<[?], offset: ?>>
    %2 = memref.alloc(%1) : memref<?xf32>
    memref.copy %arg1, %2 : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32>
    %3 = memref.alloc() : memref<4xf32>
    memref.copy %arg2, %3 : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
    %4 = memref.cast %arg0 : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
    return %arg0, %2, %arg1, %3, %4 : memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<4xf32>, memref<4xf32, strided<[?], offset: ?>>
  }
  func.func @buffer_in_space(%arg0: memref<?x4xf32, 1>, %arg1: memref<*xf32>) -> (memref<?x4xf32>, memref<*xf32>) {
    %0 = arith.constant 0 : index
    %1 = memref.dim %arg0, %0 : memref<?x4xf32, 1>
    %2 = memref.alloc(%1) : memref<?x4xf32>
    memref.copy %arg0, %2 : memref<?x4xf32, 1> to memref<?x4xf32>
    return %2, %arg1 : memref<?x4xf32>, memref<*xf32>
  }
  func.func @tensor_of_buffer(%arg0: tensor<4xf32>, %arg1: index, %arg2: f32) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = bufferization.to_buffer %arg0 : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
    memref.store %arg2, %0[%arg1] : memref<4xf32, strided<[?], offset: ?>>
    %1 = bufferization.to_tensor %0 : memref<4xf32, strided<[?], offset: ?>> to tensor<4xf32>
    return %arg0, %1, %arg0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func @buffer_of_cast(%arg0: tensor<4xf32>, %arg1: tensor<?xf32>, %arg2: tensor<*xf32>) -> (memref<?xf32>, memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<*xf32>) {
    %0 = bufferization.to_buffer %arg0 : tensor<4xf32> to memref<4xf32>
    %1 = memref.cast %0 : memref<4xf32> to memref<?xf32>
    %2 = bufferization.to_buffer %arg1 : tensor<?xf32> to memref<?xf32>
    %3 = memref.cast %2 : memref<?xf32> to memref<4xf32>
    %4 = tensor.cast %arg2 : tensor<*xf32> to tensor<?xf32>
    %5 = bufferization.to_buffer %4 read_only : tensor<?xf32> to memref<?xf32>
    %6 = bufferization.to_buffer %arg0 read_only : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
    %7 = memref.cast %6 : memref<4xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
    %8 = bufferization.to_buffer %arg0 : tensor<4xf32> to memref<4xf32>
    %9 = memref.cast %8 : memref<4xf32> to memref<*xf32>
    return %1, %3, %5, %7, %9 : memref<?xf32>, memref<4xf32>, memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<*xf32>
  }
  func.func @loads(%arg0: tensor<?xf32>, %arg1: index, %arg2: f32) -> (f32, index, index) {
    %0 = arith.constant 0 : index
    %1 = tensor.extract %arg0[%arg1] : tensor<?xf32>
    %2 = tensor.dim %arg0, %0 : tensor<?xf32>
    %3 = bufferization.to_buffer %arg0 : tensor<?xf32> to memref<?xf32>
    memref.store %arg2, %3[%arg1] : memref<?xf32>
    %4 = tensor.dim %arg0, %arg1 : tensor<?xf32>
    return %1, %2, %4 : f32, index, index
  }
  func.func @dims(%arg0: memref<?x4xf32>, %arg1: index, %arg2: index, %arg3: tensor<?x?xf32>) -> (index, index, index, index, index, index) {
    %0 = arith.constant 1 : index
    %1 = arith.constant 0 : index
    %2 = memref.dim %arg0, %1 : memref<?x4xf32>
    %3 = memref.dim %arg0, %arg1 : memref<?x4xf32>
    %4 = bufferization.alloc_tensor(%arg2) : tensor<4x?xf32>
    %5 = tensor.dim %4, %arg1 : tensor<4x?xf32>
    %6 = bufferization.alloc_tensor() copy(%arg3) : tensor<?x?xf32>
    %7 = tensor.dim %arg3, %0 : tensor<?x?xf32>
    %8 = tensor.dim %arg3, %0 : tensor<?x?xf32>
    return %2, %3, %arg2, %5, %7, %8 : index, index, index, index, index, index
  }
  func.func @allocs(%arg0: index, %arg1: tensor<4x?xf32>) -> (tensor<?x?xf32>, tensor<4x?xf32>, tensor<?x?xf32>) {
    %0 = bufferization.alloc_tensor(%arg0) : tensor<4x?xf32>
    %1 = tensor.cast %0 : tensor<4x?xf32> to tensor<?x?xf32>
    %2 = bufferization.alloc_tensor() copy(%arg1) {memory_space = 1 : i64} : tensor<4x?xf32>
    %3 = bufferization.alloc_tensor(%arg0) : tensor<4x?xf32>
    %4 = tensor.cast %3 : tensor<4x?xf32> to tensor<?x?xf32>
    %5 = bufferization.alloc_tensor(%arg0, %arg0) : tensor<?x?xf32>
    return %1, %2, %4 : tensor<?x?xf32>, tensor<4x?xf32>, tensor<?x?xf32>
  }
  func.func @alloc_copy(%arg0: index, %arg1: tensor<4x4xf32>, %arg2: tensor<?x4xf32>) -> (tensor<?x?xf32>, tensor<?x4xf32>, tensor<4x4xf32>) {
    %0 = tensor.cast %arg1 : tensor<4x4xf32> to tensor<?x?xf32>
    %1 = bufferization.alloc_tensor() copy(%0) : tensor<?x?xf32>
    %2 = tensor.cast %arg2 : tensor<?x4xf32> to tensor<?x?xf32>
    %3 = bufferization.alloc_tensor() copy(%2) : tensor<?x?xf32>
    %4 = tensor.cast %3 : tensor<?x?xf32> to tensor<?x4xf32>
    %5 = bufferization.alloc_tensor(%arg0) : tensor<?x4xf32>
    %6 = tensor.cast %5 : tensor<?x4xf32> to tensor<4x4xf32>
    return %1, %4, %6 : tensor<?x?xf32>, tensor<?x4xf32>, tensor<4x4xf32>
  }
  func.func @materialize(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: memref<4xf32>, %arg3: tensor<?xf32>) -> (tensor<?xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = bufferization.materialize_in_destination %arg0 in %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tensor.cast %0 : tensor<4xf32> to tensor<?xf32>
    %2 = memref.cast %arg2 : memref<4xf32> to memref<?xf32>
    bufferization.materialize_in_destination %arg0 in writable %2 : (tensor<4xf32>, memref<?xf32>) -> ()
    bufferization.materialize_in_destination %arg0 in restrict writable %arg2 : (tensor<4xf32>, memref<4xf32>) -> ()
    %3 = bufferization.materialize_in_destination %arg0 in %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = bufferization.materialize_in_destination %arg0 in %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = bufferization.materialize_in_destination %4 in %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %6 = bufferization.to_tensor %arg2 restrict : memref<4xf32> to tensor<4xf32>
    bufferization.materialize_in_destination %6 in writable %arg2 : (tensor<4xf32>, memref<4xf32>) -> ()
    return %1, %3, %5 : tensor<?xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func @clone1(%arg0: memref<4xf32>) -> memref<?xf32> {
    %0 = memref.cast %arg0 : memref<4xf32> to memref<?xf32>
    return %0 : memref<?xf32>
  }
  func.func @clone2(%arg0: memref<4xf32>) -> memref<4xf32> {
    %0 = bufferization.clone %arg0 : memref<4xf32> to memref<4xf32>
    return %0 : memref<4xf32>
  }
  func.func @clone3(%arg0: memref<4xf32>) -> f32 {
    %0 = arith.constant 0 : index
    %1 = memref.load %arg0[%0] : memref<4xf32>
    return %1 : f32
  }
  func.func @clone4(%arg0: index, %arg1: f32) -> memref<?xf32> {
    %0 = arith.constant 0 : index
    %1 = memref.alloc(%arg0) : memref<?xf32>
    memref.store %arg1, %1[%0] : memref<?xf32>
    %2 = memref.alloc(%arg0) : memref<?xf32>
    memref.store %arg1, %2[%0] : memref<?xf32>
    call @use_13(%2) : (memref<?xf32>) -> ()
    memref.dealloc %2 : memref<?xf32>
    return %1 : memref<?xf32>
  }
  func.func private @use_13(memref<?xf32>)
  func.func @clone5(%arg0: index, %arg1: f32) -> memref<?xf32> {
    %0 = arith.constant 0 : index
    %1 = memref.alloc(%arg0) : memref<?xf32>
    memref.store %arg1, %1[%0] : memref<?xf32>
    %2 = memref.alloc(%arg0) : memref<?xf32>
    memref.store %arg1, %2[%0] : memref<?xf32>
    %3 = bufferization.clone %1 : memref<?xf32> to memref<?xf32>
    call @use_14(%2) : (memref<?xf32>) -> ()
    memref.dealloc %2 : memref<?xf32>
    memref.dealloc %1 : memref<?xf32>
    return %3 : memref<?xf32>
  }
  func.func private @use_14(memref<?xf32>)
  func.func @clone6(%arg0: index, %arg1: f32, %arg2: i1) -> f32 {
    %0 = arith.constant 0 : index
    %1 = memref.alloc(%arg0) : memref<?xf32>
    memref.store %arg1, %1[%0] : memref<?xf32>
    %2 = bufferization.clone %1 : memref<?xf32> to memref<?xf32>
    memref.dealloc %1 : memref<?xf32>
    %3 = memref.load %2[%0] : memref<?xf32>
    memref.dealloc %2 : memref<?xf32>
    return %3 : f32
  }
  func.func @clone8(%arg0: index, %arg1: f32, %arg2: i1) -> memref<4xf32> {
    %0 = arith.constant 0 : index
    %1 = memref.alloc(%arg0) : memref<?xf32>
    memref.store %arg1, %1[%0] : memref<?xf32>
    %2 = memref.subview %1[0] [4] [1] : memref<?xf32> to memref<4xf32>
    return %2 : memref<4xf32>
  }
  func.func @dealloc(%arg0: index, %arg1: f32, %arg2: i1) {
    %0 = bufferization.alloc_tensor(%arg0) : tensor<?xf32>
    bufferization.dealloc_tensor %0 : tensor<?xf32>
    return
  }
  func.func @extract(%arg0: tensor<4xf32>, %arg1: memref<?xf32>, %arg2: index) -> (f32, f32) {
    %0 = bufferization.to_tensor %arg1 : memref<?xf32> to tensor<?xf32>
    %1 = tensor.extract %0[%arg2] : tensor<?xf32>
    %2 = bufferization.alloc_tensor() copy(%arg0) : tensor<4xf32>
    %3 = tensor.extract %2[%arg2] : tensor<4xf32>
    return %1, %3 : f32, f32
  }
  func.func @tensor_of_cast(%arg0: memref<4xf32>) -> tensor<?xf32> {
    %0 = memref.cast %arg0 : memref<4xf32> to memref<?xf32>
    %1 = bufferization.to_tensor %0 : memref<?xf32> to tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func @cast_in_space(%arg0: tensor<4xf32>) -> memref<?xf32, strided<[?], offset: ?>, 3> {
    %0 = bufferization.to_buffer %arg0 : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>, 3>
    %1 = memref.cast %0 : memref<4xf32, strided<[?], offset: ?>, 3> to memref<?xf32, strided<[?], offset: ?>, 3>
    return %1 : memref<?xf32, strided<[?], offset: ?>, 3>
  }
}
