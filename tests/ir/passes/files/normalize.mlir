// normalize-quant-types
// The last type stays: a block holds two rows, so no axis has these scales.
!one = !quant.uniform<u8:f32:{0:2, 1:3}, {{0.5:3}}>
!axis = !quant.uniform<u8:f32:{0:1, 1:3}, {{0.5}, {1.0:3}}>
!rows = !quant.uniform<u8:f32:{0:2, 1:3}, {{0.5}, {1.0:3}}>
func.func @f(%a: tensor<2x3x!one>, %b: tensor<2x3x!axis>, %c: tensor<4x3x!rows>) -> tensor<2x3xf32> {
  %0 = quant.dcast %b : tensor<2x3x!axis> to tensor<2x3xf32>
  %1 = quant.dcast %c : tensor<4x3x!rows> to tensor<4x3xf32>
  return %0 : tensor<2x3xf32>
}
