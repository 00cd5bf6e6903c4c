func.func @f(%x: tensor<2x3xf32>) { %0 = linalg.elementwise kind=#linalg.ealg.elementwise kind=#linalg.elementwise_kind<add> ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return }
