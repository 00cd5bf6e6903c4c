func.func @f(%a: tensor<4xf32>) { %0 = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs() return }
