// expected-error@+1:40 {{'bufferization.to_tensor' op failed to verify that result type matches tensor equivalent of 'memref'}}
func.func @f(%m: memref<4xf32>) { %0 = bufferization.to_tensor %m : memref<4xf32> to tensor<5xf32> return }
// -----
// expected-error@+1:40 {{shapes do not match}}
func.func @f(%t: tensor<4xf32>) { %0 = bufferization.to_buffer %t : tensor<4xf32> to memref<5xf32> return }
// -----
// expected-error@+1:40 {{element types do not match}}
func.func @f(%t: tensor<4xf32>) { %0 = bufferization.to_buffer %t : tensor<4xf32> to memref<4xi32> return }
// -----
// expected-error@+1:54 {{'bufferization.materialize_in_destination' op 'writable' must be specified if and only if the destination is of memref type}}
func.func @f(%t: tensor<4xf32>, %m: memref<4xf32>) { bufferization.materialize_in_destination %t in %m : (tensor<4xf32>, memref<4xf32>) -> () return }
// -----
// expected-error@+1:54 {{'bufferization.materialize_in_destination' op failed to verify that all of {source, dest} have same element type}}
func.func @f(%t: tensor<4xf32>, %m: memref<4xi32>) { bufferization.materialize_in_destination %t in writable %m : (tensor<4xf32>, memref<4xi32>) -> () return }
// -----
// expected-error@+1:40 {{'bufferization.materialize_in_destination' op 'restrict' is valid only for memref destinations}}
func.func @f(%t: tensor<4xf32>) { %0 = bufferization.materialize_in_destination %t in restrict %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> return }
// -----
// expected-error@+1:32 {{'bufferization.alloc_tensor' op incorrect number of dynamic sizes, has 0, expected 1}}
func.func @f(%n: index) { %0 = bufferization.alloc_tensor() : tensor<?xf32> return }
// -----
// expected-error@+1:51 {{dynamic sizes not needed when copying a tensor}}
func.func @f(%n: index, %t: tensor<?xf32>) { %0 = bufferization.alloc_tensor(%n) copy(%t) : tensor<?xf32> return }
