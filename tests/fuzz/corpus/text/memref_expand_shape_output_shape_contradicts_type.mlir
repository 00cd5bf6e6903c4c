func.func @f(%a: memref<30x20xf32>) { %0 = memref.expand_shape %a [[0, 1], [2]] output_shape [2, 15, 21] : memref<30x20xf32> into memref<2x15x20xf32> return }
