func.func @f(%a: tensor<8xf32>, %x: f32) { %0 = tensor.pad %a low[-9223372036854775808] high[0] { ^bb0(%i: index): tensor.yield %x : f32 } : tensor<8xf32> to tensor<?xf32>
  return }
