func.func @collapse_cast(%a: memref<8x4611686018427387904xf32>, %b: memref<8x?xf32>, %u: memref<*xf32>) -> (memref<?xf32>, memref<?xf32>, memref<?xf32>) {
  %0 = memref.cast %a : memref<8x4611686018427387904xf32> to memref<?x?xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %2 = memref.cast %b : memref<8x?xf32> to memref<?x4611686018427387904xf32>
  %3 = memref.collapse_shape %2 [[0, 1]] : memref<?x4611686018427387904xf32> into memref<?xf32>
  %4 = memref.cast %u : memref<*xf32> to memref<?x4611686018427387904xf32>
  %5 = memref.collapse_shape %4 [[0, 1]] : memref<?x4611686018427387904xf32> into memref<?xf32>
  return %1, %3, %5 : memref<?xf32>, memref<?xf32>, memref<?xf32>
}
