func.func @f(%x: tensor<2x3xf32>) { %0 = linalg.elementwise kind=1 ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return }
