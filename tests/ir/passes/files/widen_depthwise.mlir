// widen-depthwise
!q = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8<-127:127>:f32:2, {0.02,0.01}>
!v = !quant.uniform<u8:f32, 0.02:128>
!b = !quant.uniform<i32:f32:0, {0.001,0.0005}>
func.func @one_channel(%x: tensor<?x4x4x1x!q>, %b: tensor<2x!b>) -> tensor<?x2x3x2x!q> {
  %c = arith.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]]> : tensor<3x2x2xi8>
  %w = quant.scast %c : tensor<3x2x2xi8> to tensor<3x2x2x!w>
  %0 = qrt.depthwise_conv2d %x, %w, %b {requant = "float32"} : (tensor<?x4x4x1x!q>, tensor<3x2x2x!w>, tensor<2x!b>) -> tensor<?x2x3x2x!q>
  return %0 : tensor<?x2x3x2x!q>
}
func.func @two_channels(%x: tensor<1x4x4x2x!q>) -> tensor<1x4x4x2x!q> {
  %c = arith.constant dense<7> : tensor<1x1x2xi8>
  %w = quant.scast %c : tensor<1x1x2xi8> to tensor<1x1x2x!w>
  %0 = qrt.depthwise_conv2d %x, %w : (tensor<1x4x4x2x!q>, tensor<1x1x2x!w>) -> tensor<1x4x4x2x!q>
  return %0 : tensor<1x4x4x2x!q>
}
func.func @weights_of_the_run(%x: tensor<1x4x4x1x!q>, %w: tensor<1x1x2x!v>) -> tensor<1x4x4x2x!q> {
  %0 = qrt.depthwise_conv2d %x, %w : (tensor<1x4x4x1x!q>, tensor<1x1x2x!v>) -> tensor<1x4x4x2x!q>
  return %0 : tensor<1x4x4x2x!q>
}
