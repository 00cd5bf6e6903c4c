func.func @f(%a: memref<?xf32>, %n: index) { %0 = memref.expand_shape %a [[0.0, 1]] output_shape [%n, 3] : memref<?xf32> into memref<?x3xf32>
  return }
