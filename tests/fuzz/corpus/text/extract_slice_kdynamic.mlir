func.func @f(%a: tensor<8xf32>) { %0 = tensor.extract_slice %a[-9223372036854775808] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return }
