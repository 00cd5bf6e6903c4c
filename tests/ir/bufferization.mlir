func.func @f(%m: memref<?xf32>, %t: tensor<?xf32>, %n: index, %st: memref<?xf32, strided<[?], offset: ?>>, %um: memref<*xf32>) -> tensor<?xf32> {
  %0 = bufferization.to_tensor %m : memref<?xf32> to tensor<?xf32>
  %1 = bufferization.to_tensor %m restrict writable : memref<?xf32> to tensor<?xf32>
  %2 = bufferization.to_buffer %t : tensor<?xf32> to memref<?xf32>
  %3 = bufferization.to_buffer %t read_only : tensor<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %4 = bufferization.materialize_in_destination %t in %t : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %t in restrict writable %m : (tensor<?xf32>, memref<?xf32>) -> ()
  bufferization.materialize_in_destination %t in writable %m : (tensor<?xf32>, memref<?xf32>) -> ()
  %5 = bufferization.alloc_tensor(%n) : tensor<?xf32>
  %6 = bufferization.alloc_tensor() copy(%t) : tensor<?xf32>
  %7 = bufferization.alloc_tensor(%n) size_hint=%n : tensor<?xf32>
  %8 = bufferization.clone %m : memref<?xf32> to memref<?xf32>
  bufferization.dealloc_tensor %5 : tensor<?xf32>
  %9 = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<4xf32>
  return %0 : tensor<?xf32>
}
