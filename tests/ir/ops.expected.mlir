module @ops {
  func.func private @helper(f32 {qrt.name = "a"}) -> f32
  func.func @casts(%arg0: f32, %arg1: tensor<*xf32>, %arg2: tensor<?xi8>) -> (f32, tensor<*xf32>) {
    %0 = quant.qcast %arg0 {rounding = "toward_zero"} : f32 to !quant.uniform<i8:f32, 2.000000e+00>
    %1 = quant.dcast %0 : !quant.uniform<i8:f32, 2.000000e+00> to f32
    %2 = quant.qcast %arg1 {scale = "reciprocal", t.note, zero_point = "after"} : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:1, {2.000000e+00,3.000000e+00:-1}>>
    %3 = quant.dcast %2 : tensor<*x!quant.uniform<i8:f32:1, {2.000000e+00,3.000000e+00:-1}>> to tensor<*xf32>
    %4 = quant.scast %arg2 : tensor<?xi8> to tensor<?x!quant.uniform<u8:f32, 2.000000e+00:128>>
    %5 = quant.scast %4 : tensor<?x!quant.uniform<u8:f32, 2.000000e+00:128>> to tensor<?xi8>
    %6 = call @helper(%1) : (f32) -> f32
    return %6, %3 : f32, tensor<*xf32>
  }
  func.func @kernels(%arg0: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, %arg1: tensor<4x3x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>, %arg2: tensor<3x!quant.uniform<i32:f32:0, {5.000000e-02,1.000000e-01,1.500000e-01}>>, %arg3: tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) {
    %0 = qrt.matmul %arg0, %arg1, %arg2 {requant = "float32"} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x3x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>, tensor<3x!quant.uniform<i32:f32:0, {5.000000e-02,1.000000e-01,1.500000e-01}>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %1 = qrt.add %0, %0 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %2 = qrt.sub %1, %0 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %3 = qrt.mul %1, %2 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %4 = qrt.clamp %3 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %5 = qrt.requantize %4 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<u4:f32, 2.000000e+00>>
    %6 = qrt.transpose %5 {permutation = [1, 0]} : (tensor<2x3x!quant.uniform<u4:f32, 2.000000e+00>>) -> tensor<3x2x!quant.uniform<u4:f32, 2.000000e+00>>
    %7 = qrt.reshape %6 : (tensor<3x2x!quant.uniform<u4:f32, 2.000000e+00>>) -> tensor<6x!quant.uniform<u4:f32, 2.000000e+00>>
    %8 = qrt.concat %arg0, %arg0 {axis = 0 : i64} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %9 = qrt.max_pool2d %arg3 {kernel = [2, 2], strides = [2, 2]} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x4x4x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %10 = qrt.avg_pool2d %arg3 {kernel = [2, 2], padding = [[0, 0], [0, 0]], strides = [2, 2]} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x4x4x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %11 = arith.constant dense<1> : tensor<3x1x1x2xi8>
    %12 = quant.scast %11 : tensor<3x1x1x2xi8> to tensor<3x1x1x2x!quant.uniform<i8:f32, 2.500000e-01>>
    %13 = qrt.conv2d %arg3, %12 {dilations = [1, 1], groups = 1 : i64, padding = [[0, 1], [0, 1]], requant = "fixed", strides = [1, 1]} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<3x1x1x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<?x9x9x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %14 = arith.constant dense<1> : tensor<3x1x4xi8>
    %15 = quant.scast %14 : tensor<3x1x4xi8> to tensor<3x1x4x!quant.uniform<i8:f32, 2.500000e-01>>
    %16 = qrt.depthwise_conv2d %arg3, %15 {dilations = [1, 1], padding = [[1, 1], [0, 0]], requant = "fixed", strides = [2, 2]} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<3x1x4x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<?x4x4x4x!quant.uniform<i8:f32, 5.000000e-01>>
    %17 = qrt.mean %arg3 {axes = [1, 2], keepdims = false, requant = "float32"} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %18 = qrt.pad %arg3 {padding = [[0, 0], [1, 0], [0, 1], [0, 0]], value = -1.000000e+00 : f64} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x9x9x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %19 = arith.constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi8>
    %20 = quant.scast %19 : tensor<16xi8> to tensor<16x!quant.uniform<i8:f32, 2.000000e+00>>
    %21 = qrt.lookup %5, %20 : (tensor<2x3x!quant.uniform<u4:f32, 2.000000e+00>>, tensor<16x!quant.uniform<i8:f32, 2.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>
    %22 = qrt.softmax %arg3 {axis = 3 : i64, beta = 5.000000e-01 : f64} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x8x8x2x!quant.uniform<i8:f32, 3.906250e-03:-128>>
    %23 = quant.dcast %arg0 : tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>> to tensor<2x4xf32>
    %24 = qrt.float_matmul %23, %arg1 : (tensor<2x4xf32>, tensor<4x3x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>) -> tensor<2x3xf32>
    %25 = qrt.slice %arg0 {offsets = [1, 3], sizes = [1, 2], strides = [1, -2]} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %26 = qrt.tile %23 {multiples = [1, 2]} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %27 = arith.constant dense<[[1, 0]]> : tensor<1x2xi32>
    %28 = qrt.gather %arg0, %27 {axis = 1 : i64, batch_dims = 0 : i64} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<1x2xi32>) -> tensor<2x1x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %29 = qrt.gather_nd %arg0, %27 : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<1x2xi32>) -> tensor<1x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %30 = qrt.scatter_nd %arg0, %27, %29 {reduction = "none"} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<1x2xi32>, tensor<1x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %31:4 = qrt.detection_postprocess %23, %23 {max_detections = 2 : i64, use_regular_nms = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>)
    %32 = arith.constant dense<5.000000e-01> : tensor<2xf32>
    %33:3 = qrt.non_max_suppression %23, %32 {max_output_size = 3 : i64, sigma = 5.000000e-01 : f64} : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<3xi32>, tensor<3xf32>, tensor<i32>)
    %34 = qrt.cumsum %23 {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %35 = qrt.reduce_max %arg3 {axes = [1, 2], keepdims = true} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x1x1x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %36 = qrt.reduce_min %23 : (tensor<2x4xf32>) -> tensor<f32>
    %37 = qrt.argmax %arg0 {axis = 1 : i64} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2xi64>
    %38 = qrt.argmin %arg0 {axis = 0 : i64} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xi32>
    %39:2 = qrt.top_k %arg0 {k = 2 : i64} : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x2xi32>)
    %40 = qrt.resize_bilinear %arg3 {align_corners = true, half_pixel_centers = false, rule = "fixed10_away", size = [4, 9]} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x4x9x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %41 = qrt.resize_nearest %arg3 {size = [4, 9]} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x4x9x2x!quant.uniform<i8:f32, 5.000000e-01>>
    %42 = qrt.maximum %1, %0 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %43 = qrt.minimum %1, %0 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %44 = qrt.div %1, %0 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %45 = qrt.squared_difference %1, %0 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %46 = qrt.leaky_relu %0 {alpha = 5.000000e-01 : f64} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %47 = qrt.prelu %0, %1 {requant = "float32"} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
    %48 = qrt.sum %arg3 {axes = [3], keepdims = true} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x8x8x1x!quant.uniform<i8:f32, 5.000000e-01>>
    %49 = qrt.transpose_conv2d %arg3, %12 {output_padding = [0, 1], padding = [[0, 1], [0, 0]], strides = [2, 2]} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<3x1x1x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<?x14x16x3x!quant.uniform<i8:f32, 5.000000e-01>>
    %50 = qrt.softmax %arg3 {requant = "gemmlowp"} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x8x8x2x!quant.uniform<i8:f32, 3.906250e-03:-128>>
    %51 = qrt.log_softmax %arg3 {axis = -1 : i64} : (tensor<?x8x8x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?x8x8x2x!quant.uniform<i8:f32, 6.250000e-02:127>>
    return
  }
  func.func @sequences(%arg0: tensor<?x!quant.uniform<i16:f32, 2.44140625E-4>>, %arg1: tensor<513x!quant.uniform<i16:f32, 2.44140625E-4>>, %arg2: tensor<1x5x3x!quant.uniform<i8:f32, 1.250000e-01>>, %arg3: tensor<2x3x!quant.uniform<i8:f32, 1.250000e-01>>, %arg4: tensor<2x2x!quant.uniform<i8:f32, 1.250000e-01>>, %arg5: tensor<2x!quant.uniform<i32:f32, 1.562500e-02>>, %arg6: tensor<1x2x!quant.uniform<i8:f32, 1.250000e-01>>, %arg7: tensor<1x2x!quant.uniform<i16:f32, 2.44140625E-4>>, %arg8: tensor<2x4x!quant.uniform<i16:f32, 2.44140625E-4>>, %arg9: tensor<5x8x!quant.uniform<i16:f32, 2.44140625E-4>>, %arg10: tensor<5x3x!quant.uniform<i8:f32, 1.250000e-01>>) {
    %0 = qrt.logistic %arg0 : (tensor<?x!quant.uniform<i16:f32, 2.44140625E-4>>) -> tensor<?x!quant.uniform<i16:f32, 3.0517578125E-5>>
    %1 = qrt.tanh %arg0 {requant = "gemmlowp"} : (tensor<?x!quant.uniform<i16:f32, 2.44140625E-4>>) -> tensor<?x!quant.uniform<i16:f32, 3.0517578125E-5>>
    %2 = qrt.lookup_interpolated %arg0, %arg1 : (tensor<?x!quant.uniform<i16:f32, 2.44140625E-4>>, tensor<513x!quant.uniform<i16:f32, 2.44140625E-4>>) -> tensor<?x!quant.uniform<i16:f32, 2.44140625E-4>>
    %3:3 = qrt.lstm %arg2, %arg3, %arg3, %arg3, %arg3, %arg4, %arg4, %arg4, %arg4, %arg5, %arg5, %arg5, %arg5, %arg6, %arg7 {cell_clip = 8.000000e+00 : f64} : (tensor<1x5x3x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x3x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x3x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x3x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x3x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x2x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x2x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x2x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x2x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x!quant.uniform<i32:f32, 1.562500e-02>>, tensor<2x!quant.uniform<i32:f32, 1.562500e-02>>, tensor<2x!quant.uniform<i32:f32, 1.562500e-02>>, tensor<2x!quant.uniform<i32:f32, 1.562500e-02>>, tensor<1x2x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<1x2x!quant.uniform<i16:f32, 2.44140625E-4>>) -> (tensor<1x5x2x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<1x2x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<1x2x!quant.uniform<i16:f32, 2.44140625E-4>>)
    %4:2 = qrt.svdf %arg10, %arg3, %arg8, %arg9 {rank = 2 : i64} : (tensor<5x3x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x3x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x4x!quant.uniform<i16:f32, 2.44140625E-4>>, tensor<5x8x!quant.uniform<i16:f32, 2.44140625E-4>>) -> (tensor<5x1x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<5x8x!quant.uniform<i16:f32, 2.44140625E-4>>)
    return
  }
  func.func @floats(%arg0: tensor<5x1x3xf32>, %arg1: tensor<3x8x!quant.uniform<i8:f32, 1.250000e-01>>, %arg2: tensor<2x8x!quant.uniform<i8:f32, 1.250000e-01>>, %arg3: tensor<8xf32>, %arg4: tensor<1x2xf32>) {
    %0:3 = qrt.dynamic_lstm %arg0, %arg1, %arg2, %arg3, %arg4, %arg4 {reverse = true} : (tensor<5x1x3xf32>, tensor<3x8x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<2x8x!quant.uniform<i8:f32, 1.250000e-01>>, tensor<8xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> (tensor<5x1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>)
    %1 = qrt.dynamic_matmul %arg0, %arg1 : (tensor<5x1x3xf32>, tensor<3x8x!quant.uniform<i8:f32, 1.250000e-01>>) -> tensor<5x1x8xf32>
    return
  }
}
