func.func @f(%a: tensor<6xf32>) { %0 = tensor.expand_shape %a [["a", 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return }
