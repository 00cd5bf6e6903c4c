func.func @f(%a: memref<8x8xf32>) { %0 = memref.reinterpret_cast %a to offset: [9], sizes: [4, -9223372036854775808], strides: [8, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
  return }
