// values: 1; pipeline: canonicalize
func.func @f(%t: tensor<3x4xi32>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %t[0, 1] [3, 1] [1, 1] : tensor<3x4xi32> to tensor<3xi32>
  %m = bufferization.to_buffer %s read_only : tensor<3xi32> to memref<3xi32>
  %r = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<3xi32> to memref<2xi32, strided<[1]>>
  %v = memref.load %r[%c0] : memref<2xi32, strided<[1]>>
  %w = memref.load %r[%c1] : memref<2xi32, strided<[1]>>
  return %v, %w : i32, i32
}
