func.func @f(%t: tensor<8xf32>) { vector.print %t : tensor<8xf32> return }
