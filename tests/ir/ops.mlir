// Every op of every dialect, in the forms people write; ops.expected.mlir is what is printed.
!x = tensor<2x4x!quant.uniform<i8:f32, 0.5:3>>
!w = tensor<4x3x!quant.uniform<i8<-127:127>:f32:1, {0.1, 0.2, 0.3}>>
!b = tensor<3x!quant.uniform<i32:f32:0, {0.05, 0.1, 0.15}>>
!y = tensor<2x3x!quant.uniform<i8:f32, 1.0>>
!image = tensor<?x8x8x2x!quant.uniform<i8:f32, 0.5>>
!pooled = tensor<?x4x4x2x!quant.uniform<i8:f32, 0.5>>
!byte = !quant.uniform<i8:f32, 0.125>
!word = !quant.uniform<i16:f32, 2.44140625e-04>
!sum = !quant.uniform<i32:f32, 0.015625>
module @ops {
  func.func private @helper(f32 {qrt.name = "a"}) -> f32
  func.func @casts(%x: f32, %t: tensor<*xf32>, %i: tensor<?xi8>) -> (f32, tensor<*xf32>) {
    %0 = quant.qcast %x {rounding = "toward_zero"} : f32 to !quant.uniform<i8:f32, 2.0>
    %1 = quant.dcast %0 : !quant.uniform<i8:f32, 2.0> to f32
    %2 = "quant.qcast"(%t) <{scale = "reciprocal", zero_point = "after"}> {t.note}
      : (tensor<*xf32>) -> tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0:-1}>>
    %3 = quant.dcast %2 : tensor<*x!quant.uniform<i8:f32:1, {2.0, 3.0:-1}>> to tensor<*xf32>
    %4 = quant.scast %i : tensor<?xi8> to tensor<?x!quant.uniform<u8:f32, 2.0:128>>
    %5 = quant.scast %4 : tensor<?x!quant.uniform<u8:f32, 2.0:128>> to tensor<?xi8>
    %6 = func.call @helper(%1) : (f32) -> f32
    return %6, %3 : f32, tensor<*xf32>
  }
  func.func @kernels(%x: !x, %w: !w, %b: !b, %image: !image) {
    %0 = qrt.matmul %x, %w, %b {requant = "float32"} : (!x, !w, !b) -> !y
    %1 = qrt.add %0, %0 : (!y, !y) -> !y
    %2 = qrt.sub %1, %0 : (!y, !y) -> !y
    %3 = qrt.mul %1, %2 : (!y, !y) -> !y
    %4 = qrt.clamp %3 {min = 0.0 : f64, max = 6.0 : f64} : (!y) -> !y
    %5 = qrt.requantize %4 : (!y) -> tensor<2x3x!quant.uniform<u4:f32, 2.0>>
    %6 = qrt.transpose %5 {permutation = [1, 0]}
      : (tensor<2x3x!quant.uniform<u4:f32, 2.0>>) -> tensor<3x2x!quant.uniform<u4:f32, 2.0>>
    %7 = qrt.reshape %6 : (tensor<3x2x!quant.uniform<u4:f32, 2.0>>) -> tensor<6x!quant.uniform<u4:f32, 2.0>>
    %8 = qrt.concat %x, %x {axis = 0 : i64} : (!x, !x) -> tensor<4x4x!quant.uniform<i8:f32, 0.5:3>>
    %9 = qrt.max_pool2d %image {kernel = [2, 2], strides = [2, 2]} : (!image) -> !pooled
    %10 = qrt.avg_pool2d %image {kernel = [2, 2], strides = [2, 2], padding = [[0, 0], [0, 0]]} : (!image) -> !pooled
    %11 = arith.constant dense<1> : tensor<3x1x1x2xi8>
    %12 = quant.scast %11 : tensor<3x1x1x2xi8> to tensor<3x1x1x2x!quant.uniform<i8:f32, 0.25>>
    %13 = qrt.conv2d %image, %12 {strides = [1, 1], padding = [[0, 1], [0, 1]], dilations = [1, 1], groups = 1 : i64, requant = "fixed"}
      : (!image, tensor<3x1x1x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<?x9x9x3x!quant.uniform<i8:f32, 0.5>>
    %14 = arith.constant dense<1> : tensor<3x1x4xi8>
    %15 = quant.scast %14 : tensor<3x1x4xi8> to tensor<3x1x4x!quant.uniform<i8:f32, 0.25>>
    %16 = qrt.depthwise_conv2d %image, %15 {strides = [2, 2], padding = [[1, 1], [0, 0]], dilations = [1, 1], requant = "fixed"}
      : (!image, tensor<3x1x4x!quant.uniform<i8:f32, 0.25>>) -> tensor<?x4x4x4x!quant.uniform<i8:f32, 0.5>>
    %17 = qrt.mean %image {axes = [1, 2], keepdims = false, requant = "float32"} : (!image) -> tensor<?x2x!quant.uniform<i8:f32, 0.5>>
    %18 = qrt.pad %image {padding = [[0, 0], [1, 0], [0, 1], [0, 0]], value = -1.0 : f64} : (!image) -> tensor<?x9x9x2x!quant.uniform<i8:f32, 0.5>>
    %19 = arith.constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi8>
    %20 = quant.scast %19 : tensor<16xi8> to tensor<16x!quant.uniform<i8:f32, 2.0>>
    %21 = qrt.lookup %5, %20
      : (tensor<2x3x!quant.uniform<u4:f32, 2.0>>, tensor<16x!quant.uniform<i8:f32, 2.0>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.0>>
    %22 = qrt.softmax %image {axis = 3 : i64, beta = 0.5 : f64} : (!image) -> tensor<?x8x8x2x!quant.uniform<i8:f32, 0.00390625:-128>>
    %23 = quant.dcast %x : !x to tensor<2x4xf32>
    %24 = qrt.float_matmul %23, %w : (tensor<2x4xf32>, !w) -> tensor<2x3xf32>
    %25 = qrt.slice %x {offsets = [1, 3], sizes = [1, 2], strides = [1, -2]} : (!x) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>
    %26 = qrt.tile %23 {multiples = [1, 2]} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %27 = arith.constant dense<[[1, 0]]> : tensor<1x2xi32>
    %28 = qrt.gather %x, %27 {axis = 1 : i64, batch_dims = 0 : i64} : (!x, tensor<1x2xi32>) -> tensor<2x1x2x!quant.uniform<i8:f32, 0.5:3>>
    %29 = qrt.gather_nd %x, %27 : (!x, tensor<1x2xi32>) -> tensor<1x!quant.uniform<i8:f32, 0.5:3>>
    %scattered = qrt.scatter_nd %x, %27, %29 {reduction = "none"} : (!x, tensor<1x2xi32>, tensor<1x!quant.uniform<i8:f32, 0.5:3>>) -> !x
    %detections:4 = qrt.detection_postprocess %23, %23 {max_detections = 2 : i64, use_regular_nms = true}
      : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>)
    %best = arith.constant dense<0.5> : tensor<2xf32>
    %selected:3 = qrt.non_max_suppression %23, %best {max_output_size = 3 : i64, sigma = 0.5 : f64}
        : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<3xi32>, tensor<3xf32>, tensor<i32>)
    %sums = qrt.cumsum %23 {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %30 = qrt.reduce_max %image {axes = [1, 2], keepdims = true} : (!image) -> tensor<?x1x1x2x!quant.uniform<i8:f32, 0.5>>
    %31 = qrt.reduce_min %23 : (tensor<2x4xf32>) -> tensor<f32>
    %32 = qrt.argmax %x {axis = 1 : i64} : (!x) -> tensor<2xi64>
    %33 = qrt.argmin %x {axis = 0 : i64} : (!x) -> tensor<4xi32>
    %34:2 = qrt.top_k %x {k = 2 : i64} : (!x) -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x2xi32>)
    %35 = qrt.resize_bilinear %image {size = [4, 9], align_corners = true, half_pixel_centers = false, rule = "fixed10_away"}
      : (!image) -> tensor<?x4x9x2x!quant.uniform<i8:f32, 0.5>>
    %36 = qrt.resize_nearest %image {size = [4, 9]} : (!image) -> tensor<?x4x9x2x!quant.uniform<i8:f32, 0.5>>
    %maximum = qrt.maximum %1, %0 : (!y, !y) -> !y
    %minimum = qrt.minimum %1, %0 : (!y, !y) -> !y
    %div = qrt.div %1, %0 : (!y, !y) -> !y
    %squared = qrt.squared_difference %1, %0 : (!y, !y) -> !y
    %leaky = qrt.leaky_relu %0 {alpha = 0.5 : f64} : (!y) -> !y
    %prelu = qrt.prelu %0, %1 {requant = "float32"} : (!y, !y) -> !y
    %sum = qrt.sum %image {axes = [3], keepdims = true} : (!image) -> tensor<?x8x8x1x!quant.uniform<i8:f32, 0.5>>
    %spread = qrt.transpose_conv2d %image, %12 {strides = [2, 2], padding = [[0, 1], [0, 0]], output_padding = [0, 1]}
      : (!image, tensor<3x1x1x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<?x14x16x3x!quant.uniform<i8:f32, 0.5>>
    %weak = qrt.softmax %image {requant = "gemmlowp"} : (!image) -> tensor<?x8x8x2x!quant.uniform<i8:f32, 0.00390625:-128>>
    %log = qrt.log_softmax %image {axis = -1 : i64} : (!image) -> tensor<?x8x8x2x!quant.uniform<i8:f32, 0.0625:127>>
    return
  }
  func.func @sequences(%q: tensor<?x!word>, %table: tensor<513x!word>, %x: tensor<1x5x3x!byte>, %w: tensor<2x3x!byte>, %r: tensor<2x2x!byte>, %b: tensor<2x!sum>, %h: tensor<1x2x!byte>, %c: tensor<1x2x!word>, %t: tensor<2x4x!word>, %s: tensor<5x8x!word>, %v: tensor<5x3x!byte>) {
    %0 = qrt.logistic %q : (tensor<?x!word>) -> tensor<?x!quant.uniform<i16:f32, 3.0517578125e-05>>
    %1 = qrt.tanh %q {requant = "gemmlowp"} : (tensor<?x!word>) -> tensor<?x!quant.uniform<i16:f32, 3.0517578125e-05>>
    %2 = qrt.lookup_interpolated %q, %table : (tensor<?x!word>, tensor<513x!word>) -> tensor<?x!word>
    %3:3 = qrt.lstm %x, %w, %w, %w, %w, %r, %r, %r, %r, %b, %b, %b, %b, %h, %c {cell_clip = 8.0 : f64} : (tensor<1x5x3x!byte>, tensor<2x3x!byte>, tensor<2x3x!byte>, tensor<2x3x!byte>, tensor<2x3x!byte>, tensor<2x2x!byte>, tensor<2x2x!byte>, tensor<2x2x!byte>, tensor<2x2x!byte>, tensor<2x!sum>, tensor<2x!sum>, tensor<2x!sum>, tensor<2x!sum>, tensor<1x2x!byte>, tensor<1x2x!word>) -> (tensor<1x5x2x!byte>, tensor<1x2x!byte>, tensor<1x2x!word>)
    %4:2 = qrt.svdf %v, %w, %t, %s {rank = 2 : i64} : (tensor<5x3x!byte>, tensor<2x3x!byte>, tensor<2x4x!word>, tensor<5x8x!word>) -> (tensor<5x1x!byte>, tensor<5x8x!word>)
    return
  }
  func.func @floats(%x: tensor<5x1x3xf32>, %w: tensor<3x8x!byte>, %r: tensor<2x8x!byte>, %b: tensor<8xf32>, %h: tensor<1x2xf32>) {
    %0:3 = qrt.dynamic_lstm %x, %w, %r, %b, %h, %h {reverse = true} : (tensor<5x1x3xf32>, tensor<3x8x!byte>, tensor<2x8x!byte>, tensor<8xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> (tensor<5x1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>)
    %1 = qrt.dynamic_matmul %x, %w : (tensor<5x1x3xf32>, tensor<3x8x!byte>) -> tensor<5x1x8xf32>
    return
  }
}
