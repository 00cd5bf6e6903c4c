func.func @f(%y: memref<?x?xi32>) {
  linalg.matmul ins(%y, %y : memref<?x?xi32>) outs(%y : memref<?x?xi32>)
  return
}
