module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "quant.stats_ref"(%arg0) <{statsKey = "x"}> : (tensor<2xf32>) -> tensor<2xf32>
    %1 = arith.addf %0, %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
