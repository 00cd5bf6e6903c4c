// One step of a gated recurrent unit (GRU) of 64 units on 12 channels. The function that calls it 29 times and the weights
// are added when the program is written.

func.func private @cell(%x: tensor<?x12xf32>, %h: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %count = tensor.dim %x, %c0 : tensor<?x12xf32>
  %empty = tensor.empty(%count) : tensor<?x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>

  // z = sigmoid(x W + b + h U)
  %update_weights = arith.constant dense_resource<update_weights> : tensor<12x64xf32>
  %update_recurrent = arith.constant dense_resource<update_recurrent> : tensor<64x64xf32>
  %update_bias = arith.constant dense_resource<update_bias> : tensor<64xf32>
  %zb = linalg.broadcast ins(%update_bias : tensor<64xf32>) outs(%empty : tensor<?x64xf32>) dimensions = [0]
  %zx = linalg.matmul ins(%x, %update_weights : tensor<?x12xf32>, tensor<12x64xf32>)
      outs(%zb : tensor<?x64xf32>) -> tensor<?x64xf32>
  %zh = linalg.matmul ins(%h, %update_recurrent : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%zeros : tensor<?x64xf32>) -> tensor<?x64xf32>
  %zs = arith.addf %zx, %zh : tensor<?x64xf32>
  %zn = arith.negf %zs : tensor<?x64xf32>
  %ze = math.exp %zn : tensor<?x64xf32>
  %zd = arith.addf %ones, %ze : tensor<?x64xf32>
  %z = arith.divf %ones, %zd : tensor<?x64xf32>

  // r = sigmoid(x W + b + h U)
  %reset_weights = arith.constant dense_resource<reset_weights> : tensor<12x64xf32>
  %reset_recurrent = arith.constant dense_resource<reset_recurrent> : tensor<64x64xf32>
  %reset_bias = arith.constant dense_resource<reset_bias> : tensor<64xf32>
  %rb = linalg.broadcast ins(%reset_bias : tensor<64xf32>) outs(%empty : tensor<?x64xf32>) dimensions = [0]
  %rx = linalg.matmul ins(%x, %reset_weights : tensor<?x12xf32>, tensor<12x64xf32>)
      outs(%rb : tensor<?x64xf32>) -> tensor<?x64xf32>
  %rh = linalg.matmul ins(%h, %reset_recurrent : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%zeros : tensor<?x64xf32>) -> tensor<?x64xf32>
  %rs = arith.addf %rx, %rh : tensor<?x64xf32>
  %rn = arith.negf %rs : tensor<?x64xf32>
  %re = math.exp %rn : tensor<?x64xf32>
  %rd = arith.addf %ones, %re : tensor<?x64xf32>
  %r = arith.divf %ones, %rd : tensor<?x64xf32>

  // n = tanh(x W + b + r * (h U + c))
  %new_weights = arith.constant dense_resource<new_weights> : tensor<12x64xf32>
  %new_recurrent = arith.constant dense_resource<new_recurrent> : tensor<64x64xf32>
  %new_bias = arith.constant dense_resource<new_bias> : tensor<64xf32>
  %new_recurrent_bias = arith.constant dense_resource<new_recurrent_bias> : tensor<64xf32>
  %nb = linalg.broadcast ins(%new_bias : tensor<64xf32>) outs(%empty : tensor<?x64xf32>) dimensions = [0]
  %nx = linalg.matmul ins(%x, %new_weights : tensor<?x12xf32>, tensor<12x64xf32>)
      outs(%nb : tensor<?x64xf32>) -> tensor<?x64xf32>
  %nc = linalg.broadcast ins(%new_recurrent_bias : tensor<64xf32>) outs(%empty : tensor<?x64xf32>) dimensions = [0]
  %nh = linalg.matmul ins(%h, %new_recurrent : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%nc : tensor<?x64xf32>) -> tensor<?x64xf32>
  %nr = arith.mulf %r, %nh : tensor<?x64xf32>
  %ns = arith.addf %nx, %nr : tensor<?x64xf32>
  %new = math.tanh %ns : tensor<?x64xf32>

  // (1 - z) * n + z * h
  %rest = arith.subf %ones, %z : tensor<?x64xf32>
  %taken = arith.mulf %rest, %new : tensor<?x64xf32>
  %kept = arith.mulf %z, %h : tensor<?x64xf32>
  %next = arith.addf %taken, %kept : tensor<?x64xf32>
  return %next : tensor<?x64xf32>
}
