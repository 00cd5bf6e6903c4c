// values: 0; pipeline: canonicalize
!a = !quant.uniform<i8:f32, 0.5>
func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?x!a> {
  %a = quant.qcast %x : tensor<?x?xf32> to tensor<?x?x!a>
  %b = quant.qcast %w : tensor<?x?xf32> to tensor<?x?x!a>
  %0 = qrt.matmul %a, %b : (tensor<?x?x!a>, tensor<?x?x!a>) -> tensor<?x?x!a>
  return %0 : tensor<?x?x!a>
}
