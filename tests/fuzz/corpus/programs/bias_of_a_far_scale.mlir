// values: 3; pipeline: lower-qrt{to=loops}
!a = !quant.uniform<i8:f32, 1.0e-6>
!b = !quant.uniform<i16:f32, 1.0>
!y = !quant.uniform<i32:f32, 1.0e-3>
func.func @main(%a: tensor<1x1x!a>, %w: tensor<1x1x!a>, %b: tensor<1x!b>) -> tensor<1x1x!y> {
  %0 = qrt.matmul %a, %w, %b : (tensor<1x1x!a>, tensor<1x1x!a>, tensor<1x!b>) -> tensor<1x1x!y>
  return %0 : tensor<1x1x!y>
}
