func.func @f(%a: memref<8xf32>) { %0 = memref.subview %a[-9223372036854775808] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  return }
