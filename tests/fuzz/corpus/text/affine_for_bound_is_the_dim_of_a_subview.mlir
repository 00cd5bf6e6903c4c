func.func @f(%m: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to %n { %d = memref.dim %m, %c0 : memref<?x?xf32>
    %s = memref.subview %m[0, 0] [%d, %i] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
    %e = memref.dim %s, %c0 : memref<?x?xf32, strided<[?, 1]>>
    affine.for %j = 0 to %e { } } return }
