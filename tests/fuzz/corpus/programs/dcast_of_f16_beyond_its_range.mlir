func.func @main(%q: tensor<40x!quant.uniform<i24:f16, 0.75:-8388608>>) -> tensor<40xf16> {
  %0 = quant.dcast %q : tensor<40x!quant.uniform<i24:f16, 0.75:-8388608>> to tensor<40xf16>
  return %0 : tensor<40xf16>
}
