// tabulate-casts
!q = !quant.uniform<u4:f32, 0.5:3>
!r = !quant.uniform<i8:f32, 0.25:-1>
!s = !quant.uniform<i16:f32, 0.5>
func.func @gelu(%x: tensor<?x!q>) -> tensor<?x!r> {
  %0 = quant.dcast %x : tensor<?x!q> to tensor<?xf32>
  %1 = math.erf %0 : tensor<?xf32>
  %2 = arith.mulf %0, %1 : tensor<?xf32>
  %3 = quant.qcast %2 : tensor<?xf32> to tensor<?x!r>
  return %3 : tensor<?x!r>
}
func.func @another_reader(%x: tensor<4x!q>) -> (tensor<4x!r>, tensor<4xf32>) {
  %0 = quant.dcast %x : tensor<4x!q> to tensor<4xf32>
  %1 = math.erf %0 : tensor<4xf32>
  %2 = quant.qcast %1 : tensor<4xf32> to tensor<4x!r>
  return %2, %1 : tensor<4x!r>, tensor<4xf32>
}
func.func @wide(%x: tensor<4x!s>) -> tensor<4x!r> {
  %0 = quant.dcast %x : tensor<4x!s> to tensor<4xf32>
  %1 = quant.qcast %0 : tensor<4xf32> to tensor<4x!r>
  return %1 : tensor<4x!r>
}
