// canonicalize
func.func @castcast(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  %2 = tensor.cast %0 : tensor<?xf32> to tensor<*xf32>
  %3 = tensor.cast %2 : tensor<*xf32> to tensor<?xf32>
  return %1, %3 : tensor<4xf32>, tensor<?xf32>
}
func.func @whole(%t: tensor<4x5xf32>, %s: tensor<4x5xf32>, %d: tensor<?xf32>, %n: index) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = tensor.extract_slice %t[0, 0] [4, 5] [1, 1] : tensor<4x5xf32> to tensor<4x5xf32>
  %1 = tensor.insert_slice %s into %t[0, 0] [4, 5] [1, 1] : tensor<4x5xf32> into tensor<4x5xf32>
  %2 = tensor.extract_slice %d[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %3 = tensor.insert_slice %2 into %d[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %0, %1, %2, %3 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>
}
