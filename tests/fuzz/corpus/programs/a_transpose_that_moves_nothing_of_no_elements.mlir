func.func @main(%x0: tensor<0x?x3x!quant.uniform<u2:bf16, 1.1425474051732085>>) -> tensor<0x?x3x!quant.uniform<u2:bf16, 1.1425474051732085>> {
  %y = qrt.transpose %x0 {permutation = [0, 1, 2]} : (tensor<0x?x3x!quant.uniform<u2:bf16, 1.1425474051732085>>) -> tensor<0x?x3x!quant.uniform<u2:bf16, 1.1425474051732085>>
  return %y : tensor<0x?x3x!quant.uniform<u2:bf16, 1.1425474051732085>>
}
