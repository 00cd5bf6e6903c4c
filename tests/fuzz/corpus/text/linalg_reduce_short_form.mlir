func.func @f(%a: tensor<4xf32>, %b: tensor<f32>) { %0 = linalg.reduce { math.exp } ins(%a : tensor<4xf32>) outs(%b : tensor<f32>) dimensions = [0] return }
