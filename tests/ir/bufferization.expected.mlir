module {
  func.func @f(%arg0: memref<?xf32>, %arg1: tensor<?xf32>, %arg2: index, %arg3: memref<?xf32, strided<[?], offset: ?>>, %arg4: memref<*xf32>) -> tensor<?xf32> {
    %0 = bufferization.to_tensor %arg0 : memref<?xf32> to tensor<?xf32>
    %1 = bufferization.to_tensor %arg0 restrict writable : memref<?xf32> to tensor<?xf32>
    %2 = bufferization.to_buffer %arg1 : tensor<?xf32> to memref<?xf32>
    %3 = bufferization.to_buffer %arg1 read_only : tensor<?xf32> to memref<?xf32, strided<[?], offset: ?>>
    %4 = bufferization.materialize_in_destination %arg1 in %arg1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    bufferization.materialize_in_destination %arg1 in restrict writable %arg0 : (tensor<?xf32>, memref<?xf32>) -> ()
    bufferization.materialize_in_destination %arg1 in writable %arg0 : (tensor<?xf32>, memref<?xf32>) -> ()
    %5 = bufferization.alloc_tensor(%arg2) : tensor<?xf32>
    %6 = bufferization.alloc_tensor() copy(%arg1) : tensor<?xf32>
    %7 = bufferization.alloc_tensor(%arg2) size_hint=%arg2 : tensor<?xf32>
    %8 = bufferization.clone %arg0 : memref<?xf32> to memref<?xf32>
    bufferization.dealloc_tensor %5 : tensor<?xf32>
    %9 = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<4xf32>
    return %0 : tensor<?xf32>
  }
}
