module {
  func.func @named0(%arg0: tensor<?x?xi8>, %arg1: tensor<?x?xi8>, %arg2: tensor<?x?xi32>) {
    %0 = linalg.matmul ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?xi32>) -> tensor<?x?xi32>
    %1 = linalg.conv_2d ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?xi32>) -> tensor<?x?xi32>
    return
  }
  func.func @named1(%arg0: tensor<?x?x?xi8>, %arg1: tensor<?x?x?xi8>, %arg2: tensor<?x?x?xi32>) {
    %0 = linalg.batch_matmul ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %1 = linalg.conv_3d ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %2 = linalg.conv_1d_ncw_fcw {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %3 = linalg.conv_1d_nwc_wcf {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    return
  }
  func.func @named2(%arg0: memref<?x?x?xi8>, %arg1: memref<?x?x?xi8>, %arg2: memref<?x?xi32>) {
    linalg.batch_reduce_matmul ins(%arg0, %arg1 : memref<?x?x?xi8>, memref<?x?x?xi8>) outs(%arg2 : memref<?x?xi32>)
    return
  }
  func.func @named3(%arg0: tensor<?x?xi8>, %arg1: tensor<?xi8>, %arg2: tensor<?xi32>) {
    %0 = linalg.matvec ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?xi32>) -> tensor<?xi32>
    return
  }
  func.func @named4(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>, %arg2: tensor<?xi32>) {
    %0 = linalg.vecmat ins(%arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?xi32>) -> tensor<?xi32>
    return
  }
  func.func @named5(%arg0: memref<?x?x?xi8>, %arg1: memref<?x?xi8>, %arg2: memref<?x?xi32>) {
    linalg.batch_matvec ins(%arg0, %arg1 : memref<?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?xi32>)
    return
  }
  func.func @named6(%arg0: tensor<?x?xi8>, %arg1: tensor<?x?x?xi8>, %arg2: tensor<?x?xi32>) {
    %0 = linalg.batch_vecmat ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?xi32>) -> tensor<?x?xi32>
    return
  }
  func.func @named7(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>, %arg2: tensor<i32>) {
    %0 = linalg.dot ins(%arg0, %arg1 : tensor<?xi8>, tensor<?xi8>) outs(%arg2 : tensor<i32>) -> tensor<i32>
    return
  }
  func.func @named8(%arg0: memref<?x?x?x?xi8>, %arg1: memref<?x?x?x?xi8>, %arg2: memref<?x?x?x?xi32>) {
    linalg.mmt4d ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.conv_2d_nchw_fchw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.conv_2d_nhwc_fhwc {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.conv_2d_nhwc_hwcf {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    return
  }
  func.func @named9(%arg0: tensor<?x?x?x?x?xi8>, %arg1: tensor<?x?x?x?x?xi8>, %arg2: tensor<?x?x?x?x?xi32>) {
    %0 = linalg.batch_mmt4d ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %1 = linalg.conv_2d_ngchw_fgchw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %2 = linalg.conv_2d_ngchw_gfchw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %3 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %4 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %5 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    return
  }
  func.func @named10(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>, %arg2: tensor<?xi32>) {
    %0 = linalg.conv_1d ins(%arg0, %arg1 : tensor<?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?xi32>) -> tensor<?xi32>
    return
  }
  func.func @named11(%arg0: memref<?x?x?xi8>, %arg1: memref<?x?xi8>, %arg2: memref<?x?x?xi32>) {
    linalg.depthwise_conv_1d_ncw_cw {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : memref<?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?xi32>)
    linalg.depthwise_conv_1d_nwc_wc {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : memref<?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?xi32>)
    return
  }
  func.func @named12(%arg0: tensor<?x?x?xi8>, %arg1: tensor<?x?x?xi8>, %arg2: tensor<?x?x?x?xi32>) {
    %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
    return
  }
  func.func @named13(%arg0: tensor<?x?x?x?xi8>, %arg1: tensor<?x?x?xi8>, %arg2: tensor<?x?x?x?xi32>) {
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
    %1 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
    return
  }
  func.func @named14(%arg0: memref<?x?x?x?xi8>, %arg1: memref<?x?x?x?xi8>, %arg2: memref<?x?x?x?x?xi32>) {
    linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>) outs(%arg2 : memref<?x?x?x?x?xi32>)
    return
  }
  func.func @named15(%arg0: tensor<?x?x?x?x?xi8>, %arg1: tensor<?x?x?x?xi8>, %arg2: tensor<?x?x?x?x?xi32>) {
    %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %1 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    return
  }
  func.func @named16(%arg0: tensor<?x?x?x?x?xi8>, %arg1: tensor<?x?x?x?x?xi8>, %arg2: tensor<?x?x?x?x?x?xi32>) {
    %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?x?xi32>) -> tensor<?x?x?x?x?x?xi32>
    return
  }
  func.func @named17(%arg0: memref<?x?x?x?xi8>, %arg1: memref<?x?x?x?xi8>, %arg2: i32, %arg3: i32, %arg4: memref<?x?x?x?xi32>) {
    linalg.conv_2d_nchw_fchw_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg4 : memref<?x?x?x?xi32>)
    linalg.conv_2d_nhwc_fhwc_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg4 : memref<?x?x?x?xi32>)
    linalg.conv_2d_nhwc_hwcf_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg4 : memref<?x?x?x?xi32>)
    return
  }
  func.func @named18(%arg0: tensor<?x?x?x?x?xi8>, %arg1: tensor<?x?x?x?x?xi8>, %arg2: i32, %arg3: i32, %arg4: tensor<?x?x?x?x?xi32>) {
    %0 = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %1 = linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %2 = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    return
  }
  func.func @named19(%arg0: tensor<?x?x?x?xi8>, %arg1: tensor<?x?x?xi8>, %arg2: i32, %arg3: i32, %arg4: tensor<?x?x?x?xi32>) {
    %0 = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
    return
  }
  func.func @named20(%arg0: memref<?x?x?x?xi8>, %arg1: memref<?x?x?x?xi8>, %arg2: i32, %arg3: i32, %arg4: memref<?x?x?x?x?xi32>) {
    linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg4 : memref<?x?x?x?x?xi32>)
    return
  }
  func.func @named21(%arg0: tensor<?x?xi8>, %arg1: tensor<?x?xi8>, %arg2: i32, %arg3: i32, %arg4: tensor<?x?xi32>) {
    %0 = linalg.quantized_matmul ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?xi32>) -> tensor<?x?xi32>
    return
  }
  func.func @named22(%arg0: tensor<?x?x?xi8>, %arg1: tensor<?x?x?xi8>, %arg2: i32, %arg3: i32, %arg4: tensor<?x?x?xi32>) {
    %0 = linalg.quantized_batch_matmul ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    return
  }
  func.func @named23(%arg0: memref<?x?x?x?xi8>, %arg1: memref<?x?xi8>, %arg2: memref<?x?x?x?xi32>) {
    linalg.pooling_nchw_sum {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.pooling_nchw_max {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.pooling_nhwc_sum {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.pooling_nhwc_max {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.pooling_nhwc_min {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.pooling_nhwc_max_unsigned {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    linalg.pooling_nhwc_min_unsigned {dilations = dense<[3, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<?x?x?x?xi8>, memref<?x?xi8>) outs(%arg2 : memref<?x?x?x?xi32>)
    return
  }
  func.func @named24(%arg0: tensor<?x?x?xi8>, %arg1: tensor<?xi8>, %arg2: tensor<?x?x?xi32>) {
    %0 = linalg.pooling_ncw_sum {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %1 = linalg.pooling_ncw_max {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %2 = linalg.pooling_nwc_sum {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %3 = linalg.pooling_nwc_max {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %4 = linalg.pooling_nwc_min {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %5 = linalg.pooling_nwc_max_unsigned {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    %6 = linalg.pooling_nwc_min_unsigned {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
    return
  }
  func.func @named25(%arg0: tensor<?x?x?x?x?xi8>, %arg1: tensor<?x?x?xi8>, %arg2: tensor<?x?x?x?x?xi32>) {
    %0 = linalg.pooling_ndhwc_sum {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %1 = linalg.pooling_ndhwc_max {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    %2 = linalg.pooling_ndhwc_min {dilations = dense<[3, 2, 1]> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
    return
  }
  func.func @named26(%arg0: memref<?xf32>, %arg1: memref<?xf32>) {
    linalg.exp ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.log ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.abs ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.ceil ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.floor ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.negf ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.reciprocal ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.round ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.sqrt ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.rsqrt ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.square ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.tanh ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.erf ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    linalg.copy ins(%arg0 : memref<?xf32>) outs(%arg1 : memref<?xf32>)
    return
  }
  func.func @named27(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) {
    %0 = linalg.add ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2 : tensor<?xf32>) -> tensor<?xf32>
    %1 = linalg.sub ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2 : tensor<?xf32>) -> tensor<?xf32>
    %2 = linalg.mul ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2 : tensor<?xf32>) -> tensor<?xf32>
    %3 = linalg.div ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2 : tensor<?xf32>) -> tensor<?xf32>
    %4 = linalg.max ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2 : tensor<?xf32>) -> tensor<?xf32>
    %5 = linalg.min ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2 : tensor<?xf32>) -> tensor<?xf32>
    %6 = linalg.powf ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2 : tensor<?xf32>) -> tensor<?xf32>
    return
  }
  func.func @named28(%arg0: tensor<?xi32>, %arg1: tensor<?xi32>, %arg2: tensor<?xi32>) {
    %0 = linalg.div_unsigned ins(%arg0, %arg1 : tensor<?xi32>, tensor<?xi32>) outs(%arg2 : tensor<?xi32>) -> tensor<?xi32>
    return
  }
  func.func @named29(%arg0: memref<?xi1>, %arg1: memref<?xf32>, %arg2: memref<?xf32>, %arg3: memref<?xf32>) {
    linalg.select ins(%arg0, %arg1, %arg2 : memref<?xi1>, memref<?xf32>, memref<?xf32>) outs(%arg3 : memref<?xf32>)
    return
  }
  func.func @named30(%arg0: f32, %arg1: tensor<?xf32>) {
    %0 = linalg.fill ins(%arg0 : f32) outs(%arg1 : tensor<?xf32>) -> tensor<?xf32>
    return
  }
}
