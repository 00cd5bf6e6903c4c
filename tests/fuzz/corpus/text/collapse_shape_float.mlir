func.func @f(%a: memref<2x3xf32>) { %0 = memref.collapse_shape %a [[0, 1.0]] : memref<2x3xf32> into memref<6xf32>
  return }
