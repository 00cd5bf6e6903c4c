module {
  func.func @castcast(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
    %0 = tensor.cast %arg0 : tensor<4xf32> to tensor<?xf32>
    return %arg0, %0 : tensor<4xf32>, tensor<?xf32>
  }
  func.func @whole(%arg0: tensor<4x5xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<?xf32>, %arg3: index) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>) {
    %0 = tensor.extract_slice %arg2[0] [%arg3] [1] : tensor<?xf32> to tensor<?xf32>
    return %arg0, %arg1, %0, %arg2 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>
  }
}
