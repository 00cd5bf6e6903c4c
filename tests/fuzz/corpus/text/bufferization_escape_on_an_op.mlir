func.func @f(%t: tensor<4xf32>) { %0 = tensor.empty() {bufferization.escape = [false]} : tensor<4xf32> return }
