// fuse-kernels,attach-stats-ref,equalize-scales
// Channels between two products are multiplied by powers of two; a relu6 lets none through.

func.func @relu(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 64.0], [3.0, 16.0], [5.0, 96.0]]> : tensor<3x2xf32>
  %v = arith.constant dense<[[4.0, 32.0], [1.0, 0.25]]> : tensor<2x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = arith.maximumf %0, %z : tensor<2x2xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

func.func @flattened(%x: tensor<1x2x2x1xf32>) -> tensor<1x1xf32> {
  %w = arith.constant dense<[[[[1.0, 64.0]]]]> : tensor<1x1x1x2xf32>
  %b = arith.constant dense<[3.0, 16.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %start = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e : tensor<1x2x2x2xf32>) dimensions = [0, 1, 2]
  %v = arith.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]> : tensor<8x1xf32>
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x2x2x1xf32>, tensor<1x1x1x2xf32>) outs(%start : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2, 3]] : tensor<1x2x2x2xf32> into tensor<1x8xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<1x8xf32>, tensor<8x1xf32>) outs(%z : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %2 : tensor<1x1xf32>
}

func.func @relu6(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 64.0], [3.0, 16.0], [5.0, 96.0]]> : tensor<3x2xf32>
  %v = arith.constant dense<[[4.0, 32.0], [1.0, 0.25]]> : tensor<2x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %six = arith.constant dense<6.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = arith.maximumf %0, %z : tensor<2x2xf32>
  %2 = arith.minimumf %1, %six : tensor<2x2xf32>
  %3 = linalg.matmul ins(%2, %v : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}
