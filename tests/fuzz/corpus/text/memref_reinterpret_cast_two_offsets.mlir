func.func @f(%a: memref<?xf32>) { %0 = memref.reinterpret_cast %a to offset: [0, 0], sizes: [10], strides: [1] : memref<?xf32> to memref<10xf32, strided<[1], offset: 0>> return }
