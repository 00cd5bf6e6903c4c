func.func @f(%a: tensor<2x3xf32>) { %0 = tensor.collapse_shape %a [[0, 1.0]] : tensor<2x3xf32> into tensor<6xf32>
  return }
