// Every op of linalg with a name, on tensors of open sizes and on buffers.

func.func @named0(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) {
  %matmul = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  %conv_2d = linalg.conv_2d ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}
func.func @named1(%a: tensor<?x?x?xi8>, %b: tensor<?x?x?xi8>, %c: tensor<?x?x?xi32>) {
  %batch_matmul = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %conv_3d = linalg.conv_3d ins(%a, %b : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %conv_1d_ncw_fcw = linalg.conv_1d_ncw_fcw {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %conv_1d_nwc_wcf = linalg.conv_1d_nwc_wcf {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
func.func @named2(%a: memref<?x?x?xi8>, %b: memref<?x?x?xi8>, %c: memref<?x?xi32>) {
  linalg.batch_reduce_matmul ins(%a, %b : memref<?x?x?xi8>, memref<?x?x?xi8>) outs(%c : memref<?x?xi32>)
  return
}
func.func @named3(%a: tensor<?x?xi8>, %b: tensor<?xi8>, %c: tensor<?xi32>) {
  %matvec = linalg.matvec ins(%a, %b : tensor<?x?xi8>, tensor<?xi8>) outs(%c : tensor<?xi32>) -> tensor<?xi32>
  return
}
func.func @named4(%a: tensor<?xi8>, %b: tensor<?x?xi8>, %c: tensor<?xi32>) {
  %vecmat = linalg.vecmat ins(%a, %b : tensor<?xi8>, tensor<?x?xi8>) outs(%c : tensor<?xi32>) -> tensor<?xi32>
  return
}
func.func @named5(%a: memref<?x?x?xi8>, %b: memref<?x?xi8>, %c: memref<?x?xi32>) {
  linalg.batch_matvec ins(%a, %b : memref<?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?xi32>)
  return
}
func.func @named6(%a: tensor<?x?xi8>, %b: tensor<?x?x?xi8>, %c: tensor<?x?xi32>) {
  %batch_vecmat = linalg.batch_vecmat ins(%a, %b : tensor<?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}
func.func @named7(%a: tensor<?xi8>, %b: tensor<?xi8>, %c: tensor<i32>) {
  %dot = linalg.dot ins(%a, %b : tensor<?xi8>, tensor<?xi8>) outs(%c : tensor<i32>) -> tensor<i32>
  return
}
func.func @named8(%a: memref<?x?x?x?xi8>, %b: memref<?x?x?x?xi8>, %c: memref<?x?x?x?xi32>) {
  linalg.mmt4d ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.conv_2d_nchw_fchw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.conv_2d_nhwc_fhwc {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.conv_2d_nhwc_hwcf {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  return
}
func.func @named9(%a: tensor<?x?x?x?x?xi8>, %b: tensor<?x?x?x?x?xi8>, %c: tensor<?x?x?x?x?xi32>) {
  %batch_mmt4d = linalg.batch_mmt4d ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %conv_2d_ngchw_fgchw = linalg.conv_2d_ngchw_fgchw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %conv_2d_ngchw_gfchw = linalg.conv_2d_ngchw_gfchw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %conv_2d_nhwgc_gfhwc = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %conv_3d_ncdhw_fcdhw = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %conv_3d_ndhwc_dhwcf = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
func.func @named10(%a: tensor<?xi8>, %b: tensor<?xi8>, %c: tensor<?xi32>) {
  %conv_1d = linalg.conv_1d ins(%a, %b : tensor<?xi8>, tensor<?xi8>) outs(%c : tensor<?xi32>) -> tensor<?xi32>
  return
}
func.func @named11(%a: memref<?x?x?xi8>, %b: memref<?x?xi8>, %c: memref<?x?x?xi32>) {
  linalg.depthwise_conv_1d_ncw_cw {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : memref<?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?xi32>)
  linalg.depthwise_conv_1d_nwc_wc {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : memref<?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?xi32>)
  return
}
func.func @named12(%a: tensor<?x?x?xi8>, %b: tensor<?x?x?xi8>, %c: tensor<?x?x?x?xi32>) {
  %depthwise_conv_1d_nwc_wcm = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
func.func @named13(%a: tensor<?x?x?x?xi8>, %b: tensor<?x?x?xi8>, %c: tensor<?x?x?x?xi32>) {
  %depthwise_conv_2d_nchw_chw = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  %depthwise_conv_2d_nhwc_hwc = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
func.func @named14(%a: memref<?x?x?x?xi8>, %b: memref<?x?x?x?xi8>, %c: memref<?x?x?x?x?xi32>) {
  linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%c : memref<?x?x?x?x?xi32>)
  return
}
func.func @named15(%a: tensor<?x?x?x?x?xi8>, %b: tensor<?x?x?x?xi8>, %c: tensor<?x?x?x?x?xi32>) {
  %depthwise_conv_3d_ncdhw_cdhw = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %depthwise_conv_3d_ndhwc_dhwc = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
func.func @named16(%a: tensor<?x?x?x?x?xi8>, %b: tensor<?x?x?x?x?xi8>, %c: tensor<?x?x?x?x?x?xi32>) {
  %depthwise_conv_3d_ndhwc_dhwcm = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%c : tensor<?x?x?x?x?x?xi32>) -> tensor<?x?x?x?x?x?xi32>
  return
}
func.func @named17(%a: memref<?x?x?x?xi8>, %b: memref<?x?x?x?xi8>, %c: i32, %d: i32, %e: memref<?x?x?x?xi32>) {
  linalg.conv_2d_nchw_fchw_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b, %c, %d : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%e : memref<?x?x?x?xi32>)
  linalg.conv_2d_nhwc_fhwc_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b, %c, %d : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%e : memref<?x?x?x?xi32>)
  linalg.conv_2d_nhwc_hwcf_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b, %c, %d : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%e : memref<?x?x?x?xi32>)
  return
}
func.func @named18(%a: tensor<?x?x?x?x?xi8>, %b: tensor<?x?x?x?x?xi8>, %c: i32, %d: i32, %e: tensor<?x?x?x?x?xi32>) {
  %conv_2d_ngchw_gfchw_q = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%e : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %conv_2d_nhwgc_gfhwc_q = linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%e : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %conv_3d_ndhwc_dhwcf_q = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b, %c, %d : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%e : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
func.func @named19(%a: tensor<?x?x?x?xi8>, %b: tensor<?x?x?xi8>, %c: i32, %d: i32, %e: tensor<?x?x?x?xi32>) {
  %depthwise_conv_2d_nhwc_hwc_q = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%e : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
func.func @named20(%a: memref<?x?x?x?xi8>, %b: memref<?x?x?x?xi8>, %c: i32, %d: i32, %e: memref<?x?x?x?x?xi32>) {
  linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b, %c, %d : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%e : memref<?x?x?x?x?xi32>)
  return
}
func.func @named21(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: i32, %d: i32, %e: tensor<?x?xi32>) {
  %quantized_matmul = linalg.quantized_matmul ins(%a, %b, %c, %d : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}
func.func @named22(%a: tensor<?x?x?xi8>, %b: tensor<?x?x?xi8>, %c: i32, %d: i32, %e: tensor<?x?x?xi32>) {
  %quantized_batch_matmul = linalg.quantized_batch_matmul ins(%a, %b, %c, %d : tensor<?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%e : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
func.func @named23(%a: memref<?x?x?x?xi8>, %b: memref<?x?xi8>, %c: memref<?x?x?x?xi32>) {
  linalg.pooling_nchw_sum {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.pooling_nchw_max {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.pooling_nhwc_sum {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.pooling_nhwc_max {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.pooling_nhwc_min {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.pooling_nhwc_max_unsigned {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  linalg.pooling_nhwc_min_unsigned {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?x?x?xi32>)
  return
}
func.func @named24(%a: tensor<?x?x?xi8>, %b: tensor<?xi8>, %c: tensor<?x?x?xi32>) {
  %pooling_ncw_sum = linalg.pooling_ncw_sum {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %pooling_ncw_max = linalg.pooling_ncw_max {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %pooling_nwc_sum = linalg.pooling_nwc_sum {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %pooling_nwc_max = linalg.pooling_nwc_max {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %pooling_nwc_min = linalg.pooling_nwc_min {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %pooling_nwc_max_unsigned = linalg.pooling_nwc_max_unsigned {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  %pooling_nwc_min_unsigned = linalg.pooling_nwc_min_unsigned {dilations = dense<[3]> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<?x?x?xi8>, tensor<?xi8>) outs(%c : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
func.func @named25(%a: tensor<?x?x?x?x?xi8>, %b: tensor<?x?x?xi8>, %c: tensor<?x?x?x?x?xi32>) {
  %pooling_ndhwc_sum = linalg.pooling_ndhwc_sum {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %pooling_ndhwc_max = linalg.pooling_ndhwc_max {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  %pooling_ndhwc_min = linalg.pooling_ndhwc_min {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%c : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
func.func @named26(%a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.log ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.abs ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.ceil ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.floor ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.negf ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.reciprocal ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.round ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.sqrt ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.rsqrt ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.square ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.tanh ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.erf ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.copy ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}
func.func @named27(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) {
  %add = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %sub = linalg.sub ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %mul = linalg.mul ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %div = linalg.div ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.max ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %min = linalg.min ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %powf = linalg.powf ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return
}
func.func @named28(%a: tensor<?xi32>, %b: tensor<?xi32>, %c: tensor<?xi32>) {
  %div_unsigned = linalg.div_unsigned ins(%a, %b : tensor<?xi32>, tensor<?xi32>) outs(%c : tensor<?xi32>) -> tensor<?xi32>
  return
}
func.func @named29(%a: memref<?xi1>, %b: memref<?xf32>, %c: memref<?xf32>, %d: memref<?xf32>) {
  linalg.select ins(%a, %b, %c : memref<?xi1>, memref<?xf32>, memref<?xf32>) outs(%d : memref<?xf32>)
  return
}
func.func @named30(%a: f32, %b: tensor<?xf32>) {
  %fill = linalg.fill ins(%a : f32) outs(%b : tensor<?xf32>) -> tensor<?xf32>
  return
}
